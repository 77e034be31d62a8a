"""Rates of a kinetic scheme that exchanged their order on the way from the start.

With free spectra a sequence fits as well with two of its rates exchanged, but the spectra of its
states are others then. Which of the optima is meant is said by the order of the start values, and a
long step may end in another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pyspec.model.kinetics import scheme_name, schemes_in

if TYPE_CHECKING:
    from pyspec.fit.problem import FitProblem
    from pyspec.fit.result import FitResult

#: chi² of both orders differs by less than this share of it.
SAME = 1e-9


def exchanged(result: FitResult) -> list[str]:
    """Sentences about rates whose order is not that of their start values, though the data allow
    both; none of fits without success, of several starts, which are compared with one another, and
    of one file of a joint fit, which says it."""
    problem = result.problem
    if not result.success or result.starts or result._of_many:
        return []
    found: dict[str, None] = {}
    for own, names in problem.named_files:
        for scheme, rates in _rates(own) if own.n_linear else ():
            known = [n for one in rates if (n := names[one]) in problem.names and n in result.start]
            pairs = [pair for pair in combinations(known, 2) if _is_exchanged(result, *pair)]
            found.update(dict.fromkeys(_sentence(scheme, *pair) for pair in pairs))
    return list(found)


def _rates(problem: FitProblem) -> Iterator[tuple[str, list[str]]]:
    """The name of each scheme of a file, and its rates with a value of their own."""
    for scheme, states in schemes_in(problem.model.components):
        own = [par for state in states for par in state.parameters if par.vary]
        rates = {par.name: None for par in own if par.argument in scheme.rates}
        yield scheme_name(states[0]), [name for name in rates if name in problem.parameters]


def _is_exchanged(result: FitResult, one: str, other: str) -> bool:
    """Whether two rates have another order than at the start, and chi² is the same where they are
    exchanged, within their bounds."""
    problem, values, start = result.problem, result.values, result.start
    if not (start[one] - start[other]) * (values[one] - values[other]) < 0:
        return False
    pars = problem.parameters
    for name, value in ((one, values[other]), (other, values[one])):
        if not pars[name].min <= value <= pars[name].max:
            return False
    theta = result.theta.copy()
    places = [problem.names.index(name) for name in (one, other)]
    theta[places] = theta[places[::-1]]
    here, there = problem.chisqr_at(result.theta), problem.chisqr_at(theta)
    return bool(abs(there - here) <= SAME * here) and bool(np.isfinite(there))


def _sentence(scheme: str, one: str, other: str) -> str:
    return (
        f"{scheme}: {one} and {other} ended in another order than they were started in; exchanged "
        "they fit equally well, with other spectra of the states: start nearer to the order that "
        "you mean, or give them bounds that do not overlap"
    )
