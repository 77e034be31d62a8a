"""A doublet whose second line follows the first; its amplitude decays."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "tied.npz")
project = Project(path=folder, name="tied")
file = File(
    parent_project=project,
    path="tied",
    data=measured["data"],
    energy=measured["energy"],
    time=measured["time"],
)
file.set_noise("gaussian", sigma=0.5)
file.define_baseline(time_start=-5, time_stop=-1, show_plot=False)
file.load_model("models_energy.yaml", "tied")
file.fit_baseline("tied", stages=2, try_ci=0)
file.add_time_dependence("tied", "GLP_01_A", "models_time.yaml", "decay")
file.fit_2d("tied", stages=2, try_ci=0)

table = file.get_parameters(model="tied", fit_type="2d").set_index("name")
answers = {
    "2d": file.get_parameters(model="tied", fit_type="2d"),
    "second line": table.loc["GLP_02_x0", "value"] - table.loc["GLP_01_x0", "value"],
    "metrics": file.compare_models(
        fit_type="2d", metrics=["chi2", "chi2_red", "chi2_raw", "aic", "bic", "r2", "sigma_eff"]
    ),
}
pictures = {"fit": lambda: file.plot_fit(model="tied", fit_type="2d", show_plot=False)}
