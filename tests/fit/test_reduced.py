"""The reduced problem of fits that solve for linear parameters, and its bounds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from support.eliminated import ENERGY, WEIGHT, doublet, seen

from pyspec import (
    Measurement,
)
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.executor.normal import unpack
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.bounded import least_squares
from pyspec.fit.solve.eliminate import Elimination

Array = npt.NDArray[np.float64]


def reduced(measurement: Measurement, at: Array, form: str = "gram") -> tuple[Elimination, Array]:
    model = doublet(0, 1e4, -3e3)
    problem = FitProblem(model, measurement, "compiled")
    params, _ = problem.start()
    linear = [problem.names.index(name) for name in problem.linear_names]
    bounds = np.array([params.limits[name][:2] for name in problem.names])
    sums = problem.executor.normal
    made = Elimination(
        problem, linear, *bounds.T, ENERGY.size, lambda theta, form: sums(theta, None, form)
    )
    made.run(problem.theta_of(params.value))
    made._reduced(at, form)
    made._key = None  # once more, from the β that was found
    return made, np.asarray(made._reduced(at, form))


AT = np.array([0.004, 84.3, 1.1, 0.25, 86.1, 0.65])


def test_the_reduced_triangle_is_that_of_kaufman() -> None:
    measurement = Measurement(data=seen(doublet()), weight=WEIGHT)
    made, triangle = reduced(measurement, AT)
    executor = CompiledExecutor(make_plan(doublet()), measurement)
    theta = np.zeros(10)
    theta[made.others] = AT
    known = unpack(executor.normal(theta, None))
    b, n = made.linear, made.others
    theta[b] = np.linalg.solve(known[np.ix_(b, b)], known[b, -1])
    whole = unpack(executor.normal(theta, None))
    inner = np.linalg.solve(whole[np.ix_(b, b)], whole[np.ix_(b, n)])
    hessian = whole[np.ix_(n, n)] - whole[np.ix_(n, b)] @ inner
    found = unpack(triangle)
    assert found[-1, -1] == pytest.approx(whole[-1, -1], rel=1e-10)
    assert found[:-1, :-1] == pytest.approx(hessian, rel=1e-8, abs=1e-8 * np.abs(hessian).max())
    size = np.sqrt(hessian.diagonal() * whole[-1, -1])
    assert found[:-1, -1] / size == pytest.approx(whole[n, -1] / size, abs=1e-8)
    _, factor = reduced(measurement, AT, "factor")
    root = unpack(factor, symmetric=False)
    assert root.T @ root == pytest.approx(found, rel=1e-8, abs=1e-8 * np.abs(found).max())


def test_the_reduced_gradient_is_that_of_the_reduced_chisqr() -> None:
    measurement = Measurement(data=seen(doublet()))
    made, triangle = reduced(measurement, AT)
    gradient = unpack(triangle)[:-1, -1]
    for k in range(AT.size):
        step = np.zeros(AT.size)
        step[k] = 1e-6
        high, low = (float(made._reduced(AT + sign * step, "value")[0]) for sign in (1, -1))
        assert (high - low) / 2e-6 == pytest.approx(-2.0 * gradient[k], rel=1e-5)


def test_bounded_least_squares_against_scipy() -> None:
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        columns = rng.normal(size=(n + 4, n)) * 10.0 ** rng.uniform(-6, 6, n)
        right = rng.normal(size=n + 4)
        scale = 1.0 / np.linalg.norm(columns, axis=0)
        low, high = -scale * rng.uniform(0, 1, n), scale * rng.uniform(0, 1, n)
        found = least_squares(columns, right, low, high)
        known = lsq_linear(columns / (1 / scale), right, (low / scale, high / scale), tol=1e-14)
        assert np.all((found.step >= low) & (found.step <= high))
        left = np.linalg.norm(right - columns @ found.step)
        assert left <= np.sqrt(2 * known.cost) * (1 + 1e-9)


def test_bounded_least_squares_of_nothing() -> None:
    empty = least_squares(np.zeros((3, 2)), np.ones(3), -np.ones(2), np.ones(2))
    assert empty.step.tolist() == [0.0, 0.0]
    assert empty.basis.shape == (3, 0)
