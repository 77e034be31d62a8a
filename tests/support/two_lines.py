"""One line, and two of one width, above a constant; several files share the line of `shared`."""

from __future__ import annotations

import numpy as np

ENERGY, TIME = np.linspace(80.0, 90.0, 61), np.linspace(-2.0, 9.0, 12)

MODELS = """
one:
  Offset: {y0: [1.0, True, 0, 10]}
  Gauss: {A: [5.0, True, 0, 50], x0: [84.8, True, 82, 88], SD: [1.0, True, 0.2, 3]}
shared:
  Offset: {y0: [1.0, True, 0, 10]}
  Gauss: {A: [5.0, True, 0, 50], x0: [84.8, "project", 82, 88], SD: [1.0, "project", 0.2, 3]}
two:
  Offset: {y0: [1.0, True, 0, 10]}
  Gauss: {A: [5.0, True, 0, 50], x0: [84.8, True, 82, 88], SD: [1.0, True, 0.2, 3]}
  Gauss: {A: [1.0, True, 0, 50], x0: [87.0, True, 86, 89], SD: ["Gauss_01_SD"]}
"""
