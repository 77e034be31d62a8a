"""One line or two: metrics of models side by side, of spectra and of slices."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, Project

folder = Path.cwd()
measured = np.load(folder / "tied.npz")
project = Project(path=folder, name="comparison")
file = File(
    parent_project=project,
    path="tied",
    data=measured["data"][:12],
    energy=measured["energy"],
    time=measured["time"][:12],
)
file.set_noise("gaussian", sigma=0.5)
file.define_baseline(time_start=-5, time_stop=-2, show_plot=False)
for name in ("single", "double"):
    file.load_model("models_energy.yaml", name)
    file.fit_baseline(name, stages=2, try_ci=0)
    file.fit_slice_by_slice(
        name, stages=1, n_workers=1, try_ci=0, fit_alg_1="leastsq", seed_source="model",
        seed_adapt=None,
    )  # fmt: skip

metrics = ["chi2", "chi2_red", "r2", "aic", "bic", "sigma_eff"]
results = project.results
long = results.compare_models(file, fit_type="sbs", metrics=metrics, sbs_aggregation="long")
answers = {
    "baseline": results.compare_models(file, fit_type="baseline", metrics=metrics),
    "sums": results.compare_models(file, fit_type="sbs", metrics=metrics, sbs_aggregation="sum"),
    "medians": results.compare_models(file, fit_type="sbs", metrics=metrics),
    "slices": [float(value) for value in long["slice_index"]],
    "chi2 of slices": long["chi2"].to_numpy(),
    "models": [len(results.files()), len(results.models()), len(results)],
    "found": results.get(file="tied", model="double", fit_type="baseline").fit_type,
}
pictures = {
    "residuals": lambda: project.results.plot_residuals(
        file=file, fit_type="baseline", show_plot=False
    ),
}
