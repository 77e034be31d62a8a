"""Small models that the tests of several rooms share, as a person would write them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.model import Model, load_dynamics, load_model

Array = npt.NDArray[np.float64]

PEAK = """
  GLP:
    A: [12.0, true, 2, 30]
    x0: [84.0, true, 80, 90]
    F: [1.1, true, 0.3, 3]
    m: [0.3, true, 0, 1]
"""

SECOND = """
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""

OFFSET = """
  Offset:
    y0: [1.5, true, 0, 10]
"""

SHIRLEY = """
  Shirley:
    pShirley: [0.004, true, 0, 1]
"""

LINBACK = """
  LinBack:
    m: [0.08, true, -1, 1]
    b: [1.0, true, -5, 5]
    xStart: [82.0, false]
    xStop: [90.0, false]
"""


class Entry(NamedTuple):
    """Text of the energy model, and for each moved parameter the text of its laws."""

    energy: str
    dynamics: dict[str, str] = {}  # noqa: RUF012


def law(name: str, **values: float) -> str:
    """One law, all parameters free but t0."""
    lines = [f"    {key}: [{value}, {str(key != 't0').lower()}]" for key, value in values.items()]
    return f"\n  {name}:\n" + "\n".join(lines)


ZOO: dict[str, Entry] = {
    "simple_energy": Entry(
        """
  Offset:
    y0: [2, true, 0, 5]
  Shirley:
    pShirley: [4.0E-4, false]
  GLP:
    A: [20, true, 5, 25]
    x0: [84.5, true, 82, 88]
    F: [1.0, true, 0.75, 2.5]
    m: [0.3, true, 0, 1]
  GLP:
    A: [17, true, 5, 25]
    x0: [88.1, true]
    F: [1.0, true, 0.75, 2.5]
    m: [0.3, true, 0, 1]
"""
    ),
    "one_peak": Entry(PEAK),
    "shirley_before_offset": Entry(SHIRLEY + OFFSET + PEAK),
    "two_shirleys": Entry(SHIRLEY + OFFSET + SHIRLEY + LINBACK + PEAK + SECOND),
    "two_offsets": Entry(OFFSET + OFFSET + PEAK),
    "gauss_moved": Entry(
        OFFSET + "\n  Gauss:\n    A: [9, true]\n    x0: [86, true]\n    SD: [0.7, true]",
        {"Gauss_01_SD": law("expFun", A=0.5, tau=12.0, t0=0.3)},
    ),
    "biexponential": Entry(
        OFFSET + PEAK,
        {
            "GLP_01_A": law("expFun", A=-4.0, tau=3.0, t0=0.0)
            + law("expFun", A=2.0, tau=25.0, t0=0.0, y0=0.25)
        },
    ),
    "doublet_sin": Entry(
        OFFSET + SHIRLEY + PEAK + SECOND,
        {"GLP_01_x0": law("sinFun", A=-0.8, f=0.08, phi=0.3, t0=0.1)},
    ),
    "moved_backgrounds": Entry(
        OFFSET + LINBACK + SHIRLEY + PEAK + SECOND,
        {
            "Offset_y0": law("expFun", A=1.0, tau=10.0, t0=0.0),
            "Shirley_pShirley": law("expFun", A=0.005, tau=10.0, t0=2.0),
            "LinBack_m": law("sinFun", A=0.05, f=0.03, phi=0.0, t0=-3.0),
            "GLP_01_A": law("expFun", A=-6.0, tau=15.0, t0=0.0),
        },
    ),
    "seed_position": Entry(
        OFFSET + LINBACK + SHIRLEY + PEAK + PEAK.replace("84.0", "87.5"),
        {"GLP_01_x0": law("expFun", A=0.9, tau=8.0, t0=0.0)},
    ),
}

ENERGY = np.linspace(78.0, 94.0, 161)
TIME = np.concatenate([np.linspace(-10.0, 5.0, 31), np.linspace(6.0, 60.0, 20)])


def make_model(name: str, energy: Array | None = ENERGY, time: Array | None = TIME) -> Model:
    """A model of the zoo on its axes."""
    entry = ZOO[name]
    model = load_model(f"{name}:\n{entry.energy}", name)
    for target, text in entry.dynamics.items():
        parameter = model.parameters[target]
        model.add_dynamics(target, load_dynamics(f"law:\n{text}", "law", parameter))
    model.set_axes(energy=energy, time=time)
    return model
