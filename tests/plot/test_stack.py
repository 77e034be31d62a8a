"""Spectra above each other, and parameters over time: spikes, and curves between the samples."""

from pathlib import Path

import numpy as np
import pytest
from support.pictures import MODELS

from pyspec import File, Project
from pyspec.plot import PlotConfig, PlotError, plot_data, plot_moving, plot_waterfall
from pyspec.plot.elements.fine_curve import moving_of, spectra_of
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.view import view_of

ENERGY = np.concatenate(
    [np.linspace(80, 83, 7), np.linspace(83.5, 85.1, 9), np.linspace(86, 90, 6)]
)
TIME = np.concatenate([np.linspace(-2, -0.5, 4), np.linspace(0, 2, 9), [5, 10, 50]])
LAWS = """
shift:
  expFun: {A: [0.5, True, -5, 100], tau: [4, True, 0.1, 100], t0: [0.1, True, -1, 1]}
sampled:
  gaussCONV: {SD: [0.6, False]}
  expFun: {A: [0.5, True, -5, 100], tau: [4, True, 0.1, 100], t0: [0, True, -1, 1]}
"""


def made(tmp_path: Path, law: str = "shift", name: str = "peak", **options) -> File:
    (tmp_path / "models.yaml").write_text(MODELS + LAWS)
    place = 84.2 + 0.5 * np.where(TIME >= 0.1, np.exp(-(TIME - 0.1) / 4), 0)[:, None]
    data = 3 * (name == "peak") + 18 * np.exp(-((ENERGY - place) ** 2) / 0.5)
    data = data + np.random.default_rng(1).normal(0, 0.1, data.shape)
    file = File(
        Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME, **options
    )
    file.load_model("models.yaml", name)
    if name == "peak" and law:
        file.add_time_dependence("peak", "Gauss_01_x0", "models.yaml", law)
    return file


def spectra(size: int = 60, n: int = 6) -> np.ndarray:
    x = np.linspace(0, 10, size)
    return 5 + 20 * np.exp(-((x - 5) ** 2)) * np.linspace(1, 0.5, n)[:, None]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_spike_does_not_set_the_distance_of_spectra(sign: int) -> None:
    # One cosmic ray of 1e5 made flat lines of all spectra.
    plain = spectra()
    (ax,) = plot_waterfall(plain, np.arange(60.0)).axes
    before, label = ax.get_ylim(), ax.get_ylabel()
    data = plain.copy()
    data[2, 40] = sign * 1e5
    (ax,) = plot_waterfall(data, np.arange(60.0)).axes
    assert ax.get_ylabel() == label
    assert ax.get_ylim() == pytest.approx(before, rel=0.02)
    marks = [line for line in ax.lines if line.get_marker() == ("^" if sign > 0 else "v")]
    assert [line.get_xdata().tolist() for line in marks] == [[40.0]]


def test_a_spike_does_not_set_the_colours_of_a_small_map() -> None:
    # Of 360 points the quantile of 0.1 % was a part of the spike itself.
    data = spectra()
    data[2, 40] = -1e5
    mesh = plot_data(data, np.arange(60.0), np.arange(6.0)).axes[0].collections[0]
    assert mesh.get_clim() == pytest.approx((5, 25), abs=0.5)
    assert mesh.get_cmap().name == "viridis"


def test_narrow_lines_and_a_large_spectrum_are_no_spikes() -> None:
    lines = np.full((6, 60), 0.01) + np.random.default_rng(0).normal(0, 1e-3, (6, 60))
    lines[:, 30] = 50.0
    (ax,) = plot_waterfall(lines, np.arange(60.0)).axes
    assert "shifted by 30 each" in ax.get_ylabel()
    large = spectra()
    large[0] *= 40
    (ax,) = plot_waterfall(large, np.arange(60.0)).axes
    assert ax.get_ylim()[1] > 0.98 * large.max()
    assert not any(line.get_marker() in "^v" for line in ax.lines if line.get_marker() != "")
    alone = np.zeros((4, 60))
    alone[1, 7] = 2.0  # all there is
    (ax,) = plot_waterfall(alone, np.arange(60.0)).axes
    assert "shifted by 1.2 each" in ax.get_ylabel()
    (ax,) = plot_waterfall(1000 * lines, np.arange(60.0)).axes
    assert "shifted by 30000 each" in ax.get_ylabel()  # and not by 3e+04


