"""References of the backgrounds that read the whole spectrum below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.functions.grid import between_ends

Array: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | Array


def Tougaard(x: Array, B: Value, C: Value, spectrum: Array) -> Array:
    """Inelastic background by the two-parameter universal cross-section, ``B T / (C + T^2)^2``.

        S is the spectrum below it and J = S + background the whole spectrum. The background obeys
    Tougaard's equation ``background(i) = sum_{j > i} K(|x_j - x_i|) J_j w_j``: electrons that have
    lost energy lose it again. The sum runs over the points with a higher index, as of
    ``Shirley``: on an axis of ascending kinetic energy, or descending binding energy, losses
    lie below the line. ``w_j`` is the trapezoidal rule of the axis. Signal beyond the
    upper end of the axis is not known and counts as 0: let the axis begin above the line. Write
    an Offset, which is no part of the lines, above this background in the file.

    The cost grows with the square of the number of energies. On an axis with even steps a spectrum
        of 1,000 energies takes 0.15 ms, one of 10,000 16 ms; on any other axis 0.6 and 140 ms. The
    derivatives by B and C take three to five times that, every other one as much as the value.

    Parameters
    ----------
    x : (n_energy,) energies, eV, in order
    B : strength, eV^2; 2866 for the universal cross-section
    C : square of a loss, eV^2, C > 0; 1643 for the universal cross-section. The loss of the
        maximum is sqrt(C / 3)
    spectrum : (n_energy,) or (n_time, n_energy), the spectrum summed before

    Source: S. Tougaard, Surf. Interface Anal. 11, 453 (1988); 25, 137 (1997).
    """
    return _background(x, spectrum, lambda T: B * T / (C + T**2) ** 2)


def Tougaard3(x: Array, B: Value, C: Value, D: Value, spectrum: Array) -> Array:
    """Inelastic background by the three-parameter cross-section, ``B T / ((C - T^2)^2 + D T^2)``.

    As ``Tougaard``, for solids with a narrow plasmon (Al, Si, SiO2, polymers). D = 4 C gives
    the two-parameter cross-section. The cost is the same.

    Parameters
    ----------
    x : (n_energy,) energies, eV, in order
    B : strength, eV^2
    C : square of a loss, eV^2, C > 0
    D : square of a width, eV^2, D > 0
    spectrum : (n_energy,) or (n_time, n_energy), the spectrum summed before

    Source: S. Tougaard, Surf. Interface Anal. 25, 137 (1997).
    """
    return _background(x, spectrum, lambda T: B * T / ((C - T**2) ** 2 + D * T**2))


@between_ends
def StaticShirley(x: Array, left: Value, right: Value, spectrum: Array) -> Array:
    """Step between two intensities in proportion to the area above: ``right + (left - right) f``.

    ``f = area(j >= i) / area(all)`` of the spectrum below it by the trapezoidal rule, 1 at the
    first and 0 at the last energy: the background meets `left` and `right` there. In a fit window
    these are the first and the last energy of the window, and the area is that of the window;
    outside of it the background keeps the value of the nearer end. Iterative
    programs have the same Shirley background with the end points of the data. Here the lines of
    the model decide its shape, and both ends may be fitted, moved in time or held. Where the area
    is 0, a straight line. Unlike ``Shirley`` it does not grow with the lines, only its shape
    follows them. The cost is one sum over the energies.

    The ends as means of `n` points of the data: ``left, right = measurement.end_means(n=5)`` gives
    them for every row. Held at these, they are fixed values of the model
    (``left: [12.4, false]``), or of each slice:
    ``fit_slices(..., seeds=[{"StaticShirley_left": l, "StaticShirley_right": r} for ...])``.

    Parameters
    ----------
    x : (n_energy,) energies of the window, eV, in order
    left : the background at the first energy, in units of the data
    right : the background at the last energy, in units of the data
    spectrum : (n_energy,) or (n_time, n_energy), the spectrum summed before

    Source: D. A. Shirley, Phys. Rev. B 5, 4709 (1972); A. Proctor & P. M. A. Sherwood, Anal. Chem.
    54, 13 (1982).
    """
    between = abs(x[1:] - x[:-1]) * (spectrum[..., 1:] + spectrum[..., :-1]) / 2
    above = np.cumsum(between[..., ::-1], axis=-1)[..., ::-1]
    above = np.concatenate([above, 0 * spectrum[..., -1:]], axis=-1)
    area = above[..., :1]
    length = abs(x[-1] - x[0])
    line = abs(x[-1] - x) / length if length > 0 else 0 * x
    share = np.where(area == 0, line, above / np.where(area == 0, 1.0, area))
    return np.asarray(right + (left - right) * share)


def _background(x: Array, spectrum: Array, cross_section: Callable[[Array], Array]) -> Array:
    """Point by point from the highest index down; each reads those above it."""
    n = x.size
    places = np.arange(n)
    ends = x[np.minimum(places + 1, n - 1)] - x[np.maximum(places - 1, 0)]
    share = abs(ends) / 2
    shape = np.broadcast_shapes(np.shape(spectrum), np.shape(cross_section(abs(x - x[0]))))
    lost = [0 * np.broadcast_to(spectrum, shape)[..., -1]]  # from the highest index down
    for i in range(n - 2, -1, -1):
        weight = cross_section(abs(x[i + 1 :] - x[i])) * share[i + 1 :]
        whole = np.asarray(spectrum)[..., i + 1 :] + np.stack(lost[::-1], axis=-1)
        lost.append((weight * whole).sum(axis=-1))
    return np.asarray(np.stack(lost[::-1], axis=-1))
