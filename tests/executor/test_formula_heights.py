"""A peak by a formula whose height alone moves: its spectra are a shape times a trace."""

from __future__ import annotations

import numpy as np

from pyspec import Measurement, fit_model, load_dynamics, load_model, make_executor

MODEL = """
functions:
  Bell: {parameters: "A, c, w > 0", formula: "A * exp(-((x - c) / w) ** 2)"}
peak:
  Shirley:
    pShirley: [0.001, True, 0, 1]
  Offset:
    y0: [1.0, True, -10, 10]
  Bell:
    A: [8.0, True, 0, 100]
    c: [4.5, True, 0, 10]
    w: [1.6, True, 0.1, 5]
"""
DECAY = """
decay:
  expFun: {A: [3, True, -10, 10], tau: [8, True, 0.1, 100], t0: [0, False], y0: [0, False]}
"""


def test_all_executors_agree_and_the_fit_finds_the_truth() -> None:
    """The library used to ask the table of functions whether the formula reads a spectrum."""
    model = load_model(MODEL, "peak")
    model.add_dynamics("Bell_01_A", load_dynamics(DECAY, "decay", model.parameters["Bell_01_A"]))
    model.set_axes(energy=np.linspace(0, 10, 60), time=np.linspace(-5, 30, 15))
    clean = model.evaluate()
    np.testing.assert_allclose(clean, model.evaluate(backend="tree"), rtol=1e-12)
    np.testing.assert_allclose(clean, model.evaluate(backend="interpreted"), rtol=1e-12)
    measurement = Measurement(data=clean)
    truth = model.values
    model.set_values({"Bell_01_A": 7.0, "Bell_01_c": 4.8, "Bell_01_w": 1.9, "Offset_y0": 0.5})
    executor = make_executor(model, measurement)
    assert executor.plan.separable
    theta = np.array([model.values[name] for name in executor.opt_param_names])
    jacobian = executor.jacobian(theta)
    for k, value in enumerate(theta):
        step = np.zeros_like(theta)
        step[k] = 1e-6 * abs(value)
        slope = (executor.residual(theta + step) - executor.residual(theta - step)) / (2 * step[k])
        np.testing.assert_allclose(jacobian[k], slope, atol=1e-6 * np.abs(slope).max())
    result = fit_model(model, measurement)
    for name in executor.opt_param_names:
        np.testing.assert_allclose(result.values[name], truth[name], rtol=1e-6)
