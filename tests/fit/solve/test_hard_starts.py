"""Fits that are hard to bring to their end: along a bent valley, from heights of another size, with
many widths at their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import agree, loaded

from pyspec import Measurement, Model, fit_model
from pyspec.components import GLP, Offset, Shirley
from pyspec.executor import make_executor

#: Mixing, width and resolution of a line nearly replace one another.
VALLEY = """
m:
  Offset: {{y0: [10, true]}}
  resolution: {{SD: [{0}, true, 0.01, 2]}}
  GLP: {{A: [{1}, true, 0, 1000], x0: [{2}, true, 80, 90], F: [{3}, true, 0.1, 3],
         m: [{4}, true, 0, 1]}}
"""
TRUTH = np.array([0.3, 100, 85, 1.0, 0.3])


def line(values: np.ndarray) -> Model:
    return loaded(VALLEY.format(*values.tolist()), "m", energy=np.linspace(80, 90, 201))


# chi² of each, from fits that tried the undamped step at each point: 447, 473 and 777 evaluations.
@pytest.mark.parametrize(("seed", "chisqr"), [(0, 182.6348), (9, 203.2222), (34, 171.5571)])
def test_a_bent_valley_is_followed_in_damped_steps(seed: int, chisqr: float) -> None:
    rng = np.random.default_rng(seed)
    data = line(TRUTH).evaluate() + rng.normal(0, 1, 201)
    start = TRUTH * (1 + np.array([rng.uniform(0.1, 0.3) * rng.choice((-1, 1)) for _ in TRUTH]))
    start[2] = TRUTH[2] + rng.uniform(-0.3, 0.3)
    found = fit_model(line(start), Measurement(data, weight=1.0), scale_covar=False)
    assert found.success
    assert found.chisqr == pytest.approx(chisqr, abs=1e-4)
    assert found.nfev < 400


def lines(heights: tuple[float, float], places: tuple[float, float] = (714.5, 727)) -> Model:
    """Two lines on an offset and a Shirley background, whose heights have no size of their own."""
    (a, b), (x, y) = heights, places
    parts = [
        Offset(5.0),
        Shirley((1e-3, 0, 1)),
        GLP(A=(a, 0, 1e12), x0=(x, 700, 740), F=(2.5, 0.1, 20), m=(0.3, 0, 1)),
        GLP(A=(b, 0, 1e12), x0=(y, 700, 740), F=(3, 0.1, 20), m=(0.3, 0, 1)),
    ]
    model = Model("m", parts)
    model.set_axes(energy=np.linspace(700.0, 740.0, 201))
    return model


def seen(scale: float) -> Measurement:
    truth = lines((100.0, 60.0), (715.4, 728))
    truth.set_values({"GLP_01_F": 3, "GLP_02_F": 4})
    clean = truth.evaluate()
    return Measurement(scale * (clean + np.random.default_rng(4).normal(0.0, 1.0, clean.shape)))


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2, 3e2, 1e4, 1e6])
def test_heights_of_another_size(scale: float) -> None:
    """From 100 on a line used to end at the edge, now and then as a success."""
    model, measurement = lines((90.0, 50.0)), seen(scale)
    known = fit_model(model, measurement, linear="eliminate")
    found = fit_model(model, measurement)
    assert known.success
    assert found.success
    assert found.chisqr == pytest.approx(known.chisqr, rel=1e-10)
    assert not found.findings
    agree(found, known, 1e-4, 1e-5)
    assert scale != 1.0 or found.nfev < 20  # a fit that succeeds is not begun again


def test_a_limit_in_the_second_attempt_keeps_the_best_point() -> None:
    model, measurement = lines((90.0, 50.0)), seen(300.0)
    whole, executor = fit_model(model, measurement), make_executor(model, measurement)
    assert whole.success
    ended = []
    for most in range(whole.nfev - 25, whole.nfev):
        result = fit_model(model, measurement, max_nfev=most)
        assert not result.success
        assert f"max_nfev = {most}" in result.message
        assert result.nfev == most
        expected = float(np.sum(executor.residual(result.theta) ** 2))
        assert result.chisqr == pytest.approx(expected, rel=1e-9)
        ended.append(result.chisqr)
    assert ended == sorted(ended, reverse=True)
    assert ended[0] > 10 * whole.chisqr > 5 * ended[-1]
