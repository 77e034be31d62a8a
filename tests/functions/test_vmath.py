"""The inside of the library: vector maths against mpmath, in units in the last place, and masses of
kernels. One file, as each process that runs a test of it compiles a probe."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate

from pyspec._library import OPS
from pyspec.functions import reference
from pyspec.functions.quadrature import mass_left, mass_right

RNG = np.random.default_rng(41)
PI_2 = np.pi / 2

#: exp(709.78), just below the largest double.
EDGE = float(mpmath.exp(709.78))


def wide(low: float, high: float, n: int = 300) -> np.ndarray:
    """Both signs, magnitudes spread over decades."""
    return 10.0 ** RNG.uniform(low, high, n) * RNG.choice([-1.0, 1.0], n)


def even(low: float, high: float, n: int = 600) -> np.ndarray:
    return RNG.uniform(low, high, n)


def erfcx(x: Any) -> Any:
    if x > 1e4:
        return (1 - 1 / (2 * x**2) + 3 / (4 * x**4)) / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.exp(x * x) * mpmath.erfc(x)


#: Of each function the exact one, where it is tried, and the bound that vmath.h quotes, in ulp.
CASES: dict[str, tuple[Callable[[Any], Any], list[np.ndarray], float]] = {
    "exp": (mpmath.exp, [even(-707, 709), wide(-18, 0)], 1.0),
    "exp_lanes": (mpmath.exp, [even(-707, 709), wide(-18, 0), even(-0.05, 0.05, 2000)], 1.0),
    "exp_moderate": (mpmath.exp, [even(-707, 709), wide(-18, 0), even(-0.05, 0.05, 2000)], 1.0),
    "sin_near": (mpmath.sin, [even(-100, 100), wide(-18, 1), PI_2 * np.arange(-63, 64)], 2.0),
    "cos_near": (mpmath.cos, [even(-100, 100), wide(-18, 1), PI_2 * np.arange(-63, 64)], 2.0),
    "log": (mpmath.log, [np.abs(wide(-300, 300)), even(0.5, 2.0), 1.0 + wide(-15, -2)], 1.0),
    "sin": (mpmath.sin, [even(-1e6, 1e6), wide(-18, 1), PI_2 * np.arange(-300, 300)], 1.5),
    "cos": (mpmath.cos, [even(-1e6, 1e6), wide(-18, 1), PI_2 * np.arange(-300, 300)], 1.5),
    "atan": (mpmath.atan, [wide(-18, 18), even(-3.0, 3.0)], 2.0),
    "erf": (mpmath.erf, [wide(-18, 1), even(-6.5, 6.5)], 1.5),
    "erfc": (mpmath.erfc, [wide(-18, 1), even(-6.0, 26.5)], 4.0),
    "erfcx": (erfcx, [wide(-18, 0), even(-26.0, 30.0), np.abs(wide(1, 300))], 4.0),
}


@cache
def exact_of(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a function is tried, its values, and what these are rounded by: of every build."""
    function, sets, _ = CASES[name]
    x = np.concatenate(sets)
    with mpmath.workdps(60):
        exact = [function(mpmath.mpf(float(at))) for at in x]
        wanted = np.array([float(value) for value in exact])
        rest = np.array([float(v - mpmath.mpf(w)) for v, w in zip(exact, wanted, strict=True)])
    return x, wanted, rest


@pytest.mark.parametrize("name", CASES)
def test_units_in_the_last_place(probe: Any, name: str) -> None:
    (x, wanted, rest), bound = exact_of(name), CASES[name][2]
    kept = np.abs(wanted) >= 1e-306
    got = probe.unary(name, x)
    ulps = np.abs((got - wanted) - rest)[kept] / np.spacing(np.abs(wanted[kept]))
    worst = int(ulps.argmax())
    assert ulps[worst] <= bound, f"{name}({x[kept][worst]!r}): {ulps[worst]:.2f} ulp"


def test_ends(probe: Any) -> None:
    """Zero, infinity, NaN and overflow."""
    inf, nan = np.inf, np.nan
    ends = {
        "exp": ([0, inf, -inf, nan, 800, -800], [1, inf, 0, nan, inf, 0]),
        "exp_lanes": ([0, inf, -inf, nan, 800, -800, 709.78], [1, inf, 0, nan, inf, 0, EDGE]),
        "log": ([1, 0, inf, -1, -inf, nan], [0, -inf, inf, nan, nan, nan]),
        "sin": ([0, inf, nan], [0, nan, nan]),
        "cos": ([0, inf, nan], [1, nan, nan]),
        "atan": ([0, inf, -inf, nan], [0, PI_2, -PI_2, nan]),
        "erf": ([0, inf, -inf, 1e300, nan], [0, 1, -1, 1, nan]),
        "erfc": ([0, inf, -inf, 1e300, nan], [1, 0, 2, 0, nan]),
        "erfcx": ([0, inf, -inf, -30, nan], [1, 0, inf, inf, nan]),
    }
    for name, (x, expected) in ends.items():
        got = probe.unary(name, np.array(x, dtype=np.float64))
        np.testing.assert_array_equal(got, np.array(expected, dtype=np.float64), err_msg=name)


