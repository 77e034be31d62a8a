"""Pictures of what is rare: single points, units of 1e-12, large offsets, names with dollars."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.plot import (
    plot_amplitudes,
    plot_data,
    plot_fit,
    plot_waterfall,
)
from pyspec.plot.caption import five_digits
from pyspec.plot.elements.cells import MAX_CELLS, cells, edges, gaps
from pyspec.plot.elements.gaps import gaps_of

MODELS = """
peak:
  Offset: {y0: [3, True]}
  GLP: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], F: [1, True, 0.1, 5], m: [0.3, False]}
lines:
  Gauss: {A: {free: time}, x0: [84.2, True, 82, 86], SD: [0.5, True, 0.05, 5]}
"""
ENERGY = np.linspace(80, 90, 41)
TIME = np.linspace(-1, 5, 13)
DATA = 3 + 18 * np.exp(-((ENERGY - 84.2) ** 2)) * np.linspace(1, 2, 13)[:, None]


def file(tmp_path: Path, data: np.ndarray, **options) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    return File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, **options)


def test_a_value_between_two_gaps_is_a_point(tmp_path: Path) -> None:
    # A line through one point is nothing: it could not be seen.
    mask = np.zeros(DATA.shape, bool)
    mask[[4, 6]] = True
    one = file(tmp_path, DATA, time=TIME, mask=mask)
    one.load_model("models.yaml", "lines")
    result = one.fit_2d("lines")
    figure = plot_amplitudes(result)
    line = next(line for line in figure.axes[0].lines if len(line.get_xdata()) == TIME.size)
    assert (line.get_marker(), line.get_markevery()) == ("o", [5])
    assert len(figure.axes[0].collections) == 2  # the band, and the error of this point


def test_ticks_of_a_large_offset_share_it() -> None:
    # They were written 1.0000000200.
    figure = plot_data(DATA[0] + 1e9, ENERGY)
    figure.draw_without_rendering()
    assert max(len(one.get_text()) for one in figure.axes[0].get_yticklabels()) < 6
    assert figure.axes[0].yaxis.get_offset_text().get_text() == "+1e9"
    figure = plot_data(DATA[0], ENERGY / 1e3 + 1486.6)
    figure.draw_without_rendering()
    assert figure.axes[0].xaxis.get_offset_text().get_text() == ""


def test_dollars_of_a_name_are_no_formula(tmp_path: Path) -> None:
    name = "50$ \\foo{ 3$"
    one = file(tmp_path, DATA[0], name=name)
    one.load_model("models.yaml", "peak")
    figure = plot_fit(one.fit_spectrum("peak"))
    figure.draw_without_rendering()
    title = next(text for text in figure.axes[0].get_children() if "fitted" in str(text))
    assert title.get_text().startswith("peak fitted to " + name.replace("$", r"\$"))


def test_a_long_caption_is_wrapped(tmp_path: Path) -> None:
    # Its end, whether the fit has converged, was cut off.
    one = file(tmp_path, DATA[0], name="a long name of a file that somebody gave " * 4)
    one.load_model("models.yaml", "peak")
    figure = plot_fit(one.fit_spectrum("peak"))
    figure.draw_without_rendering()
    title = next(text for text in figure.axes[0].get_children() if "fitted" in str(text))
    assert title.get_window_extent().x1 <= figure.bbox.x1
    assert title.get_window_extent().y1 <= figure.bbox.y1


def test_large_numbers_have_powers_of_ten() -> None:
    """Captions wrote 6.2214e+05."""
    shown = [five_digits(one) for one in (622141.3, 140867215.9, 3.15149, 0.0, 12345.6, 2.5e-7)]
    assert shown == ["622140", "1.4087 × 10⁸", "3.1515", "0", "12346", "2.5 × 10⁻⁷"]
    assert (five_digits(np.nan), five_digits(np.inf)) == ("nan", "inf")


@pytest.mark.parametrize("turn", [slice(None), slice(None, None, -1)])
def test_no_cell_is_lost_on_a_logarithmic_axis(turn: slice) -> None:
    # The row at 0.1, whose cell begins below zero, was left out.
    time, energy = np.array([-1, 0, 0.1, 1, 10])[turn], np.array([0, 1, 2, 4.0])[turn]
    data = np.arange(20.0).reshape(5, 4)
    ax = plot_data(data, energy, time, y_type="log", x_type="log").axes[0]
    mesh = ax.collections[0]
    np.testing.assert_array_equal(mesh.get_array(), data[time > 0][:, energy > 0])
    assert (np.asarray(mesh.get_coordinates()) > 0).all()
    for at, low, high in ((0.1, *ax.get_ylim()), (1.0, *ax.get_xlim())):
        assert min(low, high) < at


@pytest.mark.parametrize("turn", [slice(None), slice(None, None, -1)])
def test_a_gap_of_an_axis_stays_open(turn: slice) -> None:
    # The cells beside it reached to its middle, as if something had been measured there.
    energy = np.concatenate([np.arange(80, 84, 0.5), np.arange(90, 94, 0.5)])[turn]
    time = np.concatenate([np.arange(0, 3.0), np.arange(30, 34.0)])
    data = np.arange(energy.size * time.size, dtype=float).reshape(time.size, -1)
    ax = plot_data(data, energy, time, y_type="lin", columns=(0, 8), baseline=(0, 3)).axes[0]
    mesh = ax.collections[0]
    across, along = (np.unique(mesh.get_coordinates()[..., k]) for k in (0, 1))
    assert {83.75, 89.75} <= set(across)
    assert {2.5, 29.5} <= set(along)
    shown = np.ma.filled(mesh.get_array(), np.nan)
    assert shown.shape == (8, 17)
    np.testing.assert_array_equal(np.delete(np.delete(shown, 3, 0), 8, 1), data)
    assert np.isnan(shown[3]).all()
    assert np.isnan(shown[:, 8]).all()
    assert ax.patch.get_hatch() is None  # which means masked
    first = [79.75, 83.75] if energy[0] < energy[-1] else [93.75, 89.75]
    frame = next(one for one in ax.lines if len(one.get_xdata()) == 5)
    np.testing.assert_allclose(frame.get_xdata()[:2], first)
    assert [one.get_ydata()[0] for one in ax.lines if len(one.get_xdata()) == 2] == [-0.5, 2.5]


def test_steps_that_grow_are_no_gaps_and_means_end_at_gaps() -> None:
    np.testing.assert_allclose(edges(np.array([-2e-12])), [-3e-12, -1e-12])
    for axis in ([0, 0.1, 0.2, 1, 2, 10, 20, 100, 200], [-100, -1, 0, 1, 2], [0, 0, 5, 5], [1.0]):
        assert not gaps(np.array(axis, dtype=float)).size
    axis = np.concatenate([np.arange(2000.0), np.arange(3000, 5001.0)])
    around, points, values = cells(axis, np.where(axis < 2500, 1.0, 3.0)[None], 1)
    assert around.size - 1 == points.size == values.size <= MAX_CELLS + 2
    assert set(values[0][np.isfinite(values[0])]) == {1.0, 3.0}
    assert np.count_nonzero(np.isnan(values)) == 1
    assert {1999.5, 2999.5} <= set(around)


def test_few_steps_between_times_at_random_are_gaps() -> None:
    """One in ten was wider than three times both beside it, and a grey line in each map."""
    steps = np.random.default_rng(3).exponential(size=10_000)
    assert gaps_of(np.cumsum(steps)).size < 10_000 / 30
    even = np.r_[np.arange(0, 3.0), np.arange(9, 12.0), 30.0, 31.0, 32.0]
    np.testing.assert_array_equal(gaps_of(even), [3, 6])


def test_missing_decades_are_gaps() -> None:
    """On a logarithmic axis the cells beside the hole were drawn over it: its step in time is less
    than three times as long as the next."""
    times = np.r_[np.logspace(-1, 0, 11), np.logspace(1, 3, 21)]
    np.testing.assert_array_equal(gaps_of(times), [11])
    np.testing.assert_array_equal(gaps_of(np.r_[-0.2, -0.1, 0.0, times]), [14])
    np.testing.assert_array_equal(gaps_of(-times), [])
    coarse = np.r_[np.logspace(-1, 1, 5), np.logspace(3, 5, 5)]
    for axis in (times, coarse):
        around, _, values = cells(axis, np.ones((1, axis.size)), 1)
        assert np.all(np.diff(around) > 0)
        assert np.count_nonzero(np.isnan(values)) == 1
        figure = plot_data(np.ones((axis.size, ENERGY.size)), ENERGY, axis, y_type="log")
        assert any(len(one.get_xy()) for one in figure.axes[0].patches)
    for even in (np.logspace(-2, 3, 30), np.arange(100) * 0.1 + 0.001, np.linspace(90, 80, 101)):
        assert not gaps_of(even).size
    delays = [np.arange(-1, 2, 0.1), np.arange(2, 10, 1), np.arange(10, 100, 10), [100, 200, 300]]
    assert not gaps_of(np.concatenate(delays)).size


def test_a_logarithmic_map_leaves_open_what_was_not_measured() -> None:
    """Gaps and points without a value had the lowest colour, as values of zero and below have."""
    energy = np.r_[np.arange(80, 84, 0.5), np.arange(90, 94, 0.5)]
    data = 1.0 + np.arange(3 * energy.size).reshape(3, -1)
    data[1, 2:5] = np.nan, 0.0, -1.0
    figure = plot_data(data, energy, TIME[:3], z_type="log")
    figure.draw_without_rendering()
    (mesh,) = figure.axes[0].collections
    colours = mesh.get_facecolors().reshape(3, energy.size + 1, 4)
    np.testing.assert_array_equal(
        np.argwhere(colours[..., 3] == 0), [[0, 8], [1, 2], [1, 8], [2, 8]]
    )
    lowest = mesh.get_cmap()(0.0)
    np.testing.assert_array_equal(colours[1, 3:5], [lowest, lowest])


def test_no_line_leads_over_a_gap(tmp_path: Path) -> None:
    # It was a straight line, which looked like a measured background.
    energy = np.concatenate([np.arange(80, 84, 0.5), np.arange(90, 94, 0.5)])
    data = (3 + 18 * np.exp(-((energy - 82.2) ** 2))) * np.exp(-TIME / 5)[:, None]
    data = data + np.random.default_rng(0).normal(0, 0.1, data.shape)
    (tmp_path / "models.yaml").write_text(
        MODELS + "law:\n  expFun: {A: {free: energy}, tau: [9, True], t0: [-2, False]}\n"
    )
    project = Project(tmp_path, show_output=False)
    series = File(project, data=data, energy=energy, time=TIME, name="series")
    series.load_model("models.yaml", "law")
    one = File(project, data=data[0], energy=energy, name="one")
    one.load_model("models.yaml", "peak")
    for figure, panel in (
        (plot_data(data[0], energy), 0),
        (plot_amplitudes(series.fit_2d("law")), 0),
        (plot_waterfall(data, energy, TIME), 0),
        (plot_fit(one.fit_spectrum("peak")), 1),
    ):
        lines = [one for one in figure.axes[panel].lines if len(one.get_xdata()) == 17]
        assert lines
        for line in lines:
            assert line.get_xdata()[8] == 86.75
            assert np.isnan(line.get_ydata()[8])
        for fill in figure.axes[panel].collections:
            for path in fill.get_paths():
                x = path.vertices[:, 0]
                assert (x < 84).all() or (x >= 90).all()
