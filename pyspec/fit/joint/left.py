"""What the data of all files of a joint fit leave undetermined, for the free amplitudes of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pyspec.fit.linear import LinearProblem
from pyspec.fit.linear.amplitudes import follow
from pyspec.fit.linear.lost import information_of, lost_directions
from pyspec.fit.problem import FitProblem

Array = npt.NDArray[np.float64]


def left_in(
    problems: Sequence[FitProblem],
    gathers: Sequence[npt.NDArray[np.int64]],
    theta: Array,
    covariance: Array,
    variance: float,
    lost: Sequence[int],
) -> None:
    """Tells each file with free amplitudes the covariance of its theta without the directions in
    which that is not determined, and these, see :mod:`pyspec.fit.linear.lost`. `covariance` is
    that of theta of all, with zeros for those at the places `lost`; `gathers` say where that of
    each file stands in it."""
    first, n = problems[0], theta.size
    if isinstance(first, LinearProblem) and first.of_joint is not None:
        information = _known_to(first, theta, variance)  # they are solved for together
        gathers = [np.arange(n)] * len(problems)
    else:
        information = np.zeros((n, n))
        for problem, gather in zip(problems, gathers, strict=True):
            information[np.ix_(gather, gather)] += _known_to(problem, theta[gather], variance)
    found, away = lost_directions(information, covariance, lost, variance)
    for problem, gather in zip(problems, gathers, strict=True):
        if isinstance(problem, LinearProblem):
            problem.left = found[np.ix_(gather, gather)], away[gather]


def _known_to(problem: FitProblem, theta: Array, variance: float) -> Array:
    """(n, n) what one file knows of its theta, or several that share amplitudes of that of all."""
    if isinstance(problem, LinearProblem):
        gather = problem.linear.gather
        own = theta if problem.of_joint is None else theta[gather]
        with problem.linear.lock:
            solved = problem.linear.solve(own, problem.fixed)
            return information_of(follow(problem, solved, variance), theta.size)
    bounds = [(-np.inf, np.inf)] * theta.size
    slopes = problem.slopes(theta, bounds, list(range(theta.size)))
    return np.asarray(slopes.T @ slopes)
