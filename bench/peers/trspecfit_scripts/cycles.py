"""Excitations that alternate, up and down, at a repetition rate."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "cycles.npz")
project = Project(path=folder, name="cycles")
file = File(
    parent_project=project,
    path="cycles",
    data=measured["data"],
    energy=measured["energy"],
    time=measured["time"],
)
file.define_baseline(time_start=-5, time_stop=-1, show_plot=False)
file.load_model("models_energy.yaml", ["moving"])
file.fit_baseline("moving", stages=2, try_ci=0)
file.add_time_dependence(
    "moving", "GLP_01_x0", "models_time.yaml", ["quiet", "up", "down"], frequency=0.05
)
file.fit_2d("moving", stages=2, try_ci=0)

answers = {
    "baseline": file.get_parameters(fit_type="baseline"),
    "2d": file.get_parameters(fit_type="2d"),
}
pictures = {"fit": lambda: file.plot_fit(fit_type="2d", show_plot=False)}
