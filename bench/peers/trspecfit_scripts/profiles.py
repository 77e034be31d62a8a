"""A line whose height falls with depth and decays in time."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "profiles.npz")
project = Project(path=folder, name="profiles")
file = File(
    parent_project=project,
    path="profiles",
    data=measured["data"],
    energy=measured["energy"],
    time=measured["time"],
    aux_axis=measured["depth"],
)
file.define_baseline(time_start=-5, time_stop=-1, show_plot=False)
file.load_model("models_energy.yaml", ["deep"])
file.add_par_profile(
    target_model="deep",
    target_parameter="Gauss_01_x0",
    profile_yaml="models_profile.yaml",
    profile_model=["depth_shift"],
)
file.fit_baseline("deep", stages=2, try_ci=0)
file.add_time_dependence("deep", "Gauss_01_A", "models_time.yaml", ["decay"])
file.fit_2d("deep", stages=2, try_ci=0)

answers = {
    "baseline": file.get_parameters(fit_type="baseline"),
    "2d": file.get_parameters(fit_type="2d"),
}
pictures = {"fit": lambda: file.plot_fit(fit_type="2d", show_plot=False)}
