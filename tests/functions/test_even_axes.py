"""Lines along evenly spaced abscissae, where each value follows from the one before.

The reference evaluates the same abscissae in pieces that are too short for that.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.kernel_calls import call_function

from pyspec._library import OPS, supported_isas

pytestmark = pytest.mark.sweep(5)

UNIT = 2.0**-52
LINES = ("Gauss", "GLS", "GLP")
PIECE = 7  # shorter than a run

COUNT = np.arange(301.0)
EVEN = {
    "powers of two": 80.0 + COUNT / 64.0,
    "decimal": np.round(80.0 + 0.016 * COUNT, 3),
    "descending": np.round(1486.6 - 0.05 * COUNT, 2),
    "through 0": np.linspace(-3.0, 3.1, 301),
    "nanometres": np.linspace(350.0, 351.0, 301),
}
UNEVEN = {
    "one moved": 80.0 + (COUNT + 0.01 * (COUNT == 150)) / 64.0,
    "two regions": 80.0 + np.where(COUNT < 150, COUNT, 3.0 * COUNT - 300.0) / 64.0,
    "single precision": (80.0 + 0.016 * COUNT).astype(np.float32).astype(np.float64),
    "three digits": np.round(80.0 + 0.01637 * COUNT, 3),
    "a hole": np.where(COUNT == 40, np.nan, 80.0 + COUNT / 64.0),
}
CASES = [(name, isa) for name in LINES for isa in supported_isas()]


def draw(name: str, x: np.ndarray, rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Lines within the axis and beside it; from one too narrow for steps to one far too wide."""
    span, step = np.nanmax(x) - np.nanmin(x), np.nanmedian(np.abs(np.diff(x)))
    width = step * 10.0 ** rng.uniform(0.3, 3.0, n_rows)
    place = np.nanmin(x) + span * rng.uniform(-0.2, 1.2, n_rows)
    params = [rng.normal(0.0, 3.0, n_rows), place, width, rng.uniform(0.0, 1.0, n_rows)]
    return np.array(params[: len(OPS[name].params)])


def in_pieces(
    name: str, x: np.ndarray, params: np.ndarray, isa: str
) -> tuple[np.ndarray, np.ndarray]:
    parts = [
        call_function(name, x[k : k + PIECE], params, None, partials=True, isa=isa)
        for k in range(0, x.size, PIECE)
    ]
    values, slopes = zip(*parts, strict=True)
    return np.concatenate(values, axis=-1), np.concatenate(slopes, axis=-1)


@pytest.mark.parametrize("n_rows", [1, 21])
@pytest.mark.parametrize("axis", EVEN)
@pytest.mark.parametrize(("name", "isa"), CASES)
def test_values_and_slopes(name: str, isa: str, axis: str, n_rows: int) -> None:
    """To the tolerance of the row, and a unit for the reference."""
    x, rng = EVEN[axis], np.random.default_rng(17)
    allowed, differs = (OPS[name].tolerance + 1) * UNIT, 0
    for _ in range(60 if n_rows == 1 else 20):
        params = draw(name, x, rng, n_rows)
        value, slopes = call_function(name, x, params, None, partials=True, isa=isa)
        expected, expected_slopes = in_pieces(name, x, params, isa)
        assert slopes is not None
        height = np.abs(params[0])[:, np.newaxis]
        assert np.all(np.abs(value - expected) <= allowed * height)
        scale = np.array([np.ones(n_rows), *2 * [2.0 * height[:, 0] / params[2]], height[:, 0]])
        off = np.abs(slopes - expected_slopes)
        assert np.all(off <= 2 * allowed * scale[: len(params), :, np.newaxis])
        differs += int(np.any(value != expected))
    assert differs, "no line went from each value to the next"


@pytest.mark.parametrize("n_rows", [1, 21])
@pytest.mark.parametrize("axis", UNEVEN)
@pytest.mark.parametrize(("name", "isa"), CASES)
def test_uneven_axes_go_by_exponentials(name: str, isa: str, axis: str, n_rows: int) -> None:
    """Where a part of the axis is even for itself, steps may be taken there; else the bits are
    those of exponentials."""
    x, rng = UNEVEN[axis], np.random.default_rng(18)
    for _ in range(60 if n_rows == 1 else 20):
        params = draw(name, x, rng, n_rows)
        value, _ = call_function(name, x, params, None, isa=isa)
        expected, _ = in_pieces(name, x, params, isa)
        allowed = (OPS[name].tolerance + 1) * UNIT * np.abs(params[0])[:, np.newaxis]
        assert np.array_equal(np.isnan(value), np.isnan(expected))
        assert np.all((np.abs(value - expected) <= allowed) | np.isnan(value))
        if axis in ("single precision", "three digits"):
            assert np.array_equal(value, expected)


@pytest.mark.parametrize(("name", "isa"), CASES)
def test_far_tails_are_no_rounding(name: str, isa: str) -> None:
    """Relative to the values themselves, down to 1e-90: as exact as an exponential is."""
    x, width = EVEN["powers of two"], 0.13 if name == "Gauss" else 0.3
    params = np.array([1.0, 82.0, width, 0.0])[: len(OPS[name].params), np.newaxis]
    value, _ = call_function(name, x, np.repeat(params, 8, axis=1), None, isa=isa)
    expected, _ = in_pieces(name, x, np.repeat(params, 8, axis=1), isa)
    seen = expected[0] > 1e-90
    assert seen.sum() > 250
    assert np.any(value[0] != expected[0])
    assert np.all(np.abs(value[0][seen] / expected[0][seen] - 1.0) <= 1e-13)
