"""Pages of all functions, from the op table and the docstrings of the references; and of the
expressions, from the rpn table."""

from __future__ import annotations

import inspect
import re

from docs.pages.markdown import table
from pyspec._library import OPS, RPN, OpDef
from pyspec.formula import CONSTANTS
from pyspec.functions import reference

#: Page, its title, its lead, and the kinds of rows on it.
FAMILIES = (
    (
        "energy",
        "Functions of energy",
        "Components of an energy model. Each adds to the spectrum, or blurs what stands below it.",
        ("PEAK", "BACKGROUND", "SPECTRUM_FED", "ROW_FED", "RESOLUTION"),
    ),
    (
        "time",
        "Laws of motion in time",
        "Components of a dynamics model. A parameter with dynamics is `p(t) = p + D(t)`, where D "
        "is the sum of its laws. `[y0]` may be left out; it is 0 then. Any other law is "
        "[written as a formula](../howto/own_functions.md).",
        ("DYNAMICS",),
    ),
    (
        "kernels",
        "Kernels and the exact Gaussian response",
        "Written in a dynamics model above the laws that they act on. A kernel convolves the laws "
        "below it: its value at a time t is the mean of the laws at t - d, weighted with "
        "the kernel at d. `d` is thus the time that has passed since, in units of the time axis: "
        "d > 0 carries a signal to later times, d < 0 to earlier ones. "
        "`gaussCONV` and `expSymCONV` are sums over the samples of the time axis, "
        "normalised with exact masses at its ends. Kernels with an edge integrate the straight "
        "lines between the samples exactly. `gaussIRF` is the closed form, which sees an "
        "onset between two samples. Several `gaussIRF` directly after one another are one "
        "instrument, the sum of Gaussians.",
        ("KERNEL", "IRF"),
    ),
    (
        "profiles",
        "Profiles along an auxiliary axis",
        "Components of a profile model: how a parameter differs with depth, position or fluence. "
        "The spectrum is averaged over that axis.",
        ("PROFILE",),
    ),
)

COSTS = """
## What they cost

On one core of a common processor a component costs 8 to 20 ns for each energy of each spectrum,
and 15 to 55 ns with all derivatives. A FermiEdge costs 90 to 100 ns, a Mahan 100 to 150 ns and
with derivatives up to 260 ns. Shirley and StaticShirley cost 3 to 5 ns. A wide spectrum of 10,000
energies thus takes 0.1 to 0.2 ms for a line, 1 ms for a FermiEdge and 1 to 3 ms for a Mahan. The
sums of a resolution and of Tougaard take longer, as is said there.
"""

#: A value for each parameter in the examples.
EXAMPLES = {"x0": "84", "xStart": "80", "xStop": "90", "pShirley": "0.001", "A": "10", "t0": "0"}
EXAMPLES |= {
    "left": "30",
    "right": "10",
    "B": "2866",
    "C": "1643",
    "D": "6572",
    "T": "300",
    "mBelow": "-1",
    "mAbove": "0",
}
EXAMPLES |= {"tau": "5", "f": "0.3", "alpha": "0.1", "xi": "4", "m": "0.3", "phi": "0", "b": "0"}
#: Where a name means something else: an exponent of a tail, a place on the auxiliary axis.
OWN_EXAMPLES = {
    "LA": {"alpha": "0.7"},
    "LF": {"alpha": "0.7", "w": "10"},
    "GLSAsym": {"a": "0.2"},
    "ExpBack": {"k": "0.1"},
    "pGauss": {"x0": "2"},
}

KINDS = {
    "PEAK": "peak",
    "BACKGROUND": "background",
    "SPECTRUM_FED": "background, reads the spectrum below it",
    "ROW_FED": "background, reads the whole spectrum below it",
    "DYNAMICS": "law",
    "KERNEL": "kernel",
    "IRF": "exact response",
    "PROFILE": "profile",
    "RESOLUTION": "resolution of the energies",
}


#: What each instruction of an expression gives, by its name in the table.
WORDS = {
    "ADD": "sum",
    "SUB": "difference",
    "MUL": "product",
    "DIV": "quotient",
    "NEG": "the negative",
    "POW": "a to the power b",
    "EXP": "e to the power a",
    "LOG": "natural logarithm",
    "SQRT": "square root",
    "SIN": "sine, a in radians",
    "COS": "cosine, a in radians",
    "TAN": "tangent, a in radians",
    "ABS": "absolute value",
    "MIN": "the smaller of both",
    "MAX": "the larger of both",
    "ATAN": "arctangent, in radians",
    "ERF": "error function",
    "ERFC": "1 - erf(a), exact where that is small",
    "ERFCX": "exp(a ** 2) * erfc(a), which does not overflow where a is large",
    "LT": "1 if a is less than b, else 0",
    "LE": "1 if a is at most b, else 0",
    "GT": "1 if a is greater than b, else 0",
    "GE": "1 if a is at least b, else 0",
    "EQ": "1 if both are equal, else 0",
    "NE": "1 if they differ, else 0",
    "WHERE": "b if a is not 0, else c",
    "W_RE": "real part of the Faddeeva function w(a + i b)",
    "W_IM": "imaginary part of w(a + i b)",
    "W_REX": "derivative of the real part by a",
    "W_REY": "derivative of the real part by b",
}

