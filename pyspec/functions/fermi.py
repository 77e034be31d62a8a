"""Reference of the Fermi edge: the living definition, by sums that the C kernel does not use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array

#: eV / K: the quotient of two numbers that are exact since 2019.
BOLTZMANN = 1.380649e-23 / 1.602176634e-19

#: Steps and ends of the two sums, in standard deviations and in kT: errors below 1e-16.
_BLUR_STEP, _BLUR_END = 0.25, 8.75
_HEAT_STEP, _HEAT_END = 0.5, 37.5


def FermiEdge(
    x: Array, A: Value, x0: Value, T: Value, SD: Value, mBelow: Value, mAbove: Value
) -> Array:
    """Fermi edge: ``[(A + mBelow d) f + mAbove d (1 - f)]`` under a Gaussian of width SD.

    ``d = x - x0`` and ``f = 1 / (1 + exp(d / (kB T)))``. Occupied states below x0 and the rest
    above are straight lines. The temperature mixes them and the resolution blurs them. Both lines
    go on without an end: no end of the axis is seen. SD = 0 gives the bare Fermi function, T far
    below SD / kB the error function. On an axis of binding energies the occupied states lie above
    x0: give A < 0 and an Offset.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height of the step, in units of the data
    x0 : Fermi energy, eV
    T : temperature, K, T > 0
    SD : standard deviation of the resolution, eV, SD >= 0; its full width at half maximum is
        2.3548 SD
    mBelow : slope of the line below x0, units of the data per eV
    mAbove : slope of the line above x0, units of the data per eV

    Source: Fermi-Dirac distribution; as a measure of resolution S. Hüfner, Photoelectron
    Spectroscopy, 3rd ed., Springer 2003.
    """
    d, kT = x - x0, BOLTZMANN * T
    of_fermi = np.asarray(2 * kT > SD)
    of_gauss = ~of_fermi
    step, slope = 0.0 * (d + kT + SD), 0.0 * (d + kT + SD)
    if of_fermi.any():
        step, slope = _sum_over_the_resolution(d, kT, np.where(of_fermi, SD, kT))
    if of_gauss.any():
        sums = _sum_over_the_temperature(d, np.where(of_gauss, kT, SD), SD)
        step, slope = (np.where(of_gauss, *both) for both in zip(sums, (step, slope), strict=True))
    below = d * step + SD**2 * slope  # the Gaussian acts on s f(s)
    return np.asarray(A * step + mBelow * below + mAbove * (d - below))


def _sum_over_the_resolution(d: Array, kT: Value, SD: Value) -> tuple[Array, Array]:
    """The step and its slope as mean of Fermi functions, for SD below 2 kT."""
    step, slope = 0.0 * (d + kT + SD), 0.0 * (d + kT + SD)
    for u in _groups(_BLUR_STEP, _BLUR_END, step):
        weight = _BLUR_STEP * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)
        f = special.expit(-(d - SD * u) / kT)
        step = _add(step, weight * f)
        slope = _add(slope, -weight * f * (1 - f) / kT)
    return np.asarray(step), np.asarray(slope)


def _sum_over_the_temperature(d: Array, kT: Value, SD: Value) -> tuple[Array, Array]:
    """The step and its slope as mean of error functions, for SD above 2 kT."""
    step, slope = 0.0 * (d + kT + SD), 0.0 * (d + kT + SD)
    for u in _groups(_HEAT_STEP, _HEAT_END, step):
        weight = _HEAT_STEP / (4 * np.cosh(u / 2) ** 2)
        z = (d - kT * u) / SD
        step = _add(step, weight * special.erfc(z / np.sqrt(2)) / 2)
        slope = _add(slope, -weight * np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * SD))
    return np.asarray(step), np.asarray(slope)


def _add(total: Array, terms: Array) -> Array:
    """The terms of a group of nodes added to a sum, one after the other."""
    for term in terms:
        total = total + term
    return total


def _groups(step: float, end: float, like: Array) -> Iterator[Array]:
    """Multiples of `step` up to `end` of both signs, from outside in: small terms come first. As
    many at a time as an array of moderate size holds, on an axis before those of `like`."""
    places = [step * k for k in range(round(end / step), -1, -1)]
    nodes = np.array([sign * place for place in places for sign in ((-1, 1) if place else (1,))])
    size = max(2**14 // max(like.size, 1), 1)
    for begin in range(0, nodes.size, size):
        yield nodes[begin : begin + size].reshape(-1, *[1] * like.ndim)
