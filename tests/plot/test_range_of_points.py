"""Spectra of more points than a picture can show as markers: a line, which matplotlib thins out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, load_model
from pyspec.plot import (
    plot_fit,
)

N = 100_000
AXIS = np.linspace(90.0, 80.0, N)
OUTLIER, MISSING = 61_803, slice(20_000, 30_000)


@cache
def fitted() -> FitResult:
    """One spectrum with a single point far off and a masked stretch."""
    text = (
        "peak: {Offset: {y0: [5, True]}, Gauss: {A: [20, True], x0: [84, True], SD: [0.7, True]}}"
    )
    model = load_model(text, "peak")
    model.set_axes(energy=AXIS)
    data = model.evaluate() + np.random.default_rng(3).normal(0, 1, N)
    data[OUTLIER] = 70.0
    keep = np.ones(N, dtype=bool)
    keep[MISSING] = False
    return fit_model(model, Measurement(data=data, keep=keep))


def markers(ax: Any) -> int:
    """How many markers are drawn."""
    return sum(one.get_xdata().size for one in ax.lines if one.get_marker() not in ("", "None"))


def test_a_spectrum_of_many_points_is_a_line(tmp_path: Path) -> None:
    """A marker for each of 300 000 points took 12 s and 100 MB as SVG."""
    figure = plot_fit(fitted(), save_path=tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").stat().st_size < 6e6
    above, below = figure.axes[:2]
    line = next(one for one in above.lines if one.get_label() == "data")
    x, y = line.get_xdata(), line.get_ydata()
    assert line.get_marker() == "None"
    assert y[x == AXIS[OUTLIER]] == [70.0]
    inside = (x < AXIS[MISSING.start]) & (x > AXIS[MISSING.stop - 1])
    assert np.isnan(y[inside]).all()  # no line across masked points
    assert markers(below) == 0
    rest = fitted().residual[OUTLIER]
    assert max(np.nanmax(one.get_ydata()) for one in below.lines) == pytest.approx(rest)


def test_few_points_in_sight_are_markers_all_of_them() -> None:
    low, high = 83.0, 84.0
    ax = plot_fit(fitted(), x_lim=(low, high)).axes[0]
    points = next(one for one in ax.lines if one.get_label() == "data")
    x = points.get_xdata()
    assert points.get_marker() == "o"
    seen = (low <= AXIS) & (high >= AXIS)
    np.testing.assert_array_equal(x[(x >= low) & (x <= high)], AXIS[seen])