EXPRESSIONS = """
# Expressions

A parameter may follow others instead of having a value of its own. The expression is the only
entry of its list, in quotes:

```yaml
doublet:
  GLP:
    A: [10, True]
    x0: [84, True]
    F: [1, True, 0.1, 5]
    m: [0.3, False]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F * sqrt(2)"]
    m: ["GLP_01_m"]
```

Names are full names of parameters: of any component, of dynamics, of profiles, or of the section
`parameters` ([model format](model_format.md)). Within a dynamics model `expFun_01_A` means the
own law's parameter.

TABLE

- `**` binds tightest and to the right, then signs, then `*` and `/`, then `+` and `-`:
  `-2 ** 2` is -4.
- A comparison is 1 or 0 and binds last. `where(a, b, c)` is b if a is not 0, else c: `where(x <
  2, 0, x - 2)` selects; `(a < b) * (b < c)` is both, `max(a < b, b < c)` either.
- The square root or logarithm of a negative value is not a number, like a fractional power of one
  and any `min` or `max` of them; `where` passes over what it does not select.
- NumPy's names `power`, `minimum` and `maximum` are known too.
- There is no `^`, `//` or `%`. `tanh`, `log10`, `sign` and others are short formulas of these: the
  error for such a name says which.
- An expression that refers to a moving parameter moves with it. Parameters of a time law must
  not move.
- Expressions may refer to expressions, but not in a circle.
- They are compiled once and never run by Python's `eval`. Their standard errors follow from the
  covariance of what they refer to, with exact derivatives.

A mistake is shown with its place:

```text
models.yaml:8: GLP_02.A: expression '2 ^ GLP_01_A': '^' is not an operator; write ** for a power
    2 ^ GLP_01_A
      ^
```
"""


def pages() -> dict[str, str]:
    """functions/*.md and expressions.md."""
    found = {
        f"functions/{name}.md": _family(title, lead, kinds) for name, title, lead, kinds in FAMILIES
    }
    found["functions/index.md"] = _index()
    found["expressions.md"] = _expressions()
    return found


def _of(kinds: tuple[str, ...]) -> list[OpDef]:
    return [op for op in OPS.values() if op.kind in kinds]


def _signature(op: OpDef) -> str:
    shown = [p if k < op.n_required else f"[{p}]" for k, p in enumerate(op.params)]
    return ", ".join(shown) or "none"


def _index() -> str:
    parts = [
        "# Functions",
        "All functions that a model may name. `pyspec ops` prints the same table.",
    ]
    for name, title, _, kinds in FAMILIES:
        parts.append(f"## [{title}]({name}.md)")
        rows = [
            (f"[{op.name}]({name}.md#{op.name.lower()})", _signature(op), f"`{op.formula}`")
            for op in _of(kinds)
        ]
        parts.append(table(("function", "parameters", "value"), rows))
    parts.append(
        "A model has no value outside the bounds on a function's page, such as a width of 0. "
        "Bounds are checked when the model is loaded, and a fit that gets there names the "
        "parameter."
    )
    return "\n\n".join(parts)


def _family(title: str, lead: str, kinds: tuple[str, ...]) -> str:
    parts = [f"# {title}", lead]
    if kinds[0] == "PEAK":
        parts.append("![all peaks](../images/shapes.png)")
    if kinds[0] == "DYNAMICS":
        parts.append("![all laws](../images/laws.png)")
    for op in _of(kinds):
        parts += [f"## {op.name}", *_function(op)]
        if op.kind == "IRF":
            parts += _responses(op)
        if op.kind == "RESOLUTION":
            parts += _resolved(op)
    if kinds[0] == "PEAK":
        parts.append(COSTS.strip())
    return "\n\n".join(parts)


def _function(op: OpDef) -> list[str]:
    paragraphs, meanings, source = _read(op)
    shown = op.formula in " ".join(paragraphs)
    parts = [*([] if shown else [f"`{op.formula}`"]), *paragraphs]
    rows = []
    for index, param in enumerate(op.params):
        bounds = [
            f"{g.comparison} {op.params[int(g.other)] if g.relative else format(g.other, 'g')}"
            for g in op.guards
            if g.param == index
        ]
        # The bound has a column of its own: "eV, SD > 0; the full ..." is "eV; the full ...".
        text = re.sub(rf", {param} >=? \w+", "", meanings.get(param, ""))
        extra = "may be left out" if index >= op.n_required else ""
        rows.append((f"`{param}`", text, " ".join(bounds) or extra))
    if rows:
        parts.append(table(("parameter", "meaning", "bound"), rows))
    facts = f"Kind: {KINDS[op.kind]}."
    if op.linear:
        facts += f" Linear in {', '.join(op.linear)}."
    facts += f" Names: `{_name(op)}`." if op.params else ""
    parts.append(facts + (f" Source: {source}" if source else ""))
    parts.append(f"```yaml\n{_example(op)}\n```")
    return parts


