"""A line over an offset, as a model file, data of it with noise, and all that a fit of it says."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model
from pyspec.plan.compiled import forget

#: How a height of the line may move.
DECAY = """
decay:
  expFun:
    A: [5.0, True, 1, 50]
    tau: [2.5, False]
    t0: [0.1, False]
"""


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


def facts(result: FitResult) -> list[object]:
    """All that a fit says, to compare it with another."""
    correl = {name: dict(row) for name, row in result.correl.items()}
    said = result.message, result.findings, result.intervals, result.nfev, result.chisqr
    arrays = result.theta.tobytes(), result.fit.tobytes(), result.residual.tobytes()
    return [dict(result.values), dict(result.stderr), dict(result.start), correl, *said, *arrays]


def fresh(model: Model, measurement: Measurement, **options: Any) -> list[object]:
    """What a process says that has fitted nothing before."""
    forget()
    return facts(fit_model(model, measurement, **options))
