"""Quantities of a joint fit that take their values from more than one file."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pyspec.fit import JointResult, fit_joint
from pyspec.model import Measurement, Model, load_model

ENERGY = np.linspace(0.0, 10.0, 61)

#: Each area lies in a model of its own.
APART = """
parameters:
  area_c: ["Gauss_01_A * Gauss_01_SD"]
  area_o: ["Lorentz_01_A * Lorentz_01_W"]
  sum: ["area_c + area_o"]
  share: ["100 * area_c / sum"]
c: {Gauss: {A: [9, True, 0, 15], x0: [5.2, True, 4, 6], SD: [1, True, 0.1, 5]}}
o: {Lorentz: {A: [9, True, 0, 15], x0: [5.2, True, 4, 6], W: [1, True, 0.1, 5]}}
"""


def _parts(text: str, names: str = "co") -> list[tuple[Model, Measurement]]:
    parts, noise = [], np.random.default_rng(1)
    for name in names:
        model = load_model(text, name)
        model.energy = ENERGY
        height = 8.0 if name == "c" else 5.0
        line = height * np.exp(-(((ENERGY - 5.0) / 1.3) ** 2) / 2.0)
        parts.append((model, Measurement(data=line + noise.normal(0.0, 0.1, ENERGY.size))))
    return parts


def _check(joint: JointResult, c: str, o: str) -> None:
    values, stderr = joint.values, joint.stderr
    first, second = values[c], values[o]
    assert values["share"] == pytest.approx(100 * first / (first + second), rel=1e-12)
    # The files have no free parameter in common: their errors add in squares.
    error = 100 * np.hypot(second * stderr[c], first * stderr[o]) / (first + second) ** 2
    assert stderr["share"] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_they_have_values_and_errors(method: str) -> None:
    """Such a quantity was in no result, without a word."""
    joint = fit_joint(_parts(APART), method=method)
    _check(joint, "file00_area_c", "file01_area_o")
    assert "share" not in joint[0].values
    assert "share" in str(joint)
    assert joint.joint._expressions["sum"] == "file00_area_c + file01_area_o"
    _check(pickle.loads(pickle.dumps(joint)), "file00_area_c", "file01_area_o")


def test_one_that_may_mean_several_values_is_told() -> None:
    said = "sum, and what depends on it, is in no result, since its area_c may be file00_area_c and"
    with pytest.warns(UserWarning, match=said):
        joint = fit_joint(_parts(APART, "coc"))
    assert "share" not in joint.values
