"""What the pictures above sliders show: styles, options, gaps, layouts."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from support.slider_cases import ENERGY, TEXT, TIME, drawn, noisy, one, two

from pyspec import (
    File,
    Measurement,
    Project,
    load_model,
    load_time_model,
)
from pyspec.errors import DataError
from pyspec.plot import plot_sliders

pytest.importorskip("matplotlib").use("agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Any:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def click(figure: Any, name: str) -> None:
    """A press of the mouse in the slider of a parameter, at 0.8 of its length."""
    from matplotlib.backend_bases import MouseEvent

    figure.canvas.draw()
    (ax,) = (ax for ax in figure.axes if any(text.get_text() == name for text in ax.texts))
    x, y = ax.transAxes.transform((0.8, 0.5))
    for what in ("button_press_event", "button_release_event"):
        event = MouseEvent(what, figure.canvas, x, y, 1)
        figure.canvas.callbacks.process(what, event)


def test_sliders_move_where_nobody_kept_what_the_call_returned() -> None:
    """In an interactive session a window stood there whose sliders and buttons were dead."""
    from matplotlib import pyplot

    model = one()
    plot_sliders(model, show=False)
    gc.collect()
    click(pyplot.gcf(), "Gauss_01_x0")
    assert model.parameters["Gauss_01_x0"].value == pytest.approx(82.0 + 0.8 * 4.0)


@pytest.mark.slow
def test_on_a_dark_background_nothing_is_dark() -> None:
    """Labels, numbers and data were dark on black, and what a fit leaves out was white."""
    from matplotlib import colors, pyplot
    from matplotlib.text import Text

    with pyplot.style.context("dark_background"):
        sliders = plot_sliders(two(), Measurement(noisy(two()), columns=(5, 50)), show=False)
    sliders.look_at(row=2)
    on_buttons = {button.label for button in sliders.face.buttons.values()}
    for text in sliders.figure.findobj(Text):
        if text.get_text() and text not in on_buttons:
            assert max(colors.to_rgb(text.get_color())) > 0.6, text.get_text()
    above = sliders.figure.axes[0]
    assert max(colors.to_rgb(above.patches[0].get_facecolor())) < 0.3
    (data,) = (line for line in above.lines if line.get_label() == "data")
    assert max(colors.to_rgb(data.get_markeredgecolor())) > 0.6


@pytest.mark.slow
def test_options_of_other_pictures_do_the_same_here() -> None:
    """Ranges of intensities, logarithmic axes, lines and titles were left out without a word."""
    model = one()
    data = noisy(model)
    from matplotlib.text import Text

    look: Any = {
        "z_lim": (10, 1),
        "title": "Au 4f",
        "vlines": [84.0],
        "hlines": [5.0],
        "ticksize": 5,
    }
    sliders = plot_sliders(model, data, show=False, **look)
    above, below = sliders.figure.axes[:2]
    assert above.get_ylim() == (1.0, 10.0)
    upright = [84.0, 84.0]
    assert upright in [list(line.get_xdata()) for line in below.lines]
    assert [5.0, 5.0] in [list(line.get_ydata()) for line in above.lines]
    assert any(text.get_text() == "Au 4f" for text in sliders.figure.findobj(Text))
    above = plot_sliders(model, data, z_type="log", show=False).figure.axes[0]
    assert above.get_yscale() == "log"
    assert above.get_ylim()[0] > 1.0
    series = plot_sliders(two(), noisy(two()), vlines=[84.0], hlines=[2.0], show=False)
    for panel, place in ((0, 84.0), (2, 2.0)):
        lines = series.figure.axes[panel].lines
        assert [list(line.get_xdata()) for line in lines].count([place, place]) == 1


def test_no_line_leads_over_a_gap() -> None:
    """A straight line stood where the model has its peak."""
    model = load_model(TEXT, "peak")
    model.set_axes(energy=np.append(ENERGY[:20], ENERGY[40:]))
    sliders = plot_sliders(model, np.ones(41), show=False)
    assert np.isnan(drawn(sliders)[1]).sum() == 1
    assert np.isnan(drawn(sliders, "Gauss_01")[1]).sum() == 1


def test_without_data_there_is_no_residual_and_the_places_are_those_of_the_model() -> None:
    """An empty panel of residuals stood below, and a trace at the end of the axis."""
    assert len(plot_sliders(one(), show=False).figure.axes) == 1 + 4 + 1
    sliders = plot_sliders(two(), show=False)
    assert ENERGY[sliders.column] == pytest.approx(84.0)
    assert TIME[sliders.row] == 0.0


def test_labels_stay_in_the_picture_where_numbers_become_longer() -> None:
    """The name of the axis was pushed out of the figure."""
    model = one()
    sliders = plot_sliders(model, 0.001 * noisy(model) + 3.0, show=False)
    for values in ({"Gauss_01_A": 900.0}, {"Gauss_01_A": 0.0, "Offset_y0": 3.0}):
        sliders.set_values(values)
        sliders.figure.canvas.draw()
        for ax in sliders.figure.axes[:2]:
            assert ax.yaxis.label.get_window_extent().x0 >= 0.0


def test_a_file_of_a_trace_says_how_its_sliders_are_opened() -> None:
    """It said that a model should be loaded, which it cannot: files hold models of energies."""
    file = File(Project(show_output=False), data=np.ones(TIME.size), time=TIME)
    with pytest.raises(DataError, match=r"load_time_model\(.models.yaml., 'decay'\)"):
        file.plot_sliders("decay", show=False)
    text = "t:\n  expFun: {A: [5, True], tau: [3, True, 0.1, 50], t0: [0, False]}\n"
    model = load_time_model(text, "t")
    model.set_axes(time=TIME)
    data = noisy(model)
    sliders = plot_sliders(model, data, x_lim=(-1, 4), show=False)
    assert sliders.figure.axes[0].get_xlim() == (-1.0, 4.0)
    assert sliders.fit().is_trace


def test_a_long_answer_of_a_fit_is_written_in_lines_within_the_picture() -> None:
    """It was one line that the edge cut off, and said both that the fit converged and did not."""
    one_line = "Gauss: {A: [1, True], x0: [79, True], SD: [1, True]}"
    model = load_model(f"m:\n  {one_line}\n  {one_line}\n", "m")
    model.set_axes(energy=ENERGY)
    sliders = plot_sliders(model, np.ones(ENERGY.size), show=False)
    result = sliders.fit()
    assert not result.success
    assert sliders.text().startswith("not a success: ")
    box = sliders.face.text.get_window_extent()
    assert box.x0 > sliders.face.buttons["reset"].ax.bbox.x1
    assert box.x1 < sliders.figure.bbox.x1
    assert box.y0 > max(one.ax.bbox.y1 for one in sliders.face.of_names.values())
    assert "do not determine" in sliders.face.text.get_text()
