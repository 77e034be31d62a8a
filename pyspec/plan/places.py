"""Where the model of a fit jumps, as values of its free parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.formula import Definition, edges_of
from pyspec.plan.jumping import TIMES, Jump, samples_of
from pyspec.plan.scheduled import ScheduledPlan

Array = npt.NDArray[np.float64]

#: Places nearer than this, in units of the largest, are one.
SAME = 1e-12

#: Samples of which all differences are formed.
MOST_SAMPLES = 1500

#: Where a comparison has the last digit of a place, this share of an interval stays away from it.
ASIDE = 2.0**-30


@dataclass(frozen=True)
class Places:
    """The values at which one free parameter moves a jump over a sample.

    Attributes
    ----------
    parts : each gives some of the values, from all free parameters
    reads : places in theta of the other free parameters that the values depend on
    pinned : the model depends on this parameter and on those by its jumps alone
    is_open : an interval may belong to either of its ends, or these are known to rounding
    is_rough : nothing better is known than the samples themselves
    is_smooth : between jumps the model depends on the parameter along energies or auxiliary points,
        as on the place of a line with two heights
    """

    parts: tuple[Callable[[Array], Array], ...]
    reads: frozenset[int] = frozenset()
    pinned: bool = False
    is_open: bool = False
    is_rough: bool = False
    is_smooth: bool = False
    _cached: list[Array] = field(default_factory=list, repr=False, compare=False)

    def at(self, theta: Array) -> Array:
        """The values, rising."""
        if self._cached:
            return self._cached[0]
        values = np.unique(np.concatenate([part(theta) for part in self.parts]))
        if self.is_open and values.size:
            gap = SAME * float(np.abs(values[[0, -1]]).max())
            values = values[np.diff(values, prepend=-np.inf) > gap]
        values.flags.writeable = False
        if not self.reads:
            self._cached.append(values)
        return values

    def inside(self, places: Array, k: int, low: float, high: float) -> tuple[float, float]:
        """Bounds within interval number k of `places`: it is open below and closed above."""
        begin, end = ends_of(places, k)
        aside = 0.0
        if self.is_open:
            width = min(end - begin, abs(end if np.isfinite(end) else begin) or 1.0)
            aside = float(2.0 ** np.floor(np.log2(ASIDE * width))) if width > 0.0 else 0.0
        narrow = max(low, float(np.nextafter(begin, np.inf)), begin + aside), min(high, end - aside)
        if narrow[0] <= narrow[1]:
            return narrow
        return max(low, float(np.nextafter(begin, np.inf))), min(high, end)

    def joined(self, other: Places) -> Places:
        """Those of both."""
        return Places(
            (*self.parts, *other.parts),
            self.reads | other.reads,
            self.pinned and other.pinned,
            self.is_open or other.is_open,
            self.is_rough or other.is_rough,
            self.is_smooth or other.is_smooth,
        )

    def of_file(self, gather: Sequence[int]) -> Places:
        """The same in a joint fit: `gather` are the places of these free parameters there."""
        columns = np.array(gather, dtype=np.intp)

        def there(part: Callable[[Array], Array]) -> Callable[[Array], Array]:
            return lambda theta: part(theta[columns])

        reads = frozenset(int(columns[k]) for k in self.reads)
        return replace(self, parts=tuple(map(there, self.parts)), reads=reads, _cached=[])


def number_of(places: Array, value: float) -> int:
    """The number of the interval (low, high] between places that a value lies in."""
    return int(np.searchsorted(places, value, side="left"))


def ends_of(places: Array, k: int) -> tuple[float, float]:
    """Low and high of interval number k; open ends are infinite."""
    low = float(places[k - 1]) if k > 0 else -np.inf
    return low, float(places[k]) if k < places.size else np.inf


def interval(places: Array, value: float) -> tuple[float, float]:
    """The interval (low, high] of a value between places."""
    return ends_of(places, number_of(places, value))


def differences(times: Array) -> Array:
    """The distances between any two samples, rising, equal ones once."""
    all_of_them = np.sort(np.abs(times[:, None] - times).ravel())
    kept = np.diff(all_of_them, prepend=-np.inf) > SAME * all_of_them[-1]
    return np.asarray(all_of_them[kept])


def jump_places(plan: ScheduledPlan, fixed: Mapping[str, float] | None = None) -> dict[str, Places]:
    """Where a plan's model may jump, by free parameter; `fixed` are values of fixed parameters that
    differ from those of the plan.

    Only parameters that are themselves an onset, an edge or a width; laws that start without a jump
    are not told apart here, see :func:`pyspec.passes.jump_parameters`.
    """
    by_name: dict[str, Places | None] = {}
    places: Places | None
    for jump in plan.jumps:
        op, name = plan.op(jump.code), plan.opt_param_names[jump.row]
        if op.kind == "KERNEL":
            times = samples_of(plan, jump)
            try:
                factor = float(jump.where)
            except ValueError:
                continue  # its edge does not lie where the width says, as of some formulas
            if times.size > MOST_SAMPLES:
                continue
            places = _samples(factor * differences(times))
        elif isinstance(op.own, Definition):
            places = _of_formula(plan, jump, op, fixed or {})
        else:
            places = _samples(samples_of(plan, jump))
        before = by_name.get(name, places)
        by_name[name] = None if before is None or places is None else before.joined(places)
    return {name: places for name, places in by_name.items() if places is not None}


def _samples(samples: Array, *, is_rough: bool = False) -> Places:
    return Places((lambda theta: samples,), is_rough=is_rough)


def _of_formula(
    plan: ScheduledPlan, jump: Jump, op: OpDef, fixed: Mapping[str, float]
) -> Places | None:
    """Those of a parameter of a formula. Of a law they are at least the times, of another function
    None where they are not known."""
    own = op.own
    assert isinstance(own, Definition)
    samples, is_law = samples_of(plan, jump), jump.along == TIMES
    rows = dict(zip(own.params, jump.rows, strict=False))
    edges = edges_of(own, jump.argument)
    n_free, n_fixed = len(plan.opt_param_names), len(plan.fixed_names)
    read_rows = {} if edges is None else {name: rows.get(name, -1) for name in edges.reads}
    if edges is None or not all(0 <= row < n_free + n_fixed for row in read_rows.values()):
        return _samples(samples, is_rough=True) if is_law else None
    values: dict[str, Array | np.float64] = {**plan.inputs_along(jump.along), own.axis: samples}
    for name, row in read_rows.items():
        if row >= n_free:
            k = row - n_free
            values[name] = np.float64(fixed.get(plan.fixed_names[k], plan.fixed[k]))
    free = {name: row for name, row in read_rows.items() if row < n_free}
    pure = _is_pure(plan, own, jump.argument, jump.row)
    if not (is_law or pure or (edges.is_plain and not free)):
        return None  # smooth for the most part: its slopes say more than a search
    pinned = pure and bool(free) and all(_is_pure(plan, own, *entry) for entry in free.items())

    def part(theta: Array) -> Array:
        return edges.at({**values, **{name: theta[row] for name, row in free.items()}})

    is_smooth = not (is_law or pure)
    return Places((part,), frozenset(free.values()), pinned, is_open=True, is_smooth=is_smooth)


def _is_pure(plan: ScheduledPlan, own: Definition, name: str, row: int) -> bool:
    """Whether the model depends on a free parameter of a formula by its comparisons alone."""
    edges = edges_of(own, name)
    if edges is None or not edges.pure:
        return False
    n_known = len(plan.opt_param_names) + len(plan.fixed_names)
    computed = plan.row_theta[plan.row_theta_indptr[n_known] :]
    return row not in computed.tolist()
