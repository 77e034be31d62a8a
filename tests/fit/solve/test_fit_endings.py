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
