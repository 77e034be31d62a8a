"""A function of one's own, by formula: from its text to a row like those of the op table.

    energy Skew(A, x0 [eV], w>0 [eV], b): u = (x - x0) / w; A * exp(-u ** 2) * (1 + b * u) -- doc

A convolution kernel may have more lines, see :mod:`pyspec.formula.definitions.kernel`. Further
arrays, `(A; ref)`, may follow the parameters, see :mod:`pyspec.formula.definitions.signature`.

The text says everything: it travels with models, graphs and plans, and two functions are the same
if their texts are. What it depends on, and how, is derived from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from keyword import iskeyword

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS as LIBRARY
from pyspec._library import OPS, OpDef
from pyspec.errors import ModelError, suggest
from pyspec.formula.definitions.formulas import DOMAINS, KERNEL, Formulas
from pyspec.formula.definitions.kernel import NAMES, check_parts, kernel_jumps, kernel_words
from pyspec.formula.definitions.measured import INSTRUMENT, MEASURED, MEASURED_IRF, define_measured
from pyspec.formula.definitions.scheme import KINETICS, define_state
from pyspec.formula.definitions.signature import read_inputs, read_signature, units_of
from pyspec.formula.definitions.traits import Traits, find_traits
from pyspec.formula.formula import Formula, parse, parse_given
from pyspec.formula.parser import CONSTANTS, FUNCTIONS
from pyspec.formula.syntax import SUMS, Apply, Name, Node, Number, postorder

#: Functions by formula that every model of this process may name: those of
#: :func:`pyspec.function`. A model keeps the text, so that one made before is what it was.
FORMULAS: dict[str, OpDef] = {}

#: The number of a function that Python runs.
EXTERNAL_OP = -1

#: The longest formula, in characters, its helper lines included.
MAX_LENGTH = 8000

_HEAD = re.compile(
    r"(?P<domain>\w+) (?P<name>\w+)\((?P<params>[^);]*)(?:;(?P<inputs>[^)]*))?\): ?"
    r"(?P<body>.*?)(?: -- (?P<doc>.*))?",
    re.S,
)
_LINE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=(?!=)(?P<text>.*)", re.S)


class Definition(Formulas):
    """A function by formula, with what the compiled library needs of it."""

    @property
    def is_compiled(self) -> bool:
        """Whether a kernel of C runs it for points along an axis."""
        return not self.sums and self.domain != KERNEL

    def response(self, irf: str) -> None:
        """A formula has no exact response to an instrument."""
        return

    @cached_property
    def words(self) -> npt.NDArray[np.int64]:
        """What the library runs: the program of the value and its derivatives by all parameters; of
        a kernel also those of reach and tail."""
        if self.domain == KERNEL:
            return kernel_words(self, dict(self.kernel_jumps))
        return self.program(self.value)

    @cached_property
    def kernel_jumps(self) -> tuple[tuple[str, str], ...]:
        """Of a kernel the parameters that move a jump, as :class:`OpDef` has them."""
        return kernel_jumps(self, read_signature(self.signature)[1])

    @cached_property
    def traits(self) -> Traits:
        """Linear parameters, what slopes read, and jumps."""
        return find_traits(*self.values, self.params, self.axis, self.inputs)


def write(
    domain: str,
    name: str,
    params: str,
    formula: str,
    lines: Sequence[tuple[str, str]] = (),
    doc: str = "",
    parts: Sequence[tuple[str, str]] = (),
    inputs: str = "",
) -> str:
    """The text of a definition, from its parts; `parts` are what a kernel declares besides."""
    body = [f"{key} = {' '.join(text.split())}" for key, text in (*lines, *parts)]
    plain = ", ".join(" ".join(part.split()) for part in params.split(","))
    if inputs:
        plain += "; " + ", ".join(" ".join(part.split()) for part in inputs.split(","))
    text = f"{domain} {name}({plain}): {'; '.join([*body, ' '.join(formula.split())])}"
    return f"{text} -- {' '.join(doc.split())}" if doc.strip() else text


def free_names(
    formula: str,
    lines: Sequence[tuple[str, str]],
    axis: str,
    where: str = "",
    inputs: Sequence[str] = (),
) -> tuple[str, ...]:
    """The names in a formula and its lines that are no axis, input or line, in the order of
    their first use: its parameters. Raises :class:`ModelError` where one cannot be read."""
    texts = [*(text for _, text in lines), formula]
    used = [name for text in texts for name in parse(" ".join(text.split()), where, True).names]
    own = {axis, *inputs, *(name for name, _ in lines)}
    return tuple(dict.fromkeys(name for name in used if name not in own))


@lru_cache(maxsize=1024)
def define(text: str, where: str = "") -> OpDef:
    """The function that a text defines, as a row like those of the op table.

    Raises :class:`ModelError`, starting with `where`, with what is wrong and a caret under it.
    """
    start = f"{where}: " if where else ""
    if len(text) > MAX_LENGTH:
        raise ModelError(
            f"{start}the formula has {len(text)} characters, {MAX_LENGTH} is the most; split it "
            "over several components"
        )
    match = _HEAD.fullmatch(text)
    if match is None:
        raise ModelError(
            f"{start}cannot read the function {text[:80]!r}; write 'energy Name(A, x0, w>0): "
            "formula'"
        )
    domain, name = match["domain"], match["name"]
    if domain not in DOMAINS:
        raise ModelError(
            f"{start}unknown domain {domain!r}{suggest(domain, list(DOMAINS))}; there are "
            f"{', '.join(DOMAINS)}"
        )
    if name in OPS and not OPS[name].external:
        raise ModelError(f"{start}{name!r} is a function of pyspec; choose another name")
    if not name.isascii() or not name.isidentifier() or "_" in name or iskeyword(name):
        raise ModelError(f"{start}{name!r} cannot name a function; use letters and digits")
    params, guards = read_signature(match["params"], start)
    own = _parse(text, match, params, where)
    kind, axis, _ = DOMAINS[domain]
    traits = Traits((), (), ()) if own.sums else own.traits
    if domain == KERNEL and traits.linear:
        heights = " and ".join(traits.linear)
        raise ModelError(
            f"{start}the kernel {name} is proportional to {heights}, but a kernel is divided by "
            f"its integral, so that a common factor has no effect; remove {heights}, or write "
            "shares such as a and 1 - a"
        )
    units = units_of(match["params"])
    return OpDef(
        index=EXTERNAL_OP if own.sums else LIBRARY["OP_FORMULA"],
        name=name,
        kind=kind,
        domain=axis,
        params=params,
        n_required=len(params),
        guards=guards,
        linear=traits.linear,
        jumps=own.kernel_jumps if domain == KERNEL else traits.jumps,
        reads=traits.reads,
        formula=match["body"].strip(),
        units=tuple(f"[{units[param]}]" if param in units else "?" for param in params),
        own=own,
    )


def find_op(function: str | None) -> OpDef | None:
    """The function that a model names: a row of the op table, a registered function or, by its
    text, a definition. None for a name that is not known; raises :class:`ModelError` for a text
    that defines nothing."""
    if function is None:
        return None
    if function.startswith(KINETICS):
        return define_state(function)
    if function.startswith(MEASURED):
        return define_measured(function)
    return define(function) if "(" in function else OPS.get(function)


def rows() -> dict[str, OpDef]:
    """Every function that a model may name: the op table, registered functions, functions by
    :func:`pyspec.function`, and the measured instrument."""
    return {**FORMULAS, **OPS, MEASURED_IRF: INSTRUMENT}


def op_of(function: str | None) -> OpDef:
    """:func:`find_op` of what is known. Raises :class:`ModelError` otherwise."""
    op = find_op(function)
    if op is None:
        from multiprocessing import parent_process  # takes longer to import than a fit

        hint = suggest(function or "", list(OPS))
        if parent_process() is not None:
            hint = (
                " in this worker process, which started afresh: call register_function at the top "
                "of a module that it imports, outside of 'if __name__ == \"__main__\":'; or on a "
                "cluster client.run(register_function, ...)"
            )
        raise ModelError(f"there is no function {function!r}{hint}")
    return op


def sums_over_energies(op: OpDef) -> bool:
    """Whether a function is a formula with a sum over the energies."""
    return isinstance(op.own, Definition) and op.own.sums


def _parse(text: str, match: re.Match[str], params: tuple[str, ...], where: str) -> Definition:
    """The formulas of a definition; every name in them is known where it is used."""
    start = f"{where}: " if where else ""
    domain, name = match["domain"], match["name"]
    inputs = read_inputs(match["inputs"], name, domain, start)
    axis = DOMAINS[domain][2]
    roles = {axis: "the time difference" if domain == KERNEL else "the axis"}
    for role, names in (("a parameter", params), ("an input", inputs)):
        for argument in names:
            _claim(argument, role, roles, start)
    if len(params) > LIBRARY["MAX_PARAMS"]:
        raise ModelError(
            f"{start}{name} has {len(params)} parameters, {LIBRARY['MAX_PARAMS']} is the most; "
            "split it over several components"
        )
    *helpers, last = match["body"].split(";")
    lines: list[tuple[str, Formula]] = []
    parts: list[tuple[str, Formula]] = []
    for helper in helpers:
        line = _LINE.fullmatch(helper)
        if line is None:
            raise ModelError(f"{start}cannot read the line {helper.strip()!r}; write 'u = formula'")
        place = f"{where}: {line['name']}" if where else ""
        formula = parse_given(line["text"].strip(), place, domain == "energy")
        _check_names(formula, roles, domain, start)
        if domain == KERNEL and line["name"] in NAMES:
            parts.append((line["name"], formula))
            continue
        _claim(line["name"], "a line", roles, start)
        lines.append((line["name"], formula))
    value = parse_given(last.strip(), where, domain == "energy")
    _check_names(value, roles, domain, start)
    own = Definition(
        text,
        domain,
        name,
        params,
        tuple(lines),
        value,
        match["params"],
        match["doc"] or "",
        tuple(parts),
        inputs,
        (match["inputs"] or "").strip(),
    )
    if parts:
        check_parts(own, start)
    used = _used_names(own)
    if own.sums:
        _check_sums(own, start)
    for role, names in (("parameter", params), ("input", inputs)):
        unused = [argument for argument in names if argument not in used]
        if unused:
            raise ModelError(
                f"{start}the formula of {name} does not depend on its {role} {unused[0]!r}; "
                f"remove it from the {role}s, or use it"
            )
    return own


def _claim(name: str, role: str, roles: dict[str, str], start: str) -> None:
    """Takes a name that nothing else has. Raises :class:`ModelError` otherwise."""
    if name in roles:
        raise ModelError(f"{start}{name!r} is {roles[name]} already; choose another name")
    if name in CONSTANTS or name in FUNCTIONS:
        raise ModelError(f"{start}{name!r} has a meaning in formulas; choose another name")
    roles[name] = role


def _check_names(formula: Formula, roles: Mapping[str, str], domain: str, start: str) -> None:
    """Raises :class:`ModelError`, with a caret, for the first name that is not known."""
    for name, position in formula.uses:
        if name in roles:
            continue
        hint = suggest(name, list(roles))
        if name in [axis for _, _, axis in DOMAINS.values()]:
            hint = f"; the axis of a {domain} function is {DOMAINS[domain][2]!r}"
        shown = f"\n    {formula.text}\n    {' ' * position}^" if len(formula.text) <= 160 else ""
        raise ModelError(
            f"{start}the formula names {name!r}, which is no parameter, line or axis{hint}{shown}"
        )


def _used_names(own: Definition) -> set[str]:
    """The names on which the result depends."""
    if not own.sums:
        values, root = own.values
        used = values.reachable([root])
        return {name for name in (*own.params, *own.inputs) if values.input(name) in used}
    lines = dict(own.lines)
    names: set[str] = set()
    waiting = list(own.value.names)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += lines[name].names if name in lines else ()
    return names


def _check_sums(own: Definition, start: str) -> None:
    """What is summed must have a value at each energy."""
    along = {own.axis, *own.inputs}
    for name, line in own.lines:
        if _differs(line.root, along):
            along.add(name)
    for formula in (own.value, *(line for _, line in own.lines)):
        for node in postorder(formula.root):
            if not isinstance(node, Apply) or node.instruction not in SUMS.values():
                continue
            if not _differs(node.operands[0], along):
                raise ModelError(
                    f"{start}the formula of {own.name} sums what is the same at all energies; "
                    f"sum what depends on {own.axis!r}, or write a product"
                )


def _differs(node: Node, along: Collection[str]) -> bool:
    """Whether a value differs from energy to energy; `along` are the names whose values do."""
    if isinstance(node, Name):
        return node.name in along
    if isinstance(node, Number) or node.instruction == SUMS["sum"]:
        return False
    return any(_differs(operand, along) for operand in node.operands)
