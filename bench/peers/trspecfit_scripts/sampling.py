"""Samples of the posterior of a baseline."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import MC, File, Project

folder = Path.cwd()
with np.load(folder / "counted.npz") as stored:
    measured = dict(stored)
project = Project(path=folder, name="sampling")
file = File(
    parent_project=project,
    path="counted",
    data=measured["gaussian"],
    energy=measured["energy"],
)
file.set_noise("gaussian", sigma=3.0)
file.load_model("models_energy.yaml", ["counted"])
file.fit_spectrum(
    "counted",
    stages=2,
    try_ci=0,
    show_plot=False,
    mc_settings=MC(use_mc=1, steps=3000, burn=300, nwalkers=24, seed=7),
)
samples = file.get_mcmc(fit_type="spectrum")
chain = samples.flatchain

answers = {
    "fit": file.get_parameters(fit_type="spectrum"),
    "medians": chain.median().to_dict(),
    "widths": chain.std().to_dict(),
}
pictures = {"chain": lambda: file.plot_mcmc(fit_type="spectrum", show_plot=False)}
