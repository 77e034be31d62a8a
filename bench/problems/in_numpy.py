"""The models of `bench.many` as a script would have them: NumPy, a residual and its derivatives.

Each class has what stays the same from spectrum to spectrum. `residual` is the model less the data,
`jacobian` has a row a parameter, in the order of the model's free parameters.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import wofz

Array = npt.NDArray[np.float64]

LN16 = 4.0 * np.log(2.0)


class Script(Protocol):
    def residual(self, theta: Array, data: Array) -> Array: ...

    def jacobian(self, theta: Array, data: Array) -> Array: ...


def glp(x: Array, x0: float, F: float, m: float) -> Array:
    """A peak of height 1."""
    u2 = ((x - x0) / F) ** 2
    return np.exp(-LN16 * (1.0 - m) * u2) / (1.0 + 4.0 * m * u2)


def glp_slopes(x: Array, x0: float, F: float, m: float) -> tuple[Array, Array, Array, Array]:
    """A peak of height 1 and its derivatives by x0, F and m."""
    u = (x - x0) / F
    u2 = u * u
    over = 1.0 / (1.0 + 4.0 * m * u2)
    peak = np.exp(-LN16 * (1.0 - m) * u2) * over
    by_u = peak * u * (-2.0 * LN16 * (1.0 - m) - 8.0 * m * over)
    return peak, by_u * (-1.0 / F), by_u * (-u / F), peak * u2 * (LN16 - 4.0 * over)


class Doublet:
    """A line and two tied peaks GLP: m, b, A, x0, F and, where it is free, the mixing."""

    def __init__(self, x: Array, mixing: float | None) -> None:
        self.x, self.mixing, self.ramp = x, mixing, x - 80.0

    def residual(self, theta: Array, data: Array) -> Array:
        m, b, A, x0, F = theta[:5]
        mixing = theta[5] if self.mixing is None else self.mixing
        peaks = glp(self.x, x0, F, mixing) + 0.75 * glp(self.x, x0 + 3.0, F, mixing)
        return m * self.ramp + b + A * peaks - data

    def jacobian(self, theta: Array, data: Array) -> Array:
        A, x0, F = theta[2:5]
        mixing = theta[5] if self.mixing is None else self.mixing
        one = glp_slopes(self.x, x0, F, mixing)
        two = glp_slopes(self.x, x0 + 3.0, F, mixing)
        rows = np.empty((theta.size, self.x.size))
        rows[0], rows[1] = self.ramp, 1.0
        rows[2] = one[0] + 0.75 * two[0]
        for k in range(1, theta.size - 2):
            rows[2 + k] = A * (one[k] + 0.75 * two[k])
        return rows


class GaussOffset:
    """A constant and a Gaussian: y0, A, x0, SD."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def residual(self, theta: Array, data: Array) -> Array:
        y0, A, x0, SD = theta
        return y0 + A * np.exp(-0.5 * ((self.x - x0) / SD) ** 2) - data

    def jacobian(self, theta: Array, data: Array) -> Array:
        A, x0, SD = theta[1:]
        u = (self.x - x0) / SD
        peak = np.exp(-0.5 * u * u)
        by_x0 = A / SD * peak * u
        return np.stack([np.ones_like(u), peak, by_x0, by_x0 * u])


class VoigtLine:
    """A line and a Voigt peak whose Lorentzian is held: m, b, A, x0, SD."""

    def __init__(self, x: Array, W: float) -> None:
        self.x, self.W, self.ramp = x, W, x - 80.0

    def residual(self, theta: Array, data: Array) -> Array:
        m, b, A, x0, SD = theta
        scale = SD * np.sqrt(2.0)
        z = ((self.x - x0) + 0.5j * self.W) / scale
        top = wofz(0.5j * self.W / scale).real
        return m * self.ramp + b + A / top * wofz(z).real - data

    def jacobian(self, theta: Array, data: Array) -> Array:
        A, x0, SD = theta[2:]
        scale = SD * np.sqrt(2.0)
        z, z0 = ((self.x - x0) + 0.5j * self.W) / scale, 0.5j * self.W / scale
        w, w0 = wofz(z), wofz(z0)
        slope, slope0 = -2.0 * z * w + 2j / np.sqrt(np.pi), -2.0 * z0 * w0 + 2j / np.sqrt(np.pi)
        top = w0.real
        peak = w.real / top
        by_SD = -(z * slope).real / (SD * top) + peak * (z0 * slope0).real / (SD * top)
        ones = np.ones_like(self.x)
        return np.stack([self.ramp, ones, peak, A * slope.real / (-scale * top), A * by_SD])


class PeaksShirley:
    """A line, a Shirley background and two peaks GLP: m, b, pShirley, and A, x0, F of each."""

    def __init__(self, x: Array, mixing: float) -> None:
        self.x, self.mixing, self.ramp = x, mixing, x - 80.0

    def residual(self, theta: Array, data: Array) -> Array:
        m, b, share, A1, x1, F1, A2, x2, F2 = theta
        peaks = A1 * glp(self.x, x1, F1, self.mixing) + A2 * glp(self.x, x2, F2, self.mixing)
        return m * self.ramp + b + peaks + share * np.cumsum(peaks[::-1])[::-1] - data

    def jacobian(self, theta: Array, data: Array) -> Array:
        share = theta[2]
        rows = np.empty((9, self.x.size))
        rows[0], rows[1] = self.ramp, 1.0
        for k in (3, 6):
            A = theta[k]
            rows[k], by_x0, by_F, _ = glp_slopes(self.x, *theta[k + 1 : k + 3], self.mixing)
            rows[k + 1], rows[k + 2] = A * by_x0, A * by_F
        above = np.cumsum(rows[3:, ::-1], axis=1)[:, ::-1]
        rows[2] = theta[3] * above[0] + theta[6] * above[3]
        rows[3:] += share * above
        return rows
