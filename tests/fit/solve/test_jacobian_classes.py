"""Classes of Jacobian columns can be switched off; the answer is the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from support.fit_cases import agree, data_2d, series

from pyspec import FitError, Measurement, fit_model
from pyspec.fit.objective import Objective
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.plan import compile_model


@pytest.mark.parametrize("without", [("constant",), ("constant", "structured"), "structured"])
def test_same_fit_without_a_class(without: tuple[str, ...] | str) -> None:
    measurement = Measurement(data=data_2d())
    whole = fit_model(series(), measurement)
    result = fit_model(series(), measurement, jacobian_without=without)
    assert result.success
    agree(result, whole)
    assert result.nfev > whole.nfev  # differences are evaluations, too


def problem(backend: str, without: tuple[str, ...] = ()) -> tuple[Objective, int]:
    """A problem of five columns that no closed form gives, and how many of these are constant."""
    made = problem_of(
        compile_model(series()), Measurement(data=data_2d()), backend, without=without
    )
    return started(made), made.column_kinds.count("constant")


def started(made: FitProblem) -> Objective:
    return Objective(made, made.start().units)


def derivatives(made: Objective, theta: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return made.derivatives(theta, [(-np.inf, np.inf)] * theta.size)


@pytest.mark.parametrize("backend", ["interpreted", "tree"])
def test_constant_differences_are_computed_once(backend: str) -> None:
    """They used to be computed anew at every step."""
    made, constant = problem(backend)
    exact, _ = problem("compiled")
    theta = made.problem.model.theta()
    columns = len(made.problem.names)
    assert 0 < constant < columns
    derivatives(made, theta)
    assert made.evaluations.count == 2 * columns
    moved = theta * 1.01
    again = derivatives(made, moved)
    assert made.evaluations.count == 2 * columns + 2 * (columns - constant)
    known = derivatives(exact, moved)
    np.testing.assert_allclose(again, known, rtol=0, atol=1e-6 * np.abs(known).max())


@pytest.mark.parametrize("without", [("constant",), ("structured",)])
def test_a_class_switched_off_is_finite_differences_at_every_step(without: tuple[str]) -> None:
    """Without "constant" the lines of components were switched off, which are another matter."""
    made, constant = problem("compiled", without)
    off = constant if without == ("constant",) else len(made.problem.names) - constant
    theta = made.problem.model.theta()
    for step in (1, 2):
        derivatives(made, theta * (1.0 + 0.01 * step))
        assert made.evaluations.count == step * 2 * off


def test_unknown_class() -> None:
    with pytest.raises(FitError, match=r"jacobian_without='structure' .* did you mean"):
        fit_model(series(), Measurement(data=data_2d()), jacobian_without=("structure",))
