"""Columns of the Jacobian that are the same at every step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from support.fit_cases import data_2d, series

from pyspec import Measurement
from pyspec.fit.objective import Objective
from pyspec.fit.problem import problem_of
from pyspec.plan import compile_model


def problem(backend: str) -> tuple[Objective, int]:
    """A problem of five columns that no closed form gives, and how many of these are constant."""
    made = problem_of(compile_model(series()), Measurement(data=data_2d()), backend)
    return Objective(made, made.start().units), made.column_kinds.count("constant")


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
