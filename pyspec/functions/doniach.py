"""Doniach and Sunjic's line of a metal, for kinetic and for binding energies.

The definitions are the reference for csrc/kernels/energy_ds.c.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def DS(x: Array, A: Value, x0: Value, F: Value, alpha: Value) -> Array:
    """Asymmetric line of a metal, after Doniach and Sunjic.

    ``A cos(pi alpha / 2 + (1 - alpha) atan(d / F)) / (F^2 + d^2)^((1 - alpha) / 2)`` with
    ``d = x - x0``. A is no height: alpha = 0 gives ``A F / (F^2 + d^2)``, of height A / F. Below
    a `resolution` in the model file it is convolved with a Gaussian, the usual line of a metal.
    For alpha > 0 the tail lies below x0, as losses of kinetic energy do. With binding energies take
    DSBinding.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : amplitude, units of the data times eV^(1 - alpha)
    x0 : position of the singularity, eV; the maximum lies beside it for alpha > 0
    F : half width at half maximum for alpha = 0, eV, F > 0
    alpha : asymmetry, 0 (Lorentzian) to 1

    Source: S. Doniach & M. Sunjic, J. Phys. C 3, 285 (1970).
    """
    return _ds(x - x0, A, F, alpha)


def DSBinding(x: Array, A: Value, x0: Value, F: Value, alpha: Value) -> Array:
    """The line DS mirrored at x0, for binding energies: its tail lies above x0.

    ``A cos(pi alpha / 2 + (1 - alpha) atan(d / F)) / (F^2 + d^2)^((1 - alpha) / 2)`` with
    ``d = x0 - x``. A is no height: alpha = 0 gives ``A F / (F^2 + d^2)``, of height A / F. Below
    a `resolution` in the model file it is convolved with a Gaussian, the usual line of a metal.
    It says of binding energies what DS says of kinetic ones: A, F and alpha are the same.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : amplitude, units of the data times eV^(1 - alpha)
    x0 : position of the singularity, eV; the maximum lies beside it for alpha > 0
    F : half width at half maximum for alpha = 0, eV, F > 0
    alpha : asymmetry, 0 (Lorentzian) to 1

    Source: S. Doniach & M. Sunjic, J. Phys. C 3, 285 (1970).
    """
    return _ds(x0 - x, A, F, alpha)


def _ds(d: Array, A: Value, F: Value, alpha: Value) -> Array:
    """Doniach and Sunjic's line at a distance d from x0, with its tail at d < 0."""
    phase = np.clip(np.pi * alpha / 2 + (1 - alpha) * np.arctan(d / F), -1e15, 1e15)
    square = np.clip(F**2 + d**2, 1e-300, 1e300)  # F and d beyond 1e±150 change nothing more
    return np.asarray(A * np.cos(phase) / square ** ((1 - alpha) / 2))
