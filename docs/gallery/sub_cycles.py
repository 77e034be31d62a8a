"""Sub-cycles: two laws that take turns.

A sample is pumped every 20 ps, from time 0 on. At the beginning of each cycle the height drops,
and recovers exponentially during the first half; in the second half it grows along a straight line.
"""

import sys

import numpy as np

from pyspec import Measurement, Simulator, fit_model, load_dynamics, load_model
from pyspec.plot import plot_moving

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
line:
  Offset: {y0: [3, True, 0, 50]}
  Gauss: {A: [20, True, 0, 100], x0: [5, True], SD: [0.8, True, 0.1, 5]}
always:
  none:
pumped:
  expFun: {A: [-8, True, -50, 50], tau: [4, True, 0.5, 50], t0: [0, False]}
resting:
  linFun: {m: [0.5, True, -5, 5], t0: [0, False]}
"""

model = load_model(MODEL, "line")
names = ["always", "pumped", "resting"]
model.add_dynamics("Gauss_01_A", load_dynamics(MODEL, names, "Gauss_01_A", frequency=0.05))
model.set_axes(energy=np.linspace(0, 10, 80), time=np.linspace(-10.1, 69.9, 241))
start = dict(zip(model.opt_param_names, model.theta(), strict=True))
model.set_values({"Gauss_01_A_expFun_01_A": -12, "Gauss_01_A_expFun_01_tau": 3})
_, data, _ = Simulator(model, noise_level=0.03, noise_type="gaussian", seed=7).simulate()

model.set_values(start)
result = fit_model(model, Measurement(data=data))
print(result)
plot_moving(result, save_path=f"{FOLDER}/sub_cycles.png", y_label="delay (ps)", dpi_save=100)
