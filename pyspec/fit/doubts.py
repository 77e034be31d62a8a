"""What to doubt in a model before a fit, and in what a fit found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.fit.components import spectrum_components
from pyspec.fit.roots import roots
from pyspec.model import Component, Measurement, Model, Par
from pyspec.model.inputs import function_of
from pyspec.model.outline import Outline, is_idle
from pyspec.model.scales import losses_last
from pyspec.model.source import source_of

Array = npt.NDArray[np.float64]

#: Whole numbers whose scatter about the fit is that of counts, within this factor, are counts.
LIKE_COUNTS = 2.0

#: What is said of them.
COUNTS = (
    "the data look like counts: whole numbers that scatter by their roots; fit them as such, "
    'file.set_noise("poisson") or Measurement(loss="poisson"), for values without bias and '
    "right errors"
)

#: The share of a spectrum that counts as its end, and the rise from end to end, as a share of the
#: highest value, that is one.
END, RISE = 0.05, 0.02

#: A mixing of a line this far outside of 0 to 1 is none.
MIXED = 0.5

#: The rise from end to end in its standard errors that is one, however small, of one spectrum
#: beside its lines, and the fewest points of an end whose scatter tells these.
SURE, FEWEST = 5.0, 5

#: Backgrounds that lie on one side of a line, whose direction counts.
OF_LOSSES = ("Shirley", "Tougaard")

#: Parameters of a line that say how high and where it is; the others make its shape.
PLACE = ("A", "x0")

#: What has its tail on the other side, where the asymmetry of a line ended at 0.
OTHER_SIDE = {
    ("DS", "alpha"): "its tail lies below x0, that of DSBinding above, as of binding energies",
    ("DSBinding", "alpha"): "its tail lies above x0, that of DS below, as of kinetic energies",
    ("GLSAsym", "a"): "with a of the other sign its tail lies on the other side",
    ("SkewGauss", "b"): "with b of the other sign its tail lies on the other side",
    ("Mahan", "alpha"): "with xi of the other sign its tail lies on the other side",
}

#: Laws that are 0 before their onset t0; kernels and instruments among them keep it so.
LATE = ("none", "stepFun", "linFun", "expFun", "sinFun", "sinDivX")

#: The unit that models may be in, a thousand times that of the axis, which may have none.
THOUSANDFOLD = {"": "eV", "meV": "eV", "eV": "keV"}


def refuse_idle(model: Model, parameters: Mapping[str, Par]) -> None:
    """Raises :class:`ModelError` for a component that reads what stands below it, where nothing
    does: a Shirley at the end of a model, a kernel at the end of its dynamics."""
    groups: list[Sequence[Component]] = [model.components]
    for par in parameters.values():
        if par.dynamics is not None:
            groups.append(par.dynamics.components)
    for components in groups:
        if not is_idle(components):
            continue
        last = components[-1]
        fed = last.op.spectrum_fed
        does = "reads" if fed else "convolves"
        above = next((c for c in components if not c.op.spectrum_fed), None) if fed else None
        above = above or components[0]
        remedy = "add what it is to read below it"
        if above is not last:
            remedy = f"move it above {above.name}" + (f" ({above.where})" if above.where else "")
        raise ModelError(
            f"{last.where}: {last.name}: {does} what stands below it, and nothing does; {remedy}"
        )


def check_registered(model: Model, parameters: Mapping[str, Par]) -> None:
    """Calls every registered function once, with the values of the model.

    Raises :class:`ModelError` where it fails, or returns another shape than that of the axis.
    """
    axis = model.time if model.is_time_model else model.energy
    groups = [(model.components, axis)]
    for par in parameters.values():
        if par.dynamics is not None:
            groups.append((par.dynamics.components, model.time))
    for components, x in groups:
        for component in components:
            if component.op.external and x is not None:
                _call(component, x, model)


def _call(component: Component, x: Array, model: Model) -> None:
    values = model.values
    numbers = [values[par.name] for par in component.parameters]
    place = f"{component.where}: {component.name}"
    try:
        with np.errstate(all="ignore"):
            shape = np.shape(function_of(component.op, model.inputs)(x, *numbers))
    except Exception as error:  # a function of the user's may raise anything
        raise ModelError(
            f"{place}: the registered function {component.op.name} fails at the start values: "
            f"{type(error).__name__}: {error}"
        ) from error
    if shape not in ((), x.shape):
        raise ModelError(
            f"{place}: the registered function {component.op.name} returns shape {shape} for an "
            f"axis of shape {x.shape}; return one value for each point of the axis"
        )


def doubts(
    model: Model,
    outline: Outline,
    parameters: Mapping[str, Par],
    values: Mapping[str, float],
    measurement: Measurement,
    chisqr: Callable[[], float],
    sides: Any,
) -> list[str]:
    """Sentences about lines and onsets outside of the axes, a Shirley that runs the wrong way, data
    that look like counts, and a sigma that is their root. `outline` and `parameters` are those of
    the model; `chisqr` gives chi² of the fit, `sides` name → bound that it ended at.
    """
    found: list[str] = []
    energy = model.energy
    if energy is not None and not outline.is_time_model:
        ends = outline.ends  # of the last axis of energies, which never changes in place
        if ends is None or ends[0] is not energy:
            first, last = float(energy[0]), float(energy[-1])
            ends = outline.ends = energy, min(first, last), max(first, last)
        _, low, high = ends
        for component, place in outline.lines:
            if not low <= values[place] <= high:
                unit = measurement.units.get("energy", "")
                found.append(_outside(component, place, values[place], (low, high), unit))
        for name in outline.mixings:
            if not -MIXED <= values[name] <= 1.0 + MIXED:
                found.append(no_mixing(name, values[name]))
        if outline.fed:
            found += _backwards(model, outline, values, measurement, sides)
    if outline.onsets:
        found += _onsets(model, outline, parameters, values, measurement)
    if outline.is_time_model:
        found += _without_constant(model, values, measurement)
    if measurement.weight is None:
        return found + _counts(measurement, parameters, chisqr)
    return found + roots(measurement, _n_free(parameters), chisqr)


def no_mixing(name: str, value: float) -> str:
    """What to write in place of a mixing that is none, such as the percents of CasaXPS."""
    return (
        f"{name} = {value:.6g} is no mixing of a line: 0 is a Gaussian, 1 a Lorentzian, and 0.3 "
        "what CasaXPS calls 30; start it there, with bounds, [0.3, True, 0, 1]"
    )


def _outside(component: str, place: str, value: float, ends: tuple[float, float], unit: str) -> str:
    low, high = ends
    remedy = "check its start, or give it bounds"
    if unit in THOUSANDFOLD and low <= 1e3 * value <= high:
        model, axis = THOUSANDFOLD[unit], unit or "meV"
        seems = f"the axis is in {axis}" if unit else "the axis seems to be in meV"
        given = "" if unit else f"units={{'energy': '{axis}'}}, "
        remedy = (
            f"{seems} and the model in {model}: read(..., {given}to='{model}') converts the axis"
        )
    return (
        f"{component} lies outside of the energy axis: {place} = {value:.6g} is not in "
        f"[{low:g}, {high:g}]; {remedy}"
    )


def _onsets(
    model: Model,
    outline: Outline,
    parameters: Mapping[str, Par],
    values: Mapping[str, float],
    measurement: Measurement,
) -> list[str]:
    """Free onsets at times that the data do not have."""
    time, data = model.time, measurement.data
    if time is None or data is None:
        return []
    window = measurement.columns if len(data.shape) == 1 else measurement.rows
    seen = time[slice(*(window or (None, None)))]
    low, high = sorted((float(seen[0]), float(seen[-1])))
    found = []
    for name in outline.onsets:
        par, value = parameters.get(name), values.get(name, low)
        if par is None or not par.vary or low <= value <= high:
            continue
        where = f"after the last time of the data, {high:g}: what it starts is not seen"
        if value < low:
            where = (
                f"before the first time of the data, {low:g}: it and heights are hardly told apart"
            )
        found.append(
            f"{name} = {value:.6g}: the onset lies {where}; start it within, give it bounds, or "
            "hold it fixed"
        )
    return found


def _backwards(
    model: Model,
    outline: Outline,
    values: Mapping[str, float],
    measurement: Measurement,
    sides: Mapping[str, str],
) -> list[str]:
    if measurement.data is None or model.energy is None:
        return []
    against = losses_last(measurement.labels, model.energy)
    if against is not None:
        return [
            f"{name}: {against} along the axis, and this background sums up losses that stand "
            "before their line; reverse both, energy[::-1] and data[..., ::-1]"
            for name in outline.fed
            if against and name.startswith(OF_LOSSES)
        ]
    names = [name for name in outline.fed if values[name] < 0.0 or sides.get(name) == "min"]
    if not names:
        return []
    means, is_alone = _means(measurement), model.time is None
    kept = ~np.isnan(means)
    spectrum, least = means[kept], RISE * float(np.ptp(means[kept]))
    if is_alone:  # the tail of a line near one end rises towards it, too
        peaks, _ = spectrum_components(model, dict(values), measurement.columns)
        spectrum = spectrum - np.sum([*peaks.values(), np.zeros(means.size)], axis=0)[kept]
    n = max(1, int(END * spectrum.size))
    first, last = spectrum[:n], spectrum[-n:]
    rise = float(last.mean() - first.mean())
    if n >= FEWEST and is_alone:
        least = min(least, SURE * float(np.sqrt((first.var() + last.var()) / (n - 1))))
    if not rise > least:
        return []
    end = float(model.energy[slice(*(measurement.columns or (None, None)))][-1])
    return [
        f"{name} ended at {values[name]:.3g}: the data rise towards {end:g}, and this background "
        "rises towards the other end of the axis; reverse both, energy[::-1] and data[..., ::-1]"
        for name in names
    ]


def _without_constant(
    model: Model, values: Mapping[str, float], measurement: Measurement
) -> list[str]:
    """A trace that is far from 0 at all times, before the first onset too, by laws that are 0
    there: as a parameter of slices is, whose law was written for its motion alone."""
    data, time = measurement.data, model.time
    if type(data) is not np.ndarray or data.ndim != 1 or time is None:
        return []  # of a series the constant may be a spectrum, and an onset a curve
    laws = [one for one in model.components if one.op.kind == "DYNAMICS"]
    if any(law.op.name not in LATE for law in laws):
        return []
    onsets = [values[p.name] for law in laws for p in law.parameters if p.argument == "t0"]
    if not onsets:
        return []
    seen, times = measurement.window(data).astype(np.float64), measurement.window(time)
    if measurement.keep is not None:
        kept = measurement.window(measurement.keep)
        seen, times = seen[kept], times[kept]
    if not seen.size or not times[0] < min(onsets) or not np.abs(seen).min() > np.ptp(seen):
        return []
    return [
        f"the values lie about {np.median(seen):.4g} at all times, and these laws are 0 before "
        f"their onset: write constFun: {{A: [{np.median(seen):.4g}, True]}} above them"
    ]


def _means(measurement: Measurement) -> npt.NDArray[np.float64]:
    """The mean of each column of the window, NaN where every point is masked."""
    if source_of(measurement.data) is not None:
        return measurement.survey.means
    assert measurement.data is not None
    data = np.asarray(measurement.window(measurement.data), dtype=np.float64)
    if measurement.keep is not None:
        data = np.where(measurement.window(measurement.keep), data, np.nan)
    data = data.reshape(-1, data.shape[-1])
    means = np.full(data.shape[-1], np.nan)
    seen = ~np.isnan(data).all(axis=0)
    means[seen] = np.nanmean(data[:, seen], axis=0)
    return means


def _counts(
    measurement: Measurement, parameters: Mapping[str, Par], chisqr: Callable[[], float]
) -> list[str]:
    """Whole numbers that scatter about the fit by their roots: the variance of counts is their
    expectation, so that the mean square of the residual is near the mean of the data."""
    data = measurement.data
    if measurement.loss == "poisson" or data is None:
        return []
    if isinstance(data, np.ndarray) and data.dtype.kind == "f":
        # The first value, and then the first row, tell most data apart from counts.
        begin = (measurement.rows or (0,))[0], (measurement.columns or (0,))[0]
        if not float(data.item(begin[-data.ndim :])).is_integer():
            return []
    n_points, mean = _whole_numbers(measurement)
    if not mean > 0.0:
        return []
    scatter = chisqr() / max(n_points - _n_free(parameters), 1) / mean
    if not 1.0 / LIKE_COUNTS <= scatter <= LIKE_COUNTS:
        return []
    return [COUNTS]


def _n_free(parameters: Mapping[str, Par]) -> int:
    return sum(par.vary and par.formula is None for par in parameters.values())


def _whole_numbers(measurement: Measurement) -> tuple[int, float]:
    """How many points count, and their mean, where all are whole numbers and none is negative;
    else zeros."""
    if type(measurement.data) is not np.ndarray and source_of(measurement.data) is not None:
        found = measurement.survey
        return (found.n_points, found.mean) if found.is_whole and found.low >= 0.0 else (0, 0.0)
    assert measurement.data is not None
    data = np.asarray(measurement.window(measurement.data))
    if data.dtype.kind == "f" and not _whole(data[0] if data.ndim == 2 else data):
        return 0, 0.0
    kept = slice(None) if measurement.keep is None else measurement.window(measurement.keep)
    data = np.asarray(data[kept], dtype=np.float64).ravel()
    if not _whole(data) or data.min(initial=0.0) < 0.0 or not data.any():
        return 0, 0.0
    return data.size, float(data.mean())


def _whole(data: npt.NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.isfinite(data)) and np.all(data == np.round(data)))


def at_the_bound(
    name: str, model: Model, side: str, limit: float, gain: float, chisqr: float, variance: float
) -> str:
    """A sentence about a parameter that ended at a bound, and what a wider one would gain; less
    than the variance of a point is nothing."""
    text = f"{name} ended at its bound ({side} {limit:g}); a wider one would "
    if gain < variance:
        return f"{text}gain nothing that the noise does not explain"
    text += f"lower χ² by about {gain:.2g} of {chisqr:.4g}, estimated from the slope there"
    owner = next((c for c in model.components if name in {p.name for p in c.parameters}), None)
    if owner is None:
        return text
    par = next(par for par in owner.parameters if par.name == name)
    if limit in owner.op.default_bounds(par.argument):
        text += f"; {owner.op.name} allows no wider one"
    other_side = OTHER_SIDE.get((owner.op.name, par.argument)) if limit == 0.0 else None
    if other_side:
        return f"{text}; {other_side}"
    if owner.op.kind == "PEAK" and par.argument not in PLACE:
        text += "; another line shape may fit better"
    return text
