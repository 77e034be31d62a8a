"""What a fit says at its limits: at a bound, without scatter, with a line of no height."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import FitResult, Measurement, fit_model
from pyspec.fit.findings.kinds import Kind
from tests.support.findings import kinds

X = np.linspace(0.0, 10.0, 101)
ONE = """
m:
  Offset: {y0: [1, True]}
  Gauss: {A: [5, True], x0: [4.6, True], SD: [1.7, True]}
"""
TWO = """
m:
  Offset: {y0: [1, True]}
  Gauss: {A: [5, True, 0, 50], x0: [4.6, True, 0, 10], SD: [1.7, True, 0.1, 5]}
  Gauss: {A: [4, True, 0, 50], x0: [4.6, True, 0, 10], SD: [1.7, True, 0.1, 5]}
"""


def line(height: float, at: float, width: float, x: np.ndarray = X) -> np.ndarray:
    return np.asarray(height * np.exp(-((x - at) ** 2) / 2 / width**2))


def noisy(seed: int = 0) -> np.ndarray:
    return 1.0 + line(6.0, 4.2, 1.3) + np.random.default_rng(seed).normal(0.0, 0.1, X.size)


def fit(text: str, data: np.ndarray, x: np.ndarray = X, **options: object) -> FitResult:
    model = loaded(text, "m", energy=x)
    weight = options.pop("weight", None)
    return fit_model(model, Measurement(data=data, weight=weight), **options)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_as_many_parameters_as_points_leave_no_errors(method: str) -> None:
    """The scatter about such a fit is 0: errors of 1e-15 came of it."""
    places = [20, 36, 48, 60]
    x, data = X[places], noisy()[places]
    result = fit(ONE, data, x, method=method)
    assert result.stderr == dict.fromkeys(result.values)
    assert Kind.NO_SCATTER in kinds(result)
    assert result.lmfit.covar is None
    known = fit(ONE, data, x, method=method, weight=np.full(4, 10.0), scale_covar=False)
    assert all(known.stderr[name] > 1e-3 for name in known.values)
    assert Kind.NO_SCATTER not in kinds(known)
    five = fit(ONE, noisy()[[20, 36, 48, 60, 70]], X[[20, 36, 48, 60, 70]], method=method)
    assert all(five.stderr[name] > 0 for name in five.values)


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("brute", {"Ns": 3}, "brute ended"),
        ("ampgo", {"totaliter": 1}, "Maximum number of global iterations"),
        ("basinhopping", {"niter": 1}, "requested number of basinhopping iterations completed"),
    ],
)
def test_methods_that_do_not_say_how_they_ended(
    method: str, options: dict[str, int], said: str
) -> None:
    """`brute` and `ampgo` were an AttributeError of lmfit's result; others said it in a list."""
    data = np.random.default_rng(0).normal(1.0 + line(6.0, 4.2, 1.3), 0.1)
    text = TWO.split("  Gauss: {A: [4")[0].replace("y0: [1, True]", "y0: [1, True, 0, 3]")
    result = fit(text, data, method=method, **options)
    assert said in result.message
    assert "[" not in result.message
    assert said in str(result)
    assert result.success == (method != "brute"), result.message


def test_what_follows_a_parameter_without_an_error_has_none() -> None:
    """At a bound a parameter is held, and what follows it has the error that is left."""
    text = """
m:
  Offset: {y0: [1, True]}
  Offset: {y0: [0, True]}
  Gauss: {A: [3, True, 0, 4], x0: [4.6, True], SD: [1.7, True]}
parameters:
  mixed: ["Gauss_01_SD + Offset_02_y0"]
  none_of_it: ["Gauss_01_SD + 0 * Offset_02_y0"]
  held: ["Gauss_01_SD * Gauss_01_A"]
"""
    result = fit(text, noisy())
    assert set(result.without_effect) == {"Offset_y0", "Offset_02_y0"}
    assert result.at_bound == {"Gauss_01_A": "max"}
    assert result.stderr["mixed"] is None
    error = result.stderr["Gauss_01_SD"]
    assert error is not None
    assert result.stderr["none_of_it"] == pytest.approx(error)
    assert result.stderr["held"] == pytest.approx(4.0 * error)


@pytest.mark.parametrize("seed", [0, 5])
def test_leastsq_ends_at_the_optimum(seed: int) -> None:
    """With lmfit's own tolerances it stops more than 0.001 standard errors before."""
    x = X + 1e6
    data = np.random.default_rng(seed).normal(1.0 + line(6.0, 1e6 + 4.2, 1.3, x), 1.0)
    text = ONE.replace("x0: [4.6, True]", "x0: [1000004.6, True]")
    assert not fit(text, data, x, method="leastsq", ftol=1.5e-8, xtol=1.5e-8).success
    best, result = fit(text, data, x), fit(text, data, x, method="leastsq")
    assert result.success, result.message
    for name in best.free_names:
        assert abs(result.values[name] - best.values[name]) < 1e-5 * best.stderr[name], name
