"""Decays of a fit with free spectra that ended at one and the same rate.

Two decays with free spectra may reach nearly the same rate, with huge and opposite spectra.
Together they are as good as t exp(-k t), which is also what a scheme with coinciding rates gives.
Noise often makes this the best fit if the model has one decay more than the data. There chi² does
not depend on the difference of the two rates in first order, and errors of both mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pyspec.executor.amplitudes.design import Designer, Valued
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.formula import Scheme
from pyspec.model.build.kinetics import scheme_name, schemes_in

Array = npt.NDArray[np.float64]
Values = Mapping[str, Valued]
Rates = npt.NDArray[np.inexact]

#: What may coincide: the places of a finding, and the rates by the values of all parameters.
Candidate = tuple[tuple[str, ...], Callable[[Values], Rates]]

#: Rates that differ by less than this share of themselves coincide.
SAME = 1e-3

#: Relative change of a parameter, and of the distance of two rates where these are not tied.
STEP, MOVED = 1e-2, 1e-5


def coinciding(
    designer: Designer, theta: Array, fixed: Mapping[str, float] | None
) -> list[Finding]:
    """A finding for each pair of laws, and each scheme, whose rates coincide at `theta` though
    they are free to differ. Rates that expressions hold together are as the model has them."""

    def values(at: Array) -> Values:
        return designer.values_at(at, fixed or {})

    findings = []
    for places, rates in (*_laws(designer, values(theta)), *_schemes(designer)):
        near = _near(rates, values, theta)
        if near is not None:
            findings.append(Finding(Kind.EQUAL_RATES, places, {"rate": near}))
    return findings


def _laws(designer: Designer, values: Values) -> Iterator[Candidate]:
    """Pairs of decays with free spectra and one onset."""
    decays = [
        {par.argument: par.name for par in component.parameters}
        for component in designer.model.components
        if component.op.name == "expFun" and component.parameters[0].free
    ]
    for pair in combinations(decays, 2):
        taus, onsets = (tuple(own[argument] for own in pair) for argument in ("tau", "t0"))
        first, second = (np.asarray(values[name][0]) for name in onsets)

        def rates(at: Values, taus: tuple[str, ...] = taus) -> Rates:
            return 1 / np.array([np.mean(at[name][0]) for name in taus])

        if np.all(first == second):
            yield taus, rates


def _schemes(designer: Designer) -> Iterator[Candidate]:
    for scheme, states in schemes_in(designer.model.components):
        pars = {par.argument: par.name for state in states for par in state.parameters[1:]}

        def rates(at: Values, scheme: Scheme = scheme, pars: Mapping[str, str] = pars) -> Rates:
            own = {rate: float(np.mean(at[pars[rate]][0])) for rate in scheme.parameters}
            return -np.linalg.eigvals(scheme.matrix(own))

        if not scheme.has_pairs:
            yield (scheme_name(states[0]),), rates


def _near(
    rates: Callable[[Values], Rates], values: Callable[[Array], Values], theta: Array
) -> float | None:
    """The rate at which two coincide that move apart with a free parameter, or None."""
    here, first, second = _closest(rates(values(theta)))
    if not here <= SAME:
        return None
    for k in range(theta.size):
        moved = theta.copy()
        moved[k] *= 1 + STEP
        there, *_ = _closest(rates(values(moved)))
        if abs(there - here) > MOVED:
            return float(abs(first + second) / 2)
    return None


def _closest(rates: Rates) -> tuple[float, complex, complex]:
    """The relative distance of the two that are the closest, and both; rates of 0 do not decay."""
    best = (np.inf, 0j, 0j)
    for first, second in combinations(rates.tolist(), 2):
        size = max(abs(first), abs(second))
        if size > 0 and abs(first - second) < best[0] * size:
            best = (abs(first - second) / size, first, second)
    return best
