"""All peaks.

Every peak function of the table at typical values, scaled to one height. The table is the only
list: a function that is added to it appears here.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from pyspec._library import OPS
from pyspec.functions import reference

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
VALUES = {"A": 1.0, "x0": 0.0, "ratio": 2.0, "m": 0.4, "alpha": 0.2, "b": 0.35, "xi": 4.0}

energy = np.linspace(-4, 4, 401)
peaks = [op for op in OPS.values() if op.kind == "PEAK"]
COLUMNS = 5
n_rows = -(-len(peaks) // COLUMNS)
figure, axes = plt.subplots(n_rows, COLUMNS, figsize=(9, 1.9 * n_rows), sharex=True, sharey=True)
for k, axis in enumerate(axes.flat):
    axis.set_visible(k < len(peaks))
    axis.tick_params(labelsize=8, labelbottom=k + axes.shape[1] >= len(peaks))
for axis, op in zip(axes.flat, peaks, strict=False):
    value = reference(op.name)(energy, *(VALUES.get(name, 0.8) for name in op.params))
    axis.plot(energy, value / value.max(), color="tab:blue")
    axis.set_title(f"{op.name}\n({', '.join(op.params)})", fontsize=7.5)
    axis.axvline(0, color="0.8", lw=0.8, zorder=0)
figure.supxlabel("x - x0 (eV)", fontsize=9)
figure.tight_layout()
shown = {"Description": ", ".join(op.name for op in peaks)}
figure.savefig(f"{FOLDER}/shapes.png", dpi=110, metadata=shown)