@cache
def exact_faddeeva(x: float, y: float) -> list[Any]:
    """Re w, its derivatives by x, by y and twice by x, and |w|, |w'|, |w''|."""
    z = mpmath.mpc(x, y)
    if abs(z) > 40:
        term, k, sums = mpmath.mpc(1), 0, [mpmath.mpc(1), mpmath.mpc(0), mpmath.mpc(0)]
        while abs(term) > mpmath.mpf(10) ** -60:
            k += 1
            term *= (2 * k - 1) / (2 * z * z)
            sums = [sums[0] + term, sums[1] + term, sums[2] - 2 * k * term / z]
        scale = 2j / mpmath.sqrt(mpmath.pi)
        w, first, second = scale / 2 * sums[0] / z, -scale * sums[1], -scale * sums[2]
        pole = mpmath.exp(-z * z) if y < 1 else mpmath.mpf(0)
        w, first, second = w + pole, first - 2 * z * pole, second + (4 * z * z - 2) * pole
    else:
        w = mpmath.exp(-z * z) * mpmath.erfc(-1j * z)
        first = -2 * z * w + 2j / mpmath.sqrt(mpmath.pi)
        second = -2 * w - 2 * z * first
    return [w.real, first.real, -first.imag, second.real, abs(w), abs(first), abs(second)]


FADDEEVA = {
    "near": (even(-8, 8), np.abs(wide(-6, 0.9, 600))),
    "hardly any height": (even(-8, 8), np.abs(wide(-300, -6, 600))),
    "no height": (even(-26, 26), np.zeros(600)),
    "wide": (wide(-3, 3), np.abs(wide(-6, 2))),
    "nodes": (np.arange(-40, 40) / 8.0, np.abs(wide(-16, 1, 80))),
    "both sides of the border": (
        8.0 * np.cos(np.linspace(0, PI_2, 300)) * (1 + even(-0.01, 0.01, 300)),
        8.0 * np.sin(np.linspace(0, PI_2, 300)),
    ),
    "very high": (wide(-3, 8, 100), np.abs(wide(2, 80, 100))),
    "centre": (np.zeros(100), np.abs(wide(-300, 12, 100))),
}


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("region", FADDEEVA)
def test_faddeeva(probe: Any, region: str, every: int) -> None:
    """Re w relative to itself, where it is far smaller than Im w too; the derivatives of w
    relative to their modulus."""
    x, y = FADDEEVA[region]
    got = probe.faddeeva(x, y)
    for k in range(0, x.size, every):
        with mpmath.workdps(60):
            exact = exact_faddeeva(float(x[k]), float(y[k]))
            error = [abs(mpmath.mpf(float(got[j, k])) - exact[j]) for j in range(4)]
            tiny = mpmath.mpf(10) ** -290
            # exp(-x^2): x^2 is known to 2^-53 of itself
            bound = 2e-14 + 4e-16 * float(x[k]) ** 2 * (float(y[k]) < 1 and abs(float(x[k])) < 30)
            assert error[0] <= bound * exact[0] + tiny, (x[k], y[k])
            assert error[1] <= 5e-13 * exact[5] + tiny, (x[k], y[k])
            assert error[2] <= 5e-13 * exact[5] + tiny, (x[k], y[k])
            assert error[3] <= 5e-11 * exact[6] + tiny, (x[k], y[k])


#: Heights of a lane each, or of all of them.
HEIGHTS = {
    "equal": np.repeat(10.0 ** even(-6, 0.9, 60), 8),
    "each its own": 10.0 ** even(-6, 0.9, 480),
}


@pytest.mark.parametrize("heights", HEIGHTS)
def test_voigt_tables(probe: Any, heights: str) -> None:
    """Re w relative to itself; the derivatives of w relative to their modulus."""
    y = HEIGHTS[heights]
    x = np.random.default_rng(43).uniform(-8, 8, y.size)  # the same for every build
    got = probe.voigt(x, y)
    if not got[4].any():
        pytest.skip("without FMA there are none")
    np.testing.assert_array_equal(got[4], x**2 + y**2 < 64)
    for k in np.flatnonzero(got[4])[::3]:
        with mpmath.workdps(40):
            exact = exact_faddeeva(float(x[k]), float(y[k]))
            error = [float(abs(mpmath.mpf(float(got[j, k])) - exact[j])) for j in range(4)]
        assert error[0] <= 2e-13 * exact[0], (x[k], y[k])
        assert error[1] <= 2e-12 * exact[5], (x[k], y[k])
        assert error[2] <= 2e-12 * exact[5], (x[k], y[k])
        assert error[3] <= 5e-11 * exact[6], (x[k], y[k])


@cache
def integrals(name: str, par: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, and what lies of a kernel beyond them on either side."""
    kernel, far = reference(name), 60.0 * par

    def integral(begin: float, end: float) -> float:
        corners = [at for at in (-par / 2, 0.0, par / 2) if begin < at < end]
        points = np.array([begin, *corners, end])
        return float(
            sum(
                integrate.quad(lambda d: float(kernel(d, par)), a, b, epsabs=0, limit=400)[0]
                for a, b in pairwise(points)
            )
        )

    distance = par * np.array([0.0, 0.2, 0.5, 1.0, 3.0])
    left = np.array([integral(a, far) for a in distance])
    right = np.array([integral(-far, -a) for a in distance])
    return distance, left, right


@pytest.mark.parametrize("par", [0.01, 0.7, 30.0])
@pytest.mark.parametrize("name", [name for name, op in OPS.items() if op.kind == "KERNEL"])
def test_masses_are_integrals_of_the_kernel(probe: Any, name: str, par: float) -> None:
    distance, left, right = integrals(name, par)
    for mass in (mass_left(name, distance, par), probe.mass(name, True, distance, par)):
        np.testing.assert_allclose(mass, left, rtol=1e-9, atol=1e-9 * par)
    for mass in (mass_right(name, -distance, par), probe.mass(name, False, -distance, par)):
        np.testing.assert_allclose(mass, right, rtol=1e-9, atol=1e-9 * par)
