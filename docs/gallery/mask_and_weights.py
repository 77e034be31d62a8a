"""A mask for bad points, weights for the others.

Two hot pixels and a dead one are masked; the noise is known and grows with the signal, so each
point has the weight 1 / sigma. The reduced chi² is then near 1, and `scale_covar=False` takes
the errors as they follow from sigma.
"""

import sys

import numpy as np

from pyspec import Measurement, PlotConfig, fit_model, load_model, plot_fit

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
line:
  LinBack: {m: [1, True], b: [20, True], xStart: [0, False], xStop: [20, False]}
  Voigt: {A: [80, True, 0, 500], x0: [9, True], SD: [0.6, True, 0.1, 5], W: [0.5, True, 0, 5]}
"""

model = load_model(MODEL, "line")
model.set_axes(energy=np.linspace(0, 20, 201))
truth = {"LinBack_m": 0.8, "LinBack_b": 25, "Voigt_01_A": 100, "Voigt_01_x0": 9.4}
start = model.theta()
model.set_values(truth)
clean = model.evaluate()
sigma = np.sqrt(clean)
data = np.random.default_rng(4).normal(clean, sigma)
data[[40, 112]], data[150] = 160, np.nan
model.set_values(dict(zip(model.opt_param_names, start, strict=True)))

keep = np.isfinite(data) & (np.arange(data.size) != 40) & (np.arange(data.size) != 112)
measurement = Measurement(data=data, weight=1 / sigma, keep=keep)
result = fit_model(model, measurement, scale_covar=False)
print(result)
look = PlotConfig(x_label="energy (eV)", z_label="counts", dpi_save=110)
plot_fit(result, save_path=f"{FOLDER}/mask_and_weights.png", config=look)
