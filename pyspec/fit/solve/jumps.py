"""Parameters that move a jump over the samples: an onset without an instrument, a box's width.

Between two samples chi² is smooth in such a parameter, or does not depend on it at all; from one
interval between samples to the next it jumps, and no derivative says so. Hence the intervals are
tried: neighbours first, then ever farther, each with a whole fit inside of it. What the data say
of the parameter is the interval, not a Gaussian error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pyspec.plan import ScheduledPlan

Array = npt.NDArray[np.float64]

#: Differences of samples nearer than this, in units of the largest, are one.
SAME = 1e-12

#: Samples of which all differences are formed.
MOST_SAMPLES = 1500


def jump_places(plan: ScheduledPlan) -> dict[str, Array]:
    """Where a plan's model may jump: free parameter → the values, rising, at which it does.

    Only parameters that are themselves an onset or a width; laws that start without a jump are
    not told apart here, see :func:`pyspec.passes.jump_parameters`.
    """
    found: dict[str, list[Array]] = {}
    for sub, row, jump, level in plan.jumps:
        axis = int(plan.dyn_sub_axis[sub])
        times = plan.time if axis == 0 else plan.dyn_time_axes[axis - 1]
        assert times is not None
        if plan.op(int(plan.dyn_sub_func_id[sub])).kind == "DYNAMICS":
            found.setdefault(plan.opt_param_names[row], []).append(
                plan.inputs_along(1)[level] if level else times
            )
        elif times.size <= MOST_SAMPLES and _is_number(jump):
            places = float(jump) * differences(times)
            found.setdefault(plan.opt_param_names[row], []).append(places)
    return {name: np.unique(np.concatenate(places)) for name, places in found.items()}


def _is_number(text: str) -> bool:
    """Whether a jump of a kernel lies where the width says: not so for some formulas."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def differences(times: Array) -> Array:
    """The distances between any two samples, rising, equal ones once."""
    all_of_them = np.sort(np.abs(times[:, None] - times).ravel())
    kept = np.diff(all_of_them, prepend=-np.inf) > SAME * all_of_them[-1]
    return np.asarray(all_of_them[kept])


class Solved(Protocol):
    """A fit inside one interval."""

    theta: Array

    @property
    def chisqr(self) -> float: ...


#: Fits from theta within bounds (lower, upper).
Fit = Callable[[Array, Array, Array], Solved]


def interval(places: Array, value: float) -> tuple[float, float]:
    """The interval (low, high] of a value between places; open ends are infinite."""
    k = int(np.searchsorted(places, value, side="left"))
    low = float(places[k - 1]) if k > 0 else -np.inf
    high = float(places[k]) if k < places.size else np.inf
    return low, high


def _candidates(places: Array, at: int, low: float, high: float) -> Iterator[int]:
    """Intervals near number `at`, then farther, that meet the bounds."""
    offset, step = 1, 1
    while offset <= places.size:
        for k in (at - offset, at + offset):
            if 0 <= k <= places.size:
                begin = places[k - 1] if k > 0 else -np.inf
                end = places[k] if k < places.size else np.inf
                if end >= low and begin < high:
                    yield k
        offset, step = offset + step, max(step, offset // 2)


def _inside(places: Array, k: int, low: float, high: float) -> tuple[float, float]:
    """Bounds within interval number k: it is open below and closed above."""
    begin = np.nextafter(places[k - 1], np.inf) if k > 0 else -np.inf
    end = places[k] if k < places.size else np.inf
    return max(low, float(begin)), min(high, float(end))


def search(
    first: Solved,
    fit: Fit,
    lower: Array,
    upper: Array,
    jumps: Mapping[int, Array],
    noise: float,
) -> Solved:
    """The best fit over the intervals of every jump parameter, begun from a fit.

    `jumps` holds the places by the number of the parameter. A fit is better if it lowers chi² by
    more than `noise`.
    """
    best, changed = first, True
    while changed:
        changed = False
        for index, places in jumps.items():
            better = _search_one(best, fit, lower, upper, index, places, jumps, noise)
            changed |= better is not best and len(jumps) > 1
            best = better
    return best


def _search_one(
    best: Solved,
    fit: Fit,
    lower: Array,
    upper: Array,
    index: int,
    places: Array,
    jumps: Mapping[int, Array],
    noise: float,
) -> Solved:
    again = True
    while again:
        again = False
        at = int(np.searchsorted(places, best.theta[index], side="left"))
        for k in _candidates(places, at, float(lower[index]), float(upper[index])):
            low, high = frozen(best.theta, lower, upper, jumps)
            low[index], high[index] = _inside(places, k, lower[index], upper[index])
            if not low[index] <= high[index]:
                continue
            start = best.theta.copy()
            start[index] = middle(low[index], high[index], best.theta[index])
            trial = fit(start, low, high)
            if trial.chisqr < best.chisqr - noise:
                best, again = trial, True
                break
    return best


def frozen(
    theta: Array, lower: Array, upper: Array, jumps: Mapping[int, Array]
) -> tuple[Array, Array]:
    """The bounds, with every jump parameter kept in the interval that it is in."""
    low, high = lower.copy(), upper.copy()
    for index, places in jumps.items():
        k = int(np.searchsorted(places, theta[index], side="left"))
        low[index], high[index] = _inside(places, k, lower[index], upper[index])
    return low, high


def middle(low: float, high: float, value: float) -> float:
    """A value to start from within bounds: their middle, or the nearest where one is infinite."""
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return float(min(max(value, low), high))
