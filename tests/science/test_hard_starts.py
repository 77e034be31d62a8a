"""Fits from hard starts: bounds, scales, degenerate models, far away. What a method reaches, and
whether it says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bench.hard_starts import (
    CLEAN,
    Ending,
    Optimum,
    all_cases,
    methods_at_hand,
    run_case,
    summary,
)
from bench.hard_starts import METHODS as KINDS

METHODS = methods_at_hand()

#: pyspec's own, with and without elimination.
NATIVE = [name for name in METHODS if KINDS[name][0] == "native"]
CASES = {case.name: case for case in all_cases()}


@pytest.fixture(scope="session")
def runs() -> dict[str, tuple[Optimum, list[Ending]]]:
    return {name: run_case(case, METHODS) for name, case in CASES.items()}


@pytest.fixture(scope="session")
def endings(runs: dict[str, tuple[Optimum, list[Ending]]]) -> list[Ending]:
    return [ending for _, found in runs.values() for ending in found]


def test_the_table() -> None:
    assert len(CASES) == len(all_cases()) >= 40
    for case in CASES.values():
        names = case.model().opt_param_names
        assert set(case.undetermined) <= set(names), case.name
        data = case.measurement().data
        np.testing.assert_array_equal(data, case.measurement().data)


@pytest.mark.slow
def test_clean_data_have_an_exact_optimum(runs: dict[str, tuple[Optimum, list[Ending]]]) -> None:
    clean = [optimum for optimum, _ in runs.values() if optimum.clean]
    assert len(clean) >= 5
    for optimum in clean:
        assert optimum.best <= 1e-5 * CLEAN * optimum.power


@pytest.mark.slow
def test_the_optima_are_optima(runs: dict[str, tuple[Optimum, list[Ending]]]) -> None:
    """The residual is at right angles to the derivatives by all parameters that are not held, and
    presses the others against their bounds; and chi² is below that of the truth."""
    for name, (optimum, _) in runs.items():
        theta = optimum.theta
        assert (theta >= optimum.low).all(), name
        assert (theta <= optimum.high).all(), name
        truth = np.clip(CASES[name].true_theta(), optimum.low, optimum.high)
        assert optimum.best <= optimum.chisqr(truth), name
        if optimum.clean:
            continue
        slopes = optimum.executor.jacobian(theta).T
        residual = optimum.executor.residual(theta)
        size = np.sqrt(np.einsum("ij,ij->j", slopes, slopes))
        size = np.where(size > 0, size, 1.0)
        cosines = residual @ slopes / size / np.sqrt(optimum.best)
        # On a bound is what a step there would change by a billionth of the residual.
        close = 1e-9 * np.sqrt(optimum.best)
        cosines[(size * (theta - optimum.low) <= close) & (cosines > 0)] = 0.0
        cosines[(size * (optimum.high - theta) <= close) & (cosines < 0)] = 0.0
        assert np.abs(cosines).max() < 1e-4, name


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_it_reaches_most_optima(endings: Sequence[Ending], method: str) -> None:
    counts = summary(endings, method)
    assert counts["cases"] == len(CASES)
    assert counts["reached"] >= 0.7 * len(CASES), counts


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in METHODS if KINDS[m][0] != "native"])
@pytest.mark.skipif("native" not in METHODS, reason="there is no native solver in this build")
def test_native_reaches_at_least_as_many(endings: Sequence[Ending], method: str) -> None:
    native, other = (
        {e.case for e in endings if e.method == m and e.reached} for m in ("native", method)
    )
    assert len(native) >= len(other), f"only {method} reaches {sorted(other - native)}"


@pytest.mark.slow
@pytest.mark.skipif("native" not in METHODS, reason="there is no native solver in this build")
@pytest.mark.parametrize("method", NATIVE)
def test_native_does_not_claim_what_it_has_not_found(
    endings: Sequence[Ending], method: str
) -> None:
    claims = [f"{e.case}: {e.message}" for e in endings if e.method == method and e.false_success]
    assert not claims


@pytest.mark.slow
@pytest.mark.skipif("native" not in METHODS, reason="there is no native solver in this build")
@pytest.mark.parametrize("method", NATIVE)
def test_native_says_what_it_has_found(endings: Sequence[Ending], method: str) -> None:
    shy = [f"{e.case}: {e.message}" for e in endings if e.method == method and e.shy]
    assert not shy


@pytest.mark.slow
def test_solving_for_linear_parameters_loses_no_optimum(endings: Sequence[Ending]) -> None:
    taken = {
        method: [e for e in endings if e.method == method]
        for method in ("native", "native, eliminated")
    }
    reached = {method: sum(e.reached for e in found) for method, found in taken.items()}
    assert reached["native, eliminated"] >= reached["native"]


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_without_any_effect_is_no_success(method: str) -> None:
    """Its name stands in the message."""
    for name in ("a parameter without effect", "a masked line", "a line outside of the window"):
        _, (ending,) = run_case(CASES[name], [method])
        assert ending.reached
        assert not ending.success
        for parameter in CASES[name].undetermined:
            assert parameter in ending.message
