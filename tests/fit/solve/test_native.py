"""The native solver: optimum, errors and correlations of fits of every kind; where it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from support.fit_cases import agree
from support.native_cases import CASES, fit, optimum

from pyspec._library import LIBRARY
from pyspec.executor import CompiledExecutor, PartsExecutor
from pyspec.fit import FitResult
from pyspec.fit.objective import Objective


@pytest.fixture(scope="module")
def compiled() -> Callable[[str], FitResult]:
    """The fit of a case by the default backend."""
    return cache(lambda name: fit(CASES[name]()))


@pytest.mark.parametrize("name", CASES)
def test_optimum_errors_and_correlations(name: str, compiled: Callable[[str], FitResult]) -> None:
    result = compiled(name)
    expected = optimum(CASES[name]())
    assert result.success, result.message
    assert result.method == "native"
    assert result.chisqr == pytest.approx(expected.chisqr, rel=1e-12)
    errors = np.sqrt(np.diag(expected.covariance))
    for k, own in enumerate(expected.names):
        assert abs(result.values[own] - expected.values[k]) < 1e-6 * errors[k], own
        assert result.stderr[own] == pytest.approx(errors[k], rel=1e-6), own
        for j, other in enumerate(expected.names):
            if j != k:
                correlation = expected.covariance[k, j] / errors[k] / errors[j]
                assert result.correl[own][other] == pytest.approx(correlation, abs=1e-6), own
    places = [result.lmfit.var_names.index(own) for own in expected.names]
    covariance = result.lmfit.covar[np.ix_(places, places)] / np.outer(errors, errors)
    np.testing.assert_allclose(
        covariance, expected.covariance / np.outer(errors, errors), rtol=0, atol=2e-6
    )


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        *product(("one spectrum", "expressions"), ("interpreted", "tree", "compare")),
        *product(("a series", "counts"), ("interpreted",)),
        pytest.param("three files", "interpreted", marks=pytest.mark.slow),
    ],
)
def test_backends_give_one_answer(
    name: str, backend: str, compiled: Callable[[str], FitResult]
) -> None:
    """Derivatives by differences are good to 1e-9 of their size or so."""
    wanted = compiled(name)
    result = fit(CASES[name](), backend=backend)
    assert result.success, result.message
    assert result.backend == backend
    agree(result, wanted, 1e-5, 1e-5)


class Counting:
    """The library, and how often each of its functions is called."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        function = getattr(LIBRARY, name)

        def counted(*given: Any) -> Any:
            self.counts[name] += 1
            return function(*given)

        return counted


def watch_calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls of the library from here on, while every evaluation from Python is refused."""
    counting = Counting()
    for module in ("fit.solve.native", "executor.normal", "executor.compiled"):
        monkeypatch.setattr(f"pyspec.{module}.LIBRARY", counting)
    monkeypatch.setattr("pyspec.fit.solve.native.PATIENCE", 1e9)

    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("an evaluation was made from Python")

    for kind in (CompiledExecutor, PartsExecutor):
        for name in ("run", "residual", "jacobian", "normal"):
            monkeypatch.setattr(kind, name, refuse)
    monkeypatch.setattr(Objective, "__call__", refuse)
    monkeypatch.setattr("pyspec.executor.interpreted.run_rpn", refuse)
    return counting.counts


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("counts", "three files")])
def test_the_whole_fit_is_one_kind_of_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations, derivatives, steps and errors: the loop comes back only to look for Ctrl-C, and
    here its patience is long."""
    parts = CASES[name]()
    calls = watch_calls(monkeypatch)
    result = fit(parts)
    assert result.success
    assert all(result.stderr[own] for own in result.problem.names)
    sizes = {name for name in calls if name.endswith("_size")}
    assert set(calls) - sizes <= {"pyspec_fit", "pyspec_end_of"}, calls
    assert calls["pyspec_fit"] == 1 < result.nfev


def test_a_callback_comes_after_each_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = CASES["a series"]()
    calls = watch_calls(monkeypatch)
    seen: list[tuple[int, float, float]] = []
    result = fit(parts, progress=lambda *state: seen.append(state))
    assert [nfev for nfev, _, _ in seen] == list(range(1, result.nfev + 1))
    assert calls["pyspec_fit"] == result.nfev
    best = [state[2] for state in seen]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(best))  # up by rounding at most
    assert best[-1] == result.chisqr
