"""Decays of a fit with free spectra that ended at one and the same rate.

Two decays with free spectra may reach nearly the same rate, with huge and opposite spectra.
Together they are as good as t exp(-k t), which is also what a scheme with coinciding rates gives.
Noise often makes this the best fit if the model has one decay more than the data. There chi² does
not depend on the difference of the two rates in first order, and errors of both mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pyspec.executor.amplitudes.design import Designer
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.formula import Scheme
from pyspec.model import Component
from pyspec.model.build.kinetics import scheme_name, schemes_in

Array = npt.NDArray[np.float64]
Values = Mapping[str, float]
Rates = npt.NDArray[np.inexact]

#: Rates that differ by less than this share of themselves coincide.
SAME = 1e-3

#: Relative change of a parameter, and of the distance of two rates where these are not tied.
STEP, MOVED = 1e-2, 1e-5


def coinciding(designer: Designer, theta: Array, fixed: Values | None) -> list[Finding]:
    """A finding for each pair of laws, and each scheme, whose rates coincide at `theta` though
    they are free to differ. Rates that expressions hold together are as the model has them."""
    components = designer.model.components
    return [*_laws(components, designer, theta, fixed), *_schemes(designer, theta, fixed)]


def _laws(
    components: Sequence[Component], designer: Designer, theta: Array, fixed: Values | None
) -> list[Finding]:
    found = []
    decays = [one for one in components if one.op.name == "expFun" and one.parameters[0].free]
    for pair in combinations(decays, 2):
        names = [{par.argument: par.name for par in one.parameters} for one in pair]
        taus, onsets = ([own[what] for own in names] for what in ("tau", "t0"))

        def rates(at: Mapping[str, Array], taus: list[str] = taus) -> Array:
            return 1 / np.array([np.mean(at[name]) for name in taus])

        near = _near(rates, taus, designer, theta, fixed)
        if near is None or not _equal(onsets, designer, theta, fixed):
            continue
        found.append(Finding(Kind.EQUAL_RATES, (taus[0], taus[1]), {"rate": near}))
    return found


def _schemes(designer: Designer, theta: Array, fixed: Values | None) -> list[Finding]:
    found = []
    for scheme, states in schemes_in(designer.model.components):
        if scheme.has_pairs:
            continue
        pars = {par.argument: par.name for one in states for par in one.parameters[1:]}
        used = {one: pars[one] for one in scheme.parameters}

        def rates(
            at: Mapping[str, Array], scheme: Scheme = scheme, used: Mapping[str, str] = used
        ) -> Rates:
            values = {one: float(np.mean(at[name])) for one, name in used.items()}
            return -np.linalg.eigvals(scheme.matrix(values))

        near = _near(rates, list(used.values()), designer, theta, fixed)
        if near is not None:
            found.append(Finding(Kind.EQUAL_RATES, (scheme_name(states[0]),), {"rate": near}))
    return found


def _near(
    rates: Callable[[Mapping[str, Array]], Rates],
    names: Sequence[str],
    designer: Designer,
    theta: Array,
    fixed: Values | None,
) -> float | None:
    """The rate at which two coincide that move apart with a free parameter, or None."""
    here, first, second = _closest(rates(_values(names, designer, theta, fixed)))
    if not here <= SAME:
        return None
    for k in range(theta.size):
        moved = theta.copy()
        moved[k] *= 1 + STEP
        there, *_ = _closest(rates(_values(names, designer, moved, fixed)))
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


def _values(
    names: Sequence[str], designer: Designer, theta: Array, fixed: Values | None
) -> dict[str, Array]:
    at = designer.values_at(theta, fixed or {})
    return {name: np.asarray(at[name][0]) for name in names}


def _equal(names: Sequence[str], designer: Designer, theta: Array, fixed: Values | None) -> bool:
    at = _values(names, designer, theta, fixed)
    return bool(np.all(at[names[0]] == at[names[1]]))
