"""Hard starts of values against time and of series of spectra; more stand in `hard_cases.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.problems.hard_cases import Case

TIME = np.linspace(-2.0, 38.0, 101)
AFTER = np.linspace(1.0, 41.0, 81)
STEPS = np.linspace(-5.0, 25.0, 31)
ENERGY = np.linspace(80.0, 88.0, 33)


def _law(name: str, text: str, truth: Mapping[str, float], **more: Any) -> Case:
    return Case(name, f"m:\n{text}", truth, **{"noise": 0.02, "time": TIME, **more})


def decay(A: str, tau: str, t0: str = "[0, False]") -> str:
    """One exponential."""
    return f"  expFun: {{A: {A}, tau: {tau}, t0: {t0}}}\n"


def wave(A: str, f: str, phi: str) -> str:
    """One oscillation."""
    return f"  sinFun: {{A: {A}, f: {f}, phi: {phi}, t0: [-2, False]}}\n"


ONE = {"expFun_01_A": 3.0, "expFun_01_tau": 6.0}
TWO = {**ONE, "expFun_02_A": 1.5, "expFun_02_tau": 25.0}
WAVE = {"sinFun_01_A": 2.0, "sinFun_01_f": 0.25, "sinFun_01_phi": 0.5}


def traces() -> list[Case]:
    """Time laws alone."""
    seconds = TIME * 1e-12
    response = "  gaussIRF: {SD: [%s, True, 0.05, 20]}\n"
    return [
        _law("tau two decades too long", decay("[1, True]", "[600, True]"), ONE),
        _law("tau two decades too short", decay("[1, True]", "[0.06, True]"), ONE),
        _law(
            "tau two decades too short, between bounds",
            decay("[1, True, 0, 10]", "[0.06, True, 0.01, 1000]"),
            ONE,
        ),
        _law(
            "picoseconds in seconds, amplitude of 1e9",
            decay("[1e9, True]", "[2e-11, True]"),
            {"expFun_01_A": 3e9, "expFun_01_tau": 6e-12},
            time=seconds,
            noise=2e7,
        ),
        _law(
            "picoseconds in seconds, between bounds",
            decay("[1e9, True, 0, 1e11]", "[2e-11, True, 1e-13, 1e-9]"),
            {"expFun_01_A": 3e9, "expFun_01_tau": 6e-12},
            time=seconds,
            noise=2e7,
        ),
        _law("two equal decays", decay("[1, True]", "[10, True]") * 2, TWO, noise=2e-3),
        _law(
            "decays have changed places",
            decay("[1.5, True]", "[25, True]") + decay("[3, True]", "[6, True]"),
            TWO,
            noise=2e-3,
        ),
        _law(
            "three decays, two of them close",
            decay("[1, True]", "[2, True]")
            + decay("[1, True]", "[8, True]")
            + decay("[1, True]", "[30, True]"),
            {**TWO, "expFun_01_tau": 1.5, "expFun_03_A": 1.0, "expFun_03_tau": 6.0},
            noise=1e-4,
        ),
        _law(
            "an onset that no point separates",
            decay("[2, True]", "[5, True]", "[0.5, True]"),
            {**ONE, "expFun_01_t0": 0.0},
            time=AFTER,
            undetermined=("expFun_01_A", "expFun_01_t0"),
        ),
        _law(
            "a jump three samples away",
            "  stepFun: {A: [2, True], t0: [9.1, True]}\n",
            {"stepFun_01_A": 3.0, "stepFun_01_t0": 10.1},
        ),
        _law(
            "an onset three samples away",
            decay("[2, True]", "[5, True]", "[9.1, True]"),
            {**ONE, "expFun_01_t0": 10.1},
        ),
        _law(
            "a wave of height 0 to start with",
            wave("[0, True]", "[0.25, True]", "[0.4, True]"),
            WAVE,
        ),
        _law("a wave in opposite phase", wave("[2, True]", "[0.25, True]", "[3.5, True]"), WAVE),
        _law("frequency 4 % off", wave("[2, True]", "[0.26, True]", "[0.5, True]"), WAVE),
        _law("frequency 12 % off", wave("[2, True]", "[0.28, True]", "[0.5, True]"), WAVE),
        _law(
            "a rise ten times too slow",
            "  erfFun: {A: [2, True], SD: [20, True], t0: [15, True]}\n",
            {"erfFun_01_A": 3.0, "erfFun_01_SD": 2.0, "erfFun_01_t0": 10.0},
        ),
        _law(
            "a rise within one sample",
            "  erfFun: {A: [2, True], SD: [0.01, True], t0: [9, True]}\n",
            {"erfFun_01_A": 3.0, "erfFun_01_SD": 2.0, "erfFun_01_t0": 10.0},
        ),
        _law(
            "a response ten times too wide",
            response % "8" + decay("[2, True]", "[12, True]", "[3, True]"),
            {**ONE, "gaussIRF_SD": 0.8, "expFun_01_t0": 0.5},
        ),
        _law(
            "a response far before its onset",
            response % "0.3" + decay("[2, True]", "[4, True]", "[8, True]"),
            {**ONE, "gaussIRF_SD": 0.8, "expFun_01_t0": 0.5},
        ),
        _law(
            "noise-free decay, negative height", decay("[-1, True]", "[20, True]"), ONE, noise=0.0
        ),
        _law(
            "noise-free, two decays",
            decay("[1, True]", "[4, True]") + decay("[1, True]", "[40, True]"),
            TWO,
            noise=0.0,
        ),
    ]


LINE = """
m:
  Offset: {y0: [4, True]}
  GLP: {A: [15, True], x0: [84.2, True], F: [1.5, True], m: [0.3, False]}
