"""Slice by slice.

Each spectrum is fitted by itself, by threads of C; a slice that fails says so and the others go on.
"""

import sys

import numpy as np

from pyspec import Measurement, PlotConfig, Simulator, load_dynamics, load_model
from pyspec.fit import fit_slices
from pyspec.plot import plot_evolution

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
peak:
  Offset: {y0: [2, True, 0, 50]}
  Gauss: {A: [20, True, 0, 100], x0: [84, True], SD: [0.8, True, 0.1, 4]}
swing:
  sinFun: {A: [0.6, True], f: [0.08, True], phi: [0.4, True], t0: [0, False]}
"""

energy, time = np.linspace(80, 88, 120), np.linspace(-4, 36, 81)
moving = load_model(MODEL, "peak")
moving.add_dynamics("Gauss_01_x0", load_dynamics(MODEL, "swing", "Gauss_01_x0"))
moving.set_axes(energy=energy, time=time)
_, data, _ = Simulator(moving, noise_level=0.03, noise_type="gaussian", seed=3).simulate()

model = load_model(MODEL, "peak")
model.set_axes(energy=energy)
slices = fit_slices(model, Measurement(data=data), times=time)
print(slices)
look = PlotConfig(y_label="delay (ps)", dpi_save=100)
path = f"{FOLDER}/slices.png"
names = ["Gauss_01_A", "Gauss_01_x0"]
plot_evolution(time, slices.values, slices.stderr, params=names, save_path=path, config=look)
