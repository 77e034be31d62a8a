"""Data with a known truth, a sweep of parameters, and what a measurement can reach."""

from pathlib import Path

import numpy as np

from pyspec.trspecfit import File, ParameterSweep, Project, Simulator, SweepDataset, sensitivity

folder = Path.cwd()
project = Project(path=folder, name="simulation")
file = File(
    parent_project=project,
    path="simulation",
    energy=np.linspace(80, 90, 61),
    time=np.linspace(-3, 12, 31),
)
file.load_model("models_energy.yaml", ["counted"])
file.add_time_dependence("counted", "Gauss_01_A", "models_time.yaml", ["decay"])
model = file.model_active

bounds = sensitivity.crb(model, counts=1e5)
report = sensitivity.sensitivity_report(model, counts=1e5)
counts = sensitivity.counts_required(model, "Gauss_01_x0", target_sigma=0.002)

counter = Simulator(model, detection="photon_counting", counts_per_delay=5000, seed=1)
clean, noisy, noise = counter.simulate_2d()
analog = Simulator(model, noise_level=0.02, noise_type="gaussian", seed=2)
_, repeated, _ = analog.simulate_n(n=30, dim=2, show_progress=False)

sweep = ParameterSweep(strategy="random", seed=3)
sweep.add_uniform(par_name="Gauss_01_A", min_val=50, max_val=150, n_samples=150)
sweep.add_normal(par_name="Gauss_01_x0", mean=85, std=0.3, n_samples=150)
analog.simulate_parameter_sweep(
    parameter_sweep=sweep, n_realizations=1, dim=1, filepath=str(folder / "sweep.h5"),
    show_progress=False,
)  # fmt: skip
dataset = SweepDataset(str(folder / "sweep.h5"))
swept = dataset.get_parameter_summary()
config = dataset.load_config(0)
energy, time = dataset.get_axes()

answers = {
    "clean": clean,
    "bounds": bounds,
    "report": report,
    "counts required": counts,
    "scale": counter.noise_model["scale"],
    "counting noise": np.std(noise / np.sqrt(clean / counter.noise_model["scale"])),
    "gaussian noise": np.std(np.array(repeated) - clean) / (0.02 * np.abs(clean).max()),
    "swept": [len(swept), *swept.mean(), *swept.std()],
    "config": sorted(config["parameters"]),
    "shapes": [*config["clean"].shape, len(config["noisy"]), energy.size],
}
pictures = {"comparison": lambda: counter.plot_comparison(dim=2)}
