"""Models beside their data, for sliders, and what these draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec import Model, load_dynamics, load_model

TEXT = """
peak:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], SD: [1, True, 0.1, 5]}
decay:
  expFun: {A: [5, True, -50, 50], tau: [3, True, 0.1, 50], t0: [0, False]}
"""
ENERGY, TIME = np.linspace(78.0, 90.0, 61), np.arange(-3.0, 9.0)


def one() -> Model:
    """One spectrum."""
    model = load_model(TEXT, "peak")
    model.set_axes(energy=ENERGY)
    return model


def two() -> Model:
    """A series, whose height moves."""
    model = load_model(TEXT, "peak")
    model.add_dynamics("Gauss_01_A", load_dynamics(TEXT, "decay", "Gauss_01_A"))
    model.set_axes(energy=ENERGY, time=TIME)
    return model


def noisy(model: Model) -> Any:
    """What the model gives, with noise."""
    clean = model.evaluate()
    return clean + np.random.default_rng(0).normal(0.0, 0.3, clean.shape)


def drawn(sliders: Any, label: str = "model", panel: int = 0) -> tuple[Any, Any]:
    """The curve of this name in a panel: 0 is the spectrum, 2 the trace."""
    (found,) = (one for one in sliders.figure.axes[panel].lines if one.get_label() == label)
    return found.get_data()
