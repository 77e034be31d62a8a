"""A resolution in a model: what it blurs, alike in every executor, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import pyspec.trspecfit.models
from pyspec import fit_model
from pyspec.errors import DataError, ModelError
from pyspec.fit.results.components import component_curves
from pyspec.functions import reference
from pyspec.model import Measurement, load_model

ENERGY = np.linspace(82.0, 88.0, 151)
RESOLUTION = "  resolution: {SD: [0.25, true, 0.01, 2]}\n"
SHIRLEY = "  Shirley: {pShirley: [0.01, true]}\n"
OFFSET = "  Offset: {y0: [0.5, true]}\n"
STEP = "  LinBack: {m: [0.2, true], b: [0, false], xStart: [83, false], xStop: [86, false]}\n"
LINES = """  Lorentz: {A: [9, true], x0: [84, true], W: [0.4, true]}
  LA: {A: [5, true], x0: [85.2, true], W: [0.3, true], alpha: [1.4, true], beta: [2.5, true]}
  GLP: {A: [2, true], x0: [87.9, true], F: [0.5, true], m: [0.4, true]}
"""
METAL = """  DS: {A: [3, true], x0: [84, true], F: [0.3, true], alpha: [0.12, true]}
  LF:
    A: [4, true]
    x0: [85.5, true]
    W: [0.4, true]
    alpha: [0.8, true]
    beta: [1.3, true]
    w: [2.5, true]
"""


def made(*parts: str, name: str = "m") -> pyspec.model.Model:
    model = load_model(f"{name}:\n" + "".join(parts), name)
    model.set_axes(energy=ENERGY)
    return model


@pytest.mark.parametrize("parts", [(LINES,), (METAL,), (STEP, LINES), (SHIRLEY, LINES)])
def test_a_model_is_convolved_beyond_the_ends_of_its_axis(parts: tuple[str, ...]) -> None:
    """Against a sum over a fine grid that reaches further than the axis, line at the end and all;
    a Shirley reads what is convolved."""
    sharp = made(*parts[-2:] if parts[0] is not SHIRLEY else (LINES,))
    fine = np.arange(75.0, 96.0, 0.0025)
    sharp.set_axes(energy=fine)
    spectrum = sharp.evaluate("tree")
    kernel = reference("resolution")(ENERGY[:, np.newaxis] - fine, 0.25)
    expected = kernel @ spectrum * 0.0025
    if parts[0] is SHIRLEY:
        expected = expected + reference("Shirley")(ENERGY, 0.01, expected)
    value = made(RESOLUTION, *parts).evaluate()
    np.testing.assert_allclose(value, expected, rtol=0, atol=2e-6 * expected.max())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((RESOLUTION, RESOLUTION, LINES), "has resolution already"),
        (
            (RESOLUTION, "  PowerBack: {A: [1, true], x0: [84, false], r: [2, true]}\n"),
            "move it above resolution",
        ),
        (
            ("  Gauss_resolution: {A: [1], x0: [84], SD: [1], R: [1]}\n",),
            "is what resolution makes of Gauss; write resolution above Gauss",
        ),
        (("  resolution: {SD: [0, true]}\n", LINES), "SD"),
    ],
)
def test_refused(parts: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        made(*parts)


def test_at_the_end_it_blurs_nothing() -> None:
    model = made(OFFSET, LINES, RESOLUTION)
    with pytest.raises(ModelError, match="convolves what stands below it, and nothing does"):
        fit_model(model, Measurement(model.evaluate()))


def test_components_are_drawn_blurred_and_add_up() -> None:
    model = made(RESOLUTION, SHIRLEY, OFFSET, LINES)
    curves = component_curves(model)
    assert list(curves) == ["Shirley", "Offset", "Lorentz_01", "LA_01", "GLP_01"]
    np.testing.assert_allclose(sum(curves.values()), model.evaluate(), rtol=1e-10)
    with pytest.raises(DataError, match="resolution adds nothing of its own"):
        pyspec.trspecfit.models.ComponentNames.plot(model.components[0])
