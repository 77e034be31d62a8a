"""Lines and backgrounds under a Gaussian resolution: values against mpmath, in every build.

Their derivatives are compared with differences of the references in test_accuracy.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.exact import builds, exact_functions
from support.guarded import inside
from support.kernel_calls import call_function

from pyspec._library import OPS
from pyspec.functions import outside, reference

pytestmark = pytest.mark.sweep(5)

UNIT = 2.0**-52
PLACES = np.array([-4.1, -0.63, 0.2, 0.37, 1.9, 44.0])

#: Sets of parameters, x0 = 0.2 where there is one; the last is the width of the resolution.
SETS: dict[str, list[tuple[float, ...]]] = {
    "Gauss": [(2.0, 0.2, 0.4, 0.3), (2.0, 0.2, 0.4, 1e-3), (2.0, 0.2, 1e-3, 0.7)],
    "GaussAsym": [
        (2.0, 0.2, 0.4, 2.5, 0.3),
        (2.0, 0.2, 0.4, 0.01, 0.2),
        (2.0, 0.2, 0.4, 3.0, 0.004),
    ],
    "SkewGauss": [
        (2.0, 0.2, 0.9, 0.3, 0.2),
        (2.0, 0.2, 0.9, -1.0, 0.3),
        (2.0, 0.2, 0.9, 0.05, 0.5),
    ],
    "Lorentz": [(2.0, 0.2, 0.4, 0.3), (2.0, 0.2, 0.4, 1e-3), (2.0, 0.2, 1e-3, 0.7)],
    "Voigt": [(2.0, 0.2, 0.3, 0.4, 0.3), (2.0, 0.2, 0.3, 0.0, 0.2), (2.0, 0.2, 1e-3, 0.5, 0.2)],
    "GLS": [(2.0, 0.2, 0.8, 0.3, 0.3), (2.0, 0.2, 0.8, 1.2, 0.01)],
    "GLP": [
        (2.0, 0.2, 0.8, 0.3, 0.3),
        (2.0, 0.2, 0.8, 0.0, 0.3),
        (2.0, 0.2, 0.8, 1.0, 0.3),
        (2.0, 0.2, 0.05, 0.9, 0.4),
        (2.0, 0.2, 0.8, 0.5, 0.01),
    ],
    "DS": [
        (2.0, 0.2, 0.3, 0.12, 0.3),
        (2.0, 0.2, 0.02, 0.4, 0.25),
        (2.0, 0.2, 0.4, 0.0, 0.01),
        (2.0, 0.2, 0.5, 0.9, 0.6),
    ],
    "DSBinding": [(2.0, 0.2, 0.3, 0.12, 0.3), (2.0, 0.2, 0.02, 0.4, 0.25)],
    "GLSAsym": [(2.0, 0.2, 0.8, 0.3, 0.7, 0.3), (2.0, 0.2, 0.8, 0.6, -2.0, 0.3)],
    "LA": [
        (2.0, 0.2, 0.8, 1.2, 2.4, 0.3),
        (2.0, 0.2, 0.8, 0.6, 1.0, 0.05),
        (2.0, 0.2, 0.03, 1.0, 1.5, 0.4),
        (2.0, 0.2, 2.0, 12.0, 0.7, 0.2),
        (2.0, 0.2, 1.0, 1.2, 2.4, 0.003),
    ],
    "LF": [
        (2.0, 0.2, 0.8, 0.9, 1.6, 3.0, 0.3),
        (2.0, 0.2, 0.6, 0.5, 1.0, 0.4, 0.2),
        (2.0, 0.2, 0.05, 0.7, 1.5, 1.2, 0.4),
        (2.0, 0.2, 1.0, 1.2, 2.4, 30.0, 0.003),
        (2.0, 0.2, 2.0, 0.8, 0.7, 0.05, 0.3),
    ],
    "Mahan": [
        (2.0, 0.2, 0.3, 0.15, 4.0, 0.3),
        (2.0, 0.2, 0.02, 0.4, 0.5, 0.25),
        (2.0, 0.2, 0.3, 0.7, -1.5, 0.01),
    ],
    "Offset": [(3.0, 0.4)],
    "LinBack": [(2.0, 1.0, -0.5, 0.3, 0.3), (2.0, 1.0, 0.2, 0.21, 0.5)],
    "ErfStep": [(2.0, 0.2, 0.3, 0.4)],
    "AtanStep": [(2.0, 0.2, 0.8, 0.3), (2.0, 0.2, 0.02, 0.5)],
    "FermiEdge": [(2.0, 0.2, 300.0, 0.1, 0.2, 0.05, 0.12)],
    "PolyBack": [(0.3, -0.2, 0.05, 0.2, 0.6)],
    "ExpBack": [(2.0, 0.2, 0.7, 0.5)],
}  # fmt: skip


def bends(name: str, p: tuple[float, ...]) -> list[float]:
    """Where a function has a kink or changes fast."""
    if name == "LinBack":
        return [p[2], p[3]]
    if name == "SkewGauss":
        end = p[1] - p[2] / (2 * p[3])
        grown = [p[2] / (2 * abs(p[3])) * np.exp(p[3] * k) for k in range(-6, 7, 2)]
        return [end, p[1], *(end + np.sign(p[3]) * distance for distance in grown)]
    centre = 0.2
    narrow = (
        "GLP",
        "GLS",
        "GLSAsym",
        "LA",
        "DS",
        "DSBinding",
        "Mahan",
        "AtanStep",
        "Lorentz",
        "Gauss",
    )
    width = min(p[2], p[5]) if name == "LF" else p[2] if name in narrow else 0.4
    if name == "GaussAsym":
        return [centre, *(centre + s * k for k in (1, 4, 9) for s in (-p[2], p[2] * p[3]))]
    return [centre, *(centre + sign * width * k for k in (0.25, 1, 4, 12) for sign in (-1, 1))]


def convolved(line: Callable[..., Any], name: str, x: float, p: tuple[float, ...]) -> Any:
    """The integral of a line against the resolution, in exact arithmetic."""
    *own, R = (mp.mpf(value) for value in p)
    if name == "Voigt":  # a Gaussian convolved twice, at the height of the one convolved once
        A, x0, SD, W = own
        top = mp.re(_w(mp.mpc(0, W / 2) / (SD * mp.sqrt(2))))
        total = mp.sqrt(SD**2 + R**2)
        return A * SD / total * mp.re(_w(mp.mpc(x - x0, W / 2) / (total * mp.sqrt(2)))) / top
    low, high = x - 11 * R, x + 11 * R
    cuts = [x + R * k for k in range(-9, 10, 3)] + [mp.mpf(at) for at in bends(name, p)]
    cuts = sorted({low, high, *(at for at in cuts if low < at < high)})
    return mp.quad(lambda at: line(OPS[name], [at], own)[0] * mp.npdf(x - at, 0, R), cuts)


def _w(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


NAMES = [name.removesuffix("_resolution") for name, op in OPS.items() if op.kind == "RESOLVED"]


def test_every_row_has_a_set() -> None:
    assert set(NAMES) == set(SETS)


#: Integrals in 20 digits that take seconds a point.
DEAR = ("Mahan",)


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        pytest.param(name, sets, marks=[pytest.mark.slow] if sets.start or name in DEAR else [])
        for name in NAMES
        for sets in (slice(0, 1), slice(1, None))
        if name != "FermiEdge"
    ],
)
def test_value_is_the_convolution(name: str, sets: slice) -> None:
    """To twice the tolerance of the row, and one rounding of each parameter; the reference too."""
    op, x = OPS[f"{name}_resolution"], PLACES if sets.start else PLACES[1::3]
    for params in SETS[name][sets]:
        with exact_functions(20) as line:
            exact = np.array([float(convolved(line, name, float(at), params)) for at in x])
        column = np.array(params)[:, np.newaxis]
        found = {"reference": np.asarray(reference(op.name)(x, *params))}
        for how, value, slopes in builds(op, x, params):
            inputs = np.abs(slopes * column).sum(axis=0)
            found[how] = value
        peak = max(np.abs(exact).max(), 1e-300)
        for how, value in found.items():
            excess = (np.abs(value - exact) / UNIT - inputs) / peak
            assert excess.max() <= max(2 * op.tolerance, 4), (name, how, params, excess)


def test_a_resolution_twice_is_one_of_both_widths() -> None:
    """FermiEdge has a resolution of its own, the others have a width: they add in square."""
    for name in ("FermiEdge", "ErfStep", "Gauss", "Mahan"):
        op = OPS[name]
        params = list(SETS[name][0])
        given = np.array(params)[:, np.newaxis]
        value, _ = call_function(f"{name}_resolution", PLACES, given)
        R, k = params.pop(), op.params.index("SD")
        SD = params[k]
        params[k] = float(np.hypot(SD, R))
        wide, _ = call_function(name, PLACES, np.array(params)[:, np.newaxis])
        scale = SD / params[k] if name == "Gauss" else 1.0
        np.testing.assert_allclose(value, scale * wide, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("m", [-0.1, 1.1, np.nan])
def test_a_product_with_poles_has_no_convolution(m: float) -> None:
    params = np.array([1.0, 0.0, 1.0, m, 0.3])[:, np.newaxis]
    value, _ = call_function("GLP_resolution", PLACES, params, partials=True)
    assert np.isnan(value).all()
    assert np.isnan(reference("GLP_resolution")(PLACES, *params[:, 0])).all()


@pytest.mark.parametrize("name", NAMES)
def test_extremes_end_and_are_no_nan(name: str) -> None:
    """Widths of all sizes: the sums end, and no partial is NaN where the value is finite."""
    op = OPS[f"{name}_resolution"]
    sizes = np.array([1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e160])
    rng = np.random.default_rng(31)
    params = rng.uniform(0.05, 0.95, (len(op.params), 24))
    inside(op, params, lambda _: rng.choice(sizes, 24))
    params = params[:, ~(np.asarray(outside(op, list(params))) & np.ones(24, bool))]
    x = np.concatenate([-sizes[::-1], [0.0], sizes, params[0], params[1]])
    value, partials = call_function(op.name, x, params, partials=True)
    assert partials is not None
    assert np.isfinite(value).mean() > 0.5
    for j, param in enumerate(op.params):
        bad = np.argwhere(np.isnan(partials[j]) & np.isfinite(value))
        assert not bad.size, f"{name}.{param} at {params[:, bad[0][0]]}, {x[bad[0][1]]}"
