"""Pictures of free spectra where energies or times are masked: open, not 0."""

import numpy as np
import pytest
from support.pictures import DELAYS, file_of_states, fit_of, states

from pyspec import File
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_amplitudes,
    plot_species,
    plot_svd,
    plot_traces,
)
from pyspec.plot.view import view_of

ENERGY = np.linspace(1.5, 3, 31)
COLUMNS, ROW = slice(8, 11), 45
MASKED = np.isin(np.arange(31), [8, 9, 10])


@pytest.fixture
def file() -> File:
    data = states(ENERGY)
    data[:, COLUMNS] = 40.0  # scattered light
    mask = np.zeros(data.shape, bool)
    mask[:, COLUMNS] = mask[ROW] = mask[3, 20] = True
    return file_of_states(ENERGY, data, mask=mask, units=None)


def long_lines(ax) -> list:
    return [one for one in ax.lines if len(one.get_xdata()) == ENERGY.size]


@pytest.mark.parametrize("name", ["states", "positive"])
def test_free_spectra_are_open_at_masked_energies(file: File, name: str) -> None:
    # They fell to 0 there.
    result = fit_of(file, name)
    figures = [plot_amplitudes(result)]
    if name == "states":
        figures.append(plot_species(result))
    for ax in [ax for figure in figures for ax in figure.axes]:
        lines = long_lines(ax)
        assert len(lines) == 2
        for line in lines:
            assert np.array_equal(np.isnan(line.get_ydata()), MASKED)


def test_the_map_of_the_fit_is_open_where_nothing_was_fitted(file: File) -> None:
    for name, whole in (("states", False), ("states", True), ("line", False)):
        seen = view_of(fit_of(file, name), PlotConfig(full_range=whole))
        open_at = np.isnan(seen.fit)
        where = (ROW, slice(None)) if name == "line" else (slice(None), COLUMNS)
        assert open_at[where].all()
        assert open_at.sum() == (31 if name == "line" else 61 * 3)
    file.set_fit_limits([1.7, 2.9], time_limits=[-0.5, 90])
    seen = view_of(fit_of(file, "states"), PlotConfig(full_range=True))
    assert np.isnan(seen.fit[seen.inside]).any(axis=0).sum() == 3
    # Where nothing is free the model is known at masked points too.
    assert np.isfinite(view_of(fit_of(file, "still"), PlotConfig()).fit).all()


def test_a_masked_trace_says_so(file: File) -> None:
    # It was a line at 0 with an entry of its own.
    result = fit_of(file, "states")
    figure = plot_traces(result, energies=[2.5, ENERGY[9]])
    assert [one.get_text() for one in figure.axes[0].get_legend().get_texts()] == [
        "2.5", "1.95 (masked)",
    ]  # fmt: skip
    curves = [one for one in figure.axes[0].lines if len(one.get_xdata()) >= DELAYS.size]
    assert [np.isnan(one.get_ydata()).all() for one in curves] == [False, False, True, True]
    with pytest.raises(PlotError, match=r"all points at 1\.95 are masked"):
        plot_traces(result, energies=ENERGY[9])
    figure = plot_traces(result, n=30)
    shown = {one.get_text() for one in figure.axes[0].get_legend().get_texts()}
    assert not any("masked" in one for one in shown)


def test_masked_rows_and_columns_are_no_part_of_the_singular_vectors(file: File) -> None:
    # They were 0, which put spikes into the first vectors.
    result = fit_of(file, "states")
    figure = plot_svd(result)
    rows, columns = np.arange(DELAYS.size) != ROW, ~MASKED
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
