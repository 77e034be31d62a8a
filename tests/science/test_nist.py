"""NIST's 27 nonlinear problems (StRD) from both starts, against certified values and errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.nist import (
    Outcome,
    data_folder,
    run_all,
    summary,
)
from bench.problems.nist_problems import PROBLEMS, StrdFile, read_strd
from pyspec.executor import make_executor
from pyspec.functions.external import CALLABLES, forget_function

METHODS = ["native", pytest.param("leastsq", marks=pytest.mark.slow)]

#: MINPACK takes a plateau of BoxBOD (a rate so large that nothing depends on it) for a minimum.
DECEIVED = {"native": set(), "leastsq": {"BoxBOD"}}


@pytest.fixture(scope="session")
def folder(shared: Path) -> Path:
    found = data_folder(shared)
    if found is None:
        pytest.skip(f"no files of NIST's nonlinear problems in {shared}/data/nist_strd")
    return found


@pytest.fixture(scope="session")
def files(folder: Path) -> dict[str, StrdFile]:
    return {name: read_strd(folder / f"{name}.dat") for name in PROBLEMS}


@pytest.fixture(autouse=True)
def no_registered_functions() -> Iterator[None]:
    yield
    for name in PROBLEMS.keys() & CALLABLES.keys():
        forget_function(name)


@pytest.fixture(scope="session", params=METHODS)
def outcomes(request: pytest.FixtureRequest, folder: Path) -> list[Outcome]:
    return run_all(folder, request.param)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_every_route_has_the_certified_sum_of_squares(
    files: dict[str, StrdFile], name: str
) -> None:
    """Before any fit: the models are NIST's, to the digits that the certified values have."""
    strd, sums = files[name], {}
    for route in PROBLEMS[name].routes:
        model, measurement = PROBLEMS[name].build(strd, None, route)
        executor = make_executor(model, measurement)
        residual = executor.residual(model.theta())
        sums[route] = float(residual @ residual)
        assert route == "external" or executor.capabilities.in_c
    # Lanczos1 has a sum of squares of rounding errors, of the certified values too.
    expected = max(sums.values()) if name == "Lanczos1" else strd.chisqr
    assert expected < 1e-20 or name != "Lanczos1"
    for route, found in sums.items():
        assert found == pytest.approx(expected, rel=1e-3 if name == "Lanczos1" else 1e-9), route


def test_fifty_of_54_to_six_digits(outcomes: list[Outcome]) -> None:
    """Every value and standard error."""
    assert len(outcomes) == 54
    missed = [f"{o.problem} from start {o.start}: {o.message}" for o in outcomes if not o.solved]
    assert summary(outcomes)["solved"] >= 50, missed


def test_no_success_without_the_values(outcomes: list[Outcome]) -> None:
    false = {outcome.problem for outcome in outcomes if outcome.false_success}
    assert false <= DECEIVED[outcomes[0].method]


def test_what_is_solved_is_reported_as_success(outcomes: list[Outcome]) -> None:
    shy = [o.message for o in outcomes if o.solved and not o.success]
    assert len(shy) <= 2, shy
