"""How fits end: at bounds, without information, by other methods, or early."""

from __future__ import annotations

from typing import Any

import pytest
from support.fit_cases import (
    TRUE_1D,
    check_truth,
    data_1d,
    spectrum,
)

from pyspec.errors import PlanError
from pyspec.executor import CompiledExecutor
from pyspec.fit import fit_model
from pyspec.model import Measurement


def test_parameter_at_a_bound_is_named_and_has_no_error() -> None:
    model = spectrum()
    model.parameters["GLP_01_F"].max = 1.0  # truth 1.2
    model.parameters["GLP_01_F"].value = 0.8
    result = fit_model(model, Measurement(data=data_1d()))
    assert result.at_bound == {"GLP_01_F": "max"}
    assert result.stderr["GLP_01_F"] is None
    assert "GLP_01_F (max)" in result.message
    assert "(at max)" in str(result)
    fixed = spectrum()
    fixed.parameters["GLP_01_F"].value = 1.0
    fixed.parameters["GLP_01_F"].vary = False
    reference = fit_model(fixed, Measurement(data=data_1d()))
    for name in ("GLP_01_A", "GLP_01_x0", "Offset_y0"):
        # One more free parameter is counted, hence not exactly the same.
        assert result.stderr[name] == pytest.approx(reference.stderr[name], rel=0.02)


def test_start_on_a_bound_still_moves() -> None:
    """lmfit's transformation has no slope at a bound: such a parameter never moved."""
    model = spectrum()
    model.parameters["GLP_01_m"].vary = True
    model.parameters["GLP_01_m"].min, model.parameters["GLP_01_m"].max = 0.0, 1.0
    model.parameters["GLP_01_m"].value = 0.0
    result = fit_model(model, Measurement(data=data_1d()))
    assert abs(result.values["GLP_01_m"] - 0.3) < 4 * result.stderr["GLP_01_m"]
    assert "Start values on a bound were moved inside: GLP_01_m to 0.001; " in result.message


@pytest.mark.parametrize("method", ["least_squares", "nelder", "lbfgsb"])
def test_other_methods_give_the_same_answer_and_errors(method: str) -> None:
    measurement = Measurement(data=data_1d())
    wanted = fit_model(spectrum(), measurement)
    result = fit_model(spectrum(), measurement, method=method)
    assert result.method == method
    for name in result.problem.names:
        assert abs(result.values[name] - wanted.values[name]) < 0.05 * wanted.stderr[name]
        assert result.stderr[name] == pytest.approx(wanted.stderr[name], rel=0.02)


def test_two_stages() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()), stages=2)
    assert result.method == "nelder then native"
    # With the default method by its name there was no simplex: native ran twice.
    named = fit_model(spectrum(), Measurement(data=data_1d()), stages=2, method="native")
    assert (named.method, named.nfev) == (result.method, result.nfev)
    assert result.success
    check_truth(result, TRUE_1D)


def test_max_nfev_keeps_the_best_point() -> None:
    seen: list[float] = []
    result = fit_model(
        spectrum(),
        Measurement(data=data_1d()),
        max_nfev=6,
        progress=lambda nfev, chisqr, best: seen.append(chisqr),
    )
    assert len(seen) == 6
    assert not result.success
    assert not result.interrupted
    assert "max_nfev = 6" in result.message
    assert result.chisqr == pytest.approx(min(seen), rel=1e-12)
    assert all(error is None for error in result.stderr.values())


@pytest.mark.parametrize("method", ["native", "leastsq", "nelder", "least_squares"])
def test_ctrl_c_keeps_the_best_point(method: str) -> None:
    seen: list[float] = []

    def press(nfev: int, chisqr: float, best: float) -> None:
        seen.append(chisqr)
        if nfev == 6:
            raise KeyboardInterrupt

    result = fit_model(spectrum(), Measurement(data=data_1d()), method=method, progress=press)
    assert result.interrupted
    assert not result.success
    assert "interrupted after 6 evaluations" in result.message
    assert result.chisqr == pytest.approx(min(seen), rel=1e-12)


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
