"""Fits a peak whose position decays after an excitation, seen with finite time resolution.

    python examples/position_decay/fit.py [FOLDER]

FOLDER holds data.csv (rows are times), energy.csv and time.csv; without it the data are
simulated. The picture is written to position_decay.png in the working directory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pyspec import File, FitResult, Project, Simulator, load_dynamics, load_model

HERE = Path(__file__).parent
ANSWER = {"LinBack_m": 0.2, "LinBack_b": 2.0, "GLP_01_A": 20.0, "GLP_01_x0": 9.0, "GLP_01_F": 1.6}
MOTION = {"gaussCONV_SD": 3.0, "expFun_01_A": 5.0, "expFun_01_tau": 50.0}


def read(folder: Path) -> dict[str, np.ndarray]:
    """Data and axes from three CSV files."""
    return {n: np.loadtxt(folder / f"{n}.csv", delimiter=",") for n in ("data", "energy", "time")}


def simulate() -> dict[str, np.ndarray]:
    """Data and axes with a known answer."""
    energy, time = np.linspace(0.0, 20.0, 200), np.linspace(-20.0, 100.0, 241)
    model = load_model(HERE / "models.yaml", "moving")
    position = model.parameters["GLP_01_x0"]
    model.add_dynamics("GLP_01_x0", load_dynamics(HERE / "models_time.yaml", "decay", position))
    model.set_values({**ANSWER, **{f"GLP_01_x0_{name}": v for name, v in MOTION.items()}})
    model.set_axes(energy=energy, time=time)
    _, data, _ = Simulator(model, noise_level=0.02, noise_type="gaussian", seed=2).simulate()
    return {"data": data, "energy": energy, "time": time}


def fit(measured: dict[str, np.ndarray], **options: str) -> tuple[File, FitResult]:
    """The ten lines that a user writes."""
    project = Project(HERE, show_output=False, **options)
    file = File(project, name="decay", **measured)
    file.load_model("models.yaml", "base")
    file.define_baseline(-20, -10)
    file.set_fit_limits([5, 18], time_limits=[-20, 100])
    file.fit_baseline("base")
    file.load_model("models.yaml", "moving")
    file.add_time_dependence("moving", "GLP_01_x0", "models_time.yaml", "decay")
    result = file.fit_2d("moving")
    return file, result


def main() -> None:
    """Fits, prints, draws."""
    measured = read(Path(sys.argv[1])) if len(sys.argv) > 1 else simulate()
    file, result = fit(measured)
    print(file.get_result(fit_type="baseline"))
    print()
    print(result)
    file.plot_fit(save_path="position_decay.png")


if __name__ == "__main__":
    main()
