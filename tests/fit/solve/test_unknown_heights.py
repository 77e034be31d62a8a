"""Fits whose heights begin far off: the default finds the optimum that elimination finds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import FitResult, Measurement, Model, fit_model
from pyspec.components import GLP, Offset, Shirley
from pyspec.executor import CompiledExecutor, make_plan

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(700.0, 740.0, 201)


def lines(y0: float, a: float, b: float) -> Model:
    model = Model(
        "m",
        [
            Offset(y0),
            Shirley((1e-3, 0, 1)),
            GLP(A=(a, 0, 1e12), x0=(714.5, 700, 740), F=(2.5, 0.1, 20), m=(0.3, 0, 1)),
            GLP(A=(b, 0, 1e12), x0=(727, 700, 740), F=(3, 0.1, 20), m=(0.3, 0, 1)),
        ],
    )
    model.set_axes(energy=ENERGY)
    return model


def seen(scale: float) -> Measurement:
    truth = lines(5.0, 100.0, 60.0)
    for name, value in (("GLP_01_x0", 715.4), ("GLP_02_x0", 728), ("GLP_01_F", 3), ("GLP_02_F", 4)):
        truth.set(name, value)
    clean = CompiledExecutor(make_plan(truth)).run(None)
    noise = np.random.default_rng(4).normal(0.0, 1.0, clean.shape)
    return Measurement(data=scale * (clean + noise))


def chisqr_at(result: FitResult, measurement: Measurement) -> float:
    residual = CompiledExecutor(make_plan(lines(0, 1, 1)), measurement).residual(result.theta)
    return float(residual @ residual)


@pytest.mark.parametrize("scale", [1e-2, 10.0, 1e2, 3e2, 1e3, 1e4, 1e6])
def test_heights_of_another_size(scale: float) -> None:
    # From 100 on a line used to end at the edge, now and then as a success.
    model, measurement = lines(5.0, 90.0, 50.0), seen(scale)
    known = fit_model(model, measurement, linear="eliminate")
    found = fit_model(model, measurement)
    assert known.success
    assert found.success
    assert found.chisqr == pytest.approx(known.chisqr, rel=1e-10)
    assert not found.findings
    for name in found.free_names:
        assert found.stderr[name] == pytest.approx(known.stderr[name], rel=1e-5)


def test_a_limit_in_the_second_attempt_keeps_the_best_point() -> None:
    model, measurement = lines(5.0, 90.0, 50.0), seen(300.0)
    whole = fit_model(model, measurement)
    assert whole.success
    ended = []
    for most in range(whole.nfev - 25, whole.nfev):
        result = fit_model(model, measurement, max_nfev=most)
        assert not result.success
        assert f"max_nfev = {most}" in result.message
        assert result.nfev == most
        assert result.chisqr == pytest.approx(chisqr_at(result, measurement), rel=1e-9)
        ended.append(result.chisqr)
    assert ended == sorted(ended, reverse=True)
    assert ended[0] > 10 * whole.chisqr > 5 * ended[-1]


def test_a_fit_that_succeeds_is_not_begun_again() -> None:
    model, measurement = lines(5.0, 90.0, 50.0), seen(1.0)
    assert fit_model(model, measurement).nfev < 20
