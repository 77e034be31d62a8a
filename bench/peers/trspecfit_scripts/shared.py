"""Two files fitted together: place and width are the same in both."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "batch.npz")
project = Project(path=folder, name="shared")
for k in range(2):
    File(
        parent_project=project,
        path=f"scan_{k}",
        data=measured["data"][k],
        energy=measured["energy"],
        time=measured["time"],
    )
project.define_baselines(time_start=-5, time_stop=-1)
project.load_models(model_yaml="models_energy.yaml", model_info=["shared"])
project.fit_baselines(model_name="shared", stages=2, try_ci=0)
project.add_time_dependences(
    target_model="shared",
    target_parameter="Gauss_01_A",
    dynamics_yaml="models_time.yaml",
    dynamics_model=["decay"],
)
project.fit_2d(model_name="shared", stages=2, try_ci=0)

results = project.results
answers = {
    "scan_0": results.get_parameters(file="scan_0", fit_type="2d"),
    "scan_1": results.get_parameters(file="scan_1", fit_type="2d"),
    "joint fits": len(results.find_joint(model="shared")),
}
pictures = {"fit": lambda: project[0].plot_fit(fit_type="2d", show_plot=False)}
