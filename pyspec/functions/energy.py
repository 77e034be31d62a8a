"""References over the energy axis: the living definitions of the spectral functions.

`x` is the energy axis (n_energy,). Parameters are numbers, or columns (n_time, 1) that move
in time; the value then has shape (n_time, n_energy). The functions compute their formula for
any parameter; the bounds of the op table are applied by their callers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions import special
from pyspec.functions.doniach import DS as DS
from pyspec.functions.doniach import DSBinding as DSBinding
from pyspec.functions.fermi import FermiEdge as FermiEdge
from pyspec.functions.grid import shirley_shares
from pyspec.functions.heights import scaled
from pyspec.functions.inelastic import StaticShirley as StaticShirley
from pyspec.functions.inelastic import Tougaard as Tougaard
from pyspec.functions.inelastic import Tougaard3 as Tougaard3
from pyspec.functions.mahan import Mahan as Mahan

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
    ratio : right width over left width, ratio > 0

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
    scale = np.maximum(SD, 1e-12 * W) * np.sqrt(2)  # a narrower SD changes no digit
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
    m : mixing, 0 (Gaussian) to 1 (Lorentzian); 0.3 where CasaXPS has SGL(30)

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
    m : mixing, 0 (Gaussian) to 1 (Lorentzian); 0.3 where CasaXPS has GL(30)

    Source: the GLP line shape of photoelectron spectroscopy.
    """
    u2 = ((x - x0) / F) ** 2
    return scaled(A, np.exp(-4 * np.log(2) * (1 - m) * u2) / (1 + 4 * m * u2))


def SkewGauss(x: Array, A: Value, x0: Value, w: Value, b: Value) -> Array:
    """Gaussian peak with a skew: ``A exp(-ln2 (ln(1 + 2 b u) / b)^2)``, ``u = (x - x0) / w``.

    0 where ``1 + 2 b u <= 0``; b = 0 gives its limit, the Gaussian ``A exp(-4 ln2 u^2)``. The
    values at half the height lie at ``x0 + w (exp(b) - 1) / (2 b)`` and
    ``x0 - w (1 - exp(-b)) / (2 b)``, ``w sinh(b) / b`` apart. For b > 0 the tail lies above x0, as
    losses do on an axis of binding energies, for b < 0 below.

    Parameters
    ----------
    x : (n_energy,) energies, eV or 1/cm
    A : height, in units of the data
    x0 : position of the maximum, as x
    w : width, as x, w > 0; the full width at half maximum for b = 0
    b : skewness; for b > 0 the side above x0 is the wide one

    Source: log-normal bands (R. D. B. Fraser & E. Suzuki, Anal. Chem. 41, 37 (1969)).
    """
    u = np.clip((x - x0) / w, -1e150, 1e150)  # infinity over infinity is NaN
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


def GLSAsym(x: Array, A: Value, x0: Value, F: Value, m: Value, a: Value) -> Array:
    """Pseudo-Voigt line whose width changes along a sigmoid.

    ``A [(1 - m) exp(-4 ln2 u^2) + m / (1 + 4 u^2)]`` with ``u = (x - x0) / w(x)`` and
    ``w(x) = 2 F / (1 + exp(a (x - x0)))``. The maximum A stands at x0; a = 0 gives GLS. For a > 0
    the tail lies below x0, as losses of kinetic energy do; for binding energies give a < 0.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : position of the maximum, eV
    F : width at x0, eV, F > 0; the full width at half maximum for a = 0
    m : mixing, 0 (Gaussian) to 1 (Lorentzian)
    a : asymmetry, 1/eV; for a > 0 the side below x0 is the wide one

    Source: A. L. Stancik & E. B. Brauns, Vib. Spectrosc. 47, 66 (2008), whose sigmoidal width this
    is; their lines are scaled to an area, this one to its height.
    """
    d = x - x0
    u2 = (d * (1 + np.exp(np.minimum(a * d, 300.0))) / (2 * F)) ** 2
    return np.asarray(A * ((1 - m) * np.exp(-4 * np.log(2) * u2) + m / (1 + 4 * u2)))


