"""References over the energy axis: the living definitions of the spectral functions.

`x` is the energy axis (n_energy,). Parameters are numbers, or columns (n_time, 1) that move
in time; the value then has shape (n_time, n_energy). The functions compute their formula for
any parameter; the bounds of the op table are applied by their callers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def Gauss(x: Array, A: Value, x0: Value, SD: Value) -> Array:
    """Gaussian peak: ``A exp(-((x - x0) / SD)^2 / 2)``.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    SD : standard deviation, eV, SD > 0; the full width at half maximum is 2.3548 SD

    Source: normal distribution, scaled to its height.
    """
    u = (x - x0) / SD
    return np.asarray(A * np.exp(-(u**2) / 2))


def GaussAsym(x: Array, A: Value, x0: Value, SD: Value, ratio: Value) -> Array:
    """Gaussian peak with a width for each side: ``A exp(-((x - x0) / w)^2 / 2)``.

    ``w = SD`` for x < x0, and ``w = SD ratio`` from x0 on.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    SD : standard deviation of the left side, eV, SD > 0
    ratio : right width over left width, 1, ratio > 0

    Source: two-piece normal distribution (G. T. Fechner, 1897), scaled to its height.
    """
    width = np.where(x < x0, SD, SD * ratio)
    return np.asarray(A * np.exp(-(((x - x0) / width) ** 2) / 2))


def Voigt(x: Array, A: Value, x0: Value, SD: Value, W: Value) -> Array:
    """Gaussian convolved with a Lorentzian: ``A Re w(z) / Re w(z0)``.

    ``z = ((x - x0) + i W / 2) / (SD sqrt2)``, ``z0 = i W / 2 / (SD sqrt2)``, and ``w`` is the
    Faddeeva function ``exp(-z^2) erfc(-i z)``. A is the true height on any grid. W = 0 gives a
    Gaussian.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    SD : standard deviation of the Gaussian, eV, SD > 0
    W : full width at half maximum of the Lorentzian, eV, W >= 0

    Source: W. Voigt, Sitzungsber. Bayer. Akad. Wiss. 25, 603 (1912); DLMF 7.19.
    """
    scale = SD * np.sqrt(2)
    z = ((x - x0) + 0.5j * W) / scale
    z0 = 0.5j * (W / scale)
    return np.asarray(A * special.wofz(z).real / special.wofz(z0).real)


def GLS(x: Array, A: Value, x0: Value, F: Value, m: Value) -> Array:
    """Sum of a Gaussian and a Lorentzian of one width (pseudo-Voigt).

    ``A [(1 - m) exp(-4 ln2 u^2) + m / (1 + 4 u^2)]`` with ``u = (x - x0) / F``.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    F : full width at half maximum, eV, F > 0
    m : mixing, 0 (Gaussian) to 1 (Lorentzian)

    Source: the pseudo-Voigt function (G. K. Wertheim et al., Rev. Sci. Instrum. 45, 1369 (1974)).
    """
    u2 = ((x - x0) / F) ** 2
    return np.asarray(A * ((1 - m) * np.exp(-4 * np.log(2) * u2) + m / (1 + 4 * u2)))


def GLP(x: Array, A: Value, x0: Value, F: Value, m: Value) -> Array:
    """Product of a Gaussian and a Lorentzian of one width.

    ``A exp(-4 ln2 (1 - m) u^2) / (1 + 4 m u^2)`` with ``u = (x - x0) / F``.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    F : width, eV, F > 0; the full width at half maximum for m = 0 and for m = 1
    m : mixing, 0 (Gaussian) to 1 (Lorentzian)

    Source: the GLP line shape of photoelectron spectroscopy.
    """
    u2 = ((x - x0) / F) ** 2
    return np.asarray(A * np.exp(-4 * np.log(2) * (1 - m) * u2) / (1 + 4 * m * u2))


def SkewGauss(x: Array, A: Value, x0: Value, w: Value, b: Value) -> Array:
    """Gaussian peak with a skew: ``A exp(-ln2 (ln(1 + 2 b u) / b)^2)``, ``u = (x - x0) / w``.

    0 where ``1 + 2 b u <= 0``; b = 0 gives its limit, the Gaussian ``A exp(-4 ln2 u^2)``. The
    values at half the height lie at ``x0 + w (exp(b) - 1) / (2 b)`` and
    ``x0 - w (1 - exp(-b)) / (2 b)``, ``w sinh(b) / b`` apart.

    Parameters
    ----------
    x : (n_energy,) energies, eV or 1/cm
    A : height, in units of the data
    x0 : position of the maximum, as x
    w : width, as x, w > 0; the full width at half maximum for b = 0
    b : skewness, 1; for b > 0 the side above x0 is the wide one

    Source: log-normal line shape of electronic bands (R. D. B. Fraser & E. Suzuki, Anal. Chem.
    41, 37 (1969)).
    """
    u = (x - x0) / w
    z = 2 * b * u
    inside = ~(1 + z <= 0)  # true for NaN, which stays NaN
    safe = np.where(inside & (z != 0), z, 1.0)
    ratio = np.where(inside & (z != 0), np.log1p(safe) / safe, 1.0)
    return np.asarray(A * np.where(inside, np.exp(-4 * np.log(2) * (u * ratio) ** 2), 0.0))


def Lorentz(x: Array, A: Value, x0: Value, W: Value) -> Array:
    """Lorentzian peak: ``A / (1 + 4 ((x - x0) / W)^2)``.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : centre, eV
    W : full width at half maximum, eV, W > 0

    Source: Lorentz (Cauchy) distribution, scaled to its height.
    """
    return np.asarray(A / (1 + 4 * ((x - x0) / W) ** 2))


def DS(x: Array, A: Value, x0: Value, F: Value, alpha: Value) -> Array:
    """Asymmetric line of a metal, after Doniach and Sunjic.

    ``A cos(pi alpha / 2 + (1 - alpha) atan(d / F)) / (F^2 + d^2)^((1 - alpha) / 2)`` with
    ``d = x - x0``. A is no height: alpha = 0 gives ``A F / (F^2 + d^2)``, of height A / F.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : amplitude, units of the data times eV^(1 - alpha)
    x0 : position of the singularity, eV; the maximum lies beside it for alpha > 0
    F : half width at half maximum for alpha = 0, eV, F > 0
    alpha : asymmetry, 0 (Lorentzian) to 1

    Source: S. Doniach & M. Sunjic, J. Phys. C 3, 285 (1970).
    """
    d = x - x0
    phase = np.pi * alpha / 2 + (1 - alpha) * np.arctan(d / F)
    return np.asarray(A * np.cos(phase) / (F**2 + d**2) ** ((1 - alpha) / 2))


def Offset(x: Array, y0: Value) -> Array:
    """Constant background ``y0``, in units of the data, on the axis `x` (n_energy,)."""
    return np.asarray(np.zeros_like(x) + y0)


def LinBack(x: Array, m: Value, b: Value, xStart: Value, xStop: Value) -> Array:
    """Straight line between two energies, constant outside: ``b + m (clip(x) - xStart)``.

    ``clip`` limits x to xStart ... xStop. These are energies, not indices, so the line is the
    same on an ascending and on a descending axis.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    m : slope, units of the data per eV
    b : value at and below xStart, in units of the data
    xStart, xStop : ends of the line, eV, xStop > xStart
    """
    inside = np.where(x < xStart, xStart, np.where(x > xStop, xStop, x))
    return np.asarray(m * (inside - xStart) + b)


def Shirley(x: Array, pShirley: Value, spectrum: Array) -> Array:
    """Background of inelastically scattered electrons: ``pShirley sum_{j >= i} S_j``.

    The sum runs over the points with a higher index, the own point included: on an axis of
    ascending kinetic energy the background rises towards lower energies. It is a plain sum,
    without step width and without iteration.

    Parameters
    ----------
    x : (n_energy,) energies; only their order counts
    pShirley : fraction per point, 1
    spectrum : (n_energy,) or (n_time, n_energy), the spectrum summed before

    Source: D. A. Shirley, Phys. Rev. B 5, 4709 (1972), in its one-pass form.
    """
    from_above = np.cumsum(np.asarray(spectrum)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(pShirley * from_above)
