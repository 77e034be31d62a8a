"""The tables of the compiled library as Python sees them: ops, rpn, layout and status.

:func:`parse_tables` reads the text that the library exports. A row that is added to a table is so
known to every part of pyspec at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

#: Kinds of functions that read the spectrum summed before them.
FED_KINDS = ("SPECTRUM_FED", "ROW_FED")

#: Kinds of functions that an instrument makes of others.
DERIVED_KINDS = ("RESPONSE", "RESOLVED")

_PARAM = re.compile(
    r"(?:(?P<least>[-+]?[\d.][^<>=]*)(?P<from><=|<))?(?P<name>[A-Za-z]\w*)"
    r"(?:(?P<comparison>>=|<=|>|<)(?P<other>[^<>=]+)|=(?P<default>.+))?"
)


@dataclass(frozen=True)
class Guard:
    """One bound of an op's domain: ``params[param] comparison other``.

    `other` is the index of another parameter (`relative`), or a number.
    """

    param: int
    comparison: str
    other: float
    relative: bool


class OwnFormula(Protocol):
    """A function with its own program, from :mod:`pyspec.formula.definitions`: by formula,
    a state of a kinetic scheme, or a measured instrument and its response to a law.

    `response(name)` is a law's row as the instrument `name` shows it, or an instrument's row for
    the law `name`.
    """

    @property
    def text(self) -> str: ...

    @property
    def words(self) -> npt.NDArray[np.int64]: ...

    def response(self, name: str, /) -> OpDef | None: ...

    def __call__(
        self, x: npt.NDArray[np.float64], /, *params: npt.ArrayLike
    ) -> npt.NDArray[np.float64]: ...


@dataclass(frozen=True)
class OpDef:
    """Everything that Python knows about a function: a row of ops.def, or a user's definition.

    `jumps` pairs each parameter that moves a jump over the samples with the jump's height, a
    formula; of a kernel with the width of one whose edge is at 1, or where that does not say all
    with a formula. `reads` pairs parameters with
    what the slope by them depends on, where that is not the usual;
    :func:`pyspec.functions.slopes.interacting` has all of it. `units` has one of each parameter, x
    that of the axis and y that of what the function adds to, or one in brackets as a definition
    writes it; :mod:`pyspec.model.units` puts words in. `own` is the definition of a function
    by formula, of a state of a kinetic scheme, or of a measured instrument. `later` pairs
    parameters with what they are of a law that has run for a time s behind its onset, formulas; it
    is empty where the law does not go on as itself.
    """

    index: int
    name: str
    kind: str
    domain: str
    params: tuple[str, ...]
    n_required: int
    guards: tuple[Guard, ...]
    linear: tuple[str, ...]
    jumps: tuple[tuple[str, str], ...] = ()
    reads: tuple[tuple[str, tuple[str, ...]], ...] = ()
    scratch: int = 0
    tolerance: float = float("inf")
    formula: str = ""
    units: tuple[str, ...] = ()
    own: OwnFormula | None = None
    later: tuple[tuple[str, str], ...] = ()

    @property
    def package(self) -> str:
        """Module of :mod:`pyspec.functions` that holds the reference."""
        by_kind = {
            "KERNEL": "convolution",
            "IRF": "response",
            "RESPONSE": "response",
            "RESOLUTION": "resolution",
            "RESOLVED": "resolution",
        }
        by_domain = {"ENERGY": "energy", "TIME": "time", "AUX": "profile"}
        return by_kind.get(self.kind) or by_domain[self.domain]

    @property
    def external(self) -> bool:
        """Whether the function is a Python callable that a user registered: it has no row."""
        return self.index == -1

    @property
    def numbered(self) -> bool:
        """Whether even the first component of this kind carries a number (GLP_01)."""
        return self.kind not in ("BACKGROUND", *FED_KINDS, "KERNEL", "IRF", "RESOLUTION")

    @property
    def derived(self) -> bool:
        """Whether it is what an instrument makes of another function: not for models."""
        return self.kind in DERIVED_KINDS

    @property
    def spectrum_fed(self) -> bool:
        """Whether the function reads the spectrum summed before it."""
        return self.kind in FED_KINDS

    def default_bounds(self, param: str) -> tuple[float, float]:
        """(min, max) that the table gives a parameter: the closure of its domain."""
        low, high = -np.inf, np.inf
        for guard in self.guards:
            if self.params[guard.param] == param and not guard.relative:
                if guard.comparison.startswith(">"):
                    low = max(low, guard.other)
                else:
                    high = min(high, guard.other)
        return low, high


@dataclass(frozen=True)
class RpnDef:
    """One row of rpn.def: an instruction of an expression program.

    `symbol` is how a formula writes it, `aliases` are other names for the same. `partials` holds
    for each operand the text of the derivative by it, in a, b, c and the result v.
    """

    index: int
    name: str
    arity: int
    symbol: str
    aliases: tuple[str, ...]
    value: str
    partials: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """All tables of one library."""

    ops: dict[str, OpDef] = field(default_factory=dict)
    rpn: dict[str, RpnDef] = field(default_factory=dict)
    #: Rows of fused.def, which only programs of formulas have: name and number of operands.
    fused: dict[str, int] = field(default_factory=dict)
    #: Instructions of formulas that can pass a result on to the next one (FORMULA_TILED).
    tiled: set[str] = field(default_factory=set)
    statuses: dict[int, tuple[str, str]] = field(default_factory=dict)
    dtypes: dict[str, np.dtype[np.void]] = field(default_factory=dict)
    fields: list[tuple[str, str]] = field(default_factory=list)
    constants: dict[str, int] = field(default_factory=dict)


def parse_params(text: str) -> tuple[tuple[str, ...], int, tuple[Guard, ...]]:
    """Reads a list of parameters, "A, x0, SD>0, 0<=m<=1, y0=0": names, how many are required,
    bounds."""
    matches = [_PARAM.fullmatch(part.strip()) for part in text.split(",") if part.strip()]
    if None in matches:
        raise ValueError(f"ops.def: cannot read the parameters {text!r}")
    params = [match for match in matches if match is not None]
    names = tuple(match["name"] for match in params)
    guards = []
    for index, match in enumerate(params):
        if match["least"]:
            above = match["from"].replace("<", ">")
            guards.append(Guard(index, above, float(match["least"]), False))
        if match["comparison"]:
            other, relative = match["other"].strip(), match["other"].strip() in names
            value = float(names.index(other)) if relative else float(other)
            guards.append(Guard(index, match["comparison"], value, relative))
    n_required = sum(match["default"] is None for match in params)
    return names, n_required, tuple(guards)


def param_name(text: str) -> str:
    """The name in one part of a list of parameters, such as "0 <= m [eV] <= 1"."""
    match = _PARAM.match("".join(text.partition("[")[0].split()))
    return match["name"] if match else text.strip()


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _entries(text: str) -> list[tuple[str, str]]:
    """Reads "t0: A + y0; b:" as pairs of a name and what stands behind it."""
    pairs = [part.partition(":") for part in text.split(";") if part.strip()]
    return [(name.strip(), rest.strip()) for name, _, rest in pairs]


def _parse_op(index: int, row: list[str]) -> OpDef:
    name, kind, domain, params, units, linear, jumps, later, reads, *numbers, formula = row
    names, n_required, guards = parse_params(params)
    return OpDef(
        index=index,
        name=name,
        kind=kind,
        domain=domain,
        params=names,
        n_required=n_required,
        guards=guards,
        linear=_names(linear),
        jumps=tuple(_entries(jumps)),
        later=tuple(_entries(later)),
        reads=tuple((param, _names(text)) for param, text in _entries(reads)),
        scratch=int(numbers[0]),
        tolerance=float(numbers[1]),
        formula=formula,
        units=_names(units),
    )


def parse_tables(text: str) -> Tables:
    """Reads the text of ``pyspec_describe``: one tab-separated row a line, its table first."""
    tables = Tables()
    sizes: dict[str, int] = {}
    rows: list[list[str]] = []
    for line in text.splitlines():
        table, *row = line.split("\t")
        if table == "OP":
            tables.ops[row[0]] = _parse_op(len(tables.ops), row)
        elif table == "RPN":
            name, arity, symbols, value, *partials = row
            symbol, *aliases = symbols.split() or [""]
            slopes = tuple(partials[: int(arity)])
            place = len(tables.rpn)
            tables.rpn[name] = RpnDef(
                place, name, int(arity), symbol, tuple(aliases), value, slopes
            )
        elif table == "FUSED":
            tables.fused[row[0]] = int(row[1])
        elif table == "TILED":
            tables.tiled.add(row[0].removeprefix("RPN_").removeprefix("FORMULA_"))
        elif table == "STATUS":
            tables.statuses[int(row[1])] = (row[0], row[2])
        elif table == "CONSTANT":
            tables.constants[row[0].removeprefix("PYSPEC_")] = int(row[1])
        elif table == "STRUCT":
            sizes[row[0]] = int(row[1])
        elif table == "FIELD":
            rows.append(row)
            tables.fields.append((row[0], row[1]))
    formats = {"i32": np.int32, "i64": np.int64, "f64": np.float64, "ptr": np.uintp}
    for struct, size in sizes.items():
        own = [row for row in rows if row[0] == struct]
        tables.dtypes[struct] = np.dtype(
            {
                "names": [row[1] for row in own],
                "formats": [formats[row[2]] for row in own],
                "offsets": [int(row[3]) for row in own],
                "itemsize": size,
            }
        )
    return tables