def test_spectra_of_data_have_times_with_their_unit(tmp_path: Path) -> None:
    # They were "2" and "-2", where those of fits are "2 ps" and "−2 ps"; a short legend was taken.
    file = made(tmp_path, units={"time": "ps"})
    names = [text.get_text() for text in file.plot_data(waterfall=5).axes[0].texts]
    assert names[0] == "−2 ps"
    assert names[-1] == "50 ps"
    with pytest.raises(PlotError, match="legend has 1 names for 12 spectra"):
        file.plot_data(waterfall=5, legend=["one"])
    with pytest.raises(PlotError, match="this fit has one spectrum"):
        plot_stack(file.fit_spectrum("peak", time_point=1))
    with pytest.raises(PlotError, match="no spectrum is named; give numbers from 0 to 15"):
        plot_stack(file.fit_slice_by_slice("peak"), rows=[])
    # A config with names of peaks, such as project.yaml, stopped these pictures.
    peaks = PlotConfig(legend=["bulk", "surface"])
    found = file.fit_slice_by_slice("peak")
    for figure in (
        file.plot_data(config=peaks, waterfall=5),
        plot_waterfall(file.data, file.energy, file.time, unit="ps", config=peaks),
        plot_stack(found, config=peaks),
    ):
        assert figure.axes[0].texts[0].get_text() == "−2 ps"


@pytest.mark.parametrize(("law", "name"), [("shift", "peak"), ("sampled", "peak"), ("", "lines")])
def test_spectra_of_a_series_are_drawn_between_the_samples(tmp_path: Path, law, name) -> None:
    # The report drew straight lines from sample to sample, which cut off the tops of peaks.
    file = made(tmp_path, law, name)
    file.set_fit_limits([80.5, 89], time_limits=[-1.6, 20])
    result = file.fit_2d(name)
    seen = view_of(result, PlotConfig(data_slice=[[2, 12], [1, 15]]))
    rows = np.array([0, 4, 9])
    x, found = spectra_of(result, seen, rows)
    assert x.size > 300
    whole = result.predict(energy=x)
    at = [int(np.flatnonzero(whole.time == seen.time[row])[0]) for row in rows]
    np.testing.assert_allclose(found, whole.value[at], atol=1e-9)


def test_masked_points_of_slices_are_open(tmp_path: Path) -> None:
    # They were drawn as if they counted.
    mask = np.zeros((TIME.size, ENERGY.size), bool)
    mask[:, 3] = True
    file = made(tmp_path, "", mask=mask)
    ax = plot_stack(file.fit_slice_by_slice("peak"), rows=[0, 4]).axes[0]
    data = [line.get_ydata() for line in ax.lines if line.get_xdata().size == ENERGY.size]
    assert [np.flatnonzero(np.isnan(one)).tolist() for one in data] == [[3], [3]]


@pytest.mark.parametrize("law", ["shift", "sampled"])
def test_parameters_move_between_the_samples(tmp_path: Path, law: str) -> None:
    # A decay was a polygon, its onset a slope from one sample to the next.
    result = made(tmp_path, law).fit_2d("peak")
    own, fine = moving_of(result)
    if law == "sampled":  # what a kernel does is known at the samples alone
        assert fine is own
        return
    name = "Gauss_01_x0"
    assert fine.time.size > 300
    at = np.searchsorted(fine.time, own.time)
    np.testing.assert_allclose(fine.values[name][at], own.values[name], atol=1e-9)
    t = result.values
    law_of = [t[f"{name}_expFun_01_{one}"] for one in ("A", "tau", "t0")]
    expected = t[name] + np.where(
        fine.time >= law_of[2], law_of[0] * np.exp(-(fine.time - law_of[2]) / law_of[1]), 0
    )
    np.testing.assert_allclose(fine.values[name], expected, atol=1e-6)
    ax = plot_moving(result, params=[name]).axes[0]
    assert ax.lines[0].get_xdata().size == fine.time.size
    low, high = ax.get_ylim()
    assert high - low < 2 * np.ptp(fine.values[name])  # the band at the jump does not set it
