"""The first model of a spectrum: peaks on a background, at what can be read off it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.components import GLP, LinBack, Offset, Shirley, fixed, free
from pyspec.io import Dataset
from pyspec.model import Model
from pyspec.model.guess import MAX_PEAKS, levels, peak_places
from pyspec.model.humps import humps, noise_of
from pyspec.model.scales import losses_last

Array = npt.NDArray[np.float64]

#: Digits of start values.
DIGITS = 4

#: A spectrum has two signs where each reaches this share of the other, or a hump stands out of the
#: noise at the other side of zero.
DIPS = 0.2

#: And where not both of its ends lie off zero by this share of the way that it reaches there.
GROUND = 0.5

#: A Shirley is worth its parameter where a spectrum falls by this share of its range.
LITTLE = 0.02

#: An edge is a step of this share of the range, between ends that are flat over this share of the
#: points: a straight line changes there by twice as much as an edge may.
STEP, EDGES = 0.3, 0.15

#: Of humps that got no peak the strongest are listed.
MOST_LISTED = 8

#: What is said of a model beside it.
DIPPED = "The spectrum dips below its background: these peaks have a negative height"
BOTH = "The spectrum goes to both sides of zero: heights are of both signs"
NONE_SEEN = (
    "No maximum within the axis stands out of the noise: a background alone. --peaks 1 puts a peak "
    "where it is highest"
)
EDGE = (
    "The spectrum begins at one level, ends at another and is flat at both: for an edge put "
    "ErfStep, AtanStep or FermiEdge of 'pyspec ops' in place of the straight line; for the losses "
    "of photoemission Offset and Shirley, which need binding energies that fall along the axis, or "
    "kinetic ones that rise (docs/conventions.md)"
)


def mean_spectrum(dataset: Dataset) -> tuple[Array, Array]:
    """(energy, mean over time) of the values that are finite, where there are any."""
    data = np.asarray(dataset.data, dtype=np.float64)
    rows = data if data.ndim == 2 else data[None, :]
    finite = np.isfinite(rows)
    count = finite.sum(axis=0)
    seen = count > 0
    means = np.where(finite, rows, 0.0).sum(axis=0)[seen] / count[seen]
    return np.asarray(dataset.axes["energy"], np.float64)[seen], means


def first_model(
    name: str, dataset: Dataset, energy: Array, spectrum: Array, n_peaks: int | None
) -> tuple[Model, list[str]]:
    """Peaks on a background, at what is read off the mean `spectrum`, with dips as peaks of
    negative height; and what to know of it. Peaks of a series have a height at each time."""
    signs = _signs(spectrum)
    notes = {1: [], 0: [BOTH], -1: [DIPPED]}[signs]
    if n_peaks is None:
        seen = _seen(_upright(spectrum, signs))
        n_peaks = min(len(seen), MAX_PEAKS)
        while energy.size < least_points(n_peaks):
            n_peaks -= 1
        notes = [*(notes if seen else [NONE_SEEN]), *_unread(energy[seen[n_peaks:]])]
    has_loss = n_peaks > 0 and signs == 1 and _falls(spectrum)
    has_loss = has_loss and losses_last(dataset.labels, energy) == ""
    if not has_loss and signs == 1 and _is_edge(spectrum):
        notes = [*(note for note in notes if note != NONE_SEEN), EDGE]
    names = [f"GLP_{k:02}" for k in range(1, n_peaks + 1)]
    start = _start(names, energy, spectrum, signs, has_loss)
    if "time" not in dataset.dims or not names:  # a fit of heights alone has nothing to vary
        return Model(name, _components(start, names, energy, has_loss)), notes
    positive = signs == 1 and bool(spectrum.min() > -LITTLE * float(np.ptp(spectrum)))
    height = free("time", positive=positive)
    return Model(name, _components(start, names, energy, has_loss, height)), notes


def _seen(upright: Array) -> list[int]:
    """Points at which peaks stand out, the strongest first: of a spectrum, or, where its slope
    hides them all, of what rises above the line between its ends."""
    found = peak_places(upright)
    return found if found else peak_places(upright - _line(upright))


def _unread(places: Array) -> list[str]:
    """What is said of humps that got no peak."""
    if places.size == 0:
        return []
    what = "1 more hump was" if places.size == 1 else f"{places.size} more humps were"
    listed = ", ".join(f"{place:.5g}" for place in places[:MOST_LISTED])
    more = ", …" if places.size > MOST_LISTED else ""
    return [f"{what} seen, at {listed}{more}: add peaks, or take a part, --select energy=FROM:TO"]


def least_points(n_peaks: int) -> int:
    """One more than parameters: two of the background, four of each peak."""
    return 4 * n_peaks + 3


def _signs(spectrum: Array) -> int:
    """1 for peaks that rise from a background, -1 for dips in it, 0 for both about zero."""
    first, last = levels(spectrum)
    by_noise = noise_of(spectrum) * math.sqrt(2.0 * math.log(spectrum.size))  # of its extremes
    above = max(float(spectrum.max()) - by_noise, 0.0)
    below = max(float(-spectrum.min()) - by_noise, 0.0)
    ground = min(abs(first), abs(last)) if first * last > 0.0 else 0.0
    reached = above if first > 0.0 else below  # by the background, if both ends are one
    weak = spectrum if above < below else -spectrum
    if (min(above, below) > DIPS * max(above, below) or _has_sign(weak)) and (
        ground < GROUND * reached
    ):
        return 0
    off = spectrum - _line(spectrum)
    rises, dips = float(off.max()) - by_noise, float(-off.min()) - by_noise
    return -1 if dips > by_noise / 2 and rises <= DIPS * dips else 1


def _has_sign(weak: Array) -> bool:
    """Whether a hump rises from zero: more than half of what stands out is above it."""
    inside = [one for one in humps(weak) if 0 < one.top < weak.size - 1]
    return any(one.smooth[one.top] > GROUND * one.prominence for one in inside)


def _is_edge(spectrum: Array) -> bool:
    """Whether it begins at one level and ends at another, and is flat at both ends."""
    first, last = levels(spectrum)
    step, end = abs(last - first), max(4, int(EDGES * spectrum.size))
    if step < STEP * float(np.ptp(spectrum)):
        return False
    ends = (levels(spectrum[:end]), levels(spectrum[-end:]))
    return all(abs(after - before) < EDGES * step / 2 for before, after in ends)


def _line(spectrum: Array) -> Array:
    """The straight line between the levels at which a spectrum begins and ends."""
    return np.linspace(*levels(spectrum), num=spectrum.size)


def _upright(spectrum: Array, signs: int) -> Array:
    """The spectrum with all of its peaks above the background."""
    return signs * spectrum if signs else np.abs(spectrum)


def _start(
    names: Sequence[str], energy: Array, spectrum: Array, signs: int, has_loss: bool
) -> dict[str, float]:
    """Start values of the backgrounds and of the peaks of these names."""
    start = {"Offset_y0": 0.0, "Shirley_pShirley": 0.0, "LinBack_m": 0.0, "LinBack_b": 0.0}
    if not names:
        slope, value = np.polyfit(energy - energy.min(), spectrum, 1)
        return start | {"LinBack_m": rounded(float(slope)), "LinBack_b": rounded(float(value))}
    places = np.linspace(energy.min(), energy.max(), num=len(names) + 2)[1:-1]
    width = float(np.clip(np.ptp(energy) / (4 * len(names)), *_widths(energy)))
    for name, place in zip(names, places, strict=True):
        start |= {f"{name}_A": 1.0, f"{name}_x0": float(place), f"{name}_F": width}
    components = _components(start, names, energy, has_loss)
    # Between peaks and dips the background is 0.
    model = Model("guess", components if signs else components[1:])
    model.set_axes(energy)
    found = model.guess(_upright(spectrum, signs))
    for name, value in found.items():
        if name.endswith("_x0"):
            start[name] = on_axis(energy, value)
        elif name.endswith("_A"):
            at = np.argmin(np.abs(energy - found[name.replace("_A", "_x0")]))
            start[name] = rounded(math.copysign(value, signs or spectrum[at]))
        else:
            start[name] = rounded(signs * value if name.startswith("LinBack") else value)
    return start


def _components(
    start: Mapping[str, float],
    names: Sequence[str],
    energy: Array,
    has_loss: bool,
    height: Any = None,
) -> list[Any]:
    """Components of these start values; with `height`, which is free at each time, that is the one
    of all peaks, and backgrounds are free too."""
    level: Any = None if height is None else free("time")
    low, high = ends_of(energy)
    narrowest, widest = _widths(energy)
    if has_loss:
        shirley = Shirley((start["Shirley_pShirley"], 0, None))
        ground = [Offset(level or start["Offset_y0"]), shirley]
    else:
        slope, value = level or start["LinBack_m"], level or start["LinBack_b"]
        ground = [LinBack(m=slope, b=value, xStart=fixed(low), xStop=fixed(high))]
    peaks = [
        GLP(
            A=height or _one_sided(start[f"{name}_A"]),
            x0=(start[f"{name}_x0"], low, high),
            F=(start[f"{name}_F"], narrowest, widest),
            m=(0.3, 0, 1),
        )
        for name in names
    ]
    return [*ground, *peaks]


def _one_sided(height: float) -> tuple[float, float | None, float | None]:
    """A height that keeps its sign: that of a line, or of a dip."""
    return (height, None, 0) if height < 0 else (height, 0, None)


def _falls(spectrum: Array) -> bool:
    """Whether a spectrum ends lower than it begins, by more than little."""
    first, last = levels(spectrum)
    return first - last > LITTLE * float(np.ptp(spectrum))


def ends_of(axis: Array) -> tuple[float, float]:
    return on_axis(axis, float(axis.min())), on_axis(axis, float(axis.max()))


def _widths(energy: Array) -> tuple[float, float]:
    """Between which widths a peak can be told from a background."""
    span = float(np.ptp(energy))
    return rounded(min(2 * step_of(energy), span / 4)), rounded(span / 2)


def step_of(axis: Array) -> float:
    return float(np.median(np.abs(np.diff(axis))))


def on_axis(axis: Array, value: float) -> float:
    """A place on an axis, to about a hundredth of a step."""
    return round(value, 2 - math.floor(math.log10(step_of(axis))))


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
