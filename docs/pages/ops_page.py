"""The op table and the table of instructions, as the library exports them."""

from __future__ import annotations

from docs.pages.markdown import table
from pyspec._library import OPS, RPN, OpDef
from pyspec.functions.slopes import arguments, interacting

LEAD = """
What Python and C know of each function: one row of `csrc/tables/ops.def`, exported by the library.
`pyspec ops NAME` prints a row, [Functions](index.md) explains each with its source. Classification,
plans, kernels, tests and these pages follow from the rows.

- *domain*: where a parameter may lie; outside of it the value is NaN.
- *units* of the parameters, in their order. Unit x is that of the axis, y that of the data or of
  the moving parameter. Unit ? depends on the values.
- *linear*: what the value is proportional to, all of it together.
- *jumps*: parameters that move a jump over the samples, and its height.
- *slopes read*: the parameters that a derivative depends on, if they are not the usual ones. The
  derivative by a linear parameter usually reads all nonlinear parameters, any other all
  parameters. A derivative that depends on nothing free is computed once a fit.
- *error*: the largest of the compiled value, in 2⁻⁵² of the peak.
"""

INSTRUCTIONS = """
Formulas and expressions are made of these instructions (`csrc/tables/rpn.def`). The partial
derivatives are formulas of the same language in the operands a, b, c and the result v: C, NumPy and
the symbolic derivatives take them from one text. An instruction without a symbol occurs in
derivatives only.
"""


def pages() -> dict[str, str]:
    """functions/table.md."""
    head = (
        "function",
        "kind",
        "axis",
        "units",
        "domain",
        "linear",
        "jumps",
        "slopes read",
        "error",
    )
    ops = [_row(op) for op in OPS.values() if not op.external]
    parts = ["# The op table", LEAD.strip(), table(head, ops)]
    rows = [_instruction(name) for name, row in RPN.items() if row.arity]
    parts += ["## Instructions", INSTRUCTIONS.strip()]
    parts.append(table(("instruction", "written", "by a", "by b", "by c"), rows))
    return {"functions/table.md": "\n\n".join(parts)}


def _row(op: OpDef) -> tuple[str, ...]:
    bounds = []
    for guard in op.guards:
        other = op.params[int(guard.other)] if guard.relative else f"{guard.other:g}"
        bounds.append(f"{op.params[guard.param]} {guard.comparison} {other}")
    names, slopes = arguments(op), interacting(op)
    usual = {name: set(names) - (set(op.linear) if name in op.linear else set()) for name in names}
    read = {name: {names[k] for k in slope} for name, slope in zip(names, slopes, strict=True)}
    unusual = [
        f"{name}: {', '.join(one for one in names if one in read[name]) or 'none'}"
        for name in names
        if read[name] != usual[name]
    ]
    return (
        op.name,
        op.kind.lower().replace("_", "-"),
        op.domain.lower(),
        ", ".join(op.units),
        ", ".join(bounds),
        ", ".join(op.linear),
        ", ".join(f"{name} by `{height}`" for name, height in op.jumps),
        "; ".join(unusual),
        f"{op.tolerance:g}",
    )


def _instruction(name: str) -> tuple[str, ...]:
    row = RPN[name]
    written = " ".join(f"`{one}`" for one in (row.symbol, *row.aliases) if one)
    partials = [*(f"`{text}`" for text in row.partials[: row.arity]), "", ""]
    return (name, written, *partials[:3])
