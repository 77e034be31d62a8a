"""Start values from a spectrum: one to four peaks that rise from a background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.calls import real
from pyspec.errors import DataError, ModelError
from pyspec.functions import reference
from pyspec.model.guess.humps import humps, smoothed
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import Component, Par, parameters_of

Array = npt.NDArray[np.float64]

#: More peaks are not told apart without knowing where they are.
MAX_PEAKS = 4

#: Peaks are read behind a Gaussian whose standard deviation is this share of their width.
CALM = 0.09

#: Shirley backgrounds settle within this many rounds.
ROUNDS = 10


def guess_values(model: ModelTree, data: npt.ArrayLike) -> dict[str, float]:
    """Start values of the free parameters that can be read off `data`, (n_energy,), or
    (n_time, n_energy) whose mean over time is read. Peaks keep the order that they have, and shapes
    that cannot be read off (m, alpha, ratio) stay.

    Raises :class:`DataError` for data that do not fit the axis, :class:`ModelError` for no peak or
    more than four.
    """
    name, values, energy = model.name, model.values, model.energy
    components = model.components
    if energy is None:
        raise DataError(f"{name} has no energy axis; give it one with set_axes(energy=...) first")
    array = real("data", data)
    if array.ndim not in (1, 2) or array.shape[-1] != energy.size or energy.size < 5:
        raise DataError(
            f"data of shape {array.shape} do not fit the energy axis of {energy.size} points; "
            "give one spectrum, or spectra as (n_time, n_energy), of at least 5 points"
        )
    if not np.isfinite(array).all():
        raise DataError("the data have values that are not finite; guess from a part without them")
    spectrum = array.mean(axis=0) if array.ndim == 2 else array
    order = np.argsort(energy)
    peaks = [
        part for part in components if part.op.kind == "PEAK" and {"A", "x0"} <= {*part.op.params}
    ]
    if not 1 <= len(peaks) <= MAX_PEAKS:
        raise ModelError(
            f"{name} has {len(peaks)} peaks, and guess reads one to {MAX_PEAKS}; set the start "
            "values with set(name, value)"
        )
    starts, ground = _background(components, energy, spectrum)
    axis, above = energy[order], (spectrum - ground)[order]
    places = _peaks(axis, above, len(peaks))
    ranked = sorted(peaks, key=lambda part: values[f"{part.name}_x0"])
    for component, (x0, height, fwhm) in zip(ranked, sorted(places), strict=True):
        starts.update(_shape(component, values, x0, height, fwhm))
    pars = {par.name: par for par in parameters_of(components)}
    return {
        key: float(np.clip(value, par.min, par.max))
        for key, value in starts.items()
        if _is_free(par := pars[key])
    }


def _is_free(par: Par) -> bool:
    return par.vary and par.formula is None


def _background(
    components: Sequence[Component], energy: Array, spectrum: Array
) -> tuple[dict[str, float], Array]:
    """Values of the backgrounds and their sum, (n_energy,)."""
    from scipy.ndimage import gaussian_filter1d  # heavy: imported by the first guess

    smooth = gaussian_filter1d(spectrum, max(1.0, energy.size / 200))
    first, last = levels(spectrum)
    by_function = {
        component.function: component.name
        for component in components
        if component.op.kind != "PEAK"
    }
    starts: dict[str, float] = {}
    if "LinBack" in by_function:
        rises = energy[-1] > energy[0]
        low, high = (first, last) if rises else (last, first)
        name, span = by_function["LinBack"], float(np.ptp(energy))
        offset = 0.0
        if "Offset" in by_function:
            offset = starts[f"{by_function['Offset']}_y0"] = 0.0
        starts |= {f"{name}_m": (high - low) / span, f"{name}_b": low - offset}
        return starts, low + (high - low) * (energy - energy.min()) / span
    floor = last if "Shirley" in by_function else float(smooth.min())
    if "Offset" in by_function:
        starts[f"{by_function['Offset']}_y0"] = floor
    else:
        floor = 0.0
    ground = np.full(energy.size, floor)
    if "Shirley" not in by_function or first <= last:
        return starts, ground
    for _ in range(ROUNDS):  # each round knows the peaks a little better
        sums = np.cumsum(np.maximum(spectrum - ground, 0.0)[::-1])[::-1]
        share = (first - last) / sums[0] if sums[0] > 0 else 0.0
        ground = floor + share * sums
    starts[f"{by_function['Shirley']}_pShirley"] = share
    return starts, ground


def levels(spectrum: Array) -> tuple[float, float]:
    """Where a spectrum begins and ends: medians of a twentieth of its points."""
    edge = max(2, spectrum.size // 20)
    ends = np.sort(np.stack([spectrum[:edge], spectrum[-edge:]]), axis=1)  # medians take 20 µs
    first, last = (ends[:, (edge - 1) // 2] + ends[:, edge // 2]) / 2
    return float(first), float(last)


def peak_places(spectrum: npt.ArrayLike) -> list[int]:
    """Points of a spectrum, (n_energy,), where peaks stand out of it, the strongest first; none for
    noise alone. Its ends are none."""
    values = np.asarray(spectrum, np.float64)
    return [hump.top for hump in humps(values) if 0 < hump.top < values.size - 1]


def _peaks(axis: Array, above: Array, count: int) -> list[tuple[float, float, float]]:
    """(place, height, full width at half maximum) of `count` peaks: the prominent ones, then
    shoulders, which are the highest remains once those are subtracted."""
    from scipy.ndimage import gaussian_filter1d

    rest = gaussian_filter1d(above, max(1.0, above.size / 200))
    tall, taken, peaks = humps(above), np.zeros_like(above), []
    for k in range(count):
        if k < len(tall):
            top, seen = _calmed(axis, above, tall[k].top, tall[k].smooth - taken, taken)
        else:
            seen = rest - taken
            top = int(np.argmax(seen))
        fwhm = _width(axis, seen, top)
        height = max(float(seen[top]), 1e-3 * float(np.ptp(above)))
        peaks.append((float(axis[top]), height, fwhm))
        taken += height * np.exp(-4 * np.log(2) * ((axis - axis[top]) / fwhm) ** 2)
    return peaks


def _calmed(axis: Array, above: Array, top: int, seen: Array, taken: Array) -> tuple[int, Array]:
    """A peak and the spectrum, convolved with a Gaussian that broadens the peak by a fiftieth. At
    the least smoothing that shows a peak, noise makes it higher and narrower."""
    step = float(np.ptp(axis)) / (axis.size - 1)
    points = _width(axis, seen, top) / step
    near = slice(max(0, top - int(points / 4)), top + int(points / 4) + 1)
    calm = smoothed(above, max(1.0, CALM * points)) - taken
    return near.start + int(np.argmax(calm[near])), calm


def _width(axis: Array, values: Array, top: int) -> float:
    """Twice the shorter way from the top to half of its height: the side without a neighbour."""
    half = values[top] / 2.0
    below = np.flatnonzero(values < half)
    sides = [
        abs(axis[side[at]] - axis[top])
        for side, at in ((below[below < top], -1), (below[below > top], 0))
        if side.size
    ]
    step = float(np.ptp(axis)) / (axis.size - 1)
    return float(np.clip(2.0 * min(sides, default=np.ptp(axis) / 8), 2.0 * step, np.ptp(axis) / 2))


def _shape(
    component: Component, values: Mapping[str, float], x0: float, height: float, fwhm: float
) -> dict[str, float]:
    """The parameters of one peak of this place, height and width."""
    op = component.op
    now = {par.argument: values[par.name] for par in component.parameters}
    positive = {op.params[g.param] for g in op.guards if g.other == 0 and not g.relative}
    units = op.units or ("x",) * len(op.params)  # a function of one's own has none
    widths = [
        name
        for name, unit in zip(op.params, units, strict=True)
        if name in positive and unit == "x"
    ]
    own = {par.argument for par in component.parameters if _is_free(par)}
    size = max([now[width] for width in widths], default=0.0)
    if size > 0 and own.intersection(widths):
        reach = np.linspace(-8, 8, 1601) * size
        curve = _curve(op.name, op.params, now, reach)
        wide = reach[curve >= curve.max() / 2]
        factor = fwhm / max(float(np.ptp(wide)), 1e-2 * size)
        now |= {width: now[width] * factor for width in own.intersection(widths)}
        size *= factor
    top = float(_curve(op.name, op.params, now, np.linspace(-2, 2, 401) * (size or fwhm)).max())
    now |= {"x0": x0, "A": height / top if top > 0 else height}
    return {f"{component.name}_{argument}": now[argument] for argument in ("A", "x0", *widths)}


def _curve(function: str, params: Sequence[str], now: Mapping[str, float], x: Array) -> Array:
    """The peak of height parameter 1 at place 0."""
    numbers = {**now, "A": 1.0, "x0": 0.0}
    return np.asarray(reference(function)(x, *(numbers.get(param, 0.0) for param in params)))
