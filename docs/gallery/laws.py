"""All laws of motion, and what an instrument makes of them.

Thin: the law, with its onset at 0. Thick: its exact response to a Gaussian instrument of
standard deviation 0.8, as `gaussIRF` gives it; a law without one is drawn alone.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from pyspec._library import OPS
from pyspec.functions import reference

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
VALUES = {"A": 1.0, "t0": 0.0, "tau": 4.0, "f": 0.15, "phi": 0.6, "m": 0.15, "SD": 0.8}

time = np.linspace(-3, 10, 521)
laws = [op for op in OPS.values() if op.kind == "DYNAMICS" and op.params]
figure, axes = plt.subplots(-(-len(laws) // 4), 4, figsize=(9, 5.6), sharex=True)
for k, axis in enumerate(axes.flat):
    axis.set_visible(k < len(laws))
    axis.tick_params(labelsize=8, labelbottom=k + 4 >= len(laws))  # the last one of each column
for axis, op in zip(axes.flat, laws, strict=False):
    for row, width in ((op, 0.8), (OPS.get(f"{op.name}_gaussIRF"), 2.2)):
        if row is None:
            continue
        names = row.params[: row.n_required]
        value = reference(row.name)(time, *(VALUES.get(name, 0.8) for name in names))
        axis.plot(time, value, color="tab:blue", lw=width)
    axis.set_title(f"{op.name}({', '.join(op.params[: op.n_required])})", fontsize=8)
figure.supxlabel("t - t0", fontsize=9)
figure.tight_layout()
shown = {"Description": ", ".join(op.name for op in laws)}
figure.savefig(f"{FOLDER}/laws.png", dpi=110, metadata=shown)
