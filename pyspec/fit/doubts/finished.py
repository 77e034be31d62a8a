"""What to doubt in a finished fit: where its lines, onsets and noise are not what they seem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pyspec._library import OPS, OpDef
from pyspec.fit.doubts.direction import backwards
from pyspec.fit.doubts.noise import counts, roots
from pyspec.model import Measurement, Model, Par
from pyspec.model.outline import Outline

#: A mixing of a line this far outside of 0 to 1 is none.
MIXED = 0.5

#: The unit that models may be in, a thousand times that of the axis, which may have none.
THOUSANDFOLD = {"": "eV", "meV": "eV", "eV": "keV"}


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
        if outline.losses:
            found += backwards(model, outline, values, measurement, sides)
    if outline.onsets:
        found += _onsets(model, outline, parameters, values, measurement)
    if outline.is_time_model:
        found += _without_constant(model, values, measurement)
    if measurement.weight is None:
        return found + counts(measurement, parameters, chisqr)
    return found + roots(measurement, parameters, chisqr)


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


def _without_constant(
    model: Model, values: Mapping[str, float], measurement: Measurement
) -> list[str]:
    """A trace that is far from 0 at all times, before the first onset too, by laws that are 0
    there: as a parameter of slices is, whose law was written for its motion alone."""
    data, time = measurement.data, model.time
    if type(data) is not np.ndarray or data.ndim != 1 or time is None:
        return []  # of a series the constant may be a spectrum, and an onset a curve
    laws = [one for one in model.components if one.op.kind == "DYNAMICS"]
    if not all(is_late(law.op) for law in laws):
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


def is_late(law: OpDef) -> bool:
    """Whether a law of the table is 0 before its onset: it jumps there, or is 0 at all times.
    Kernels and instruments keep it so."""
    in_table = law.name in OPS and not law.external
    return in_table and (not law.params or "t0" in dict(law.jumps))
