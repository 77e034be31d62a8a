"""Fits are saved, loaded, found by their handle, named, compared and exported."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, FitResults, Project

folder = Path.cwd()
measured = np.load(folder / "tied.npz")
project = Project(path=folder, name="archive")
file = File(
    parent_project=project,
    path="tied",
    data=measured["data"],
    energy=measured["energy"],
    time=measured["time"],
)
file.define_baseline(time_start=-5, time_stop=-1, show_plot=False)
file.load_model("models_energy.yaml", ["tied"])
file.fit_baseline("tied", stages=2, try_ci=0)
file.set_fit_limits([81, 89], show_plot=False)
file.fit_baseline("tied", stages=2, try_ci=0)
project.save_fits(folder / "fits.h5", show_output=0)

loaded = FitResults.load(folder / "fits.h5")
variants = loaded.variants(file="tied", model="tied", fit_type="baseline")
first, second = variants["handle"]
loaded.set_label(second, "narrow")
difference = loaded.diff(first, "narrow")
exported = project.export_fit(first, filepath=folder / "exported", show_output=0)
file.save_baseline_fit(folder / "curves")
project.drop_fits(second, show_output=0)

answers = {
    "loaded": loaded.get_parameters(handle=first),
    "files": loaded.files(),
    "window": len(difference[difference["field"] == "e_lim"]),
    "left": len(project.results),
    "exported": sorted(
        path.name
        for path in exported.iterdir()
        if path.name in ("params.csv", "metrics.csv", "correl.csv", "fit_1d.csv", "fit_info.csv")
    ),
    "curves": np.genfromtxt(folder / "curves" / "fit_1d.csv", delimiter=",", skip_header=1),
}
pictures = {"fit": lambda: loaded.plot_fit(handle=first, show_plot=False)}
