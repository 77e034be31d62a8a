"""What every function of the op table is differentiated at: typical and awkward parameters, and
axes over the middle of the function and over its tails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyspec._library import OpDef

#: Places in widths from the centre: the middle with what may be a kink, before it, after it.
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
_M = (0.0, 1.0, 0.3, 1e-12, 1.0 - 1e-12, -0.05, 1.2)

_DS = Case(
    [(*p, f, a) for p in _PEAK for f in (0.4, 1e-3) for a in (0.0, 1e-12, 0.1, 0.5, 0.999, 1.0)],
    "x0",
    "F",
)

CASES: dict[str, Case] = {
    "Gauss": Case([(*p, s) for p in _PEAK for s in (1.0, 1e-3, 1e4)], "x0", "SD"),
    "GaussAsym": Case(
        [(*p, s, r) for p in _PEAK for s, r in ((1.0, 1.0), (0.2, 7.0), (3.0, 0.01), (1e-3, 1e3))],
        "x0",
        "SD",
    ),
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
    "Lorentz": Case([(*p, w) for p in _PEAK for w in (1.0, 1e-3, 1e4)], "x0", "W"),
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
    "GLS": Case([(*p, f, m) for p in _PEAK for f in (1.1, 1e-3) for m in _M], "x0", "F"),
    "GLP": Case(
        [(*p, f, m) for p in _PEAK for f in (1.1, 1e-3) for m in _M if 0 <= m <= 1], "x0", "F"
    ),
    "DS": _DS,
    "DSBinding": _DS,
    "Offset": Case([(0.0,), (-3.0,), (1e9,)]),
    "LinBack": Case(
        [(0.3, 1.0, -1.3, 1.9), (-0.2, 0.0, -0.62, 0.4), (0.0, 2.0, -1e-3, 1e-6), (1e-4, 0.1, 0, 9)]
    ),
    "Shirley": Case([(0.0,), (0.004,), (-3.0,), (1e-9,)]),
    "none": Case([()]),
    "stepFun": Case([(1.4, 0.3, 0.0), (-1.0, -4.2, 0.5), (0.0, 0.0, -1.0)], "t0"),
    "linFun": Case([(1.4, 0.3, 0.0), (-1.0, -4.2, 0.5), (0.0, 0.0, -1.0)], "t0"),
    "expFun": Case(
        [(a, tau, t0, 0.3) for a, t0 in ((1.4, 0.3), (-1.0, -42.0)) for tau in (1.0, 1e-4, 1e5)],
        "t0",
        "tau",
    ),
    "sinFun": Case(
        [
            (1.4, f, phi, t0, y0)
            for f, phi in ((0.05, 0.3), (1.7, -3.0), (-0.4, 0.0), (0.0, 1.2), (1e-9, 0.0))
            for t0, y0 in ((0.3, 0.0), (-42.0, -1.0))
        ],
        "t0",
        spreads=(MIDDLE, BEFORE, AFTER),
    ),
    "dampedSinFun": Case(
        [
            (1.4, f, phi, tau, t0, y0)
            for f, phi in ((0.05, 0.3), (1.7, -3.0), (-0.4, 0.0), (0.0, 1.2), (1e-9, 0.0))
            for tau in (1.0, 0.05, 1e5)
            for t0, y0 in ((0.3, 0.0), (-42.0, -1.0))
        ],
        "t0",
        spreads=(MIDDLE, BEFORE, AFTER),
    ),
    "sinDivX": Case(
        [
            (1.4, f, t0, y0)
            for f in (0.05, 1.7, -0.4, 0.0, 1e-9)
            for t0, y0 in ((0.3, 0.0), (-42.0, -1.0))
        ],
        "t0",
        spreads=(MIDDLE, BEFORE, AFTER),
    ),
    "erfFun": Case(
        [(1.4, s, t0, 0.2) for s in (1.0, 1e-4, 1e5) for t0 in (0.3, -42.0)], "t0", "SD"
    ),
    "sqrtFun": Case([(1.4, 0.3, 0.0), (-1.0, -42.0, 0.5)], "t0"),
    "constFun": Case([(1.4,), (0.0,), (-1e9,)]),
    "gaussFun": Case([(1.4, s, t0) for s in (1.0, 1e-3, 1e4) for t0 in (0.3, -42.0)], "t0", "SD"),
    "gaussD1Fun": Case([(1.4, s, t0) for s in (1.0, 1e-3, 1e4) for t0 in (0.3, -42.0)], "t0", "SD"),
    "gaussD2Fun": Case([(1.4, s, t0) for s in (1.0, 1e-3, 1e4) for t0 in (0.3, -42.0)], "t0", "SD"),
    "gaussCONV": Case([(1.0,), (1e-3,), (1e4,)], 0.0, "SD"),
    "expSymCONV": Case([(1.0,), (1e-3,), (1e4,)], 0.0, "tau"),
    "expDecayCONV": Case([(1.0,), (1e-3,), (1e4,)], 0.0, "tau"),
    "expRiseCONV": Case([(1.0,), (1e-3,), (1e4,)], 0.0, "tau"),
    "boxCONV": Case([(1.0,), (1e-3,), (1e4,)], 0.0, "width"),
    "pExpDecay": Case([(1.4, 1.0), (-2.0, 1e-3), (0.0, 1e4)], 0.0, "tau"),
    "pLinear": Case([(1.4, 0.3), (0.0, 0.0), (1e-6, 1e4)]),
    "pGauss": Case([(*p, s) for p in _PEAK for s in (1.0, 1e-3, 1e4)], "x0", "SD"),
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
