"""Several files with the same recipe, one after the other."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "batch.npz")
project = Project(path=folder, name="batch")
for k, data in enumerate(measured["data"]):
    File(
        parent_project=project,
        path=f"scan_{k}",
        data=data,
        energy=measured["energy"],
        time=measured["time"],
    )
project.load_models(model_yaml="models_energy.yaml", model_info=["deep"])
project.set_fit_limits([81, 88.5], time_limits=[-4, 14])
project.define_baselines(time_start=-5, time_stop=-1)
project.fit_baselines(model_name="deep", stages=2, try_ci=0)
for file in project.files:
    file.add_time_dependence("deep", "Gauss_01_A", "models_time.yaml", ["decay"])
    file.fit_2d("deep", stages=2, try_ci=0)

answers = {f"{file.name} {kind}": file.get_parameters(fit_type=kind)
           for file in project.files for kind in ("baseline", "2d")}  # fmt: skip
answers["files"] = project.results.files()
pictures = {"fit": lambda: project["scan_1"].plot_fit(fit_type="2d", show_plot=False)}
