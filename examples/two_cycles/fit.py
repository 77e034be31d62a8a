"""Fits a peak that is pushed away and back in turns, seen with finite time resolution.

    python examples/two_cycles/fit.py [FOLDER]

FOLDER holds data.csv (rows are times), energy.csv and time.csv; without it the data are
simulated. The picture is written to two_cycles.png in the working directory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pyspec import File, FitResult, Project, Simulator, load_dynamics, load_model

HERE = Path(__file__).parent
ANSWER = {"LinBack_m": 0.2, "LinBack_b": 2.0, "GLP_01_A": 20.0, "GLP_01_x0": 9.0, "GLP_01_F": 1.6}
MOTION = {
    "gaussCONV_SD": 0.15,
    "expFun_01_A": -2.0,
    "expFun_01_tau": 0.4,
    "expFun_02_tau": 0.8,
}
CYCLES = ["resolution", "there", "back"]


def read(folder: Path) -> dict[str, np.ndarray]:
    """Data and axes from three CSV files."""
    return {n: np.loadtxt(folder / f"{n}.csv", delimiter=",") for n in ("data", "energy", "time")}


def simulate() -> dict[str, np.ndarray]:
    """Data and axes with a known answer."""
    energy, time = np.linspace(0.0, 20.0, 200), np.linspace(-3.975, 15.975, 400)
    model = load_model(HERE / "models.yaml", "moving")
    position = model.parameters["GLP_01_x0"]
    laws = load_dynamics(HERE / "models_time.yaml", CYCLES, position, frequency=0.25)
    model.add_dynamics("GLP_01_x0", laws)
    model.set_values({**ANSWER, **{f"GLP_01_x0_{name}": v for name, v in MOTION.items()}})
    model.set_axes(energy=energy, time=time)
    _, data, _ = Simulator(model, noise_level=0.02, noise_type="gaussian", seed=2).simulate()
    return {"data": data, "energy": energy, "time": time}


def fit(measured: dict[str, np.ndarray], **options: str) -> tuple[File, FitResult]:
    """The ten lines that a user writes."""
    project = Project(HERE, show_output=False, **options)
    file = File(project, name="cycles", **measured)
    file.load_model("models.yaml", "base")
    file.define_baseline(-4, -0.5)
    file.set_fit_limits([4, 14], time_limits=[-4, 15.75])
    file.fit_baseline("base")
    file.load_model("models.yaml", "moving")
    laws = "models_time.yaml", CYCLES
    file.add_time_dependence("moving", "GLP_01_x0", *laws, frequency=0.25)
    result = file.fit_2d("moving")
    return file, result


def main() -> None:
    """Fits, prints, draws."""
    measured = read(Path(sys.argv[1])) if len(sys.argv) > 1 else simulate()
    file, result = fit(measured)
    print(file.get_result(fit_type="baseline"))
    print()
    print(result)
    file.plot_fit(save_path="two_cycles.png")


if __name__ == "__main__":
    main()