def _name(op: OpDef) -> str:
    number, last = ("_01" if op.numbered else ""), op.params[0]
    start = {"TIME": "GLP_01_x0_", "AUX": "GLP_01_A_"}.get(op.domain, "")
    return f"{start}{op.name}{number}_{last}"


def _example(op: OpDef) -> str:
    head = {"ENERGY": "model:", "TIME": "motion:", "AUX": "profile:"}[op.domain]
    lines = [head, f"  {op.name}:" + ("" if op.params else " {}")]
    advice = inspect.getdoc(reference(op.name)) or ""
    fixed = {p for p in op.params if f"Keep {p} fixed" in advice} | {"xStart", "xStop", "t0"}
    values = EXAMPLES | OWN_EXAMPLES.get(op.name, {})
    lines += [
        f"    {param}: [{values.get(param, '1')}, {param not in fixed}]"
        for param in op.params[: op.n_required]
    ]
    if op.kind in ("KERNEL", "IRF"):
        lines += ["  stepFun:", "    A: [10, True]", "    t0: [0, True]"]
    if op.kind == "RESOLUTION":
        lines += ["  Lorentz:", "    A: [10, True]", "    x0: [84, True]", "    W: [0.3, True]"]
    return "\n".join(lines)


def _read(op: OpDef) -> tuple[list[str], dict[str, str], str]:
    """Paragraphs, the meaning of each parameter, and the source of a reference's docstring."""
    text = inspect.getdoc(reference(op.name)) or ""
    text, _, source = text.partition("Source: ")
    head, _, table = text.partition("Parameters\n----------\n")
    lines: list[str] = []
    for line in table.strip().splitlines():
        if line.startswith("    "):
            lines[-1] += " " + line.strip()
        elif " : " in line:
            lines.append(line)
        elif line.strip():
            head += "\n\n" + line
    meanings = {}
    for line in lines:
        names, _, meaning = line.partition(" : ")
        meanings.update({name.strip(): meaning for name in names.split(",")})
    paragraphs = [re.sub(r"``", "`", " ".join(part.split())) for part in head.split("\n\n")]
    return [part for part in paragraphs if part], meanings, " ".join(source.split())


def _responses(irf: OpDef) -> list[str]:
    rows = [
        (op.name.removesuffix("_" + irf.name), f"`{op.formula}`")
        for op in OPS.values()
        if op.kind == "RESPONSE" and op.name.endswith("_" + irf.name)
    ]
    return [
        "The responses, with u = t - t0, Phi and phi the normal distribution and density, w the "
        "Faddeeva function, N(s; SD) the normal density:",
        table(("law", "its response"), rows),
    ]


def _resolved(instrument: OpDef) -> list[str]:
    rows = [
        (op.name.removesuffix("_" + instrument.name), f"`{op.formula}`")
        for op in OPS.values()
        if op.kind == "RESOLVED"
    ]
    return [
        "What it makes of the components below it, with N(d; R) the normal density, Phi and phi "
        "its distribution and density at width 1, w the Faddeeva function. An integral is done "
        "in panels of 16 Gauss-Legendre nodes around the line, to 3e-14 of its height; far from "
        "the line 8 Gauss-Hermite nodes do. Components of other names are refused below it: "
        "PowerBack, which is infinite at x = 0 and for r >= 1 has no convolution, and a formula of "
        "one's own belong above it.",
        table(("component", "under the resolution R"), rows),
        "With closed form a point costs 10 to 25 ns on one core, and 15 to 50 ns with all "
        "derivatives; LinBack and FermiEdge cost 100 ns, Mahan the same as without it. With "
        "integral a point costs 0.3 to 0.4 µs, and 0.4 to 0.7 µs with all derivatives. A line "
        "over 10,000 energies takes 4 and 7 ms.",
    ]


def _expressions() -> str:
    rows = list(RPN.values())
    operators = [row for row in rows if row.symbol and not row.symbol.isidentifier()]
    functions = [row for row in rows if row.symbol.isidentifier()]
    lines = [
        (f"`a {row.symbol} b`" if row.arity == 2 else f"`{row.symbol}a`", WORDS[row.name])
        for row in operators
    ]
    for row in functions:
        lines.append((f"`{row.symbol}({', '.join('abc'[: row.arity])})`", WORDS[row.name]))
    lines += [(f"`{name}`", repr(value)) for name, value in CONSTANTS.items()]
    return EXPRESSIONS.replace("TABLE", table(("written", "value"), lines))
