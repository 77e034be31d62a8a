"""Quantities by expressions that are far from linear within the errors of what they follow.

The error of a follower is propagated by its slopes. Of a ratio whose divisor is little more than
noise they say nothing: 10 / (0.3 ± 0.7) is no 33 ± 78, and of 300 simulated spectra with a line
that faint 43 % have the ratio of heights within one error of the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit.spread import covariance_of

Array = npt.NDArray[np.float64]

#: How many standard errors away followers are looked at.
AWAY = 2.0

#: A change of more than so many times what slopes have, or one to the other side, is told. Of a
#: ratio it is that of a divisor within 4 of its errors from 0.
MOST = 2.0

#: A change below this part of the value is none.
ROUNDING = 1e-9


def bent_followers(result: Any) -> list[str]:
    """Sentences about followers that change by another amount than their standard errors have it,
    where all parameters go two of them along; none of fits without success, and of one file of a
    joint fit, which says it."""
    problem, stderr = result.problem, result.stderr
    if not result.success or result._of_many:
        return []
    if not any(stderr[name] for name in result.expressions):
        return []
    with np.errstate(all="ignore"):
        return [_sentence(name, stderr[name]) for name in _bent(result, problem, stderr)]


def _bent(result: Any, problem: Any, stderr: Any) -> Iterator[str]:
    """Their names."""
    best, names, followers = result.values, problem.names, problem.followers
    known = {name: best[name] for name in best if name not in result.expressions}
    covariance = covariance_of(names, stderr, result.correl)
    low, high = problem.bounds_of(result._params)
    for name, gradient in followers.gradients(known).items():
        error = stderr.get(name)
        if not error:
            continue
        slopes = np.array([gradient.get(one, 0.0) for one in names])
        step = AWAY * (covariance @ slopes) / error
        for side in (-1.0, 1.0):
            theta = np.clip(result.theta + side * step, low, high)
            there = followers.values({**known, **dict(zip(names, theta.tolist(), strict=True))})
            expected = float(slopes @ (theta - result.theta))
            if (
                abs(expected) > ROUNDING * abs(best[name])
                and not 0.0 < (there[name] - best[name]) / expected < MOST
            ):
                yield name
                break


def _sentence(name: str, error: float) -> str:
    return (
        f"{name} is far from linear in what it follows: its standard error, {error:.2g}, which "
        "takes it to be, may be far too small or too large; quote an interval of "
        f"bootstrap(result, 200).interval({name!r}), or a quantity that divides by no small one"
    )
