"""Fields of PlotConfig in pictures of one spectrum: each acts, or is answered."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model, read
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_components,
    plot_data,
    plot_fit,
    plot_overview,
    plot_residuals,
    plot_waterfall,
    report,
)

ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-1, 8, 5)
PEAK = """
peak:
  Offset: {y0: [1, True]}
  Gauss: {A: [18, True], x0: [84.2, True], SD: [0.7, True]}
"""
DATA = 1 + 18 * np.exp(-(((ENERGY - 84) / 0.7) ** 2) / 2)
SERIES = np.tile(DATA, (5, 1))
NOISE = np.random.default_rng(3).normal(0, 0.2, ENERGY.size)


@pytest.fixture
def fit(tmp_path: Path) -> Any:
    (tmp_path / "models.yaml").write_text(PEAK)
    model = load_model(tmp_path / "models.yaml", "peak")
    model.set_axes(energy=ENERGY)
    yield fit_model(model, Measurement(data=DATA + NOISE))
    plt.close("all")


@pytest.mark.parametrize(
    ("field", "own"),
    [
        ({"y_lim": (0, 20)}, "z_lim"),
        ({"y_label": "counts"}, "z_label"),
        ({"y_type": "log"}, "z_type"),
        ({"y_dir": "rev"}, "x_dir"),
    ],
)
def test_fields_of_times_are_answered(
    fit: Any, tmp_path: Path, field: dict[str, Any], own: str
) -> None:
    """They had no effect, and nothing said so: intensities are z."""
    np.savetxt(tmp_path / "one.csv", np.column_stack([ENERGY, DATA]), delimiter=",")
    one = read(tmp_path / "one.csv")
    for draw in (
        lambda **look: plot_fit(fit, **look),
        lambda **look: plot_components(fit, **look),
        lambda **look: plot_residuals([fit], **look),
        lambda **look: plot_data(DATA, ENERGY, **look),
        lambda **look: plot_waterfall(SERIES, ENERGY, TIME, **look),
        lambda **look: plot_overview(one, **look),
        lambda **look: report(fit, tmp_path / "report.html", **look),
    ):
        with pytest.raises(PlotError, match=f"no time axis, and {next(iter(field))} .* is {own}"):
            draw(**field)
        draw(config=PlotConfig(**field))  # that of many pictures
    plot_data(SERIES, ENERGY, TIME, **field)
    plot_data(DATA, ENERGY, time_label="delay (ps)")  # says itself whose label it is


def test_lists_of_looks_act_on_data_and_fit(fit: Any) -> None:
    """linewidths, markers, markersizes, linestyles and alphas had no effect."""
    both = {"linewidths": [0.4, 3.0], "alphas": [0.5, 0.8]}
    look = {"markers": ["s"], "markersizes": [6.0], "linestyles": ["--"], **both}
    for ax in (plot_fit(fit, **look).axes[0], plot_residuals([fit], **look).axes[0]):
        (data,) = (one for one in ax.lines if one.get_marker() == "s")
        (curve,) = (one for one in ax.lines if one.get_linewidth() == 3.0)
        assert (data.get_markersize(), data.get_markeredgewidth()) == (6.0, 0.4)
        assert (data.get_linestyle(), data.get_alpha()) == ("None", 0.5)
        assert (curve.get_linestyle(), curve.get_alpha()) == ("--", 0.8)
    for one in plot_fit(fit, linewidths=[2.5], alphas=[0.3]).axes[0].lines:
        if one.get_label() in ("data", "fit"):
            assert one.get_alpha() == 0.3
            assert 2.5 in (one.get_linewidth(), one.get_markeredgewidth())
    (total,) = (one for one in plot_components(fit, **both).axes[0].lines if one.get_alpha() == 0.8)
    assert (total.get_label(), total.get_linewidth()) == ("sum", 3.0)
    # Data without a marker are a line, not nothing.
    (data,) = (
        one for one in plot_fit(fit, markers=[""]).axes[0].lines if one.get_label() == "data"
    )
    assert data.get_linestyle() == "-"
