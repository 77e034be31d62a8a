"""absorb: what is the same for a whole row is multiplied into a slope once for the row.

The slopes of ``A * exp(-((x - x0) / w) ** 2)`` share a height, signs and powers of a width. They
are gathered into one number for each slope and row, by which the points are multiplied once. The
value itself keeps its order of operations: its bits are those of the formula as it is written.
Elsewhere there is nothing to absorb. Heights are arguments of components, `classify` finds
parameters that only scale a peak, and `separable` takes traces out of the sums of a fit.
"""

from __future__ import annotations

from pyspec.formula.definitions.function import Definition
from pyspec.formula.program.encode import encode


def absorbed(own: Definition) -> str:
    """How many instructions the value and all slopes of a definition that runs in C take, at each
    point and once for a row; and how many without this pass."""
    work = own.work(own.value)
    done, left = encode(work), encode(work, absorb=False)
    return (
        f"{own.name}: value and {len(own.params)} slopes take {len(done.code)} instructions at "
        f"each point and {len(done.row_code)} for a row, without this pass {len(left.code)} and "
        f"{len(left.row_code)}"
    )
