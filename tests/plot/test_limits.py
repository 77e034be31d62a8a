"""Limits, scales and directions of axes: x is the horizontal axis of curves over time, and energy
of a config; limits that hold nothing of the data are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.pictures import DATA, ENERGY, TIME, decaying

from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_amplitudes,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_residuals,
    plot_traces,
    plot_waterfall,
    report,
)

OUTSIDE = (100.0, 110.0)

CALLS: dict[str, tuple[Callable[..., object], str]] = {
    "energies of a map": (lambda: plot_data(DATA, ENERGY, TIME, x_lim=OUTSIDE), "energies"),
    "values of a map": (lambda: plot_data(DATA, ENERGY, TIME, z_lim=OUTSIDE), "values"),
    "values of a line": (lambda: plot_data(DATA[0], ENERGY, z_lim=OUTSIDE), "values"),
    "a fit": (lambda: plot_fit(decaying("height"), x_lim=OUTSIDE), "energies"),
    "energies of a line": (lambda: plot_data(DATA[0], ENERGY, x_lim=OUTSIDE), "energies"),
    "residuals": (lambda: plot_residuals([decaying("height")], x_lim=OUTSIDE), "energies"),
    "traces": (lambda: plot_traces(decaying("height"), y_lim=OUTSIDE), "times"),
    "a stack": (lambda: plot_waterfall(DATA, ENERGY, TIME, x_lim=OUTSIDE), "energies"),
    "parameters": (lambda: plot_evolution(TIME, {"a": TIME}, y_lim=OUTSIDE), "times"),
}


@pytest.mark.parametrize("case", CALLS)
def test_limits_outside_of_the_data_are_refused(case: str) -> None:
    call, what = CALLS[case]
    with pytest.raises(PlotError, match=rf"\(100, 110\): no {what} lie there, they run from"):
        call()


def test_limits_that_touch_the_data_or_lie_between_two_points_are_drawn() -> None:
    figure = plot_data(DATA, ENERGY, TIME, x_lim=(70, 80), y_lim=(0.1, 0.3), z_lim=(-9, 1))
    assert figure.axes[0].get_xlim() == (70.0, 80.0)
    assert plot_data(DATA[0], ENERGY, z_lim=(0, 5)).axes[0].get_ylim() == (0.0, 5.0)


@pytest.mark.slow
def test_the_horizontal_axis_of_curves_over_time_is_x(tmp_path: Path) -> None:
    # x_lim had no effect: times are y_lim, as in a map.
    one, series = decaying("decay"), decaying("lines")
    for draw in (
        lambda **look: plot_fit(one, **look),
        lambda **look: plot_data(DATA[:, 3], None, TIME, **look),
        lambda **look: plot_traces(series, **look),
        lambda **look: plot_evolution(TIME, {"a": TIME}, **look),
        lambda **look: plot_amplitudes(series, **look),
    ):
        for name in ("x_lim", "y_lim"):
            for ax in draw(**{name: (1, 3)}).axes:
                assert ax.get_xlim() == (1, 3)
        assert draw(x_dir="rev", x_type="log").axes[0].xaxis_inverted()
        assert draw(x_type="log").axes[0].get_xscale() == "log"
        # What many pictures share stays: energies do not cut times.
        assert draw(config=PlotConfig(x_lim=(83, 85))).axes[0].get_xlim()[1] > TIME[-2]
        with pytest.raises(PlotError, match="give x_lim alone; intensities are z_lim"):
            draw(x_lim=(1, 3), y_lim=(0, 9))
    plain = report(one, tmp_path / "a.html").read_text()
    assert plain != report(one, tmp_path / "b.html", x_lim=(1, 3)).read_text()


def test_limits_below_zero_have_no_place_on_a_logarithmic_axis() -> None:
    # matplotlib warned and left them out.
    for fields, name in (
        ({"x_type": "log", "x_lim": (-20, -1)}, "x_lim"),
        ({"y_type": "log", "y_lim": (-20, 0)}, "y_lim"),
        ({"z_type": "log", "z_lim": (-20, -1)}, "z_lim"),
    ):
        with pytest.raises(PlotError, match=rf"{name} is \(-20, .*logarithmic.*above 0"):
            plot_data(DATA, ENERGY, TIME, **fields)
    for draw in (
        lambda **look: plot_data(DATA[0], ENERGY, **look),
        lambda **look: plot_fit(decaying("peak"), **look),
        lambda **look: plot_traces(decaying("spectra"), **look),
    ):
        with pytest.raises(PlotError, match="z_lim is"):
            draw(z_type="log", z_lim=(-20, -1))
        low, high = draw(z_type="log", z_lim=(-1, 50)).axes[0].get_ylim()
        assert 0 < low < 5
        assert high == 50
