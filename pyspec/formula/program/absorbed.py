"""absorb: what is the same for a whole row is multiplied into a slope once for the row.

The slopes of ``A * exp(-((x - x0) / w) ** 2)`` share a height, signs and powers of a width. They
are gathered into one number for each slope and row, by which the points are multiplied once. The
value itself keeps its order of operations: its bits are those of the formula as it is written.
Elsewhere there is nothing to absorb. Heights are arguments of components, `classify` finds
parameters that only scale a peak, and `separable` takes traces out of the sums of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspec.formula.definitions.function import Definition
from pyspec.formula.program.encode import encode


@dataclass(frozen=True)
class Absorbed:
    """How many instructions the value and all slopes of a formula take, at each point and once for
    a row; and how many without this pass."""

    name: str
    n_slopes: int
    points: int
    rows: int
    points_without: int
    rows_without: int

    def __str__(self) -> str:
        return (
            f"{self.name}: value and {self.n_slopes} slopes take {self.points} instructions at "
            f"each point and {self.rows} for a row, without this pass {self.points_without} and "
            f"{self.rows_without}"
        )


def absorbed(own: Definition) -> Absorbed:
    """What the pass does to a definition that runs in C."""
    work = own.work(own.value)
    done, left = encode(work), encode(work, absorb=False)
    return Absorbed(
        own.name,
        len(own.params),
        len(done.code),
        len(done.row_code),
        len(left.code),
        len(left.row_code),
    )
