"""At the size of a column of a paper: labels belong to their axes, markers are whole, every sign is
named, and no number has digits that its error does not give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.pictures import FAR, SPREADS, chain_of, labelled

from pyspec.plot import (
    PlotError,
    plot_amplitudes,
    plot_chain,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_spectra,
    plot_traces,
)

pytest.importorskip("matplotlib").use("agg")

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
