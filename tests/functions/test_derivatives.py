"""Partials against high-precision differences of other formulas (support/op_formulas.py).

The rows of functions with limits that cancel, or an instrument in front of them, at awkward
parameters over their middle and their tails; test_exact.py differentiates the reference of every
other row. The bound is 1e-9 of the largest value of the column, which is one parameter of one
set over one axis: a tail is a column of its own. Every build and both orientations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from support.exact import builds
from support.op_formulas import FORMULAS, LENGTHS, derivatives

from pyspec._library import OPS, OpDef
from pyspec.functions import outside

pytestmark = pytest.mark.sweep(4)

BOUND = 1e-9
#: Below this a column is beyond what doubles hold: exponentials end at 3e-308.
SMALLEST = 1e-290
#: Units of x and of the value that a set is repeated in.
UNITS = ((1.0, 1.0), (1e-15, 1e9), (1e6, 1e-4))


#: Places in widths from the centre: the middle, before it, after it.
MIDDLE = (-9.3, -4.0, -2.5, -1.3, -0.62, -0.2, -1e-3, -1e-9, 0.0, 1e-6, 0.031, 0.4, 0.5, 1.9, 3.6)
BEFORE = (-37.0, -30.0, -17.3, -12.0, -8.1)
AFTER = (5.1, 9.0, 21.0, 33.0)
#: Where tails go on as a power of the distance, and a phase is still known well.
FAR = (5.1, 9.0, 33.0, 1e3, 1e6)

#: Frequency and phase of oscillations behind an instrument.
SWINGS = ((0.05, 0.3), (1.7, -3.0), (-0.4, 0.0), (0.0, 1.2), (1e-9, 0.7), (9.0, 0.1))


@dataclass(frozen=True)
class Case:
    """Parameter sets of one function. Its axes spread from `centre` in steps of `width`, which
    are numbers or names of parameters, of several the sum."""

    sets: Sequence[Sequence[float]]
    centre: str | float = 0.0
    width: str | float = 1.0
    spreads: Sequence[Sequence[float]] = (MIDDLE, BEFORE, FAR)

    def axes(self, op: OpDef, params: Sequence[float], unit: float = 1.0) -> list[np.ndarray]:
        """The axes for one set, whose lengths count in `unit`."""
        known = dict(zip(op.params, params, strict=True))

        def value(what: str | float) -> float:
            names = what.split() if isinstance(what, str) else []
            return sum(known[name] for name in names) if names else unit * float(what)

        centre, width = value(self.centre), value(self.width)
        return [centre + width * np.array(spread) for spread in self.spreads]


_PEAK = [(1.7, 0.3), (-2.0, 84.2), (3e-5, -1e-7), (1.0, 0.0)]

CASES: dict[str, Case] = {
    "SkewGauss": Case(
        [
            (*p, w, b)
            for p in _PEAK
            for w, b in (
                (1.0, 0.0),
                (0.6, 1e-12),
                (1e-3, -1e-9),
                (2.0, 1e-4),
                (1.3, -0.02),
                (0.7, 0.3),
                (1.0, -0.999),
                (1e3, 2.5),
                (1.0, 40.0),
            )
        ],
        "x0",
        "w",
    ),
    "Voigt": Case(
        [
            (*p, s, w)
            for p in _PEAK[:3]
            for s, w in (
                (0.5, 0.7),
                (1.0, 0.0),
                (1.0, 1e-12),
                (1.0, 1e-3),
                (0.2, 3.0),
                (1e-3, 1.0),
                (1e-9, 1.0),
                (40.0, 0.01),
            )
        ],
        "x0",
        "SD W",
    ),
    "DS": Case(
        [
            (*p, f, a)
            for p in _PEAK
            for f in (0.4, 1e-3)
            for a in (0.0, 1e-12, 0.1, 0.5, 0.999, 1.0)
        ],
        "x0",
        "F",
    ),
    "sinDivX": Case(
        [
            (1.4, f, t0, y0)
            for f in (0.05, 1.7, -0.4, 0.0, 1e-9)
            for t0, y0 in ((0.3, 0.0), (-42.0, -1.0))
        ],
        "t0",
        spreads=(MIDDLE[9:], AFTER),
    ),
    "gaussIRF": Case([(1.0, 0.0, 0.0), (1e-3, 0.2, -0.3), (1e4, 0.7, 42.0)], "shift", "SD"),
    "stepFun_gaussIRF": Case([(1.4, 0.3, 0.9, 0.0), (-1.0, -42.0, 1e-4, 0.5)], "t0", "SD"),
    "linFun_gaussIRF": Case([(1.4, 0.3, 0.9, 0.0), (-1.0, -42.0, 1e-4, 0.5)], "t0", "SD"),
    "expFun_gaussIRF": Case(
        [
            (1.4, tau, t0, s, y0)
            for tau, s in (
                (1.0, 0.9),
                (1e-3, 1.0),
                (1e3, 1.0),
                (0.05, 1.0),
                (2.0, 1e-6),
                (7.0, 60.0),
            )
            for t0, y0 in ((0.3, 0.0), (-4.2, -0.5))
        ],
        "t0",
        "SD",
    ),
    "sinFun_gaussIRF": Case(
        [(1.4, f, phi, t0, 0.9, y0) for f, phi in SWINGS for t0, y0 in ((0.3, 0.0), (-4.2, -1.0))],
        "t0",
        "SD",
        spreads=(MIDDLE, BEFORE, AFTER),
    ),
    "dampedSinFun_gaussIRF": Case(
        [
            (1.4, f, phi, tau, t0, 0.9, y0)
            for f, phi in SWINGS
            for tau in (2.0, 1e-3, 0.06, 0.9, 1e4)
            for t0, y0 in ((0.3, 0.0), (-4.2, -1.0))
        ],
        "t0",
        "SD",
        spreads=(MIDDLE, BEFORE, AFTER),
    ),
    "sinDivX_gaussIRF": Case(
        [
            (1.4, f, 0.3, w, y0)
            for f, w, y0 in (
                (0.05, 0.9, 0.0),
                (1.7, 0.9, -1.0),
                (-0.4, 1e-5, 0.0),
                (1e-7, 2.0, 0.0),
            )
        ],
        "t0",
        "SD",
        spreads=((-12.0, -4.0, -0.62, 0.0, 0.5, 1.9, 9.0, 21.0), (-20.0, -14.0, -9.0)),
    ),
    "erfFun_gaussIRF": Case(
        [
            (1.4, s, t0, w, 0.2)
            for s, w in ((1.0, 0.7), (1e-4, 1.0), (1.0, 1e-4))
            for t0 in (0.3, -9)
        ],
        "t0",
        "IRF",
    ),
    "sqrtFun_gaussIRF": Case([(1.4, 0.3, 0.9, 0.0), (-1.0, -42.0, 1e-4, 0.5)], "t0", "SD"),
}


#: An absolute error that the bound leaves out, with its reason.
ROUNDING: dict[tuple[str, str], tuple[float, str]] = {
    ("DS", "A"): (1e-16, "at alpha = 1 the line is cos(pi / 2), which is 0 and not 6e-17"),
}


def in_units(op: OpDef, params: Sequence[float], length: float, height: float) -> list[float]:
    """The set with x in other units, and the function of another height."""
    scaled = []
    for name, value in zip(op.params, params, strict=True):
        if name in LENGTHS:
            value *= length
        elif name == "f":
            value /= length
        elif name in op.linear:
            value *= height
        scaled.append(value)
    return scaled


def test_every_case_is_a_row_inside_of_its_domain() -> None:
    assert set(CASES) <= set(OPS)
    assert set(FORMULAS) | {"sinDivX_gaussIRF"} == set(CASES)
    responses = {op.name for op in OPS.values() if op.kind in ("IRF", "RESPONSE")}
    assert responses <= set(CASES), "test_exact.py leaves these out"
    for name, param in ROUNDING:
        assert param in OPS[name].params
    for name, case in CASES.items():
        for params in case.sets:
            assert len(params) == len(OPS[name].params)
            assert not outside(OPS[name], list(params)), name


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("units", UNITS, ids=["plain", "short", "long"])
@pytest.mark.parametrize("name", CASES)
def test_partials(name: str, units: tuple[float, float], whole: bool) -> None:
    """In plain units of all sets, or of a tenth, and where exact derivatives take longest of a
    thirtieth, at every second place; in others of four, or one."""
    op, case = OPS[name], CASES[name]
    share = 1 if whole else 30 if name == "dampedSinFun_gaussIRF" else 10
    count = len(case.sets) // share if units == UNITS[0] else 4 if whole else 1
    for plain in case.sets[:: max(len(case.sets) // max(count, 1), 1)]:
        params = in_units(op, plain, *units)
        for x in case.axes(op, params, units[0]):
            x = x if whole else x[::2]
            exact = np.array([[float(v) for v in derivatives(name, at, params)] for at in x])
            for how, _, slopes in builds(op, x, params):
                for param, column, expected in zip(op.params, slopes, exact.T, strict=True):
                    scale = np.abs(expected).max()
                    allowed = max(BOUND * scale, SMALLEST)
                    allowed += ROUNDING.get((name, param), (0.0, ""))[0]
                    worst = np.abs(column - expected).max()
                    where = f"{name}.{param}, {how}: {worst:.3g} of {scale:.3g}, {params} at {x}"
                    assert worst <= allowed, where


@pytest.mark.parametrize("f", [300.0, -2000.0])
def test_a_fast_cardinal_sine_under_an_instrument(f: float) -> None:
    """In place of an integral by turns, the series of large omega SD."""
    params, x = (1.4, f, 0.3, 0.9, 0.0), np.array([0.3, 1.0])
    exact = np.array([derivatives("sinDivX_gaussIRF", float(at), params) for at in x])
    for _, _, value in builds(OPS["sinDivX_gaussIRF"], x, params):
        for k in range(5):
            expected = exact[:, k].astype(float)
            assert np.abs(value[k] - expected).max() <= BOUND * np.abs(expected).max()
