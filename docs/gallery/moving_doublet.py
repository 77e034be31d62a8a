"""A doublet that shifts and decays, with an instrument response.

After time zero the first peak loses height and moves; the second follows. Both motions share one
time constant. `gaussIRF` is the exact response: time zero lies between two samples.
"""

import sys

import numpy as np

from pyspec import Measurement, Simulator, fit_model, load_dynamics, load_model, plot_fit

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
parameters: {tau: [8, True, 0.5, 50], onset: [0, True, -2, 2], irf: [0.5, True, 0.05, 3]}
doublet:
  Offset: {y0: [4, True, 0, 50]}
  GLP: {A: [18, True, 0, 100], x0: [84, True], F: [1.1, True, 0.2, 4], m: [0.3, True, 0, 1]}
  GLP: {A: ["GLP_01_A / 2"], x0: ["GLP_01_x0 + 3.7"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
loss:
  gaussIRF: {SD: ["irf"]}
  expFun: {A: [-8, True, -50, 50], tau: ["tau"], t0: ["onset"]}
shift:
  gaussIRF: {SD: ["irf"]}
  expFun: {A: [-0.5, True, -5, 5], tau: ["tau"], t0: ["onset"]}
"""

model = load_model(MODEL, "doublet")
model.add_dynamics("GLP_01_A", load_dynamics(MODEL, "loss", "GLP_01_A"))
model.add_dynamics("GLP_01_x0", load_dynamics(MODEL, "shift", "GLP_01_x0"))
model.set_axes(energy=np.linspace(80, 92, 160), time=np.linspace(-5, 40, 91))
start = dict(zip(model.opt_param_names, model.theta(), strict=True))
model.set_values({"GLP_01_A": 20, "tau": 11, "onset": 0.37, "irf": 0.9})
_, data, _ = Simulator(model, noise_level=0.02, noise_type="gaussian", seed=2).simulate()
model.set_values(start)
result = fit_model(model, Measurement(data=data))
print(result)
path = f"{FOLDER}/moving_doublet.png"
plot_fit(result, save_path=path, x_label="energy (eV)", y_label="delay (ps)", dpi_save=64)
