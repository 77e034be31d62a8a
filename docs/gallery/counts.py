"""A fit of few counts.

Of few counts least squares with weights 1 / sqrt(counts) is biased; `loss="poisson"` fits their
likelihood instead. The picture compares the height of the peak over 200 simulated spectra.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from pyspec import Measurement, fit_model, load_model

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
MODEL = """
line:
  Offset: {y0: [1, True, 0.01, 50]}
  Gauss: {A: [5, True, 0, 50], x0: [10, True, 8, 12], SD: [1, True, 0.2, 5]}
"""

model = load_model(MODEL, "line")
model.set_axes(energy=np.linspace(0, 20, 101))
clean, random = model.evaluate(), np.random.default_rng(5)
heights: dict[str, list[float]] = {"weights 1 / sqrt(counts)": [], "poisson": []}
for _ in range(200):
    counts = random.poisson(clean).astype(float)
    weighted = {"weight": 1 / np.sqrt(np.maximum(counts, 1))}
    for name, given in zip(heights, (weighted, {"loss": "poisson"}), strict=True):
        result = fit_model(model, Measurement(data=counts, **given))
        heights[name].append(result.values["Gauss_01_A"])

figure, axis = plt.subplots(figsize=(6, 3.4))
for name, values in heights.items():
    bins, label = np.linspace(2.5, 9, 27).tolist(), f"{name}: mean {np.mean(values):.2f}"
    axis.hist(values, bins=bins, alpha=0.6, label=label)
axis.axvline(5, color="black", lw=1, label="truth: 5")
axis.legend(loc="upper right", title="Gauss_01_A", fontsize=8)
figure.tight_layout()
figure.savefig(f"{FOLDER}/counts.png", dpi=110)
