"""Traces at some energies, and spectra at some times, with their fits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, FitResult, Project
from pyspec.functions.response import expFun_gaussIRF
from pyspec.plot import PlotError, plot_spectra, plot_traces
from pyspec.plot.elements.labels import place_text

MODELS = """
decay:
  gaussIRF: {SD: [0.2, True, 0.01, 2]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 100], t0: [0, True]}
lone:
  Offset: {y0: [1, True]}
line:
  Gauss: {A: [3, True, 0, 100], x0: [2.07, False], SD: [0.03, False]}
"""
ENERGY = np.linspace(1.5, 3, 31)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)])


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    data = np.outer(
        expFun_gaussIRF(TIME, 1, 3.0, 0.1, 0.25), np.exp(-(((ENERGY - 2.1) / 0.2) ** 2))
    )
    data += np.random.default_rng(1).normal(0, 0.01, data.shape)
    data[3, 12] = np.nan
    return File(
        Project(tmp_path, show_output=False), data=np.ma.masked_invalid(data), energy=ENERGY,
        time=TIME, units={"energy": "eV", "time": "ps"},
    )  # fmt: skip


def fit(file: File) -> FitResult:
    file.load_model("models.yaml", "decay")
    found = file.fit_2d("decay")
    assert isinstance(found, FitResult)
    return found


@pytest.mark.parametrize("draw", [plot_traces, plot_spectra])
def test_data_fit_and_residual_of_the_nearest_places(file: File, tmp_path: Path, draw: Any) -> None:
    result, save = fit(file), {"save_path": tmp_path / "traces.png"}
    data, model = np.ma.filled(np.ma.asarray(result.data), np.nan), result.fit
    if draw is plot_traces:
        axis, along, asked, data, model = ENERGY, TIME, [2.11, 1.52], data.T, model.T
        figure = plot_traces(result, energies=asked, **save)
    else:
        axis, along, asked = TIME, ENERGY, [-0.7, 12.0]
        figure = plot_spectra(result, times=asked, hlines=[0.4], **save)
    above, below = figure.axes
    places = [int(np.argmin(np.abs(axis - wanted))) for wanted in asked]
    lines = [line for line in above.lines if len(line.get_xdata()) >= along.size - 1]
    for k, place in enumerate(places):
        points, curve = lines[2 * k : 2 * k + 2]
        known = np.isin(along, points.get_xdata()[np.isfinite(points.get_ydata())])
        assert np.array_equal(known, np.isfinite(data[place]))  # the masked point is left out
        at = np.searchsorted(points.get_xdata(), along[known])
        assert np.array_equal(points.get_ydata()[at], data[place][known])
        at = np.searchsorted(curve.get_xdata(), along)
        assert np.array_equal(curve.get_xdata()[at], along)
        assert np.allclose(curve.get_ydata()[at], model[place], rtol=0, atol=1e-9)
        rest = below.lines[k].get_ydata()
        assert np.allclose(rest[known], (data[place] - model[place])[known])
    texts = [text.get_text() for text in above.get_legend().get_texts()]
    assert texts == [f"{axis[place]:.5g}" for place in places]
    titles = above.get_legend().get_title().get_text(), below.get_xlabel(), above.get_xscale()
    assert titles == (
        ("energy (eV)", "time (ps)", "symlog")
        if draw is plot_traces
        else ("time (ps)", "energy (eV)", "linear")
    )
    assert (tmp_path / "traces.png").stat().st_size > 10_000


def test_a_spike_does_not_take_the_places_of_other_traces(file: File) -> None:
    data = np.nan_to_num(np.ma.filled(np.ma.asarray(file.data), 0.0))
    data[7, 28] = 1e4
    spiky = File(Project(file.project.path, show_output=False), data=data, energy=ENERGY, time=TIME)
    figure = plot_traces(fit(spiky), n=3)
    chosen = [float(text.get_text()) for text in figure.axes[0].get_legend().get_texts()]
    assert len(chosen) == 3
    assert chosen[-1] == pytest.approx(ENERGY[28])
    assert min(abs(energy - 2.1) for energy in chosen) < 0.06


def test_without_energies_those_are_drawn_at_which_the_data_change(file: File) -> None:
    figure = plot_traces(fit(file), n=3, y_type="lin")
    chosen = [float(text.get_text()) for text in figure.axes[0].get_legend().get_texts()]
    assert chosen == sorted(chosen)
    assert len(chosen) == 3
    assert min(abs(energy - 2.1) for energy in chosen) < 0.06
    assert np.diff(chosen).min() > 0.49 / 6  # the line changes from 1.86 to 2.34
    assert max(abs(energy - 2.1) for energy in chosen) < 0.25  # beside it is only noise
    assert figure.axes[0].get_xscale() == "linear"


def test_neighbours_of_any_axis_have_names_of_their_own(file: File) -> None:
    """Kinetic energies of 1486.6 eV and 1486.65 eV were both 1486.6 eV."""
    energy, time = ENERGY + 1485.0, TIME + 1e6
    data = np.nan_to_num(np.ma.filled(np.ma.asarray(file.data), 0.0))
    far = File(file.project, name="far", data=data, energy=energy, time=TIME)
    legend = plot_traces(fit(far), energies=energy[2:4], y_type="lin").axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["1486.6", "1486.65"]
    assert [place_text(one, time) for one in time[10:12]] == ["1000000", "1000000.1"]
    assert place_text(5.0, [5.0]) == place_text(5.0, [5.0, 5.0]) == "5"
    assert place_text(1e-17, np.linspace(-1, 1, 21)) == "0"
    assert place_text(2 / 3, np.linspace(0, 1, 31)) == "0.66667"


def test_without_times_spectra_are_evenly_spaced_over_the_rows(file: File) -> None:
    texts = plot_spectra(fit(file), n=3).axes[0].get_legend().get_texts()
    assert [text.get_text() for text in texts] == [f"{TIME[row]:.5g}" for row in (20, 40, 60)]


def test_what_cannot_be_drawn_is_said(file: File) -> None:
    result = fit(file)
    with pytest.raises(PlotError, match="no trace at 4"):
        plot_traces(result, energies=4.0)
    for times in (-2.0, 200.0):  # an end is at most a step away, however long others are
        with pytest.raises(PlotError, match=f"no spectrum at {times:g}: .* -1 to 100"):
            plot_spectra(result, times=times)
    with pytest.raises(PlotError, match="how many traces to draw, 1 or more"):
        plot_traces(result, n=0)
    with pytest.raises(PlotError, match="how many spectra to draw, 1 or more"):
        plot_spectra(result, n=0)
    with pytest.raises(PlotError, match="times is empty; name some"):
        plot_spectra(result, times=[])
    file.load_model("models.yaml", "lone")
    one = file.fit_spectrum("lone", time_point=1.0)
    for draw in (plot_traces, plot_spectra):
        with pytest.raises(PlotError, match="one spectrum"):
            draw(one)
