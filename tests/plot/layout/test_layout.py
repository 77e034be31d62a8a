"""Texts of pictures at every size, from a column of a paper to a screen: none is cut off by the
page, the numbers along an axis stand apart, and no label lies on another text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from support.drawn import PIXELS, is_bar
from support.pictures import chain_of

from pyspec import Measurement, fit_model, fit_slices, load_model
from pyspec.plot import (
    plot_amplitudes,
    plot_chain,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_svd,
    plot_traces,
    plot_waterfall,
)

pytest.importorskip("matplotlib").use("agg")

MODELS = """
peak:
  Offset: {y0: [50, True]}
  Gauss: {A: [100, True], x0: [1486.4, True, 1480, 1490], SD: [0.1, True, 0.01, 5]}
heights:
  Offset: {y0: {free: time}}
  Gauss: {A: {free: time}, x0: [1486.4, True, 1480, 1490], SD: [0.1, True, 0.01, 5]}
"""
ENERGY = np.linspace(1486.0, 1487.0, 41)
TIME = np.concatenate([np.linspace(-2.0, 2.0, 11), np.geomspace(2.5, 2000.0, 20)])
NAMES: dict[str, Any] = {
    "labels": {"energy": "BE", "time": "delay", "data": "photoelectron intensity"},
    "units": {"energy": "eV", "time": "ps", "data": "counts"},
}
NAMED = ["GLP_01_x0_expFun_01_tau", "GLP_01_A_expFun_01_A", "GLP_02_A_erfFun_01_SD", "m"]
LONG = "photoelectron yield per laser shot (arb. units)"


@cache
def fitted(name: str, series: bool = True) -> Any:
    """A fit of simulated data with declared noise; `slices` one by one."""
    model = load_model(MODELS, "peak" if name == "slices" else name)
    model.set_axes(energy=ENERGY, time=TIME if series and name != "slices" else None)
    clean = 50 + 100 * np.exp(-(((ENERGY - 1486.4) / 0.1) ** 2) / 2)
    shape = (TIME.size, 1) if series else (1,)
    data = np.random.default_rng(1).normal(clean * np.ones(shape), 2.0)
    measured = Measurement(data, weight=np.array(0.5), **NAMES)
    if name == "slices":
        return fit_slices(model, measured, times=TIME, scale_covar=False)
    return fit_model(model, measured, scale_covar=False)


def evolution(**size: Any) -> Any:
    found = fitted("slices")
    return plot_evolution(found.time, dict(found.values), dict(found.stderr), source=found, **size)


PICTURES: dict[str, Callable[..., Any]] = {
    "spectrum": lambda **size: plot_fit(fitted("peak", False), **size),
    "long label": lambda **size: plot_fit(fitted("peak", False), z_label=LONG, **size),
    "series": lambda **size: plot_fit(fitted("peak"), **size),
    "map": lambda **size: plot_data(fitted("peak").data, ENERGY, TIME, **size),
    "logarithmic": lambda **size: plot_data(
        fitted("peak").data, ENERGY, TIME, y_type="log", **size
    ),
    "waterfall": lambda **size: plot_waterfall(fitted("peak").data, ENERGY, TIME, **size),
    "traces": lambda **size: plot_traces(fitted("peak"), **size),
    "free heights": lambda **size: plot_amplitudes(fitted("heights"), **size),
    "singular vectors": lambda **size: plot_svd(fitted("heights"), **size),
    "evolution": evolution,
    "corner of 4": lambda **size: plot_chain(chain_of(NAMED), **size),
}


def numbers(axis: Any) -> list[Any]:
    """Boxes of the numbers along an axis that are in sight."""
    low, high = sorted(axis.get_view_interval())
    shown = [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
    return [one.get_window_extent() for one in shown if one.get_visible() and one.get_text()]


def overlap(one: Any, other: Any) -> float:
    """The shared part of two boxes, of the smaller one; slanted texts share their corners."""
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    along = min(one.y1, other.y1) - max(one.y0, other.y0)
    if across <= 1 or along <= 1:  # a pixel is rounding
        return 0.0
    return float(across * along / min(one.width * one.height, other.width * other.height))


#: One panel, or two of one width: these fit into a column of a paper, where they have least room.
NARROW = ("spectrum", "long label", "map", "logarithmic", "waterfall", "free heights")
WIDE = ("series", "traces", "singular vectors", "evolution", "corner of 4")
CASES = [*((name, (3.4, 3.0)) for name in NARROW), *((name, None) for name in WIDE)]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_texts_are_whole_and_stand_apart(name: str, size: tuple[float, float] | None) -> None:
    figure = PICTURES[name](figsize=size) if size else PICTURES[name]()
    figure.draw_without_rendering()
    page, panels, texts = figure.bbox, [ax for ax in figure.axes if ax.axison], []
    for ax in panels:
        for axis in (ax.xaxis, ax.yaxis):
            along = numbers(axis)
            apart = [overlap(a, b) for a, b in combinations(along, 2)]
            assert max(apart, default=0.0) < 0.3, (ax, axis)
            texts += along
        titles = [ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
        texts += [t.get_window_extent() for t in titles if t.get_visible() and t.get_text()]
    for box in texts:
        assert box.x0 > -PIXELS
        assert box.y0 > -PIXELS
        assert box.x1 < page.x1 + PIXELS
        assert box.y1 < page.y1 + PIXELS
    assert max((overlap(a, b) for a, b in combinations(texts, 2)), default=0.0) < 0.3
    drawn = [ax for ax in panels if not is_bar(ax)]
    for ax in drawn:
        legend = ax.get_legend()
        if legend is not None:
            box = legend.get_window_extent()
            assert all(overlap(box, other.bbox) == 0.0 for other in drawn if other is not ax)
