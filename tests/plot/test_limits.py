"""Limits that hold nothing of the data are refused: they used to draw an empty panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model, plot_data, plot_fit
from pyspec.plot import PlotError, plot_evolution, plot_residuals, plot_traces, plot_waterfall

pytest.importorskip("matplotlib").use("agg")

ENERGY, TIME = np.linspace(80.0, 90.0, 41), np.linspace(-2.0, 10.0, 25)
MODEL = "peak: {Offset: {y0: [1, True]}, Gauss: {A: [9, True], x0: [85, True], SD: [1, True]}}"


def fitted() -> Any:
    model = load_model(MODEL, "peak")
    model.set_axes(energy=ENERGY, time=TIME)
    data = np.random.default_rng(1).normal(model.evaluate(), 0.1)
    return fit_model(model, Measurement(data), progress=False)


RESULT = fitted()
DATA = np.asarray(RESULT.data)
OUTSIDE = (100.0, 110.0)

CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "energies of a map": (lambda: plot_data(DATA, ENERGY, TIME, x_lim=OUTSIDE), "energies"),
    "times of a map": (lambda: plot_data(DATA, ENERGY, TIME, y_lim=OUTSIDE), "times"),
    "values of a map": (lambda: plot_data(DATA, ENERGY, TIME, z_lim=OUTSIDE), "values"),
    "energies of a line": (lambda: plot_data(DATA[0], ENERGY, x_lim=OUTSIDE), "energies"),
    "values of a line": (lambda: plot_data(DATA[0], ENERGY, z_lim=OUTSIDE), "values"),
    "a fit": (lambda: plot_fit(RESULT, x_lim=OUTSIDE), "energies"),
    "residuals": (lambda: plot_residuals([RESULT], x_lim=OUTSIDE), "energies"),
    "traces": (lambda: plot_traces(RESULT, y_lim=OUTSIDE), "times"),
    "a stack": (lambda: plot_waterfall(DATA, ENERGY, TIME, x_lim=OUTSIDE), "energies"),
    "parameters": (
        lambda: plot_evolution(TIME, {"a": TIME}, y_lim=OUTSIDE),
        "times",
    ),
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
