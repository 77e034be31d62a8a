"""Fields of curves over time: x is the horizontal axis of a picture, and energy of a config."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pyspec import File, Project
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_amplitudes,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_traces,
    report,
)

ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-1, 8, 19)
VALUES = {"a": np.arange(19.0)}
MODELS = """
lines:
  Gauss: {A: {free: time}, x0: [84.2, True, 82, 86], SD: [0.7, True, 0.1, 5]}
spectra:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
decay:
  expFun: {A: [18, True], tau: [4, True, 0.1, 100], t0: [0, False]}
"""
DATA = 18 * np.exp(-((ENERGY - 84.2) ** 2)) * np.where(TIME > 0, np.exp(-TIME / 4), 0)[:, None]
DATA = DATA + np.random.default_rng(0).normal(0, 0.2, DATA.shape)


def fitted(tmp_path: Path, name: str) -> Any:
    (tmp_path / "models.yaml").write_text(MODELS)
    project = Project(tmp_path, show_output=False)
    if name == "decay":
        return File(project, data=DATA[:, 17], time=TIME).fit_trace("models.yaml", name)
    file = File(project, data=DATA, energy=ENERGY, time=TIME)
    file.load_model("models.yaml", name)
    return file.fit_2d(name)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.slow
def test_the_horizontal_axis_of_curves_over_time_is_x(tmp_path: Path) -> None:
    # x_lim had no effect: times are y_lim, as in a map.
    one, series = fitted(tmp_path, "decay"), fitted(tmp_path, "lines")
    for draw in (
        lambda **look: plot_fit(one, **look),
        lambda **look: plot_data(DATA[:, 3], None, TIME, **look),
        lambda **look: plot_traces(series, **look),
        lambda **look: plot_evolution(TIME, VALUES, **look),
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


def test_limits_below_zero_have_no_place_on_a_logarithmic_axis(tmp_path: Path) -> None:
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
        lambda **look: plot_traces(fitted(tmp_path, "spectra"), **look),
    ):
        with pytest.raises(PlotError, match="z_lim is"):
            draw(z_type="log", z_lim=(-20, -1))
        low, high = draw(z_type="log", z_lim=(-1, 50)).axes[0].get_ylim()
        assert 0 < low < 5
        assert high == 50
