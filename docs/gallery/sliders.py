"""Start values by hand.

The second line of the model begins beside its peak. The sliders move the model, and *fit* fits from
there. Without `show=False` this opens a window, or in a notebook a box under the cell.
"""

import sys
from pathlib import Path

import numpy as np

from pyspec import Measurement, load_model
from pyspec.plot import plot_sliders

MODEL = """
doublet:
  Offset: {y0: [20, True, 0, 100]}
  Shirley: {pShirley: [2.0e-4, True, 0, 1]}
  GLP: {A: [300, True, 0, 1000], x0: [84, True, 82, 86], F: [1.1, True, 0.1, 5], m: [0.3, False]}
  GLP: {A: [200, True, 0, 1000], x0: [87.8, True, 86, 90], F: [1.1, True, 0.1, 5], m: [0.3, False]}
"""

energy = np.linspace(92.0, 80.0, 161)
model = load_model(MODEL, "doublet")
model.set_axes(energy=energy)
data = np.random.default_rng(1).poisson(model.evaluate()).astype(float)
model.set_values({"GLP_02_x0": 89.2, "GLP_02_A": 120.0})

labels, units = {"energy": "binding energy"}, {"energy": "eV", "data": "counts"}
measured = Measurement(data, loss="poisson", labels=labels, units=units)
sliders = plot_sliders(model, measured, show=False)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
sliders.figure.savefig(folder / f"{Path(__file__).stem}.png", dpi=80)
