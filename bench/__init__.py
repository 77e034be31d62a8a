"""Benchmarks: ratios taken in one run, interleaved, medians. Run from the source tree.

`inside` times one part of the package at a time, `peers` runs other packages, `problems` holds
what is fitted.
"""

import sys
from pathlib import Path

# They call kernels, and make models, as tests do.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
