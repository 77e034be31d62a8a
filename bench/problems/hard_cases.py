"""Hard starts of one spectrum: models at values from which a fit may fail, and the truth that the
data are made of. Those over time stand in :mod:`bench.problems.hard_cases_time`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.model import (
    Measurement,
    Model,
    load_dynamics,
    load_model,
    load_profile,
    load_time_model,
)

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(80.0, 90.0, 101)


@dataclass(frozen=True)
class Case:
    """One hard start.

    Parameters
    ----------
    name : what is hard about it
    text : model file, at the start; the model "m" is fitted
    truth : values by name that the data are made of; the others are those of the start
    noise : standard deviation of the data, 0 for the clean model
    moved, bent : dynamics and profile models of `text`, by the parameter that they change
    undetermined : parameters that the data cannot determine: no fit may report success
    measure : what a Measurement gets beside the data, from the clean model
    """

    name: str
    text: str
    truth: Mapping[str, float]
    noise: float = 0.0
    energy: Array | None = None
    time: Array | None = None
    aux: Array | None = None
    moved: Mapping[str, str] = field(default_factory=dict)
    bent: Mapping[str, str] = field(default_factory=dict)
    undetermined: tuple[str, ...] = ()
    measure: Callable[[Array], dict[str, Any]] | None = None

    def model(self) -> Model:
        """The model at its start."""
        if self.energy is None:
            model = load_time_model(self.text, "m")
            model.set_axes(time=self.time)
            return model
        model = load_model(self.text, "m")
        for target, law in self.moved.items():
            model.add_dynamics(target, load_dynamics(self.text, law, target))
        for target, profile in self.bent.items():
            model.add_profile(target, load_profile(self.text, profile, target))
        model.set_axes(energy=self.energy, time=self.time, aux=self.aux)
        return model

    def true_theta(self) -> Array:
        """The free parameters of the truth."""
        model = self.model()
        model.set_values(self.truth)
        return model.theta()

    def measurement(self) -> Measurement:
        """The data of the truth; the noise is the same in every call."""
        model = self.model()
        model.set_values(self.truth)
        clean = model.evaluate()
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        given = {} if self.measure is None else self.measure(clean)
        if given.get("loss") == "poisson":
            return Measurement(data=rng.poisson(clean).astype(np.float64), **given)
        return Measurement(data=clean + self.noise * rng.standard_normal(clean.shape), **given)


def line(
    A: str = "[180, True]",
    x0: str = "[84.3, True]",
    F: str = "[1.5, True]",
    m: str = "[0.3, False]",
    y0: str = "[15, True]",
) -> str:
    """A GLP on an Offset; the truth of most cases is 200, 84, 1.2, 0.3 on 20."""
    return f"m:\n  Offset: {{y0: {y0}}}\n  GLP: {{A: {A}, x0: {x0}, F: {F}, m: {m}}}\n"


def lines(*rows: str, y0: str = "[15, True]") -> str:
    """Lines "A, x0, F" on an Offset; m is 0.3."""
    text = f"m:\n  Offset: {{y0: {y0}}}\n"
    for row in rows:
        A, x0, F = row.split(";")
        text += f"  GLP: {{A: {A.strip()}, x0: {x0.strip()}, F: {F.strip()}, m: [0.3, False]}}\n"
    return text


TRUE_LINE = {"Offset_y0": 20.0, "GLP_01_A": 200.0, "GLP_01_x0": 84.0, "GLP_01_F": 1.2}
TRUE_PAIR = {
    "Offset_y0": 20.0,
    "GLP_01_A": 200.0,
    "GLP_01_x0": 84.0,
    "GLP_01_F": 1.2,
    "GLP_02_A": 120.0,
    "GLP_02_x0": 85.4,
    "GLP_02_F": 1.6,
}
TRUE_M = {**TRUE_LINE, "GLP_01_m": 0.5}


def _one(name: str, text: str, truth: Mapping[str, float] = TRUE_LINE, **more: Any) -> Case:
    return Case(name, text, truth, **{"noise": 1.0, "energy": ENERGY, **more})


def at_bounds() -> list[Case]:
    """Starts at a bound, optima at a bound."""
    below, above = "[83.0, True, 80, 83.8]", "[84.6, True, 84.2, 90]"
    return [
        _one("starts at a lower bound", line(A="[0, True, 0, 1000]")),
        _one("starts at an upper bound", line(F="[5, True, 0.1, 5]")),
        _one(
            "starts with everything at a bound",
            line(
                "[0, True, 0, .inf]",
                "[90, True, 80, 90]",
                "[0.1, True, 0.1, 5]",
                y0="[0, True, 0, 50]",
            ),
        ),
        _one("optimum at an upper bound", line(x0=below)),
        _one("optimum at a lower bound", line(x0=above)),
        _one("starts at the bound of the optimum", line(x0="[83.8, True, 80, 83.8]")),
        _one("starts opposite to the bound of the optimum", line(x0="[80, True, 80, 83.8]")),
        _one(
            "optimum at the open side",
            line(y0="[3, True, 0, .inf]"),
            {**TRUE_LINE, "Offset_y0": -4},
        ),
        _one(
            "optimum at three bounds",
            line(x0=below, F="[1.7, True, 1.4, 5]", y0="[25, True, 22, 50]"),
        ),
        _one("m starts at 0", line(m="[0, True, 0, 1]"), TRUE_M),
        _one("m starts at 1", line(m="[1, True, 0, 1]"), TRUE_M),
        _one("m ends at 0", line(m="[0.5, True, 0, 1]"), {**TRUE_LINE, "GLP_01_m": -0.2}),
        _one("m ends at 1", line(m="[0.5, True, 0, 1]"), {**TRUE_LINE, "GLP_01_m": 1.01}),
        _one(
            "a narrow range far from 0",
            line(x0="[84.01, True, 83.99, 84.02]", A="[199, True, 190, 230]"),
        ),
        _one(
            "Voigt starts without Lorentzian width",
            "m:\n  Voigt: {A: [150, True], x0: [84.2, True], SD: [0.6, True], W: [0, True]}\n",
            {"Voigt_01_A": 200.0, "Voigt_01_x0": 84.0, "Voigt_01_SD": 0.4, "Voigt_01_W": 0.6},
        ),
        _one(
            "Voigt ends without Lorentzian width",
            # The data lack wings, so the best Lorentzian width would be negative.
            "m:\n  Voigt: {A: [150, True], x0: [84.2, True], SD: [0.6, True], W: [0.5, True]}\n"
            "  Gauss: {A: [0, False], x0: [84.0, False], SD: [1.2, False]}\n",
            {"Voigt_01_A": 200.0, "Voigt_01_x0": 84.0, "Voigt_01_SD": 0.4, "Voigt_01_W": 0.0}
            | {"Gauss_01_A": -3.0},
        ),
    ]


def scales() -> list[Case]:
    """Values and axes in units that are far from 1."""
    small = ENERGY * 1.602e-19
    joule = {"Offset_y0": 20.0, "GLP_01_A": 200.0, "GLP_01_x0": 84 * 1.602e-19}
    offset = 1e6 + ENERGY
    return [
        _one(
            "amplitude of 1e9",
            line(A="[1e9, True]", y0="[1e7, True]"),
            {**TRUE_LINE, "GLP_01_A": 3e9, "Offset_y0": 1e8},
            noise=1e6,
        ),
        _one(
            "amplitude of 1e-12",
            line(A="[1e-12, True]", y0="[0, True]"),
            {**TRUE_LINE, "GLP_01_A": 3e-12, "Offset_y0": 2e-13},
            noise=1e-14,
        ),
        _one(
            "energies in joule",
            line(x0=f"[{84.3 * 1.602e-19!r}, True]", F=f"[{1.5 * 1.602e-19!r}, True]"),
            {**joule, "GLP_01_F": 1.2 * 1.602e-19},
            energy=small,
        ),
        _one(
            "energies in joule, between bounds",
            line(
                x0=f"[{84.3 * 1.602e-19!r}, True, 1.2e-17, 1.5e-17]",
                F=f"[{1.5 * 1.602e-19!r}, True, 1e-20, 1e-18]",
            ),
            {**joule, "GLP_01_F": 1.2 * 1.602e-19},
            energy=small,
        ),
        _one(
            "energies far from 0",
            line(x0="[1000084.3, True]"),
            {**TRUE_LINE, "GLP_01_x0": 1000084.0},
            energy=offset,
        ),
        _one(
            "a small line on a large background",
            line(A="[1, True]", y0="[1e8, True]"),
            {**TRUE_LINE, "Offset_y0": 2e8},
        ),
        _one("weights over six decades", line(), measure=_weights),
    ]


def _weights(clean: Array) -> dict[str, Any]:
    return {"weight": np.logspace(-3, 3, clean.size)}


def degenerate() -> list[Case]:
    """Parameters that nothing, or only their sum, determines."""
    tied = '["GLP_01_x0"]; ["GLP_01_F"]'
    away = (
        "m:\n  Offset: {y0: [15, True]}\n"
        "  Gauss: {A: [50, True], x0: [%s, True], SD: [0.1, True]}\n"
    )
    sharp = {"Offset_y0": 20.0, "Gauss_01_A": 200.0, "Gauss_01_x0": 84.0, "Gauss_01_SD": 0.1}
    return [
        _one(
            "two equal lines",
            lines(
                "[100, True]; [84.5, True]; [1.5, True]", "[100, True]; [84.5, True]; [1.5, True]"
            ),
            TRUE_PAIR,
        ),
        _one(
            "two lines at one place",
            lines("[100, True]; [84.3, True]; [1.5, True]", f"[60, True]; {tied}"),
            {**TRUE_LINE, "GLP_02_A": 50.0},
            undetermined=("GLP_01_A", "GLP_02_A"),
        ),
        _one(
            "two offsets",
            "m:\n  Offset: {y0: [5, True]}\n  Offset: {y0: [3, True]}\n"
            "  GLP: {A: [180, True], x0: [84.3, True], F: [1.5, True], m: [0.3, False]}\n",
            {**TRUE_LINE, "Offset_02_y0": 7.0},
            undetermined=("Offset_y0", "Offset_02_y0"),
        ),
        _one(
            "a parameter without effect",
            "parameters:\n  dead: [1, True]\n" + line(F='["1.2 + 0 * dead"]'),
            {"Offset_y0": 20.0, "GLP_01_A": 200.0, "GLP_01_x0": 84.0},
            undetermined=("dead",),
        ),
        _one(
            "a line outside of the window",
            lines(
                "[180, True]; [84.3, True]; [1.5, True]", "[100, True]; [87, True]; [0.02, True]"
            ),
            {**TRUE_LINE, "GLP_02_A": 0.0},
            energy=np.linspace(80.0, 86.0, 61),
            undetermined=("GLP_02_A", "GLP_02_x0", "GLP_02_F"),
        ),
        _one(
            "a masked line",
            lines(
                "[180, True]; [84.3, True]; [1.5, True]", "[150, True]; [87, True]; [0.02, True]"
            ),
            {**TRUE_LINE, "GLP_02_A": 100.0, "GLP_02_F": 0.03},
            measure=lambda clean: {"keep": np.abs(ENERGY - 87.0) > 1.5},
            undetermined=("GLP_02_A", "GLP_02_x0", "GLP_02_F"),
        ),
        _one("a line of height 0 to start with", line(A="[0, True]")),
        _one(
            "a sharp line 30 widths away",
            away % 87,
            sharp,
            energy=np.linspace(80, 90, 401),
        ),
        _one("a sharp line 3 widths away", away % 84.3, sharp, energy=np.linspace(80, 90, 401)),
        _one(
            "a line between two points",
            line(x0="[84.05, True]", F="[0.01, True]"),
        ),
    ]


def far() -> list[Case]:
    """Starts far from the optimum."""
    return [
        _one("height and width 20 times off", line("[10, True]", "[85, True]", "[24, True]")),
        _one("two widths away", line(x0="[86.4, True]")),
        _one("negative height", line(A="[-50, True]")),
        _one(
            "negative height between bounds", line(A="[-400, True, -500, 500]", x0="[84.8, True]")
        ),
        _one("width much too small", line(F="[0.15, True]", x0="[84.1, True]")),
        _one(
            "lines have changed places",
            lines("[120, True]; [85.4, True]; [1.6, True]", "[200, True]; [84, True]; [1.2, True]"),
            TRUE_PAIR,
        ),
        _one(
            "lines have changed places between bounds",
            lines(
                "[120, True]; [84.9, True, 83, 85]; [1.6, True, 0.3, 5]",
                "[200, True]; [84.6, True, 84.5, 88]; [1.2, True, 0.3, 5]",
            ),
            TRUE_PAIR,
        ),
        _one(
            "Shirley from 0",
            "m:\n  Shirley: {pShirley: [0, True, 0, 1]}\n"
            "  GLP: {A: [50, True, 0, 1000], x0: [85, True], F: [3, True], m: [0.5, True, 0, 1]}\n",
            {
                "Shirley_pShirley": 0.02,
                "GLP_01_A": 200.0,
                "GLP_01_x0": 84.0,
                "GLP_01_F": 1.2,
                "GLP_01_m": 0.3,
            },
        ),
        _one(
            "skewness from 0",
            "m:\n  SkewGauss: {A: [100, True], x0: [85, True], w: [3, True], b: [0, True]}\n",
            {"SkewGauss_01_A": 200.0, "SkewGauss_01_x0": 84.0, "SkewGauss_01_w": 1.5}
            | {"SkewGauss_01_b": 0.4},
        ),
        _one(
            "asymmetry from 0",
            "m:\n  Offset: {y0: [0, True]}\n"
            "  DS: {A: [50, True], x0: [85, True], F: [2, True], alpha: [0, True]}\n",
            {"Offset_y0": 5.0, "DS_01_A": 200.0, "DS_01_x0": 84.0, "DS_01_F": 0.5}
            | {"DS_01_alpha": 0.15},
        ),
        _one(
            "a few counts",
            line("[1, True, 0, .inf]", "[85, True]", "[3, True]", y0="[0.1, True, 0, .inf]"),
            {"Offset_y0": 0.3, "GLP_01_A": 6.0, "GLP_01_x0": 84.0, "GLP_01_F": 1.2},
            measure=lambda clean: {"loss": "poisson"},
        ),
        _one(
            "as many points as parameters",
            line(),
            noise=0.0,
            energy=np.array([82.0, 83.5, 84.2, 85]),
        ),
        _one("one point more than parameters", line(), energy=np.array([82.0, 83.5, 84.2, 85, 86])),
    ]


def noise_free() -> list[Case]:
    """Data without noise: the optimum is exact."""
    three = {**TRUE_PAIR, "GLP_03_A": 60.0, "GLP_03_x0": 86.4, "GLP_03_F": 1.0}
    return [
        _one("noise-free line", line(), noise=0.0),
        _one("noise-free line with m", line(m="[0.9, True, 0, 1]"), TRUE_M, noise=0.0),
        _one(
            "noise-free doublet on a Shirley",
            """
m:
  Shirley: {pShirley: [0.001, True, 0, 1]}
  GLP: {A: [100, True], x0: [84.5, True], F: [2, True], m: [0.1, True, 0, 1]}
  GLP: {A: ["GLP_01_A * 3 / 4"], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
""",
            {"Shirley_pShirley": 0.01, "GLP_01_A": 200.0, "GLP_01_x0": 84.0, "GLP_01_F": 1.2}
            | {"GLP_01_m": 0.4},
            noise=0.0,
        ),
        _one(
            "noise-free, three overlapping lines",
            lines(
                "[150, True]; [83.8, True]; [1.5, True]",
                "[150, True]; [85.2, True]; [1.5, True]",
                "[90, True]; [86.6, True]; [1.5, True]",
            ),
            three,
            noise=0.0,
        ),
        _one(
            "noise-free, starts at the truth",
            line("[200, True]", "[84, True]", "[1.2, True]", y0="[20, True]"),
            noise=0.0,
        ),
        _one(
            "noise-free, optimum 0",
            line(y0="[3, True]"),
            {**TRUE_LINE, "Offset_y0": 0.0},
            noise=0.0,
        ),
    ]
