"""Fits of few counts: none at all, a reduced χ² that is not 1, a model that turns negative."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from support.fit_cases import loaded

from pyspec import FitError, FitResult, Measurement, fit_model
from pyspec.fit.counts import LEAST_REDCHI, MOST_REDCHI, deviance_moments, is_expected
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Model
from tests.support.findings import kinds

MODELS = """
line:
  Offset: {y0: [5, True, 0, 100]}
  Gauss: {A: [5, True, 0, 100], x0: [4.5, True, 0, 10], SD: [1.1, True, 0.1, 5]}
flat:
  Offset: {y0: [5, True, 0, 100]}
loose:
  Offset: {y0: [5, True]}
  Gauss: {A: [5, True], x0: [4.5, True], SD: [1.1, True]}
"""
ENERGY = np.linspace(0.0, 10.0, 101)


def model(name: str) -> Model:
    return loaded(MODELS, name, energy=ENERGY)


def counts(data: np.ndarray, **given: object) -> Measurement:
    return Measurement(data=data, loss="poisson", **given)


def fitted(name: str, data: np.ndarray, **given: object) -> FitResult:
    return fit_model(model(name), counts(data, **given))


@pytest.mark.parametrize(
    ("name", "method"), [("line", "native"), ("loose", "native"), ("loose", "leastsq")]
)
def test_no_counts_at_all_are_refused(name: str, method: str) -> None:
    """The native method took 5000 evaluations; without bounds success was claimed."""
    with pytest.raises(FitError, match=f"{name}: there is not a single count among 101 points"):
        fit_model(model(name), counts(np.zeros(101)), method=method)


@pytest.mark.parametrize("expected", [1e-6, 0.01, 0.3, 1.0, 4.0, 30.0, 49.9, 51.0, 400.0])
def test_moments_of_the_deviance(expected: float) -> None:
    """Against sums over all counts; above 50 the variance was 2 + 4/3n, twice as far from 2."""
    n = np.arange(0.0, 1200.0)
    logs = np.concatenate([[0.0], np.cumsum(np.log(n[1:]))])
    chance = np.exp(n * np.log(expected) - expected - logs)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviance = 2.0 * (np.where(n > 0, n * np.log(n / expected), 0.0) - (n - expected))
    mean = float(chance @ deviance)
    variance = float(chance @ (deviance - mean) ** 2)
    found = deviance_moments(np.array([expected, 0.0, -1.0]))
    assert found[0] == pytest.approx([mean, 0.0, 0.0], rel=1e-3)
    assert found[1] == pytest.approx([variance, 0.0, 0.0], rel=1e-3)


@pytest.mark.parametrize("n_free", [2, 5, 10, 47, 1000])
@pytest.mark.parametrize("side", ["low", "high"])
def test_the_chance_of_a_reduced_chi_square_is_that_of_chi_square(n_free: int, side: str) -> None:
    """A normal distribution is too wide below and too narrow above of few degrees of freedom."""
    tail = chi2.cdf if side == "low" else chi2.sf
    ends = (0.0, LEAST_REDCHI) if side == "low" else (MOST_REDCHI, 30.0)
    off = np.linspace(*ends, 120)[1:-1]
    told = [tail(one * n_free, n_free) for one in off if not is_expected(one, n_free)]
    not_told = [tail(one * n_free, n_free) for one in off if is_expected(one, n_free)]
    assert max(told, default=0.0) < 4e-5
    if n_free >= 10 or side == "high":
        assert min(not_told, default=1.0) > 1e-5


@pytest.mark.parametrize("n_free", [20, 100, 633, 5000, 100000])
@pytest.mark.parametrize("wrong", [1.1, 1.25, 1 / 1.25])
def test_declared_noise_that_is_wrong_is_told_where_there_are_points_enough(
    n_free: int, wrong: float
) -> None:
    """633 points with a reduced χ² of 1.5, nine standard deviations off, had no word."""
    redchi = wrong**2
    is_seen = abs(redchi - 1.0) > 7.5 * np.sqrt(2.0 / n_free) and abs(wrong - 1.0) > 0.15
    assert is_expected(redchi, n_free, is_scaled=False) is not is_seen
    assert is_expected(redchi, n_free, is_scaled=True)  # errors are right


@pytest.mark.parametrize("level", [0.02, 0.1, 0.5, 1.0, 3.0, 20.0])
def test_counts_scatter_as_their_deviance_does(level: float) -> None:
    """Of 0.02 counts a point the reduced χ² scatters nearly six times as much as that of χ²."""
    told = 0
    for seed in range(15):
        drawn = np.random.default_rng([11, seed]).poisson(np.full((30, 101), level)).astype(float)
        flat = model("flat")
        flat.set_axes(energy=ENERGY, time=np.arange(30.0))
        flat.set("Offset_y0", level)
        told += bool(fit_model(flat, counts(drawn)).findings)
    assert not told


def test_a_model_of_counts_that_is_negative_is_told() -> None:
    """One count at one point: χ² next to 0, by an offset below 0 and a narrow line."""
    data = np.zeros(101)
    data[44] = 1.0
    result = fitted("loose", data)
    (said,) = [one for one in result.findings if one.kind is Kind.NEGATIVE_COUNTS]
    assert said.numbers["points"] == 101
    assert said.numbers["count"] in (99, 100)  # rounding decides of the point that has the count
    assert Kind.NEGATIVE_COUNTS not in kinds(fitted("line", data))


def test_a_fit_that_ends_where_a_model_of_counts_becomes_negative_says_so() -> None:
    """In 4 % of simulated fits to such data the model ends at 0 at a point without a count."""
    made = loaded(MODELS, "loose", energy=np.linspace(3, 6, 15))
    seen = counts(np.array([0.0, 1, 4, 7, 12, 13, 16, 18, 14, 13, 11, 4, 2, 4, 0]))
    found = fit_model(made, seen)
    assert not found.success
    assert "The model is 0 at " in found.message
    made.set("Offset_y0", 0.5, min=0)
    bounded = fit_model(made, seen)
    assert bounded.success
    assert "The model is 0" not in bounded.message
