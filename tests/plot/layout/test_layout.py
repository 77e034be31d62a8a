"""Texts of pictures at every size, from a column of a paper to a screen: none is cut off by the
page, the numbers along an axis stand apart, and no label lies on another text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
from support.drawn import PIXELS, is_bar
from support.pictures import DECADES, FAR, chain_of, labelled

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

NAMED = ["GLP_01_x0_expFun_01_tau", "GLP_01_A_expFun_01_A", "GLP_02_A_erfFun_01_SD", "m"]
LONG = "photoelectron yield per laser shot (arb. units)"


def evolution(**size: Any) -> Any:
    found = labelled("slices")
    return plot_evolution(found.time, dict(found.values), dict(found.stderr), source=found, **size)


PICTURES: dict[str, Callable[..., Any]] = {
    "spectrum": lambda **size: plot_fit(labelled("peak", series=False), **size),
    "long label": lambda **size: plot_fit(labelled("peak", series=False), z_label=LONG, **size),
    "series": lambda **size: plot_fit(labelled("peak"), **size),
    "map": lambda **size: plot_data(labelled("peak").data, FAR, DECADES, **size),
    "logarithmic": lambda **size: plot_data(
        labelled("peak").data, FAR, DECADES, y_type="log", **size
    ),
    "waterfall": lambda **size: plot_waterfall(labelled("peak").data, FAR, DECADES, **size),
    "traces": lambda **size: plot_traces(labelled("peak"), **size),
    "free heights": lambda **size: plot_amplitudes(labelled("heights"), **size),
    "singular vectors": lambda **size: plot_svd(labelled("heights"), **size),
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
