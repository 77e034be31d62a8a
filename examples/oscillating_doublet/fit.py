"""Fits a doublet whose position oscillates: first its baseline, then all times together.

    python examples/oscillating_doublet/fit.py [FOLDER]

FOLDER holds data.csv (rows are times), energy.csv and time.csv; without it the data are
simulated. The picture is written to oscillating_doublet.png in the working directory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pyspec import File, FitResult, Project, Simulator, load_dynamics, load_model

HERE = Path(__file__).parent
ANSWER = {"Offset_y0": 50.0, "Shirley_pShirley": 8e-4, "GLP_01_A": 300.0, "GLP_01_x0": 84.2}


def read(folder: Path) -> dict[str, np.ndarray]:
    """Data and axes from three CSV files."""
    return {n: np.loadtxt(folder / f"{n}.csv", delimiter=",") for n in ("data", "energy", "time")}


def simulate() -> dict[str, np.ndarray]:
    """Data and axes with a known answer. Binding energies fall, so the loss side comes first."""
    energy, time = np.linspace(94.0, 78.0, 500), np.linspace(-1.0, 17.0, 200)
    model = load_model(HERE / "models.yaml", "moving")
    position = model.parameters["GLP_01_x0"]
    law = load_dynamics(HERE / "models_time.yaml", "oscillation", position)
    model.add_dynamics("GLP_01_x0", law)
    model.set_values({**ANSWER, "GLP_01_F": 0.9, "GLP_01_m": 0.6, "GLP_01_x0_sinFun_01_A": -0.85})
    model.set_axes(energy=energy, time=time)
    _, data, _ = Simulator(model, noise_level=0.02, noise_type="gaussian", seed=2).simulate()
    return {"data": data, "energy": energy, "time": time}


def fit(measured: dict[str, np.ndarray], **options: str) -> tuple[File, FitResult]:
    """The ten lines that a user writes."""
    project = Project(HERE, show_output=False, **options)
    file = File(project, name="doublet", **measured)
    file.load_model("models.yaml", "base")
    file.define_baseline(0, 3, time_type="ind")
    file.set_fit_limits([91, 81], time_limits=[-0.3, 16.5])
    file.fit_baseline("base")
    file.load_model("models.yaml", "moving")
    file.add_time_dependence("moving", "GLP_01_x0", "models_time.yaml", "oscillation")
    result = file.fit_2d("moving")
    return file, result


def main() -> None:
    """Fits, prints, draws."""
    measured = read(Path(sys.argv[1])) if len(sys.argv) > 1 else simulate()
    file, result = fit(measured)
    print(file.get_result(fit_type="baseline"))
    print()
    print(result)
    file.plot_fit(save_path="oscillating_doublet.png", energy_label="binding energy (eV)")


if __name__ == "__main__":
    main()
