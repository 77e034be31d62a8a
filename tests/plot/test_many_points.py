"""Of fits by reference pictures show some points; more than markers can show are a line."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES
from support.stores import Rows

from pyspec.fit import FitResult, fit_model
from pyspec.fit.results import coarse
from pyspec.io import by_reference
from pyspec.model import Measurement, load_model
from pyspec.plot import plot_fit, plot_moving, plot_traces, report


def fitted(name: str, monkeypatch: pytest.MonkeyPatch, cells: int = 9) -> Any:
    """A fit by reference, and the same one in memory; 200 points are too many to be drawn."""
    for what, value in (("DRAWN", 200), ("CELLS", cells)):
        monkeypatch.setattr(coarse, what, value)
    model, measurement = CASES[name]()[0]
    source: Any = by_reference(Rows(np.asarray(measurement.data)))
    return fit_model(model, replace(measurement, data=source)), fit_model(model, measurement)


@pytest.mark.parametrize("name", ["a series", "a window", "weights and a mask", "counts"])
def test_some_rows_and_columns_are_drawn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result, plain = fitted(name, monkeypatch)
    seen: Any = coarse.drawn(result)
    assert isinstance(seen, coarse.CoarseFit)
    assert coarse.drawn(result) is seen
    assert coarse.drawn(seen) is seen
    assert coarse.drawn(plain) is plain
    a, b = seen.points
    some = slice(None, None, a), slice(None, None, b)
    sigma = np.ones(plain.data.shape) if plain.sigma is None else plain.sigma
    np.testing.assert_array_equal(seen.time, plain.time[::a])
    np.testing.assert_array_equal(seen.energy, plain.energy[::b])
    np.testing.assert_array_equal(seen.keep, (plain.keep & np.isfinite(sigma))[some])
    np.testing.assert_array_equal(seen.data, plain.data[some])
    np.testing.assert_allclose(seen.fit, plain.fit[some], rtol=1e-12)
    if plain.sigma is None:
        assert seen.sigma is None
    else:
        np.testing.assert_allclose(seen.sigma, plain.sigma[some], rtol=1e-12)
    assert (seen.chisqr, seen.n_data) == (result.chisqr, result.n_data)


def test_parameters_over_time_are_drawn_at_the_same_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, plain = fitted("a window", monkeypatch)
    few, all_of_them = coarse.drawn(result).moving(), plain.moving()
    every = slice(None, None, coarse.drawn(result).points[0])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(few.time, all_of_them.time[every])
    for name, values in all_of_them.values.items():
        np.testing.assert_array_equal(few.values[name], values[every])
        np.testing.assert_allclose(few.stderr[name], all_of_them.stderr[name][every], rtol=1e-9)
    assert plot_moving(result).axes[0].lines[0].get_xdata().size == few.time.size


@pytest.mark.slow
def test_pictures_and_report_of_a_fit_too_large_to_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They used to be refused."""
    result, plain = fitted("a series", monkeypatch)
    for room in ("model.data.source", "fit.results.by_reference"):
        monkeypatch.setattr(f"pyspec.{room}.LOADED", 10_000)
    cells = " × ".join(str(n) for n in coarse.drawn(result).points)  # type: ignore[attr-defined]
    figure = plot_fit(result)
    assert f"one of {cells} drawn" in figure.get_suptitle()
    assert "drawn" not in plot_fit(plain).get_suptitle()
    assert plot_fit(result, full_range=True).axes  # the window
    assert plot_traces(result, n=2).axes
    text = report(result, tmp_path / "large.html").read_text("utf-8")
    other = report(plain, tmp_path / "plain.html").read_text("utf-8")
    for pattern in (
        r"<b>[^<]*</b><span>residual rms[^<]*",
        r"SHA-256.{90}",
        r"range</\w+>\s*<[^<]*",
        r"R²</\w+>\s*<[^<]*",
    ):
        found = [re.findall(pattern, page) for page in (text, other)]
        assert found[0] == found[1] != [], pattern
    assert pickle.loads(pickle.dumps(result)).chisqr == result.chisqr


N = 100_000
AXIS = np.linspace(90.0, 80.0, N)
OUTLIER, MISSING = 61_803, slice(20_000, 30_000)


@cache
def long_spectrum() -> FitResult:
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
    figure = plot_fit(long_spectrum(), save_path=tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").stat().st_size < 6e6
    above, below = figure.axes[:2]
    line = next(one for one in above.lines if one.get_label() == "data")
    x, y = line.get_xdata(), line.get_ydata()
    assert line.get_marker() == "None"
    assert y[x == AXIS[OUTLIER]] == [70.0]
    inside = (x < AXIS[MISSING.start]) & (x > AXIS[MISSING.stop - 1])
    assert np.isnan(y[inside]).all()  # no line across masked points
    assert markers(below) == 0
    rest = long_spectrum().residual[OUTLIER]
    assert max(np.nanmax(one.get_ydata()) for one in below.lines) == pytest.approx(rest)


def test_few_points_in_sight_are_markers_all_of_them() -> None:
    low, high = 83.0, 84.0
    ax = plot_fit(long_spectrum(), x_lim=(low, high)).axes[0]
    points = next(one for one in ax.lines if one.get_label() == "data")
    x = points.get_xdata()
    assert points.get_marker() == "o"
    seen = (low <= AXIS) & (high >= AXIS)
    np.testing.assert_array_equal(x[(x >= low) & (x <= high)], AXIS[seen])
