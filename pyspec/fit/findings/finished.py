"""What to doubt in a finished fit: where its lines, onsets, backgrounds and noise are not what they
seem."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.fit.diagnose import MIXED, no_mixing
from pyspec.fit.findings.direction import backwards
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.noise import counts, roots
from pyspec.fit.part import FitPart

Array = npt.NDArray[np.float64]

#: The unit that models may be in, a thousand times that of the axis, which may have none.
THOUSANDFOLD = {"": "eV", "meV": "eV", "eV": "keV"}


def doubts(
    problem: FitPart,
    theta: Array,
    values: Mapping[str, float],
    sides: Mapping[str, str],
    chisqr: float | None,
) -> list[Finding]:
    """Findings about lines and onsets outside of the axes, and a Shirley that runs the wrong way.
    Also about data that look like counts, and a sigma that is the root of the data. `sides` maps a
    parameter to the bound that it ended at. `chisqr` belongs to the fit at `theta`; it is None if
    it is not known yet.
    """
    found: list[Finding] = []
    outline, measurement, energy = problem.outline, problem.measurement, problem.model.energy
    if energy is not None and not outline.is_time_model:
        first, last = float(energy[0]), float(energy[-1])
        low, high = min(first, last), max(first, last)
        for component, place in outline.lines:
            if not low <= values[place] <= high:
                unit = measurement.units.get("energy", "")
                found.append(_outside(component, place, values[place], (low, high), unit))
        for name in outline.mixings:
            if not -MIXED <= values[name] <= 1.0 + MIXED:
                found.append(no_mixing(name, values[name]))
        if outline.losses:
            found += backwards(problem, values, sides)
    if outline.onsets:
        found += _onsets(problem, values)
    if outline.is_time_model:
        found += _without_constant(problem, values)

    def known() -> float:
        return float(problem.chisqr_at(theta)) if chisqr is None else chisqr

    look = counts if measurement.weight is None else roots
    return found + look(measurement, len(problem.names), known)


def _outside(
    component: str, place: str, value: float, ends: tuple[float, float], unit: str
) -> Finding:
    low, high = ends
    numbers: dict[str, object] = {"value": value, "low": low, "high": high}
    if unit in THOUSANDFOLD and low <= 1e3 * value <= high:
        numbers |= {"axis": unit or "meV", "stated": bool(unit), "model": THOUSANDFOLD[unit]}
        return Finding(Kind.WRONG_UNIT, (component, place), numbers)
    return Finding(Kind.OUTSIDE_AXIS, (component, place), {"axis": "energy", **numbers})


def _onsets(problem: FitPart, values: Mapping[str, float]) -> list[Finding]:
    """Free onsets at times that the data do not have."""
    seen = problem.axis("time")
    if seen is None:
        return []
    low, high = sorted((float(seen[0]), float(seen[-1])))
    found = []
    for name in problem.outline.onsets:
        par, value = problem.parameters.get(name), values.get(name, low)
        if par is None or not par.vary or low <= value <= high:
            continue
        numbers = {"axis": "time", "value": value, "low": low, "high": high}
        found.append(Finding(Kind.OUTSIDE_AXIS, (name,), numbers))
    return found


def _without_constant(problem: FitPart, values: Mapping[str, float]) -> list[Finding]:
    """Finds a trace that is far from 0 even before the first onset, while its laws are 0 there. An
    example is a parameter of slices with a law that describes its motion alone."""
    measurement, times = problem.measurement, problem.axis("time")
    data = measurement.data
    if type(data) is not np.ndarray or data.ndim != 1 or times is None:
        return []  # of a series the constant may be a spectrum, and an onset a curve
    laws = [one for one in problem.model.components if one.op.kind == "DYNAMICS"]
    if not all(is_late(law.op) for law in laws):
        return []
    onsets = [values[p.name] for law in laws for p in law.parameters if p.argument == "t0"]
    if not onsets:
        return []
    seen = measurement.kept_of(measurement.window(data).astype(np.float64))
    times = measurement.kept_of(times)
    if not seen.size or not times[0] < min(onsets) or not np.abs(seen).min() > np.ptp(seen):
        return []
    return [Finding(Kind.NO_CONSTANT, (), {"value": float(np.median(seen))})]


def is_late(law: OpDef) -> bool:
    """Whether a law of the table is 0 before its onset: it jumps there, or is 0 at all times.
    Kernels and instruments keep it so."""
    in_table = law.name in OPS and not law.external
    return in_table and (not law.params or "t0" in dict(law.jumps))
