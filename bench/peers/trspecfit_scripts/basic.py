"""A baseline, a 2D fit of a peak that moves and comes back, slices, one spectrum."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "moving.npz")
project = Project(path=folder, name="basic")
file = File(
    parent_project=project,
    path="moving",
    data=measured["data"],
    energy=measured["energy"],
    time=measured["time"],
)
file.define_baseline(time_start=-5, time_stop=-2, time_type="abs", show_plot=False)
file.set_fit_limits(energy_limits=[80.5, 89.5], time_limits=[-4.5, 19.5], show_plot=False)
file.load_model(model_yaml="models_energy.yaml", model_info=["base"])
file.fit_baseline(model_name="base", stages=2, try_ci=0)
file.load_model(model_yaml="models_energy.yaml", model_info=["moving"])
file.add_time_dependence(
    target_model="moving",
    target_parameter="GLP_01_x0",
    dynamics_yaml="models_time.yaml",
    dynamics_model=["response"],
)
file.fit_2d(model_name="moving", stages=2, try_ci=0)
file.fit_spectrum(model_name="base", time_range=(8, 19), stages=2, show_plot=False, try_ci=0)

answers = {
    "baseline": file.get_parameters(fit_type="baseline"),
    "2d": file.get_parameters(fit_type="2d"),
    "spectrum": file.get_parameters(fit_type="spectrum"),
    "limits": [*file.e_lim, *file.t_lim, *file.base_t_ind],
    "baseline data": file.data_base,
    "correlation": file.get_correlations(fit_type="2d").loc["GLP_01_A", "GLP_01_F"],
}
pictures = {"fit": lambda: file.plot_fit(model="moving", fit_type="2d", show_plot=False)}