def LA(x: Array, A: Value, x0: Value, W: Value, alpha: Value, beta: Value) -> Array:
    """Asymmetric Lorentzian, a power on each side: ``A / (1 + 4 ((x - x0) / W)^2)^p``.

    ``p = alpha`` for x <= x0, and ``p = beta`` above. It is the line LA of CasaXPS without its
    convolution with a Gaussian, which a `resolution` above it in the model file adds, of one width
    for all lines below. The full width at half maximum is
    ``W / 2 [sqrt(2^(1 / alpha) - 1) + sqrt(2^(1 / beta) - 1)]``. The smaller exponent makes the
    tail: alpha for kinetic energies, where losses lie below x0, beta for binding energies.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : position of the maximum, eV
    W : full width at half maximum for alpha = beta = 1, eV, W > 0
    alpha : exponent of the side below x0, alpha > 0; below 1 this side has more tail
    beta : exponent of the side above x0, beta > 0; below 1 this side has more tail

    Source: N. Fairley et al., Appl. Surf. Sci. Adv. 5, 100112 (2021), and the manual of CasaXPS.
    """
    q = 4 * ((x - x0) / W) ** 2
    power = np.where(x > x0, beta, alpha)
    return np.asarray(A * np.exp(-power * np.log1p(q)))


def LF(x: Array, A: Value, x0: Value, W: Value, alpha: Value, beta: Value, w: Value) -> Array:
    """The line LA with damped tails: ``A / (1 + 4 (d / W)^2)^(p + (d / w)^2)``, ``d = x - x0``.

    ``p = alpha`` for x <= x0, and ``p = beta`` above, so that the side of the tail is that of
    `LA`. At a distance w the exponent has grown by 1, and so on with the square: the smaller w,
    the sooner a tail is gone. A wide w gives LA. CasaXPS describes its LF(alpha, beta, w, m) as
    LA with tails forced to the background by w. The function of w is not printed: numbers of
    alpha and beta mean the same there, numbers of w do not.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height, in units of the data
    x0 : position of the maximum, eV
    W : full width at half maximum for alpha = beta = 1 and a wide w, eV, W > 0
    alpha : exponent of the side below x0, at the maximum, alpha > 0
    beta : exponent of the side above x0, at the maximum, beta > 0
    w : distance over which the exponent grows by 1, eV, w > 0

    Source: the manual of CasaXPS, line shape LF; LA as in N. Fairley et al., Appl. Surf. Sci. Adv.
    5, 100112 (2021).
    """
    d = np.clip(x - x0, -1e150, 1e150)
    power = np.where(d > 0, beta, alpha) + np.clip(d / w, -1e150, 1e150) ** 2
    q = 4 * np.clip(d / W, -1e150, 1e150) ** 2
    return np.asarray(A * np.exp(-power * np.log1p(q)))


def Offset(x: Array, y0: Value, spectrum: object = None) -> Array:
    """Constant background ``y0``.

    Parameters
    ----------
    y0 : the value at all energies, in units of the data
    spectrum : taken, so that scripts may call all backgrounds alike, and not read
    """
    return np.asarray(np.zeros_like(x) + y0)


def LinBack(
    x: Array, m: Value, b: Value, xStart: Value, xStop: Value, spectrum: object = None
) -> Array:
    """Straight line between two energies, constant outside: ``b + m (clip(x) - xStart)``.

    ``clip`` limits x to xStart ... xStop, which are energies: the axis may rise or fall.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    m : slope, units of the data per eV
    b : value at and below xStart, in units of the data
    xStart : energy where the line begins, eV
    xStop : energy where the line ends, eV, xStop > xStart
    spectrum : taken, so that scripts may call all backgrounds alike, and not read
    """
    inside = np.where(x < xStart, xStart, np.where(x > xStop, xStop, x))
    return np.asarray(m * (inside - xStart) + b)


def ErfStep(x: Array, A: Value, x0: Value, SD: Value) -> Array:
    """Step with the shape of an error function: ``A / 2 [1 + erf((x - x0) / (SD sqrt2))]``.

    High above x0, 0 far below. For a step that is high below x0: A < 0 and an Offset.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height of the step, in units of the data
    x0 : middle of the step, eV
    SD : standard deviation of the Gaussian that is its derivative, eV, SD > 0

    Source: normal distribution function, scaled to its height.
    """
    return np.asarray(A / 2 * special.erfc((x0 - x) / (SD * np.sqrt(2))))


