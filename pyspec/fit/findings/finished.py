"""Findings of a finished fit about its lines, onsets, backgrounds, kernels and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.counts import negative
from pyspec.fit.diagnose import MIXED, no_mixing
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.noise import counts, roots
from pyspec.fit.part import FitPart
from pyspec.fit.results.components import spectrum_components
from pyspec.model import Component, Measurement
from pyspec.model.data.energy_scale import losses_last
from pyspec.model.data.source import source_of
from pyspec.model.data.windows import slice_of

Array = npt.NDArray[np.float64]

#: The unit that models may be in, a thousand times that of the axis, which may have none.
THOUSANDFOLD = {"": "eV", "meV": "eV", "eV": "keV"}

#: END is the share of a spectrum that counts as its end. RISE is the smallest rise from end to end
#: that counts, as a share of the highest value.
END, RISE = 0.05, 0.02

#: SURE is the rise from end to end, in its standard errors, that always counts in one spectrum
#: beside its lines; a value so many standard errors away from 0 is not 0. FEWEST is the smallest
#: number of points at an end to estimate these errors from.
SURE, FEWEST = 5.0, 5

#: A quadrature on the samples needs a kernel at least as wide as so many steps.
MIN_STEPS = 2.0


def doubts(
    problem: FitPart,
    theta: Array,
    values: Mapping[str, float],
    sides: Mapping[str, str],
    chisqr: float | None,
) -> list[Finding]:
    """Findings about lines and onsets outside of the axes, and a Shirley that runs the wrong way.
    Also about data that look like counts, a sigma that is the root of the data, negative counts,
    and amplitudes that the data do not determine. `sides` maps a parameter to the bound that it
    ended at. `chisqr` belongs to the fit at `theta`; it is None if it is not known yet.
    """
    findings: list[Finding] = []
    outline, measurement, energy = problem.outline, problem.measurement, problem.model.energy
    if energy is not None and not outline.is_time_model:
        low, high = sorted((energy.item(0), energy.item(-1)))
        for component, place in outline.lines:
            if not low <= values[place] <= high:
                unit = measurement.units.get("energy", "")
                findings.append(_outside(component, place, values[place], (low, high), unit))
        for name in outline.mixings:
            if not -MIXED <= values[name] <= 1.0 + MIXED:
                findings.append(no_mixing(name, values[name]))
        if outline.losses:
            findings += backwards(problem, values, sides)
    if outline.onsets:
        findings += _onsets(problem, values)
    if outline.is_time_model:
        findings += _without_constant(problem, values)

    def chisqr_of_fit() -> float:
        return float(problem.chisqr_at(theta)) if chisqr is None else chisqr

    look = counts if measurement.weight is None else roots
    findings += look(measurement, len(problem.names), chisqr_of_fit) + negative(problem, theta)
    if isinstance(problem, FreePart):
        with np.errstate(all="ignore"):
            lost = problem.executor.undetermined(theta, problem.fixed)
        axis = {"energy": "energies", "time": "times"}[problem.executor.designer.axis]
        for name, count in lost.items():
            numbers = {"count": count, "axis": axis}
            findings.append(Finding(Kind.AMPLITUDES_UNDETERMINED, (name,), numbers))
    return findings


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
    ends = {"axis": "time", "low": low, "high": high}
    return [
        Finding(Kind.OUTSIDE_AXIS, (name,), {"value": values[name], **ends})
        for name in problem.outline.onsets
        if name in problem.names and not low <= values[name] <= high
    ]


def _without_constant(problem: FitPart, values: Mapping[str, float]) -> list[Finding]:
    """Finds a trace that is far from 0 even before the first onset, while its laws are 0 there. An
    example is a parameter of slices with a law that describes its motion alone."""
    measurement, times = problem.measurement, problem.axis("time")
    data, weight = measurement.data, measurement.weight
    if type(data) is not np.ndarray or data.ndim != 1 or times is None:
        return []  # of a series the constant may be a spectrum, and an onset a curve
    laws = [component for component in problem.model.components if component.op.kind == "DYNAMICS"]
    onsets = [values[p.name] for law in laws for p in law.parameters if p.argument == "t0"]
    if not onsets or not all(is_late(law.op) for law in laws):
        return []
    seen = measurement.kept_of(measurement.window(data).astype(np.float64))
    is_early = measurement.kept_of(times) < min(onsets)
    if not is_early.any():
        return []
    if weight is None:
        is_far = np.abs(seen).min() > np.ptp(seen)
    else:
        weights = measurement.kept_of(measurement.of_points(weight))
        is_far = np.abs(seen * weights)[is_early].min() > SURE
    early = float(np.median(seen[is_early]))
    return [Finding(Kind.NO_CONSTANT, (), {"value": early})] if is_far else []


def is_late(law: OpDef) -> bool:
    """Whether a law of the table is 0 before its onset: it jumps there, or is 0 at all times.
    Kernels and instruments keep it so."""
    in_table = law.name in OPS and not law.external
    return in_table and (not law.params or "t0" in dict(law.jumps))


def backwards(
    problem: FitPart, values: Mapping[str, float], sides: Mapping[str, str]
) -> list[Finding]:
    """Findings on Shirley and Tougaard backgrounds that ended at 0 or below, or whose axis says
    of itself that it runs against the losses."""
    model, measurement, outline = problem.model, problem.measurement, problem.outline
    assert model.energy is not None
    against = losses_last(measurement.labels, model.energy)
    if against is not None:
        return [
            Finding(Kind.BACKWARD_AXIS, (name,), {"axis": against})
            for name in outline.losses
            if against
        ]
    names = [name for name in outline.losses if values[name] < 0.0 or sides.get(name) == "min"]
    if not names:
        return []
    means, is_alone = _means(measurement), model.time is None
    kept = ~np.isnan(means)
    spectrum, least = means[kept], RISE * float(np.ptp(means[kept]))
    if is_alone:  # the tail of a line near one end rises towards it, too
        peaks, _ = spectrum_components(model, values, measurement)
        spectrum = spectrum - np.sum([*peaks.values(), np.zeros(means.size)], axis=0)[kept]
    n = max(1, int(END * spectrum.size))
    first, last = spectrum[:n], spectrum[-n:]
    rise = float(last.mean() - first.mean())
    if n >= FEWEST and is_alone:
        least = min(least, SURE * float(np.sqrt((first.var() + last.var()) / (n - 1))))
    if not rise > least:
        return []
    end = float(model.energy[slice_of(measurement.columns)][-1])
    return [
        Finding(Kind.BACKWARD_AXIS, (name,), {"value": values[name], "end": end}) for name in names
    ]


def _means(measurement: Measurement) -> npt.NDArray[np.float64]:
    """The mean of each column of the window, NaN where every point is masked."""
    if source_of(measurement.data) is not None:
        return measurement.survey.means
    assert measurement.data is not None
    data = np.asarray(measurement.window(measurement.data), dtype=np.float64)
    keep = measurement.keep
    hidden = np.ma.nomask if keep is None else ~measurement.window(keep)
    rows = np.ma.array(data, mask=hidden).reshape(-1, data.shape[-1])
    return np.asarray(rows.mean(axis=0).filled(np.nan))


def cautions(problem: FitPart, values: Mapping[str, float]) -> list[Finding]:
    """Findings about convolutions narrower than two time steps, at these values of the
    parameters."""
    model, time = problem.model, problem.model.time
    findings: list[Finding] = []
    if time is None or time.size < 2:
        return findings
    groups = [model.components]
    if not problem.outline.is_time_model:
        moved = (problem.parameters.get(name) for name in problem.outline.sampled)
        groups = [par.dynamics.components for par in moved if par is not None and par.dynamics]
    for laws in groups:
        for index, kernel in enumerate(laws):
            if kernel.op.kind != "KERNEL" or kernel.op.own is not None:
                continue
            place = kernel.parameters[0].name
            width, step = values[place], _step(laws[index + 1 :], values, time)
            if width < MIN_STEPS * step:
                numbers = {"width": width, "step": step}
                findings.append(Finding(Kind.KERNEL_UNDERSAMPLED, (place,), numbers))
    return findings


def _step(laws: Sequence[Component], values: Mapping[str, float], time: Array) -> float:
    """The step where the laws set in; the smallest one where that is not known."""
    steps = time[1:] - time[:-1]
    onsets = [
        values[par.name]
        for law in laws
        if not law.subcycle
        for par in law.parameters
        if par.argument == "t0" and time[0] <= values[par.name] <= time[-1]
    ]
    if not onsets:
        return float(steps.min())
    places = np.clip(np.searchsorted(time, onsets, side="right") - 1, 0, steps.size - 1)
    return float(steps[places].max())
