"""A tied doublet on a Shirley background.

Position, height, width and mixing of the second peak follow the first. The height of the first
peak over the background is a derived quantity with a standard error.
"""

import sys

import numpy as np

from pyspec import Measurement, Simulator, fit_model, load_model, plot_fit

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
doublet:
  Offset: {y0: [30, True, 0, 200]}
  Shirley: {pShirley: [0.001, True, 0, 0.1]}
  GLP: {A: [200, True, 0, 1000], x0: [84.2, True], F: [1, True, 0.2, 4], m: [0.3, True, 0, 1]}
  GLP: {A: ["3/4 * GLP_01_A"], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
parameters:
  ratio_to_background: ["GLP_01_A / Offset_y0"]
"""

model = load_model(MODEL, "doublet")
model.set_axes(energy=np.linspace(93, 79, 281))  # binding energy, from high to low
model.set_values({"GLP_01_A": 320, "GLP_01_x0": 84, "GLP_01_F": 0.75, "Offset_y0": 50})
_, data, _ = Simulator(model, noise_level=0.015, noise_type="gaussian", seed=1).simulate()

start = load_model(MODEL, "doublet")
start.set_axes(energy=model.energy)
result = fit_model(start, Measurement(data=data))
print(result)
labels = {"x_label": "binding energy (eV)", "z_label": "counts", "dpi_save": 110}
plot_fit(result, save_path=f"{FOLDER}/tied_doublet.png", **labels)