def AtanStep(x: Array, A: Value, x0: Value, W: Value) -> Array:
    """Step with the shape of an arctangent: ``A [1 / 2 + atan(2 (x - x0) / W) / pi]``.

    High above x0, 0 far below. For a step that is high below x0: A < 0 and an Offset.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : height of the step, in units of the data
    x0 : middle of the step, eV
    W : full width at half maximum of the Lorentzian that is its derivative, eV, W > 0

    Source: absorption edge of F. K. Richtmyer et al., Phys. Rev. 46, 843 (1934).
    """
    return np.asarray(A * (0.5 + np.arctan(2 * (x - x0) / W) / np.pi))


def PolyBack(x: Array, c1: Value, c2: Value, c3: Value, x0: Value) -> Array:
    """Polynomial without a constant: ``c1 d + c2 d^2 + c3 d^3``, ``d = x - x0``.

    The constant is an Offset. Keep x0 fixed, near the middle of the axis: moving it changes
    nothing that the coefficients cannot, and a distant one makes them hard to tell apart.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    c1 : coefficient of d, units of the data per eV
    c2 : coefficient of d^2, units of the data per eV^2
    c3 : coefficient of d^3, units of the data per eV^3
    x0 : where the polynomial is 0, eV
    """
    d = x - x0
    return np.asarray(d * (c1 + d * (c2 + d * c3)))


def ExpBack(x: Array, A: Value, x0: Value, k: Value) -> Array:
    """Exponential background: ``A exp(-k (x - x0))``.

    Keep x0 fixed: A and x0 scale the same curve.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : value at x0, in units of the data
    x0 : reference energy, eV
    k : rate, 1/eV; it falls towards higher x for k > 0, and rises for k < 0
    """
    return scaled(A, np.exp(-k * (x - x0)))


def PowerBack(x: Array, A: Value, x0: Value, r: Value) -> Array:
    """Power law: ``A (x / x0)^-r``, 0 where x <= 0.

    Keep x0 fixed: A and x0 scale the same curve.

    Parameters
    ----------
    x : (n_energy,) energies, eV
    A : value at x0, in units of the data
    x0 : reference energy, eV, x0 > 0
    r : exponent; it falls towards higher x for r > 0

    Source: background before an edge in energy-loss spectra (R. F. Egerton, Electron Energy-Loss
    Spectroscopy in the Electron Microscope, 1986).
    """
    inside = ~(x <= 0)  # true for NaN, which stays NaN
    ratio = np.where(inside, x, x0) / x0
    return scaled(A, np.where(inside, np.exp(-r * np.log(ratio)), 0.0))


def Shirley(x: Array, pShirley: Value, spectrum: Array) -> Array:
    """Background of inelastically scattered electrons: ``pShirley sum_{j >= i} S_j w_j``.

    The sum runs over the points with a higher index, the own point included: on an axis of
    ascending kinetic energy the background rises towards lower energies. There is no iteration.

    On an axis with even steps w is 1. On any other each point counts by its step, half of the way
    to both neighbours, over the mean step of the whole axis; the own point counts half of the way
    to the next and half of a mean step. So the background is pShirley over the mean step, times
    the area above. Files that share pShirley share the loss per eV: each multiplies it by its own
    mean step over the mean step of the first file.

    Parameters
    ----------
    x : (n_energy,) energies, in order, all of the axis
    pShirley : fraction per point of an even axis, per mean step of any other
    spectrum : (n_energy,) or (n_time, n_energy), the spectrum summed before

    Source: D. A. Shirley, Phys. Rev. B 5, 4709 (1972), in its one-pass form.
    """
    shares = shirley_shares(x)
    spectrum = np.asarray(spectrum)
    below, own = (1.0, 1.0) if shares is None else shares.T
    from_here = np.cumsum((below * spectrum)[..., ::-1], axis=-1)[..., ::-1]
    if shares is not None:
        above = np.concatenate([from_here[..., 1:], np.zeros_like(from_here[..., :1])], axis=-1)
        from_here = above + own * spectrum
    return np.asarray(pShirley * from_here)
