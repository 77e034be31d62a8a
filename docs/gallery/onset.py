"""An onset between two samples.

The exact response `gaussIRF` and the kernel `gaussCONV`, which convolves the samples. The kernel
cannot resolve the time of the pulse if the instrument is as narrow as the step of the time axis.
Its sum then moves in steps.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from pyspec.functions.quadrature import convolve
from pyspec.functions.response import stepFun_gaussIRF
from pyspec.functions.time import stepFun

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."

time, width = np.arange(-4.0, 5.0), 0.8
figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True)
for axis, onset in zip(axes, (-0.4, 0.0, 0.4), strict=True):
    fine = np.linspace(-4, 4, 321)
    axis.plot(fine, stepFun_gaussIRF(fine, 1.0, onset, width), label="gaussIRF")
    summed = convolve("gaussCONV", time, stepFun(time, 1.0, onset), width)
    axis.plot(time, summed, "s", ms=4, label="gaussCONV")
    axis.axvline(onset, color="0.6", lw=0.8)
    axis.set_title(f"t0 = {onset:g}", fontsize=9)
    axis.set_xlabel("t")
axes[0].legend(loc="upper left", fontsize=8)
figure.tight_layout()
figure.savefig(f"{FOLDER}/onset.png", dpi=110)
