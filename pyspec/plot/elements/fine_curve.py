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
Lines = tuple[Array, Array]
Drawn = TypeVar("Drawn")

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
    some = slice(None, None, -(-seen.energy.size // MANY))
    own = Curves(
        seen.energy[some],
        seen.fit[some],
        None if seen.start is None else seen.start[some],
        {name: curve[some] for name, curve in peaks.items()},
        {name: curve[some] for name, curve in grounds.items()},
        samples,
    )

    def at(x: Array) -> Curves:
        start = None
        if seen.start is not None:
            start = _at(result, x, [result.start[name] for name in result.problem.names])
        fine: Parts = ({}, {}) if result.is_trace else _components_at(result, x, parts)
        return Curves(x, _at(result, x, result.theta), start, *fine, samples)

    def arrays(curves: Curves) -> list[Array]:
        start = [] if curves.start is None else [curves.start]
        return [curves.fit, *start, *curves.peaks.values(), *curves.grounds.values()]

    return _finer(seen.energy, own, at, arrays)


def _finer(
    axis: Array, own: Drawn, at: Callable[[Array], Drawn], arrays: Callable[[Drawn], list[Array]]
) -> Drawn:
    """What `at` makes of an axis with points between the samples; `own`, what is known at the
    samples, where the model cannot be evaluated there or the `arrays` of both do not agree."""
    finer = between(axis)
    if finer is None:
        return own
    x, places = finer
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fine = at(x)
    except _RAISED:
        return own
    pairs = zip(arrays(fine), arrays(own), strict=True)
    return fine if all(_agree(curve[..., places], other) for curve, other in pairs) else own


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


def traces_of(result: Fit, seen: View, columns: list[int]) -> Lines:
    """(times, (n_times, n_columns)) the fit at some energies over time."""
    assert seen.time is not None
    own = seen.fit[:, columns]
    if not isinstance(result, FitResult) or drawn(result) is not result:
        return seen.time, own

    def at(x: Array) -> Lines:
        energy = result.problem.model.energy
        assert energy is not None
        if result.problem.free is not None:
            first = (result.measurement.columns or (0, 0))[0]
            groups = np.asarray(columns) + seen.begin - first
            curves = _free_at(result, groups, x, by_energy=True)
        else:
            need_few(energy.size * x.size)
            chosen, back = np.unique(columns, return_inverse=True)
            ending = Ending.at(result.theta)
            curves = predict(result.problem, ending, seen.energy[chosen], x).value[:, back].T
        return x, np.where(np.isnan(own.T).all(axis=1, keepdims=True), np.nan, curves)

    x, curves = _finer(seen.time, (seen.time, own.T), at, _values_of)
    return x, curves.T


def _values_of(lines: Lines) -> list[Array]:
    return [lines[1]]


def need_few(points: int) -> None:
    """Raises ValueError for more points than are evaluated for the sake of some curves."""
    if points > MOST:
        raise ValueError(f"{points} points are too many to be evaluated for some curves")


def _free_at(result: FitResult, groups: Ints, x: Array, *, by_energy: bool) -> Array:
    """(n_groups, n_x) a fit whose amplitudes are free, `by_energy` or by time, at some of these."""
    problem = result.problem.free
    assert problem is not None
    executor = problem.executor
    if executor.by_energy != by_energy:
        raise ValueError("what is free along an axis is known at its samples alone")
    need_few(executor.designer.along.size * x.size)
    amplitudes = executor.solve(result.theta, problem.fixed).amplitudes
    design, _ = executor.elsewhere(result.theta, problem.fixed, x)
    own = groups if design.basis.shape[1] > 1 else np.zeros_like(groups)
    value = np.einsum("gk,kgx->gx", amplitudes[groups], design.basis[:, own])
    return np.asarray(value + design.rest[:, own].sum(axis=0))


def spectra_of(result: Fit, seen: View, rows: Ints) -> Lines:
    """(energies, (n_rows, n_energies)) the fit of some spectra of a series."""
    assert seen.time is not None
    own, times = seen.fit[rows], seen.time[rows]
    if isinstance(result, FitResult) and drawn(result) is not result:
        return seen.energy, own

    def at(x: Array) -> Lines:
        if isinstance(result, SliceResults):
            curves = np.full((times.size, x.size), np.nan)
            for into, time in zip(curves, times.tolist(), strict=True):
                fit = result[int(np.argmin(np.abs(result.time - time)))].result
                if fit is not None:
                    into[:] = _at(fit, x, fit.theta)
        elif result.problem.free is not None:
            groups = np.searchsorted(result.problem.free.executor.designer.along, times)
            curves = _free_at(result, groups, x, by_energy=False)
        else:
            assert result.problem.model.time is not None
            need_few(result.problem.model.time.size * x.size)
            curves = predict(result.problem, Ending.at(result.theta), x, times).value
        return x, np.where(np.isnan(own).all(axis=1, keepdims=True), np.nan, curves)

    return _finer(seen.energy, (seen.energy, own), at, _values_of)


def moving_of(result: FitResult) -> tuple[Moving | None, Moving | None]:
    """(the parameters that move at the samples, those between them too); the same twice where they
    are known at the samples alone."""
    own = drawn(result).moving()
    if own is None or not own.values or drawn(result) is not result:
        return own, own

    def at(x: Array) -> Moving:
        parts = terms(result.problem.model, None, x)
        fine = moving_parameters(result.problem, result.ending, model=parts[0].model)
        if len(parts) > 1 or parts[0].time is not None or fine is None:
            raise ValueError("these parameters are known at the samples alone")
        return fine

    return own, _finer(own.time, own, at, lambda moving: [*moving.values.values()])


def _agree(fine: Array, own: Array) -> bool:
    """Whether two curves are the same, open at the same places."""
    finite = own[np.isfinite(own)]
    if not finite.size:
        return bool(np.isnan(fine).all())
    slack = AGREES * float(np.ptp(finite)) + 1e-10 * float(np.abs(finite).max())
    return bool(np.allclose(fine, own, rtol=0.0, atol=slack, equal_nan=True))
