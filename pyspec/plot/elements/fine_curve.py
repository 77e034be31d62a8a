"""The curve of a fit between the samples: on an axis with points between those of the data.

On a coarse or uneven axis a line through the values at the samples cuts corners. Sums over the
samples (a Shirley, a kernel such as gaussCONV) and inputs that are arrays are known at the samples
alone. Straight lines connect them, as in :meth:`pyspec.FitResult.predict`. Curves that do not agree
with the fit at the samples, or cannot be evaluated elsewhere, are drawn through the samples.
Residuals are always those at the samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.fit import FitResult, SliceResults
from pyspec.fit.ending import Ending
from pyspec.fit.results.coarse import drawn
from pyspec.fit.results.components import spectrum_components
from pyspec.fit.results.moving import Moving, moving_parameters
from pyspec.fit.results.prediction import predict
from pyspec.model import Measurement
from pyspec.model.sampling import terms
from pyspec.plot.protocols import Fit
from pyspec.plot.view import View

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Parts = tuple[dict[str, Array], dict[str, Array]]
Result = TypeVar("Result")

#: Points along the whole axis at least, and steps between two samples at least.
POINTS, STEPS = 600, 4

#: Curves have no more points than these.
MANY = 10_000

#: An axis of more samples is fine enough.
FINE = 1500

#: The largest map that is evaluated for the sake of its traces.
MOST = 2_000_000

#: A curve agrees with the fit to this part of its span at the samples.
AGREES = 1e-6

#: Errors that functions of a user may raise on another axis than that of the data.
_RAISED = (PyspecError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True)
class Curves:
    """The curves of one spectrum or trace on a common axis `x`: fit, start or None, and the
    components by name; `samples` are the values of all that is drawn at the samples of the data."""

    x: Array
    fit: Array
    start: Array | None
    peaks: dict[str, Array]
    grounds: dict[str, Array]
    samples: Array


def between(axis: Array) -> tuple[Array, Ints] | None:
    """(an axis with points between those of `axis`, the places of these on it); None where they
    are close enough, or one alone."""
    if not 1 < axis.size <= FINE:
        return None
    lengths = np.abs(np.diff(axis))
    share = np.ceil(POINTS * lengths / lengths.sum())
    steps = np.maximum(share, max(STEPS, -(-POINTS // (2 * lengths.size)))).astype(np.int64)
    parts = [_interval(a, b, n) for a, b, n in zip(axis[:-1], axis[1:], steps, strict=True)]
    places = np.cumsum([0, *(part.size for part in parts)])
    return np.concatenate([*parts, axis[-1:]]), places


def _interval(begin: float, end: float, steps: int) -> Array:
    """Points from `begin` on, before `end`; over decades some that are even on a logarithmic axis
    too."""
    points = np.linspace(begin, end, steps, endpoint=False)
    if begin * end > 0 and not 1 / 3 < begin / end < 3:
        points = np.union1d(points, np.geomspace(begin, end, steps, endpoint=False)[1:])
        points = points if begin < end else points[::-1]
        points = points[(points - begin) * (points - end) < 0]
        points = np.concatenate([[begin], points])
    return np.asarray(points)


def curves_of(result: FitResult, seen: View) -> Curves:
    """The curves of the fit of one spectrum or trace."""
    window = slice(seen.begin, seen.begin + seen.energy.size)
    parts: Parts = ({}, {}) if result.is_trace else result.components(whole=True)
    peaks, grounds = ({name: curve[window] for name, curve in part.items()} for part in parts)
    ground = sum(grounds.values(), np.zeros(seen.energy.size))
    samples = np.concatenate([seen.fit, ground, *(ground + peak for peak in peaks.values())])
    own = Curves(seen.energy, seen.fit, seen.start, peaks, grounds, samples)
    finer = between(seen.energy)
    if finer is None:
        step = slice(None, None, -(-seen.energy.size // MANY))
        start = None if own.start is None else own.start[step]
        peaks = {name: curve[step] for name, curve in peaks.items()}
        grounds = {name: curve[step] for name, curve in grounds.items()}
        return Curves(own.x[step], own.fit[step], start, peaks, grounds, samples)
    x, places = finer
    fine = _tried(lambda: _curves_at(result, seen, x, parts, samples))
    if fine is None:
        return own
    pairs = [(fine.fit, own.fit), *_pairs(fine.peaks, peaks), *_pairs(fine.grounds, grounds)]
    if fine.start is not None and own.start is not None:
        pairs.append((fine.start, own.start))
    return fine if all(_agree(curve[places], other) for curve, other in pairs) else own


def _curves_at(result: FitResult, seen: View, x: Array, whole: Parts, samples: Array) -> Curves:
    start = None
    if seen.start is not None:
        start = _at(result, x, [result.start[name] for name in result.problem.names])
    parts: Parts = ({}, {}) if result.is_trace else _components_at(result, x, whole)
    return Curves(x, _at(result, x, result.theta), start, *parts, samples)


def _at(result: FitResult, x: Array, theta: npt.ArrayLike) -> Array:
    axes = (None, x) if result.is_trace else (x, None)
    return predict(result.problem, Ending.at(np.asarray(theta, np.float64)), *axes).value


def _components_at(result: FitResult, x: Array, whole: Parts) -> Parts:
    """Peaks and backgrounds; those that read the samples are interpolated, `whole` are all of them
    on the axis of the model."""
    model, values = result.problem.model, result.values
    assert model.energy is not None
    first = terms(model, x, None)[0]
    exact: Parts = ({}, {})
    if first.energy is None:
        exact = spectrum_components(first.model, values, Measurement())
    order = slice(None, None, -1) if model.energy[-1] < model.energy[0] else slice(None)
    parts: Parts = ({}, {})
    for own, fine, into in zip(whole, exact, parts, strict=True):
        for name, curve in own.items():
            line = fine.get(name)
            into[name] = np.interp(x, model.energy[order], curve[order]) if line is None else line
    return parts


def traces_of(result: Fit, seen: View, columns: list[int]) -> tuple[Array, Array]:
    """(times, (n_times, n_columns)) the fit at some energies over time."""
    assert seen.time is not None
    own = seen.fit[:, columns]
    if not isinstance(result, FitResult) or drawn(result) is not result:
        return seen.time, own
    at = _free_traces_at if result.problem.free is not None else _traces_at
    x, curves = _finer(seen.time, own.T, lambda x: at(result, seen, columns, x))
    return x, curves.T


def _finer(axis: Array, own: Array, at: Callable[[Array], Array | None]) -> tuple[Array, Array]:
    """(axis, curves) with points between the samples, where the curves of `at` agree with `own`
    (n_curves, n_points) at the samples; else the samples."""
    finer = between(axis)
    if finer is None:
        return axis, own
    x, places = finer
    curves = _tried(lambda: at(x))
    if curves is None:
        return axis, own
    curves = np.where(np.isnan(own).all(axis=1, keepdims=True), np.nan, curves)
    return (x, curves) if _agree(curves[:, places], own) else (axis, own)


def _traces_at(result: FitResult, seen: View, columns: list[int], x: Array) -> Array | None:
    model = result.problem.model
    assert model.energy is not None
    if model.energy.size * x.size > MOST:
        return None
    chosen, back = np.unique(columns, return_inverse=True)
    energy = seen.energy[chosen]
    return predict(result.problem, Ending.at(result.theta), energy, x).value[:, back].T


def _free_traces_at(result: FitResult, seen: View, columns: list[int], x: Array) -> Array | None:
    first = (result.measurement.columns or (0, 0))[0]
    return _free_at(result, np.asarray(columns) + seen.begin - first, x, by_energy=True)


def _free_at(result: FitResult, groups: Ints, x: Array, *, by_energy: bool) -> Array | None:
    """(n_groups, n_x) a fit whose amplitudes are free, `by_energy` or by time, at some of these;
    None where the others are free, or the axis is too long."""
    problem = result.problem.free
    assert problem is not None
    executor = problem.executor
    if executor.by_energy != by_energy or executor.designer.along.size * x.size > MOST:
        return None
    amplitudes = executor.solve(result.theta, problem.fixed).amplitudes
    design, _ = executor.elsewhere(result.theta, problem.fixed, x)
    own = groups if design.basis.shape[1] > 1 else np.zeros_like(groups)
    value = np.einsum("gk,kgx->gx", amplitudes[groups], design.basis[:, own])
    return np.asarray(value + design.rest[:, own].sum(axis=0))


def spectra_of(result: Fit, seen: View, rows: Ints) -> tuple[Array, Array]:
    """(energies, (n_rows, n_energies)) the fit of some spectra of a series."""
    assert seen.time is not None
    own, times = seen.fit[rows], seen.time[rows]
    if isinstance(result, SliceResults):
        return _finer(seen.energy, own, lambda x: _slices_at(result, times, x))
    if drawn(result) is not result:
        return seen.energy, own
    at = _free_spectra_at if result.problem.free is not None else _spectra_at
    return _finer(seen.energy, own, lambda x: at(result, times, x))


def _spectra_at(result: FitResult, times: Array, x: Array) -> Array | None:
    time = result.problem.model.time
    assert time is not None
    if time.size * x.size > MOST:
        return None
    return predict(result.problem, Ending.at(result.theta), x, times).value


def _free_spectra_at(result: FitResult, times: Array, x: Array) -> Array | None:
    problem = result.problem.free
    assert problem is not None
    groups = np.searchsorted(problem.executor.designer.along, times)
    return _free_at(result, groups, x, by_energy=False)


def _slices_at(result: SliceResults, times: Array, x: Array) -> Array:
    """The fits of the slices at these times; NaN where there is none."""
    curves = np.full((times.size, x.size), np.nan)
    for into, time in zip(curves, times.tolist(), strict=True):
        fit = result[int(np.argmin(np.abs(result.time - time)))].result
        if fit is not None:
            into[:] = _at(fit, x, fit.theta)
    return curves


def moving_of(result: FitResult) -> tuple[Moving | None, Moving | None]:
    """(the parameters that move at the samples, those between them too); the same twice where they
    are known at the samples alone."""
    own = drawn(result).moving()
    if own is None or not own.values or drawn(result) is not result:
        return own, own
    finer = between(own.time)
    if finer is None:
        return own, own
    x, places = finer
    fine = _tried(lambda: _moving_at(result, x))
    if fine is None:
        return own, own
    pairs = [(fine.values[name][places], trace) for name, trace in own.values.items()]
    return own, fine if all(_agree(curve, other) for curve, other in pairs) else own


def _moving_at(result: FitResult, x: Array) -> Moving | None:
    parts = terms(result.problem.model, None, x)
    if len(parts) > 1 or parts[0].time is not None:
        return None
    return moving_parameters(result.problem, result.ending, model=parts[0].model)


def _tried(make: Callable[[], Result]) -> Result | None:
    """What `make` returns; None where a model cannot be evaluated."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()
    except _RAISED:
        return None


def _pairs(fine: dict[str, Array], own: dict[str, Array]) -> list[tuple[Array, Array]]:
    return [(fine[name], own[name]) for name in own]


def _agree(fine: Array, own: Array) -> bool:
    """Whether two curves are the same, open at the same places."""
    finite = own[np.isfinite(own)]
    if not finite.size:
        return bool(np.isnan(fine).all())
    slack = AGREES * float(np.ptp(finite)) + 1e-10 * float(np.abs(finite).max())
    return bool(np.allclose(fine, own, rtol=0.0, atol=slack, equal_nan=True))
