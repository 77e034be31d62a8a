"""Spectra of more points than a picture can show: the range of each stretch of them is drawn."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.drawn import width_of

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, load_model
from pyspec.plot import (
    plot_components,
    plot_data,
    plot_fit,
    plot_residuals,
    plot_traces,
    plot_waterfall,
)
from pyspec.plot.elements.envelope import MANY, STRETCHES, are_many, shown

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


def test_a_spectrum_of_many_points_is_drawn_by_their_range(tmp_path: Path) -> None:
    """A marker for each of 300 000 points took 12 s and 100 MB as SVG."""
    figure = plot_fit(fitted(), save_path=tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").stat().st_size < 3e6
    above, below = figure.axes[:2]
    line = above.lines[[one.get_label().startswith("data") for one in above.lines].index(True)]
    assert f"of {N} points" in line.get_label()
    assert above.get_legend().get_texts()[0].get_text() == line.get_label()
    x, y = line.get_xdata(), line.get_ydata()
    assert x.size < 10 * STRETCHES
    assert y[x == AXIS[OUTLIER]] == [70.0]
    inside = (x < AXIS[MISSING.start]) & (x > AXIS[MISSING.stop - 1])
    assert inside.any()
    assert np.isnan(y[inside]).all()  # no line across masked points
    assert markers(below) == 0
    assert markers(above) < 10 * STRETCHES  # those of masked points
    rest = fitted().residual[OUTLIER]
    assert max(np.nanmax(one.get_ydata()) for one in below.lines) == pytest.approx(rest)


def test_other_pictures_of_it(tmp_path: Path) -> None:
    result = fitted()
    for name, draw in {
        "components": lambda **o: plot_components(result, **o),
        "residuals": lambda **o: plot_residuals([result], **o),
        "data": lambda **o: plot_data(result.data, energy=AXIS, **o),
    }.items():
        figure = draw(save_path=tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").stat().st_size < 3e6, name
        assert all(markers(ax) < 10 * STRETCHES for ax in figure.axes), name
    assert f"of {N} points" in figure.axes[0].get_legend().get_texts()[0].get_text()


def test_many_masked_points_take_no_span_each(tmp_path: Path) -> None:
    """Ten thousand pairs of masked points took 12 s."""
    result = fitted()
    keep = np.ones(N, dtype=bool)
    keep[MISSING] = False
    keep[np.random.default_rng(0).integers(0, N, N // 5)] = False
    measurement = replace(result.measurement, keep=keep)
    ax = plot_fit(fit_model(result.model, measurement)).axes[0]
    (span,) = ax.patches
    low, high = width_of(span)
    assert high - low == pytest.approx(AXIS[MISSING.start] - AXIS[MISSING.stop], rel=0.01)


def test_spectra_above_each_other(tmp_path: Path) -> None:
    data = np.tile(fitted().data, (2, 1))
    figure = plot_waterfall(data, AXIS, np.arange(2.0), save_path=tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size < 6e6
    drawn = np.concatenate([one.get_ydata() for one in figure.axes[0].lines])
    assert 70.0 in drawn


def test_few_points_in_sight_are_markers_all_of_them() -> None:
    low, high = 83.0, 84.0
    ax = plot_fit(fitted(), x_lim=(low, high)).axes[0]
    points = next(one for one in ax.lines if one.get_label() == "data")
    x = points.get_xdata()
    assert points.get_marker() == "o"
    seen = (low <= AXIS) & (high >= AXIS)
    np.testing.assert_array_equal(x[(x >= low) & (x <= high)], AXIS[seen])


def test_few_masked_points_in_sight_are_crosses_all_of_them() -> None:
    result = fitted()
    keep = np.ones(N, dtype=bool)
    keep[1::3] = False  # not the point far off, which is a triangle at the edge
    result = fit_model(result.model, replace(result.measurement, keep=keep))
    ax = plot_fit(result, x_lim=(83.0, 84.0)).axes[0]
    crosses = next(one for one in ax.lines if one.get_label() == "masked").get_xdata()
    seen = ~keep & (AXIS >= 83.0) & (AXIS <= 84.0)
    np.testing.assert_array_equal(crosses[(crosses >= 83.0) & (crosses <= 84.0)], AXIS[seen])


def test_traces_of_many_times() -> None:
    text = "peak: {Gauss: {A: [3, True], x0: [5, True], SD: [1, True, 0.1, 9]}}"
    model = load_model(text, "peak")
    times = np.linspace(0, 1, MANY + 1000)
    model.set_axes(energy=np.linspace(3, 7, 5), time=times)
    data = model.evaluate() + np.random.default_rng(1).normal(0, 0.1, (times.size, 5))
    figure = plot_traces(fit_model(model, Measurement(data=data)), n=2)
    assert all(markers(ax) == 0 for ax in figure.axes)
    drawn = np.concatenate([one.get_ydata() for one in figure.axes[0].lines])
    assert np.isin(drawn, data).sum() > STRETCHES


@pytest.mark.parametrize("log", [False, True])
def test_what_is_kept_holds_the_ends_of_every_stretch(log: bool) -> None:
    x = np.geomspace(1e-3, 1e3, N) if log else np.linspace(-4, 9, N)
    y = np.random.default_rng(0).normal(size=N)
    y[500:900] = np.nan
    where = shown(x, y)
    assert are_many(x)
    assert (np.diff(where) > 0).all()
    assert where.size < 10 * STRETCHES
    along = np.log10(x) if log else x
    edges = np.linspace(along[0], along[-1], 501)
    for a, b in itertools.pairwise(edges):
        part = (along >= a) & (along < b)
        if not np.isfinite(y[part]).any():
            continue
        found = y[where][part[where]]
        assert np.nanmax(found) >= np.nanmax(y[part]) - 1e-12 or part.sum() < 2
        assert np.nanmin(found) <= np.nanmin(y[part]) + 1e-12 or part.sum() < 2


def test_a_curve_of_no_more_points_is_left_alone() -> None:
    assert shown(AXIS[:MANY], np.zeros(MANY)) == slice(None)
    x = np.full(2 * MANY, 3.0)
    assert shown(x, np.arange(2 * MANY)).tolist() == [0, 2 * MANY - 1]
