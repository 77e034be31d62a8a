"""A profile along depth.

The position of the peak bends with depth, and the signal of a depth fades with it: what is
measured is the average over depths. Weights of the auxiliary axis are the escape probability.
"""

import sys

import numpy as np

from pyspec import Measurement, PlotConfig, Simulator, fit_model, load_model, plot_fit
from pyspec.model import load_profile

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
line:
  Offset: {y0: [3, True, 0, 50]}
  GLP: {A: [80, True, 0, 500], x0: [84, True], F: [0.7, False], m: [0.3, False]}
bending:
  pExpDecay: {A: [-1, True, -5, 5], tau: [2.5, False]}
"""

model = load_model(MODEL, "line")
model.add_profile("GLP_01_x0", load_profile(MODEL, "bending", "GLP_01_x0"))
depth = np.linspace(0, 8, 41)  # nm
model.set_axes(energy=np.linspace(81, 87, 181), aux=depth, aux_weights=np.exp(-depth / 1.8))
start = dict(zip(model.opt_param_names, model.theta(), strict=True))
model.set_values({"GLP_01_A": 100, "GLP_01_x0": 84.3, "GLP_01_x0_pExpDecay_01_A": -1.6})
_, data, _ = Simulator(model, noise_level=0.01, noise_type="gaussian", seed=6).simulate()

model.set_values(start)
result = fit_model(model, Measurement(data=data))
print(result)
look = PlotConfig(x_label="energy (eV)", z_label="counts", dpi_save=110)
plot_fit(result, save_path=f"{FOLDER}/depth_profile.png", config=look)
