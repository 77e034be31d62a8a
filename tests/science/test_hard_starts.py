"""Fits from hard starts: bounds, scales, degenerate models, far away. What a method reaches, and
whether it says so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench.hard_starts import METHODS as KINDS
from bench.hard_starts import (
    Ending,
    Optimum,
    all_cases,
    methods_at_hand,
    run_case,
)

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
