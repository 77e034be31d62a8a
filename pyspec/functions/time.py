"""References over the time axis: the laws by which a parameter moves.

`t` is the time axis (n_time,). A law with an onset is 0 for t < t0; t = t0 belongs to the
response. The elapsed time is clipped at 0, so that nothing overflows long before the onset.
`y0` is added to the response only; erfFun and sqrtFun add it at all times.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def none(t: Array) -> Array:
    """No motion: ``0`` on the axis `t` (n_time,). Keeps the place of an empty subcycle."""
    return np.zeros(np.shape(t))


def stepFun(t: Array, A: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Step: ``A + y0`` for t >= t0, else 0.

    Parameters
    ----------
    t : (n_time,) times
    A : height, in units of the parameter that moves
    t0 : onset, in units of t
    y0 : added to the height, in units of the parameter that moves
    """
    return np.where(t < t0, 0.0, A + y0)


def linFun(t: Array, m: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Straight line from an onset: ``m (t - t0) + y0`` for t >= t0, else 0.

    Parameters
    ----------
    t : (n_time,) times
    m : slope, in units of the parameter that moves per unit of t
    t0 : onset, in units of t
    y0 : value at the onset, in units of the parameter that moves
    """
    before = t < t0
    elapsed = np.where(before, 0.0, t - t0)
    return np.where(before, 0.0, m * elapsed + y0)


def expFun(t: Array, A: Value, tau: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Exponential decay from an onset: ``A exp(-(t - t0) / tau) + y0`` for t >= t0, else 0.

    Parameters
    ----------
    t : (n_time,) times
    A : amplitude, in units of the parameter that moves
    tau : decay time, in units of t, tau > 0
    t0 : onset, in units of t
    y0 : value long after the onset, in units of the parameter that moves
    """
    before = t < t0
    elapsed = np.where(before, 0.0, t - t0)
    return np.where(before, 0.0, A * np.exp(-elapsed / tau) + y0)


def sinFun(t: Array, A: Value, f: Value, phi: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Oscillation from an onset: ``A sin(2 pi f (t - t0) + phi) + y0`` for t >= t0, else 0.

    Parameters
    ----------
    t : (n_time,) times
    A : amplitude, in units of the parameter that moves
    f : frequency, in reciprocal units of t
    phi : phase at the onset, rad
    t0 : onset, in units of t
    y0 : mean of the oscillation, in units of the parameter that moves
    """
    before = t < t0
    elapsed = np.where(before, 0.0, t - t0)
    return np.where(before, 0.0, A * np.sin(2 * np.pi * f * elapsed + phi) + y0)


def dampedSinFun(
    t: Array, A: Value, f: Value, phi: Value, tau: Value, t0: Value, y0: Value = 0.0
) -> Array:
    """Damped oscillation from an onset, such as a coherent phonon:
    ``A exp(-(t - t0) / tau) sin(2 pi f (t - t0) + phi) + y0`` for t >= t0, else 0.

    Parameters
    ----------
    t : (n_time,) times
    A : amplitude at the onset, in units of the parameter that moves
    f : frequency, in reciprocal units of t
    phi : phase at the onset, rad
    tau : decay time of the amplitude, in units of t, tau > 0
    t0 : onset, in units of t
    y0 : mean of the oscillation, in units of the parameter that moves
    """
    before = t < t0
    elapsed = np.where(before, 0.0, t - t0)
    swing = np.sin(2 * np.pi * f * elapsed + phi)
    return np.where(before, 0.0, A * np.exp(-elapsed / tau) * swing + y0)


def sinDivX(t: Array, A: Value, f: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Cardinal sine from an onset: ``A sin(u) / u + y0`` for t >= t0, else 0.

    ``u = 2 pi f (t - t0)``, and ``sin(u) / u`` is 1 at u = 0.

    Parameters
    ----------
    t : (n_time,) times
    A : value at the onset, in units of the parameter that moves
    f : frequency, in reciprocal units of t
    t0 : onset, in units of t
    y0 : value long after the onset, in units of the parameter that moves
    """
    before = t < t0
    elapsed = np.where(before, 0.0, t - t0)
    u = 2 * np.pi * f * elapsed
    shape = np.where(u == 0, 1.0, np.sin(u) / np.where(u == 0, 1.0, u))
    return np.where(before, 0.0, A * shape + y0)


def erfFun(t: Array, A: Value, SD: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Gradual step: ``A / 2 [1 + erf((t - t0) / (SD sqrt2))] + y0`` at all times.

    Parameters
    ----------
    t : (n_time,) times
    A : height, in units of the parameter that moves
    SD : standard deviation of the Gaussian that the step is convolved with, in units of t, SD > 0
    t0 : middle of the step, in units of t
    y0 : value long before the step, in units of the parameter that moves
    """
    return np.asarray(A / 2 * (1 + special.erf((t - t0) / (SD * np.sqrt(2)))) + y0)


def sqrtFun(t: Array, A: Value, t0: Value, y0: Value = 0.0) -> Array:
    """Square root from an onset: ``A sqrt(max(t - t0, 0)) + y0`` at all times.

    Parameters
    ----------
    t : (n_time,) times
    A : rise after one unit of t, in units of the parameter that moves
    t0 : onset, in units of t
    y0 : value before the onset, in units of the parameter that moves
    """
    return np.asarray(A * np.sqrt(np.maximum(t - t0, 0.0)) + y0)


def constFun(t: Array, A: Value) -> Array:
    """Constant: ``A`` at all times, before the onset too: a baseline, scattered light.

    Parameters
    ----------
    t : (n_time,) times
    A : value, in units of the parameter that moves
    """
    return np.asarray(A + np.zeros(np.shape(t)))


def gaussFun(t: Array, A: Value, SD: Value, t0: Value) -> Array:
    """Gaussian pulse ``A exp(-u^2 / 2)``, ``u = (t - t0) / SD``, such as a coherent artifact, which
    follows the instrument (M. Lorenc et al., Appl. Phys. B 74, 19 (2002)).

    Parameters
    ----------
    t : (n_time,) times
    A : height, in units of the parameter that moves
    SD : standard deviation, in units of t, SD > 0
    t0 : centre, in units of t
    """
    u = (t - t0) / SD
    return np.asarray(A * np.exp(-0.5 * (u * u)))


def gaussD1Fun(t: Array, A: Value, SD: Value, t0: Value) -> Array:
    """First derivative of a Gaussian by u: ``-A u exp(-u^2 / 2)``, ``u = (t - t0) / SD``; beside
    gaussFun the second term of a coherent artifact.

    Parameters
    ----------
    t : (n_time,) times
    A : factor, in units of the parameter that moves
    SD : standard deviation, in units of t, SD > 0
    t0 : centre, in units of t
    """
    u = np.clip((t - t0) / SD, -1e75, 1e75)
    return np.asarray(A * (-u * np.exp(-0.5 * (u * u))))


def gaussD2Fun(t: Array, A: Value, SD: Value, t0: Value) -> Array:
    """Second derivative of a Gaussian by u: ``A (u^2 - 1) exp(-u^2 / 2)``, ``u = (t - t0) / SD``;
    the third term of a coherent artifact.

    Parameters
    ----------
    t : (n_time,) times
    A : factor, in units of the parameter that moves
    SD : standard deviation, in units of t, SD > 0
    t0 : centre, in units of t
    """
    u = np.clip((t - t0) / SD, -1e75, 1e75)
    q = u * u
    return np.asarray(A * ((q - 1) * np.exp(-0.5 * q)))
