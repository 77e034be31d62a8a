"""Where a formula jumps along its axis: for each parameter the values at which a comparison with a
sample changes.

A comparison ``a < b`` changes where a - b is 0. Where that is linear in the parameter, its zero is
known for each sample. ``abs(u) < b`` changes at two, where u is b and where u is -b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.formula.definitions.traits import copy_of
from pyspec.formula.program.derive import differentiate
from pyspec.formula.program.values import COMPARISONS, Values, evaluated

if TYPE_CHECKING:
    from pyspec.formula.definitions.function import Definition

Array = npt.NDArray[np.float64]


class Edges(NamedTuple):
    """Where one parameter moves jumps of a formula.

    Attributes
    ----------
    reads : the other parameters that the places depend on
    pure : whether the value depends on the parameter by comparisons alone
    pairs : for each place its numerator, what is compared where the parameter is 0, and the slope
        by the parameter
    name : the parameter
    is_plain : whether each comparison has one place for each sample
    """

    reads: frozenset[str]
    pure: bool
    pairs: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...]
    name: str
    is_plain: bool

    def at(self, values: Mapping[str, Any]) -> Array:
        """The values of the parameter, one for each comparison and sample; `values` are the axis,
        the inputs and the other parameters by name. Samples without one are left out."""
        zero = {**values, self.name: 0.0}
        with np.errstate(all="ignore"):
            crossings = [np.ravel(-rest(zero) / slope(zero)) for rest, slope in self.pairs]
        places = np.concatenate(crossings)
        return np.asarray(places[np.isfinite(places)], np.float64)


@lru_cache(maxsize=256)
def edges_of(own: Definition, name: str) -> Edges | None:
    """Where a parameter moves jumps of a formula; None where that cannot be said, or it moves
    none."""
    values, root = own.values
    table = copy_of(values)
    at = table.input(name)
    along = table.depends([table.input(sample) for sample in (own.axis, *own.inputs)])
    pairs, used, is_plain = [], set(), True
    for number in sorted(table.reachable([root]) & along):
        value = table[number]
        if value.instruction not in COMPARISONS or at not in table.reachable(value.operands):
            continue
        if value.instruction in ("EQ", "NE"):
            return None
        differences = list(_differences(table, value.operands))
        is_plain &= len(differences) == 1
        for difference in differences:
            (slope,) = differentiate(table, difference, [at])
            if at in table.reachable([slope]) or table.number(slope) == 0:
                return None
            used |= table.reachable([difference])
            pairs.append((evaluated(table, difference), evaluated(table, slope)))
    if not pairs:
        return None
    (slope,) = differentiate(table, root, [at])
    reads = frozenset(param for param in own.params if param != name and table.input(param) in used)
    return Edges(reads, table.number(slope) == 0, tuple(pairs), name, is_plain)


def _differences(table: Values, operands: Sequence[int]) -> Iterator[int]:
    """What is 0 where two values meet."""
    for this, other in (operands, operands[::-1]):
        if table[this].instruction == "ABS":
            (inner,) = table[this].operands
            yield table.apply("SUB", inner, other)
            yield table.apply("ADD", inner, other)
            return
    yield table.apply("SUB", *operands)
