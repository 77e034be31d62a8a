"""The parameters of a fit: where they started, and what the fit says of them.

They are columns of numbers by name. Objects of lmfit are made of them where somebody asks a result
for these, or where a method of lmfit runs. Only free and fixed parameters are fitted. Expressions
stay pyspec's own: lmfit never sees one, so nothing is ever evaluated by asteval. Followers are
added after the fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspec.plan.start import Limits, Start

#: A parameter nearer to a bound than this share of its size, or of the interval of its bounds where
#: that is smaller, ended at the bound.
AT_BOUND = 1e-6


@dataclass
class FitParameters:
    """All parameters of one fit, in columns by name, in the order of the model.

    Attributes
    ----------
    value : of free and fixed ones, and after a fit of the followers
    began : where the free and fixed ones started; nobody changes it, fits of one model share it
    limits : of the free ones, shared, too
    start : what the free ones share with other fits, in the order of theta; else None
    """

    value: dict[str, float]
    began: Mapping[str, float]
    limits: Mapping[str, Limits]
    start: Start | None = field(default=None, compare=False, repr=False)

    def sizes_of(self, names: Sequence[str]) -> list[float]:
        """The units of free parameters, see :mod:`pyspec.fit.units`."""
        if self.start is not None:
            return self.start.units
        return [self.limits[name].unit for name in names]


def at_bound(value: float, low: float, high: float, start: float) -> str:
    """ "min" or "max" where `value` lies on that bound, else ""."""
    size = max(abs(value), abs(start))
    for side, bound in (("min", low), ("max", high)):
        if math.isfinite(bound) and abs(value - bound) <= near_bound(bound, high - low, size):
            return side
    return ""


def near_bound(bound: float, interval: float, size: float) -> float:
    """Within this distance a value of some size lies on a bound. The interval of the bounds counts
    where it is smaller than the values: a wide one says nothing of them."""
    return AT_BOUND * min(interval, max(size, abs(bound)))
