"""How fits end: bounds, nothing to learn, exact data, limits, wrong options, other methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fit_cases import (
    ENERGY,
    START,
    STATIC,
    TRUE_1D,
    agree,
    check_truth,
    data_1d,
    data_2d,
    loaded,
    series,
    spectrum,
)
from support.native_cases import CASES, fit

from pyspec.errors import PlanError
from pyspec.executor import CompiledExecutor
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model


def bounded(name: str, low: float, high: float, start: float) -> Model:
    model = spectrum()
    par = model.parameters[name]
    par.min, par.max, par.value = low, high, start
    return model


@pytest.mark.parametrize(
    ("name", "low", "high", "start", "side"),
    [
        ("GLP_01_F", 0.1, 1.0, 0.8, "max"),
        ("GLP_01_F", 1.3, 5.0, 2.0, "min"),
        ("GLP_01_x0", 84.1, 92.0, 85.0, "min"),
        ("Offset_y0", -np.inf, 1.7, 1.0, "max"),
    ],
)
def test_a_parameter_at_its_bound(
    name: str, low: float, high: float, start: float, side: str
) -> None:
    """Exactly there, named, without an error; the others are as if it were fixed there."""
    bound = low if side == "min" else high
    measurement = Measurement(data=data_1d(), weight=np.full(ENERGY.size, 20.0))
    result = fit_model(bounded(name, low, high, start), measurement, scale_covar=False)
    assert result.success
    assert result.values[name] == bound
    assert result.at_bound == {name: side}
    assert result.stderr[name] is None
    fixed = spectrum()
    fixed.parameters[name].value, fixed.parameters[name].vary = bound, False
    reference = fit_model(fixed, measurement, scale_covar=False)
    assert result.chisqr == pytest.approx(reference.chisqr, rel=1e-12)
    agree(result, reference, by=1e-8)
    for other in reference.problem.names:
        for third, value in reference.correl[other].items():
            assert result.correl[other][third] == pytest.approx(value, abs=1e-8)


def test_a_dead_parameter() -> None:
    text = STATIC.format(**START) + (
        "  Gauss:\n    A: [0, False]\n    x0: [85, True]\n    SD: [1, True, 0.1, 5]\n"
    )
    model = loaded(text, "spectrum", energy=ENERGY)
    result = fit_model(model, Measurement(data=data_1d()))
    assert not result.success
    assert result.without_effect == ("Gauss_01_x0", "Gauss_01_SD")
    assert result.stderr["Gauss_01_x0"] is None
    wanted = fit_model(spectrum(), Measurement(data=data_1d()))
    nfree = np.sqrt(wanted.lmfit.nfree / result.lmfit.nfree)
    for name in wanted.problem.names:
        error = wanted.stderr[name]
        assert abs(result.values[name] - wanted.values[name]) < 1e-6 * error, name
        assert result.stderr[name] == pytest.approx(error * nfree, rel=1e-8), name
    check_truth(result, TRUE_1D)


@pytest.mark.parametrize("name", ["one spectrum", "a series", "expressions"])
def test_noise_free_data(name: str) -> None:
    ((model, measurement),) = CASES[name]()
    true = fit(CASES[name]())
    theta = [true.values[own] for own in model.opt_param_names]
    exact = Measurement(data=model.evaluate(theta=theta))
    result = fit_model(model, exact)
    assert result.success, result.message
    assert result.chisqr <= 1e-26 * measurement.square()
    for own in model.opt_param_names:
        assert result.values[own] == pytest.approx(true.values[own], rel=1e-10), own


UNBOUNDED = """
peak:
  Offset: {y0: [0.5, true]}
  Gauss:
    A: [4, true]
    x0: [82.0, true]
    SD: ["width"]
parameters:
  width: [SIZE, true]
"""


@pytest.mark.parametrize("size", ["3.0", "1.8", "0.6"])
def test_steps_out_of_the_domain_are_survived(size: str) -> None:
    """Without bounds, steps lead to widths below 0, where the model is not a number."""
    model = loaded(UNBOUNDED.replace("SIZE", size), "peak", energy=ENERGY)
    clean = model.evaluate(theta=[1.0, 10.0, 83.0, 0.25])
    data = clean + np.random.default_rng(1).normal(0.0, 0.05, clean.shape)
    result = fit_model(model, Measurement(data=data))
    assert result.success, result.message
    check_truth(result, dict(zip(model.opt_param_names, [1.0, 10.0, 83.0, 0.25], strict=True)))


def test_max_nfev() -> None:
    for limit in (1, 2, 3):
        result = fit_model(series(), Measurement(data=data_2d()), max_nfev=limit)
        assert not result.success
        assert not result.interrupted
        assert result.nfev == limit
        assert f"max_nfev = {limit}" in result.message
        assert all(error is None for error in result.stderr.values())
        assert result.chisqr == pytest.approx(float(np.sum(result.residual**2)), rel=1e-12)
    enough = fit_model(series(), Measurement(data=data_2d()))
    again = fit_model(series(), Measurement(data=data_2d()), max_nfev=enough.nfev)
    assert again.success
    assert again.values == enough.values


def test_max_seconds() -> None:
    result = fit_model(series(), Measurement(data=data_2d()), max_seconds=1e-9)
    assert not result.success
    assert "max_seconds = 1e-09" in result.message
    assert result.nfev == 1
    assert fit_model(series(), Measurement(data=data_2d()), max_seconds=600).success


def test_what_a_callback_raises_comes_out() -> None:
    def fail(nfev: int, chisqr: float, best: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fit_model(spectrum(), Measurement(data=data_1d()), progress=fail)


def test_a_wider_tolerance_ends_sooner() -> None:
    tight = fit(CASES["a time trace"]())
    wide = fit(CASES["a time trace"](), tolerance=0.01)
    assert wide.success
    assert wide.nfev < tight.nfev
    assert wide.lmfit.distance <= 0.01
    for name in tight.problem.names:
        assert abs(wide.values[name] - tight.values[name]) < 0.01 * tight.stderr[name]


def test_fallback_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, *given: Any, **named: Any) -> None:
        raise PlanError("cannot compile this")

    measurement = Measurement(data=data_1d())
    monkeypatch.setattr(CompiledExecutor, "__init__", refuse)
    with pytest.warns(UserWarning, match="cannot compile this"):
        result = fit_model(spectrum(), measurement, backend=None)
    assert result.backend == "interpreted"
    with pytest.raises(PlanError, match="cannot compile this"):
        fit_model(spectrum(), measurement, backend="compiled")
