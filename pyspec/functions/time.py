"""References over the time axis: the laws by which a parameter moves.

`t` is the time axis (n_time,). A law with an onset is 0 for t < t0; t = t0 belongs to the
response. The elapsed time is clipped at 0, so that nothing overflows long before the onset.
`y0` is added to the response only.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


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
