"""Checks of a finished fit against its declared noise: which χ² is expected, above all for counts,
and whether a model of counts is negative."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.part import FitPart
from pyspec.fit.problem import FitProblem
from pyspec.model.data.source import source_of

Array = npt.NDArray[np.float64]


#: Of more counts than these the deviance is as good as χ²; of fewer than these it is tabulated.
MANY, FEW = 50.0, 1e-8

#: Moments of so many points are taken at once: their eight intermediate arrays stay in the cache.
AT_ONCE = 16384

#: Below so many counts a model is negative; nearer to 0 it is rounding.
BELOW = -1e-3


#: With known noise, a reduced χ² outside of this range, in units of the expected one, is a finding
#: if chance does not explain it. Chance goes so many standard deviations far: once in 30,000 fits
#: to either side.
LEAST_REDCHI, MOST_REDCHI, CHANCE = 0.5, 2.0, 4.0

#: If standard errors follow from the declared noise, a redchi outside of this range is also
#: reported when it is more than FAR standard deviations off. At the ends of the range the errors
#: are wrong by an eighth.
LEAST_NEAR, MOST_NEAR, FAR = 0.8, 1.25, 6.0

#: Fewer counts than these may all be as expected by chance, since they are whole numbers.
ALIKE = 10


def is_expected(redchi: float, n_free: float, is_scaled: bool = True) -> bool:
    """Whether a reduced χ² with known noise is near 1, or may be off so far by chance; where
    standard errors are scaled by it, less near is near enough."""
    if LEAST_NEAR <= redchi <= MOST_NEAR:
        return True
    if LEAST_REDCHI <= redchi <= MOST_REDCHI:
        return is_scaled or deviations(redchi, n_free) <= FAR
    return deviations(redchi, n_free) <= CHANCE


def deviations(redchi: float, n_free: float) -> float:
    """How many standard deviations a reduced χ² is off.

    Its cube root is nearly normal, with mean 1 - v and variance v = 2 / (9 n_free) (Wilson and
    Hilferty), where it is not itself: of few degrees of freedom it is often large, and never
    negative."""
    variance = 2.0 / (9.0 * n_free)
    return abs(math.pow(max(redchi, 0.0), 1.0 / 3.0) - 1.0 + variance) / math.sqrt(variance)


def far_from_expected(
    problem: FitProblem,
    values: Mapping[str, float],
    redchi: float,
    n_free: float,
    is_scaled: bool,
) -> list[Finding]:
    """The finding where the reduced χ² of declared noise is not what is expected."""
    mean, is_near_enough = 1.0, is_scaled
    if problem.is_poisson:
        moments = expected_of(problem, problem.theta_of(values))
        if moments is None:
            is_near_enough = True  # how few the counts are is not known
        else:
            total, variance, n_points = moments
            mean = total / n_points
            if redchi < mean and n_free < ALIKE:
                return []
            # Few counts scatter as a χ² of fewer degrees of freedom does.
            n_free *= min(2.0 * total**2 / variance / n_points, 1.0)
    share = redchi / mean
    if is_expected(share, n_free, is_near_enough):
        return []
    numbers = {"redchi": redchi, "expected": mean, "scaled": is_scaled}
    kind = Kind.MISFIT if share > 1.0 else Kind.NOISE_OVERSTATED
    return [Finding(kind, (), {**numbers, "counts": problem.is_poisson})]


def refuse_nothing(problem: FitProblem) -> None:
    """Raises :class:`FitError` for counts that are all 0."""
    if problem.data_square == 0.0:
        raise FitError(
            f"{problem.label}: there is not a single count among {problem.n_points} points: no "
            "parameter can be determined from them; widen the window, or leave these data out"
        )


def expected_of(problem: FitProblem, theta: Array) -> tuple[float, float, int] | None:
    """Mean and variance of χ² where the model is right, of counts or of other data with known
    noise, and how many points that is. None for data by reference, and where the model expects no
    counts at all."""
    mean = variance = 0.0
    n_points = 0
    for part, at in problem.files_at(theta):
        model = _model(part, at)
        if model is None:
            return None
        n_points += model.size
        if not part.is_poisson:
            mean, variance = mean + model.size, variance + 2.0 * model.size
            continue
        moments = deviance_moments(model * part.measurement.loss_scale)
        measurement = part.measurement
        weights = (
            np.ones(1)
            if measurement.weight is None
            else measurement.kept_of(measurement.of_points(measurement.weight))
        )
        mean += float(np.sum(weights**2 * moments[0]))
        variance += float(np.sum(weights**4 * moments[1]))
    return (mean, variance, n_points) if mean > 0.0 else None


def negative(problem: FitPart, theta: Array) -> list[Finding]:
    """The finding where a model of counts is negative."""
    model = _model(problem, theta) if problem.is_poisson else None
    if model is None:
        return []
    count = int(np.count_nonzero(model * problem.measurement.loss_scale < BELOW))
    if not count:
        return []
    return [Finding(Kind.NEGATIVE_COUNTS, (), {"count": count, "points": model.size})]


def at_zero(problem: FitProblem, theta: Array) -> list[str]:
    """A sentence if a model of counts ends at 0 where there are no counts. The likelihood has a
    kink there, like a bound that nobody set."""
    if not problem.is_poisson or problem.n_amplitudes:
        return []
    count = 0
    for part, at in problem.files_at(theta):
        model = _model(part, at) if part.is_poisson else None
        if model is not None:
            measurement, data = part.measurement, part.measurement.kept_of(np.asarray(part.data))
            near = np.abs(model * measurement.loss_scale) < -BELOW
            count += int(np.count_nonzero(near & (data == 0.0)))
    if not count:
        return []
    points = "a point" if count == 1 else f"{count} points"
    return [
        f"The model is 0 at {points} without a count, where χ² of counts has a kink; give heights "
        "and backgrounds a bound, min 0"
    ]


def deviance_moments(counts: Array) -> tuple[Array, Array]:
    """Mean and variance of the deviance of one point where so many counts are expected."""
    if np.min(counts, initial=MANY) >= MANY:  # no table is needed, which takes longer
        return 1.0 + 1.0 / (6.0 * counts), 2.0 + 2.0 / (3.0 * counts)
    flat = counts.ravel()
    mean, variance = np.empty_like(flat), np.empty_like(flat)
    for begin in range(0, flat.size, AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        own, (at, means, variances) = flat[some], _table()
        many, inside = np.maximum(own, MANY), np.log(np.clip(own, FEW, MANY))
        few, none = own < MANY, ~(own > 0.0)
        mean[some] = np.where(few, np.interp(inside, at, means), 1.0 + 1.0 / (6.0 * many))
        variance[some] = np.where(few, np.interp(inside, at, variances), 2.0 + 2.0 / (3.0 * many))
        mean[some][none] = variance[some][none] = 0.0
    return mean.reshape(counts.shape), variance.reshape(counts.shape)


@cache
def _table() -> tuple[Array, Array, Array]:
    """Logarithms of expected counts, means and variances of the deviance."""
    at = np.linspace(np.log(FEW), np.log(MANY), 2000)
    expected = np.exp(at)[:, None]
    counts = np.arange(int(MANY + 12.0 * np.sqrt(MANY)) + 20, dtype=np.float64)
    log_factorial = np.array([math.lgamma(count + 1.0) for count in counts])
    chance = np.exp(counts * at[:, None] - expected - log_factorial)
    log_counts = np.log(np.maximum(counts, 1.0))  # 0 log 0 is 0
    deviance = 2.0 * (counts * (log_counts - at[:, None]) - (counts - expected))
    mean = np.sum(chance * deviance, axis=1)
    return at, mean, np.sum(chance * (deviance - mean[:, None]) ** 2, axis=1)


def _model(problem: FitPart, theta: Array) -> Array | None:
    """The model at the points that count, flat; None for data by reference."""
    measurement = problem.measurement
    if any(
        source_of(array) is not None
        for array in (measurement.data, measurement.weight, measurement.keep)
    ):
        return None
    return np.asarray(measurement.kept_of(np.asarray(problem.run(theta), dtype=np.float64)))