"""
TRUE_LINE = {"Offset_y0": 5.0, "GLP_01_A": 20.0, "GLP_01_x0": 84.0, "GLP_01_F": 1.2}
X0, A = "GLP_01_x0", "GLP_01_A"


def _series(name: str, law: str, truth: Mapping[str, float], target: str = X0, **more: Any) -> Case:
    given = {"text": f"{LINE}law:\n{law}", "noise": 0.2, "moved": {target: "law"}, **more}
    text = given.pop("text")
    truth = {**TRUE_LINE, **{f"{target}_{name}": value for name, value in truth.items()}}
    return Case(name, text, truth, **{"energy": ENERGY, "time": STEPS, **given})


def _irf(SD: str, A: str, tau: str, t0: str) -> str:
    return f"  gaussIRF: {{SD: {SD}}}\n" + decay(A, tau, t0)


def series() -> list[Case]:
    """Spectra against time."""
    seen = {"gaussIRF_SD": 0.8, "expFun_01_A": 0.8, "expFun_01_tau": 6.0, "expFun_01_t0": 0.3}
    scaled = """
m:
  Offset: {y0: [4e-9, True]}
  GLP: {A: [1.5e-8, True], x0: [1.348e-17, True], F: [2.5e-19, True], m: [0.3, False]}
law:
  gaussIRF: {SD: [1.5e-13, True]}
  expFun: {A: [6e-20, True], tau: [2e-12, True], t0: [0, True]}
"""
    truth = {"Offset_y0": 5e-9, "GLP_01_A": 2e-8, "GLP_01_x0": 1.345e-17, "GLP_01_F": 2e-19}
    law = {"gaussIRF_SD": 8e-14, "expFun_01_A": 1.2e-19, "expFun_01_tau": 6e-13}
    joule = Case(
        "joule and seconds",
        scaled,
        {
            **truth,
            **{f"{X0}_{name}": value for name, value in law.items()},
            f"{X0}_expFun_01_t0": 3e-14,
        },
        2e-10,
        energy=np.linspace(1.28e-17, 1.41e-17, 41),
        time=STEPS * 1e-13,
        moved={X0: "law"},
    )
    free = "[0, True]"
    tied = """
m:
  Offset: {y0: [0, True, 0, 100]}
  Shirley: {pShirley: [0, True, 0, 1]}
  GLP: {A: [5, True, 0, 100], x0: [82.5, True, 80, 87], F: [2.4, True, 0.1, 5], m: [0, True, 0, 1]}
  GLP: {A: ["3/4 * GLP_01_A"], x0: ["GLP_01_x0 + 2.3"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
law:
""" + decay("[0, True, -3, 3]", "[0.5, True, 0.1, 100]")
    bent = LINE + "bend:\n  pExpDecay: {A: [0.1, True], tau: [0.3, True]}\n"
    return [
        _series(
            "decay 100 times too long",
            decay("[0.2, True]", "[600, True]"),
            {"expFun_01_A": 0.8, "expFun_01_tau": 6.0},
        ),
        _series(
            "decay 100 times too short",
            decay("[0.2, True]", "[0.06, True]"),
            {"expFun_01_A": 0.8, "expFun_01_tau": 6.0},
        ),
        _series(
            "a motion of 0 to start with",
            decay("[0, True]", "[3, True]"),
            {"expFun_01_A": 0.8, "expFun_01_tau": 6.0},
        ),
        _series(
            "a motion in the wrong direction",
            decay("[-0.8, True]", "[6, True]"),
            {"expFun_01_A": 0.8, "expFun_01_tau": 6.0},
        ),
        _series(
            "a response much narrower than a step",
            _irf("[0.02, True]", "[0.5, True]", "[3, True]", "[0.1, True]"),
            seen,
        ),
        _series(
            "a response six times too wide, onset off",
            _irf("[5, True]", "[0.5, True]", "[3, True]", "[2.7, True]"),
            seen,
        ),
        _series(
            "an onset ten widths away",
            _irf("[0.8, True]", "[0.5, True]", "[3, True]", "[8, True]"),
            seen,
        ),
        _series(
            "height moves, all of it far off",
            _irf("[3, True]", "[-3, True]", "[60, True]", free),
            {**seen, "expFun_01_A": 15.0},
            A,
        ),
        _series(
            "a motion that the window does not show",
            decay("[0.5, True]", "[3, True]", "[30, False]"),
            {"expFun_01_A": 0.8, "expFun_01_tau": 6.0},
            undetermined=(f"{X0}_expFun_01_A", f"{X0}_expFun_01_tau"),
        ),
        _series(
            "base and step cannot be told apart",
            "  stepFun: {A: [0.1, True], t0: [-9, False]}\n",
            {"stepFun_01_A": 0.3},
            undetermined=(X0, f"{X0}_stepFun_01_A"),
        ),
        joule,
        Case(
            "tied doublet, everything at a bound or far off",
            tied,
            {**TRUE_LINE, "Shirley_pShirley": 0.01, "GLP_01_m": 0.3}
            | {f"{X0}_expFun_01_A": 0.8, f"{X0}_expFun_01_tau": 6.0},
            0.2,
            energy=ENERGY,
            time=STEPS,
            moved={X0: "law"},
        ),
        Case(
            "a profile far off",
            bent,
            {**TRUE_LINE, f"{X0}_pExpDecay_01_A": -1.0, f"{X0}_pExpDecay_01_tau": 2.5},
            0.1,
            energy=ENERGY,
            aux=np.linspace(0.0, 10.0, 11),
            bent={X0: "bend"},
        ),
        _series(
            "noise-free series",
            _irf("[0.4, True]", "[0.5, True]", "[3, True]", "[0, True]"),
            seen,
            noise=0.0,
        ),
    ]
