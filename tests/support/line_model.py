"""A line over an offset, as a model file, and data of it with noise."""

from __future__ import annotations

import numpy as np

from pyspec.model import Measurement, Model


def line_text(width: str = "[0.8, True, 0.1, 5]", more: str = "") -> str:
    """The text of the file, whose model is called "line"; `more` follows the line."""
    return f"""
line:
  Offset:
    y0: [2.0, True, 0, 10]
  Gauss:
    A: [20.0, True, 0, 100]
    x0: [84.6, True, 80, 90]
    SD: {width}
{more}"""


def measured(model: Model, seed: int = 1) -> Measurement:
    """The model at its values, with noise of 0.1."""
    clean = model.evaluate()
    return Measurement(data=clean + np.random.default_rng(seed).normal(0.0, 0.1, clean.shape))
