"""Pictures of free spectra where energies or times are masked: open, not 0."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pyspec import File, FitResult, Project
from pyspec.functions.kinetics import populations
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_amplitudes,
    plot_fit,
    plot_species,
    plot_svd,
    plot_traces,
    report,
)
from pyspec.plot.view import view_of

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  chain: {k1: [2, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0, True],
          spectra: {free: energy}}
decays:
  gaussIRF: {SD: [0.15, True, 0.01, 2]}
  expFun: {A: {free: energy, min: 0}, tau: [1, True, 0.01, 100], t0: [0, True]}
  expFun: {A: {free: energy, zero: [[2.6, 3.1]]}, tau: [10, True, 0.1, 100], t0: ["expFun_01_t0"]}
lines:
  Gauss: {A: {free: time}, x0: [1.9, True, 1.5, 3], SD: [0.2, True, 0.05, 1]}
still:
  Offset: {y0: [1, True]}
"""
ENERGY = np.linspace(1.5, 3, 31)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 100, 20)])
COLUMNS, ROW = slice(8, 11), 45
MASKED = np.isin(np.arange(31), [8, 9, 10])


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    K = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    data = populations(TIME - 0.1, K, np.array([1.0, 0]), 0.15) @ spectra
    data += np.random.default_rng(1).normal(0, 0.01, data.shape)
    data[:, COLUMNS] = 40.0  # scattered light
    mask = np.zeros(data.shape, bool)
    mask[:, COLUMNS] = mask[ROW] = mask[3, 20] = True
    project = Project(tmp_path, show_output=False)
    return File(project, data=data, energy=ENERGY, time=TIME, mask=mask)


def fit(file: File, name: str) -> FitResult:
    if name not in file.models:
        file.load_model("models.yaml", name)
    found = file.fit_2d(name)
    assert isinstance(found, FitResult)
    return found


def long_lines(ax) -> list:
    return [one for one in ax.lines if len(one.get_xdata()) == ENERGY.size]


@pytest.mark.parametrize("name", ["chained", "decays"])
def test_free_spectra_are_open_at_masked_energies(file: File, name: str) -> None:
    # They fell to 0 there.
    result = fit(file, name)
    figures = [plot_amplitudes(result)]
    if name == "chained":
        figures.append(plot_species(result))
    for ax in [ax for figure in figures for ax in figure.axes]:
        lines = long_lines(ax)
        assert len(lines) == 2
        for line in lines:
            assert np.array_equal(np.isnan(line.get_ydata()), MASKED)
    for figure in figures:
        plt.close(figure)


def test_what_is_held_at_0_is_drawn_there(file: File) -> None:
    result = fit(file, "decays")
    figure = plot_amplitudes(result)
    assert np.all(long_lines(figure.axes[0])[1].get_ydata()[ENERGY > 2.6] == 0.0)
    plt.close(figure)


def test_the_map_of_the_fit_is_open_where_nothing_was_fitted(file: File) -> None:
    for name, whole in (("chained", False), ("chained", True), ("lines", False)):
        seen = view_of(fit(file, name), PlotConfig(full_range=whole))
        open_at = np.isnan(seen.fit)
        where = (ROW, slice(None)) if name == "lines" else (slice(None), COLUMNS)
        assert open_at[where].all()
        assert open_at.sum() == (31 if name == "lines" else 61 * 3)
    file.set_fit_limits([1.7, 2.9], time_limits=[-0.5, 90])
    seen = view_of(fit(file, "chained"), PlotConfig(full_range=True))
    assert np.isnan(seen.fit[seen.inside]).any(axis=0).sum() == 3
    # Where nothing is free the model is known at masked points too.
    assert np.isfinite(view_of(fit(file, "still"), PlotConfig()).fit).all()


def test_a_masked_trace_says_so(file: File) -> None:
    # It was a line at 0 with an entry of its own.
    result = fit(file, "chained")
    figure = plot_traces(result, energies=[2.5, ENERGY[9]])
    assert [one.get_text() for one in figure.axes[0].get_legend().get_texts()] == [
        "2.5", "1.95 (masked)",
    ]  # fmt: skip
    curves = [one for one in figure.axes[0].lines if len(one.get_xdata()) >= TIME.size]
    assert [np.isnan(one.get_ydata()).all() for one in curves] == [False, False, True, True]
    plt.close(figure)
    with pytest.raises(PlotError, match=r"all points at 1\.95 are masked"):
        plot_traces(result, energies=ENERGY[9])
    figure = plot_traces(result, n=30)
    shown = {one.get_text() for one in figure.axes[0].get_legend().get_texts()}
    assert not any("masked" in one for one in shown)
    plt.close(figure)


def test_masked_rows_and_columns_are_no_part_of_the_singular_vectors(file: File) -> None:
    # They were 0, which put spikes into the first vectors.
    result = fit(file, "chained")
    figure = plot_svd(result)
    rows, columns = np.arange(TIME.size) != ROW, ~MASKED
    data = np.array(result.data, copy=True)
    data[3, 20] = result.fit[3, 20]
    for line, values in ((figure.axes[:3], data), (figure.axes[3:], data - result.fit)):
        left, singular, right = np.linalg.svd(values[np.ix_(rows, columns)], full_matrices=False)
        np.testing.assert_allclose(line[0].lines[0].get_ydata(), singular[:12], rtol=1e-9)
        for ax, kept, vector in ((line[1], rows, left[:, 0]), (line[2], columns, right[0])):
            drawn = ax.lines[0].get_ydata()
            assert np.array_equal(np.isfinite(drawn), kept)
            np.testing.assert_allclose(abs(drawn[kept]), abs(vector), atol=1e-9)
    heading = "masked: 1 time and 3 energies left out, 1 point taken from the fit"
    assert figure.get_suptitle() == heading
    plt.close(figure)


@pytest.mark.slow
def test_a_report_has_no_spikes_at_masked_energies(file: File, tmp_path: Path, monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr(
        "pyspec.plot.figures.stack.draw_waterfall",
        lambda data, energy, names, fit, *args: drawn.append((data, fit)) or plt.figure(),
    )
    report(fit(file, "chained"), tmp_path / "report.html")
    for values in drawn[0]:
        assert np.isnan(values[:, COLUMNS]).all()
    plt.close("all")


@pytest.mark.slow
def test_maps_and_reports_of_masked_fits_are_drawn(file: File, tmp_path: Path) -> None:
    plt.close(plot_fit(fit(file, "lines"), full_range=True))
    report(fit(file, "chained"), tmp_path / "masked.html")
