"""Fits from hard starts: bounds, scales, degenerate models, far away. What a method reaches, and
whether it says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bench.hard_starts import METHODS as KINDS
from bench.hard_starts import (
    Ending,
    Optimum,
    all_cases,
    methods_at_hand,
    run_case,
)
from bench.problems.start_models import start_models
from bench.random_starts import Reference, random_start
from pyspec import fit_model

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


#: Two of its three lines have no Lorentzian part.
MODEL = next(one for one in start_models() if one.name.startswith("three GLP"))


@pytest.mark.parametrize("start", [1, 13, 73])
def test_a_fit_that_left_a_bound_leaves_the_others_too(start: int) -> None:
    """Where a GLP's m is 0, its slopes by m and F are parallel: chi² may fall off the bound without
    a slope. These fits left one such bound, and ended at another."""
    measurement = MODEL.measurement(0)
    model = MODEL.model(random_start(MODEL, np.random.default_rng([start, 1])), True)
    found = fit_model(model, measurement)
    assert found.success
    assert found.chisqr == pytest.approx(413.208543, abs=1e-5)
    bounds = {n: (model.parameters[n].min, model.parameters[n].max) for n in MODEL.names}
    reference = Reference(MODEL, np.asarray(measurement.data, np.float64), bounds)
    assert reference.judge(found.values) == ""
    mixed = next(name for name in MODEL.names if 0.1 < found.values[name] < 0.15)
    model = MODEL.model(found.values, True)
    model.set(mixed, value=0.0, vary=False)
    assert reference.judge(fit_model(model, measurement).values) == "saddle"
