"""The data of the scripts in `bench/peers/trspecfit_scripts`: known truths with seeded noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec import Model, load_dynamics, load_model, load_profile

Array = npt.NDArray[np.float64]

MODELS = Path(__file__).resolve().parents[1] / "peers" / "trspecfit_scripts"
ENERGY = np.linspace(80.0, 90.0, 61)


def _model(name: str, values: Mapping[str, float], time: Array | None = None) -> Model:
    model = load_model(MODELS / "models_energy.yaml", name)
    model.set_values(values)
    model.set_axes(energy=ENERGY, time=time)
    return model


def _move(model: Model, parameter: str, *laws: str, frequency: float = -1.0) -> None:
    law = load_dynamics(MODELS / "models_time.yaml", list(laws), parameter, frequency)
    model.add_dynamics(parameter, law)


def _noisy(clean: Array, sd: float, seed: int) -> Array:
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def moving() -> dict[str, Array]:
    time = np.linspace(-5.0, 20.0, 51)
    truth = {"Offset_y0": 3.0, "Shirley_pShirley": 2e-3, "GLP_01_A": 20.0, "GLP_01_x0": 84.2}
    model = _model("moving", truth, time)
    _move(model, "GLP_01_x0", "response")
    model.set_values({"GLP_01_x0_gaussCONV_SD": 1.4, "GLP_01_x0_expFun_01_A": 1.6})
    return {"data": _noisy(model.evaluate(), 0.3, 1), "energy": ENERGY, "time": time}


def tied() -> dict[str, Array]:
    time = np.linspace(-5.0, 15.0, 41)
    model = _model("tied", {"Offset_y0": 3.0, "GLP_01_A": 18.0, "GLP_01_x0": 83.4}, time)
    _move(model, "GLP_01_A", "decay")
    model.set_values({"GLP_01_A_expFun_01_A": 6.0, "GLP_01_A_expFun_01_tau": 4.0})
    return {"data": _noisy(model.evaluate(), 0.5, 2), "energy": ENERGY, "time": time}


def cycles() -> dict[str, Array]:
    time = np.arange(-5.25, 41.0, 1.0)  # no sample lies where one excitation follows another
    model = _model("moving", {"Offset_y0": 3.0, "GLP_01_A": 20.0, "GLP_01_x0": 84.6}, time)
    _move(model, "GLP_01_x0", "quiet", "up", "down", frequency=0.05)
    model.set_values({"GLP_01_x0_expFun_01_A": 1.3, "GLP_01_x0_expFun_02_tau": 5.0})
    return {"data": _noisy(model.evaluate(), 0.3, 3), "energy": ENERGY, "time": time}


def profiles() -> dict[str, Array]:
    time, depth = np.linspace(-5.0, 15.0, 31), np.linspace(0.0, 6.0, 7)
    model = _model("deep", {"Offset_y0": 2.5, "Gauss_01_A": 15.0}, time)
    model.add_profile(
        "Gauss_01_x0", load_profile(MODELS / "models_profile.yaml", "depth_shift", "Gauss_01_x0")
    )
    _move(model, "Gauss_01_A", "decay")
    model.set_axes(aux=depth)
    model.set_values({"Gauss_01_x0_pExpDecay_01_A": 1.9, "Gauss_01_A_expFun_01_A": 5.0})
    return {
        "data": _noisy(model.evaluate(), 0.2, 4),
        "energy": ENERGY,
        "time": time,
        "depth": depth,
    }


def counted() -> dict[str, Array]:
    clean = _model("counted", {"Offset_y0": 25.0, "Gauss_01_A": 120.0}).evaluate()
    return {"gaussian": _noisy(clean, 3.0, 5), "energy": ENERGY}


def batch() -> dict[str, Array]:
    time = np.linspace(-5.0, 15.0, 31)
    stack = []
    for k in range(3):
        model = _model("deep", {"Offset_y0": 2.0 + k, "Gauss_01_A": 12.0 + 3 * k}, time)
        _move(model, "Gauss_01_A", "decay")
        model.set_values({"Gauss_01_A_expFun_01_A": 5.0 + k})
        stack.append(_noisy(model.evaluate(), 0.25, 10 + k))
    return {"data": np.stack(stack), "energy": ENERGY, "time": time}


#: What each script reads; the file has the name of the function.
OF_SCRIPT: dict[str, Callable[[], dict[str, Array]] | None] = {
    "basic": moving,
    "tied": tied,
    "cycles": cycles,
    "profiles": profiles,
    "comparison": tied,
    "archive": tied,
    "sampling": counted,
    "batch": batch,
    "shared": batch,
    "simulation": None,
}


def prepare(folder: Path, script: str) -> None:
    """Writes the data of a script into a folder."""
    make = OF_SCRIPT[script]
    if make is not None:
        np.savez(folder / f"{make.__name__}.npz", **make())
