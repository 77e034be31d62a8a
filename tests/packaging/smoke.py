"""What an installed pyspec must do first: python smoke.py, outside of the source tree."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import pyspec
from pyspec.functions.energy import Gauss, Offset

MODEL = """
smoke:
  Offset:
    y0: [2.0, true, 0, 10]
  Gauss:
    A: [3.0, true, 0, 10]
    x0: [5.0, true, 0, 10]
    SD: [0.7, true, 0.1, 2]
"""


def main() -> None:
    """Evaluates one model with the library and compares it with the reference."""
    energy = np.linspace(0.0, 10.0, 501)
    model = pyspec.load_models(MODEL)["smoke"]
    model.set_axes(energy=energy)
    want = Gauss(energy, 3.0, 5.0, 0.7) + Offset(energy, 2.0)
    for backend in ("compiled", "interpreted", "tree"):
        difference = float(np.max(np.abs(model.evaluate(backend) - want)))
        if not difference <= 1e-12:
            sys.exit(f"{backend}: differs from the reference by {difference}")
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"pyspec {pyspec.__version__} works on Python {version}: {Path(pyspec.__file__).parent}")


if __name__ == "__main__":
    main()
