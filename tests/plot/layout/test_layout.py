"""Texts of pictures at every size, from a column of a paper to a screen: none is cut off by the
page, the numbers along an axis stand apart, and no label lies on another text. Markers are whole,
every sign is named, and no number has digits that its error does not give."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from support.drawn import PIXELS, is_bar
from support.pictures import DECADES, FAR, SPREADS, chain_of, labelled

from pyspec.plot import (
    PlotError,
    plot_amplitudes,
    plot_chain,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_spectra,
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


# ---- markers, signs and digits

TIME = np.linspace(0.0, 12.0, 13)


def first_markers(figure: Any) -> list[tuple[float, float, float]]:
    """(left room, right room, half a marker) in pixels of every panel with markers."""
    figure.draw_without_rendering()
    found = []
    for ax in figure.axes:
        for line in ax.lines:
            x = np.asarray(line.get_xdata(), dtype=float)
            if line.get_marker() not in ("o", ".") or x.size < 3:
                continue
            places = ax.transData.transform(np.column_stack([x, np.full(x.size, 1.0)]))[:, 0]
            box = ax.get_window_extent()
            half = 0.5 * line.get_markersize() * figure.dpi / 72.0
            found.append((places.min() - box.x0, box.x1 - places.max(), half))
    return found


@pytest.mark.parametrize("draw", ["fit", "log", "decades", "paper"])
def test_the_first_and_the_last_marker_are_whole(draw: str) -> None:
    """Both were cut in half by the ends of the axis."""
    one = labelled("peak", series=False)
    figure = {
        "fit": lambda: plot_fit(one),
        "paper": lambda: plot_fit(one, figsize=(2.2, 2.0)),
        "log": lambda: plot_data(one.data[1::4], FAR[1::4], markers=["o"], x_type="log"),
        "decades": lambda: plot_traces(labelled("peak")),
    }[draw]()
    found = first_markers(figure)
    assert found
    assert all(min(left, right) >= half for left, right, half in found), found


def test_a_corner_plot_has_the_digits_of_the_errors() -> None:
    """84.000012 +0.0004: three digits of the median were noise."""
    figure = plot_chain(chain_of(["a", "b", "c", "d"]))
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    for title, spread in zip(titles, SPREADS, strict=True):
        value, up, down = title.splitlines()[-1].replace("−", "-").split()
        last = 10.0 ** -len(value.partition(".")[2])
        assert 0.01 * spread < last < 0.1 * spread
        assert float(up) == pytest.approx(spread, rel=0.2)
        assert float(down) == pytest.approx(-spread, rel=0.2)


def legends(figure: Any) -> list[str]:
    """What all legends of a picture say."""
    from matplotlib.legend import Legend

    return [text.get_text() for one in figure.findobj(Legend) for text in one.get_texts()]


def test_open_circles_and_triangles_of_slices_are_named() -> None:
    """Nothing said that an open circle has no standard error, and where a value is not drawn."""
    values, errors = {"a": np.sin(TIME), "b": np.cos(TIME)}, {"a": np.full(13, 0.1)}
    assert legends(plot_evolution(TIME, {"a": values["a"]}, errors)) == []
    values["a"][3], errors["a"][5] = 1e4, np.nan
    found = legends(plot_evolution(TIME, values, {**errors, "b": np.full(13, 0.1)}))
    assert found == ["no standard error, or a very large one", "far outside"]
    errors["b"] = np.full(13, np.nan)
    one = legends(plot_evolution(TIME, values, errors, params=["b"]))
    assert one == ["no standard error, or a very large one"]


@pytest.mark.parametrize("draw", [plot_traces, plot_spectra])
def test_circles_and_lines_of_traces_are_named(draw: Any) -> None:
    found = legends(draw(labelled("peak"), n=2))
    assert found[-2:] == ["data", "fit"] or found[:2] == ["data", "fit"]
    result = labelled("peak")
    figure = plot_waterfall(result.data, FAR, DECADES, fit=result.fit, n=3)
    assert legends(figure) == ["data", "fit"]


def test_free_backgrounds_have_an_axis_of_their_own() -> None:
    """Heights of 60 were a flat line below an offset of 4000."""
    result = labelled("heights")
    figure = plot_amplitudes(result)
    heights, grounds = figure.axes
    assert [t.get_text() for t in heights.get_legend().get_texts()] == ["Gauss_01_A"]
    assert [t.get_text() for t in grounds.get_legend().get_texts()] == ["Offset_y0"]
    assert heights.get_ylim()[0] > -20
    assert grounds.get_ylim()[1] < 80
    (alone,) = plot_amplitudes(result, names=["Gauss_01_A"]).axes
    assert alone.get_ylabel() == figure.get_supylabel() == "photoelectron intensity (counts)"
    from matplotlib.figure import Figure

    with pytest.raises(PlotError, match="several panels"):
        plot_amplitudes(result, ax=Figure().subplots())
