"""Predictions of a fit on other axes, with their standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import DataError, FitError
from pyspec.executor import make_executor
from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model
from tests.model.test_edit import shirley


def fitted(model: Model, backend: str = "compiled", *, max_nfev: int | None = None) -> FitResult:
    exact = model.evaluate()
    data = exact + np.random.default_rng(3).normal(0, 0.05, exact.shape)
    return fit_model(model, Measurement(data), backend=backend, max_nfev=max_nfev)


def test_grids_agree_in_value_and_error() -> None:
    result = fitted(shirley())
    here = result.predict()
    np.testing.assert_array_equal(here.value, result.fit)
    sizes = f"time {here.time.size} (-5 to 15) × energy {here.energy.size} (80 to 90)"
    assert repr(here) == f"<Prediction: {sizes}, with standard errors>"
    half = result.predict(here.energy[::2], here.time[::2])
    double = result.predict(np.linspace(80, 90, 81), np.linspace(-5, 15, 41))
    np.testing.assert_allclose(half.value, here.value[::2, ::2], rtol=1e-13)
    np.testing.assert_allclose(half.stderr, here.stderr[::2, ::2], rtol=1e-10)
    np.testing.assert_allclose(double.value[::2, ::2], here.value, rtol=1e-13)
    np.testing.assert_allclose(double.stderr[::2, ::2], here.stderr, rtol=1e-10)
    with pytest.raises(DataError, match="sums over the energy axis of the data"):
        result.predict([70.0])


def test_the_error_of_a_line_is_that_of_the_textbook() -> None:
    """Straight line: the variance at x is s² (1 / n + (x - mean)² / sum (x - mean)²)."""
    from pyspec.components import LinBack, fixed

    model = Model("line", [LinBack(m=2, b=1, xStart=fixed(0), xStop=fixed(100))])
    model.set_axes(np.linspace(0, 10, 21))
    result = fitted(model)
    x = np.linspace(0, 40, 9)
    found = result.predict(x)
    mean = np.mean(result.energy)
    spread = np.sum((result.energy - mean) ** 2)
    expected = np.sqrt(result.redchi * (1 / 21 + (x - mean) ** 2 / spread))
    np.testing.assert_allclose(found.stderr, expected, rtol=1e-6)
    np.testing.assert_allclose(found.band[1] - found.band[0], 2 * expected, rtol=1e-6)


def test_without_standard_errors_there_is_no_band() -> None:
    result = fitted(shirley(), max_nfev=1)
    assert all(error is None for error in result.stderr.values())
    found = result.predict()
    assert found.stderr is None
    with pytest.raises(FitError, match="has no standard errors"):
        _ = found.band


@pytest.mark.parametrize(("seed", "sigma"), [(1, 1.5), (7, 2.0)])
def test_errors_of_moving_parameters_where_a_time_is_hardly_known(seed: int, sigma: float) -> None:
    """The slopes are those at the best values, however large the error of the time constant."""
    model = load_model("m: {Gauss: {A: [0, False], x0: [5, False], SD: [1, False]}}", "m")
    law = "{expFun: {A: [1, True, -100, 100], tau: [5, True, 0.01, 1e5], t0: [0, False]}}"
    model.add_dynamics("Gauss_01_A", load_dynamics(f"d: {law}", "d", target="Gauss_01_A"))
    time = np.linspace(0.0, 1.0, 40)
    model.set_axes(energy=np.linspace(0.0, 10.0, 60), time=time)
    data = make_executor(model, None, "compiled").run(model.theta())
    data += np.random.default_rng(seed).normal(0.0, sigma, data.shape)
    result = fit_model(model, Measurement(data=data))
    height, tau = (result.values[f"Gauss_01_A_expFun_01_{name}"] for name in ("A", "tau"))
    assert result.stderr["Gauss_01_A_expFun_01_tau"] > tau
    slopes = np.array([np.exp(-time / tau), height * time / tau**2 * np.exp(-time / tau)])
    covariance = result.ending.known
    expected = np.sqrt(np.einsum("it,ij,jt->t", slopes, covariance, slopes))
    moving = result.moving()
    np.testing.assert_allclose(moving.stderr["Gauss_01_A"], expected, rtol=1e-6)
