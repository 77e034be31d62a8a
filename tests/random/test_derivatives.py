"""Random models: the Jacobian is the derivative of the residual, and finite.

Differences are of the model in double precision, extrapolated, with an error of their own; the
residual of them is a formula that is differentiated on paper. A column counts where its difference
is known to 4e-10 of the column. Left out by rule: parameters that change less than 1e-9 of the
model, whose column must be as small; registered functions, which the generator does not draw. An
onset that jumps is not left out: no jump lies on a sample.

PYSPEC_DERIVATIVE_MODELS sets how many models the slow run examines.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.random_models.case import Case
from support.random_models.check import REFUSALS
from support.random_models.generate import generate
from support.random_models.values import hostile, make_measurement, perturbed

from pyspec.executor import CompiledExecutor, make_plan

Array = npt.NDArray[np.float64]

#: Of the largest value of the column: how far a derivative may be off, and how well a
#: difference must be known to say so.
BOUND, KNOWN = 1e-9, 4e-10
#: A column is judged where so many of its points are.
SHARE = 0.9
#: A parameter whose step changes the model by less than this is not counted: nothing is left
#: of the digits of a difference.
IDLE = 1e-9
#: Error of a value, beyond what the table of differences shows.
ROUNDING = 4.0 * 2.0**-52
#: Changes over the finest step beyond which no difference knows the derivative, of the model.
STEEP = 0.1
#: Halvings of the step, which begins at half the parameter, and extrapolations.
LEVELS, ORDERS = 14, 5
#: The steps of a second look at a column, in those of the first: finer, and others of that size;
#: and where the difference is not known also coarser ones, in which less is lost by rounding.
AGAIN = (1 / 64, 0.7)
FURTHER = (*AGAIN, 1.9, 1.3, 3.0, 6.0, 12.0)


@dataclass
class Slopes:
    """What became of the columns of some models."""

    models: int = 0
    columns: int = 0
    judged: int = 0
    worst: float = 0.0
    worst_of: str = ""
    #: Columns that have no derivative, and models that are refused, by rule.
    excluded: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def residual_and_slope(executor: CompiledExecutor, theta: Array) -> tuple[Array, Array]:
    """The residual in formulas of its own, and its derivative by the model; 0 where masked."""
    measurement, window = executor.measurement, executor.window
    assert measurement.data is not None
    data = window.crop(measurement.data).astype(np.float64).ravel()
    model = executor.run(theta).ravel()
    value, slope = data - model, np.full(data.size, -1.0)
    if measurement.loss == "poisson":
        value, slope = deviance(data, model, measurement.loss_scale)
    if window.weight is not None:
        weight = np.broadcast_to(window.crop(window.weight), window.shape).ravel()
        value, slope = weight * value, weight * slope
    if measurement.keep is not None:
        keep = window.crop(measurement.keep).astype(bool).ravel()
        value, slope = np.where(keep, value, 0.0), np.where(keep, slope, 0.0)
    return value, slope


def deviance(data: Array, model: Array, scale: float) -> tuple[Array, Array]:
    """The signed root of the Poisson deviance and its slope, without the cancellation where the
    model meets the data: ``-x sqrt(scale d shape)``, x = m / d - 1, shape 1 at x = 0."""
    floor = 1e-3 / scale
    at = np.where(data > 0, np.maximum(model, floor), np.maximum(model, 0.0))
    d = np.where(data > 0, data, 1.0)
    x = (at - d) / d
    far = np.where(np.abs(x) > 0.05, x, 1.0)
    series = sum(2.0 * (-x) ** k / (k + 2) for k in range(16))
    shape = np.sqrt(np.where(np.abs(x) > 0.05, 2.0 * (far - np.log1p(far)) / far**2, series))
    root, slope = -x * np.sqrt(scale * d) * shape, -np.sqrt(scale / d) / ((1.0 + x) * shape)
    root = np.where(model > floor, root, root + (model - floor) * slope)
    empty = np.sqrt(2.0 * scale * at)
    by_model = np.where(at > 0, -scale / np.where(empty > 0, empty, 1.0), 0.0)
    return np.where(data > 0, root, -empty), np.where(data > 0, slope, by_model)


def differences(
    executor: CompiledExecutor, theta: Array, index: int, step: float
) -> tuple[Array, Array]:
    """The derivative of the model by one parameter, point by point the best of the table of
    extrapolated central differences, and its error: the largest step to its neighbours in the
    table, and what rounding does. One-sided where a domain ends."""

    def at(value: float) -> Array:
        moved = theta.copy()
        moved[index] = value
        return executor.run(moved).ravel()

    value = float(theta[index])
    here = at(value)
    size = np.abs(here) + 0.1 * _size(here)  # parts of it may be larger than the sum
    finest = step / 2.0 ** (LEVELS - 1)
    central = bool(np.isfinite(at(value - finest)[np.isfinite(here)]).all())

    def quotient(h: float) -> tuple[Array, Array]:
        high, low = value + h, value - h if central else value
        noise = ROUNDING * size / (high - low)
        return (at(high) - (at(low) if central else here)) / (high - low), noise

    # The model on both sides may be another one than here at any step, as where an expression
    # overflows beside the parameter: then it bends by the same at all of them.
    def bend(h: float) -> Array:
        return np.asarray(np.abs(at(value + h) + at(value - h) - 2.0 * here))

    smooth = np.full(here.shape, not central)
    if central:
        bends = [bend(finest * 2.0**k) for k in range(4)]
        smooth = np.any([np.abs(b - bends[0]) > 0.1 * bends[0] for b in bends], axis=0)
        smooth |= bends[0] <= 8.0 * ROUNDING * size

    # Large steps may agree on what is not there, as where both leave a peak: the small ones say.
    guides = []
    for h in (finest, 16.0 * finest):
        (guide, noise), (next_to, _) = quotient(h), quotient(2.0 * h)
        guides.append((guide, 10.0 * (np.abs(guide - next_to) + noise)))
    best, error = guides[0][0], np.full(here.shape, np.inf)
    table: list[Array] = []
    for level in range(LEVELS):
        slope, noise = quotient(step / 2.0**level)
        row = [slope]
        for order in range(1, min(level, ORDERS) + 1):
            gain = 4.0**order if central else 2.0**order
            row.append(row[-1] + (row[-1] - table[order - 1]) / (gain - 1.0))
            change = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - table[order - 1]))
            if order < len(table):
                change = np.maximum(change, np.abs(row[-1] - table[order]))
            known = change + noise
            better = known < error
            for guide, trusted in guides:
                better &= np.abs(row[-1] - guide) <= trusted + known
            best, error = np.where(better, row[-1], best), np.where(better, known, error)
        table = row
    return best, np.where(smooth, error, np.inf)


def is_steep(executor: CompiledExecutor, theta: Array, index: int, slope: Array) -> bool:
    """Whether the model changes as fast as `slope` says, where that is too fast for the steps of
    `differences`: at most points within a third, over a step that changes it by a thousandth."""
    here = executor.run(theta).ravel()
    step = 1e-3 * _size(here) / _size(slope)
    ends = []
    for sign in (-1.0, 1.0):
        moved = theta.copy()
        moved[index] += sign * step
        ends.append((moved[index], executor.run(moved).ravel()))
    (low, below), (high, above) = ends
    found = (above - below) / (high - low) if high > low else np.full(here.shape, np.nan)
    return bool(np.mean(np.abs(found - slope) <= np.abs(slope) / 3.0) >= SHARE)


def is_so_nearby(
    executor: CompiledExecutor, theta: Array, index: int, slope: Array, finest: float
) -> bool:
    """Whether differences of steps far below the finest one say the same as `slope`, to a
    thousandth of the column: what the larger steps agreed on was beside a narrow bend."""
    for k in range(1, 8):
        (low, below), (high, above) = [
            (at, executor.run(np.where(np.arange(theta.size) == index, at, theta)).ravel())
            for at in (theta[index] - finest / 10.0**k, theta[index] + finest / 10.0**k)
        ]
        found = (above - below) / (high - low) if high > low else np.full(below.shape, np.nan)
        if np.mean(np.abs(found - slope) <= 1e-3 * _size(slope)) >= SHARE:
            return True
    return False


def examine_slopes(seeds: tuple[int, int]) -> Slopes:
    """The models of the seeds begin ... end - 1."""
    total = Slopes()
    for seed in range(*seeds):
        case = generate(seed)
        try:
            plan = make_plan(case.model())
            clean = CompiledExecutor(plan).run(plan.theta)
            executor = CompiledExecutor(plan, make_measurement(case, clean))
        except REFUSALS:
            total.excluded["refused"] += 1
            continue
        total.models += 1
        total.features.update(case.features)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _columns(total, case, executor)
            _finite(total, case, executor)
    return total


def _columns(total: Slopes, case: Case, executor: CompiledExecutor) -> None:
    theta = np.array(executor.plan.theta)
    value, slope = residual_and_slope(executor, theta)
    official, known = executor.residual(theta), np.isfinite(value)
    if not np.allclose(value[known], official[known], rtol=1e-9, atol=1e-9 * _size(official)):
        total.failures.append(f"seed {case.seed}: the residual is another one")
    columns = executor.jacobian(theta)
    for index, name in enumerate(executor.plan.opt_param_names):
        total.columns += 1
        step = _step(case, name, float(theta[index]))
        found = columns[index]
        expected, error = _scaled(slope, differences(executor, theta, index, step))
        scale = max(_size(found[known]), _size(expected[known & (error < np.abs(expected) / 2)]))
        good = known & (error <= KNOWN * scale)
        for k in FURTHER if scale and good.sum() < SHARE * known.sum() else ():
            other, other_error = _scaled(slope, differences(executor, theta, index, k * step))
            better = other_error < error
            expected, error = (
                np.where(better, other, expected),
                np.where(better, other_error, error),
            )
            good = known & (error <= KNOWN * scale)
        if scale == 0.0:  # nothing moves: nothing was found, and no difference is above its error
            good = known
        if good.sum() < SHARE * known.sum():
            largest = _size(slope * executor.run(theta).ravel())
            idle = scale * step < IDLE * largest
            total.excluded["no influence" if idle else "difference not known"] += 1
            total.columns -= idle
            if idle and not _size(found[known]) * step < IDLE * largest:
                total.failures.append(f"seed {case.seed}, {name}: changes the model after all")
            continue
        worst = _size((found - expected)[good]) / scale if scale else 0.0
        if not worst <= BOUND:
            looks = [_looked(executor, index, k * step, slope, found, scale) for k in AGAIN]
            worst = min(worst, *looks)
        if not worst <= BOUND:
            with np.errstate(all="ignore"):
                by_model = found / slope
            finest = step / 2.0 ** (LEVELS - 1)
            change = _size(by_model) * finest / _size(executor.run(theta).ravel())
            steep = change > STEEP and is_steep(executor, theta, index, by_model)
            if steep or (worst > STEEP and is_so_nearby(executor, theta, index, by_model, finest)):
                total.excluded["faster than a difference steps"] += 1
                continue
        total.judged += 1
        if not worst <= BOUND:
            total.failures.append(f"seed {case.seed}, {name}: {worst:.3g} of the column's scale")
        elif worst > total.worst:
            total.worst, total.worst_of = worst, f"seed {case.seed}, {name}"


def _scaled(slope: Array, found: tuple[Array, Array]) -> tuple[Array, Array]:
    """The derivative of the model and its error, as those of the residual."""
    return slope * found[0], np.abs(slope) * found[1]


def _looked(
    executor: CompiledExecutor,
    index: int,
    step: float,
    slope: Array,
    found: Array,
    scale: float,
) -> float:
    """The disagreement with differences of such steps, infinite where these do not know the column
    as well. An expression may bend within larger ones, as where one of max() overtakes the other,
    and those may agree on a slope that is none; three entries of a table may agree by chance."""
    theta = np.array(executor.plan.theta)
    expected, error = _scaled(slope, differences(executor, theta, index, step))
    known = np.isfinite(found) & np.isfinite(expected)
    good = known & (error <= KNOWN * scale)
    if not scale or good.sum() < SHARE * known.sum():
        return float("inf")
    return _size((found - expected)[good]) / scale


def _size(values: Array) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _step(case: Case, name: str, value: float) -> float:
    """The largest step: of a position by its axis, else by the parameter."""
    argument, axis = name.split("_")[-1], None
    if argument == "t0":
        axis = case.time
    elif argument in ("x0", "xStart", "xStop", "W"):
        axis = case.aux if "_pGauss_" in name else case.energy
    span = 0.0 if axis is None else 0.05 * float(np.ptp(axis))
    return span or 0.5 * abs(value) or 0.5


def is_beyond(
    executor: CompiledExecutor, theta: Array, index: int, name: str, where: Array
) -> bool:
    """Whether these derivatives are infinite as they should be: those by a height of 0, in which
    the model is linear, where a height of 1 leads beyond all numbers."""
    if theta[index] != 0.0 or not name.endswith("_A"):
        return False
    moved = theta.copy()
    moved[index] = 1.0
    return not np.isfinite(executor.residual(moved)[where]).any()


def _finite(total: Slopes, case: Case, executor: CompiledExecutor) -> None:
    """No derivative is infinite or NaN where the residual is a number."""
    names, theta = executor.plan.opt_param_names, np.array(executor.plan.theta)
    tried: list[Any] = [theta, perturbed(case.seed, theta)]
    tried += [hostile(case, round_, names, theta) for round_ in range(2)]
    for values in tried:
        bad = ~np.isfinite(executor.jacobian(values)) & np.isfinite(executor.residual(values))
        for index in np.flatnonzero(bad.any(axis=1)):
            if is_beyond(executor, values, int(index), names[index], bad[index]):
                total.excluded["height of 0 of a shape beyond all numbers"] += 1
                bad[index] = False
        if bad.any():
            where = names[int(np.argwhere(bad)[0][0])]
            total.failures.append(f"seed {case.seed}, {where}: not finite where the residual is")


MANY = int(os.environ.get("PYSPEC_DERIVATIVE_MODELS", "1200"))


@pytest.fixture(
    scope="module", params=[(139, 179), pytest.param((0, MANY), marks=pytest.mark.slow)]
)
def total(request: pytest.FixtureRequest) -> Slopes:
    """What so many models have shown."""
    return examine_slopes(request.param)


def lines(total: Slopes) -> str:
    """How many columns were judged, and how well the derivatives agreed."""
    left_out = ", ".join(f"{n} {what}" for what, n in total.excluded.items())
    return (
        f"{total.judged} of {total.columns} columns judged, {total.models} models\n"
        f"worst disagreement: {total.worst:.2g} of the column's scale ({total.worst_of})\n"
        f"left out: {left_out}"
    )


def test_jacobian_is_the_derivative(total: Slopes, closing: Callable[[str], None]) -> None:
    closing(lines(total))
    assert not total.failures, "\n".join(total.failures[:10])
    assert 0.0 < total.worst <= BOUND


def test_most_columns_are_judged(total: Slopes) -> None:
    assert total.models >= 0.8 * (total.models + total.excluded["refused"])
    assert total.judged >= 0.95 * total.columns, total
    for name in ("data:poisson", "data:mask", "data:weight points", "data:columns", "data:rows"):
        assert total.features[name] >= 0.05 * total.models, name
