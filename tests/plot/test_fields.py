"""Fields of pictures that had no effect on some of them."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pyspec import File, Project
from pyspec.plot import (
    plot_amplitudes,
    plot_data,
    plot_residuals,
    plot_species,
    plot_traces,
    plot_waterfall,
)

ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-1, 8, 19)
MODELS = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True, 0, 100], x0: [84.2, True], SD: [0.7, True, 0.1, 5]}
lines:
  Gauss: {A: {free: time}, x0: [84.2, True, 82, 86], SD: [0.7, True, 0.1, 5]}
spectra:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
"""
DATA = 18 * np.exp(-((ENERGY - 84.2) ** 2)) * np.where(TIME > 0, np.exp(-TIME / 4), 0)[:, None]
DATA = DATA + np.random.default_rng(0).normal(0, 0.2, DATA.shape)


def fitted(tmp_path: Path, name: str):
    (tmp_path / "models.yaml").write_text(MODELS)
    file = File(Project(tmp_path, show_output=False), data=DATA, energy=ENERGY, time=TIME)
    file.load_model("models.yaml", name)
    return file.fit_spectrum(name, time_point=1) if name == "peak" else file.fit_2d(name)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def upright(ax) -> list[float]:
    """Where vertical lines stand."""
    return [one.get_xdata()[0] for one in ax.lines if len(set(one.get_xdata())) == 1]


def test_lines_and_limits_of_amplitudes(tmp_path: Path) -> None:
    fields = {"vlines": [84.5], "hlines": [2.5], "z_lim": (-4, 7)}
    for draw, name, places in (
        (plot_amplitudes, "spectra", [84.5]),
        (plot_amplitudes, "lines", [2.5]),  # over time, as the lines of a map
        (plot_species, "chained", [84.5]),
    ):
        for ax in draw(fitted(tmp_path, name), **fields).axes:
            assert upright(ax) == places
            assert ax.get_ylim() == (-4, 7)


def test_lines_names_and_scale_of_traces(tmp_path: Path) -> None:
    figure = plot_traces(
        fitted(tmp_path, "spectra"), energies=[84, 88], hlines=[2.5], legend=["top"], z_type="log"
    )
    for ax in figure.axes:
        assert upright(ax) == [2.5]
    above = figure.axes[0]
    assert [text.get_text() for text in above.get_legend().texts] == ["top", "88"]
    assert above.get_yscale() == "log"
    marks = [one for one in above.lines if one.get_marker() == "v"]
    assert [one.get_xdata().size for one in marks] == [
        np.count_nonzero(DATA[:, k] <= 0) for k in (16, 32)
    ]
    figure.draw_without_rendering()


def test_title_and_limits_of_residuals(tmp_path: Path) -> None:
    one, two = fitted(tmp_path, "peak"), fitted(tmp_path, "spectra")
    figure = plot_residuals([one, one], title="both", z_lim=(-3, 40))
    assert figure.get_suptitle() == "both"
    assert [ax.get_ylim() for ax in figure.axes[:2]] == [(-3, 40)] * 2
    assert plot_residuals([two, two], title="both").get_suptitle() == "both"


def test_part_of_the_spectrum_of_a_model(tmp_path: Path) -> None:
    model = fitted(tmp_path, "peak").model
    ax = model.plot_1d(data_slice=[[5, 20]]).axes[0]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), ENERGY[5:20])
    assert ax.get_xlim() == (ENERGY[5], ENERGY[19])


def test_values_without_a_place_on_a_logarithmic_axis_are_marked() -> None:
    # Lines fell to the edge of the picture at each of them.
    data = np.where(np.arange(41) % 5 == 0, -1.0, 20 + ENERGY)
    ax = plot_data(data, ENERGY, z_type="log").axes[0]
    assert np.isnan(ax.lines[0].get_ydata()).sum() == 9
    (mark,) = [one for one in ax.lines if one.get_marker() == "v"]
    np.testing.assert_array_equal(mark.get_xdata(), ENERGY[::5])
    assert [text.get_text() for text in ax.get_legend().texts] == ["0 or below"]
    assert plot_data(data, ENERGY).axes[0].get_legend() is None


def test_the_name_of_a_masked_spectrum_stands_at_its_fit() -> None:
    # It stood at zero, among the names of other spectra.
    data = 50 + DATA[:3]
    fit = data.copy()
    data[1] = np.nan
    for drawn in (None, fit):
        (ax,) = plot_waterfall(data, ENERGY, fit=drawn, waterfall=10, y_norm=0).axes
        places = [text.xy[1] for text in ax.texts]
        assert places[1] == pytest.approx(60, abs=1)
    plot_waterfall(data, ENERGY, y_norm=1)  # warned of a slice without values


def test_names_of_spectra_stand_where_the_picture_ends() -> None:
    data = np.linspace(0, 100, 41) * np.ones((3, 1))
    for fields, level in (({"x_lim": (80, 85)}, 50), ({"x_lim": (80, 85), "x_dir": "rev"}, 0)):
        (ax,) = plot_waterfall(data, ENERGY, waterfall=7, **fields).axes
        assert [text.xy[1] for text in ax.texts] == [level, level + 7, level + 14]
