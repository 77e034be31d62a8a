"""Pictures: what is drawn, where it is written, and life without matplotlib."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.drawn import width_of
from support.pictures import FALLING as ENERGY
from support.pictures import PAIR, pair

from pyspec.fit import FitResult, fit_model
from pyspec.io import Dataset
from pyspec.model import Measurement, load_model
from pyspec.plot import (
    PlotConfig,
    PlotError,
    plot_components,
    plot_data,
    plot_evolution,
    plot_fit,
    plot_moving,
    plot_overview,
    plot_waterfall,
)
from pyspec.plot.elements.cells import MAX_CELLS, coarse, edges

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def one() -> FitResult:
    return pair()


@pytest.fixture(scope="module")
def two() -> FitResult:
    return pair(two=True)


def test_spectrum_has_data_fit_components_and_residual(one: FitResult, tmp_path: Path) -> None:
    figure = plot_fit(one, save_path=tmp_path / "fit.pdf", title="a peak")
    above, below = figure.axes
    labels = above.get_legend_handles_labels()[1]
    assert {"data", "fit", "background", "GLP_01"} <= set(labels)
    assert above.get_title(loc="left") == "a peak"
    assert below.get_ylabel() == "data − fit"
    assert (tmp_path / "fit.pdf").is_file()


def test_noise_free_fit_is_drawn() -> None:
    model = load_model(PAIR, "pair")
    model.set_axes(energy=ENERGY)
    result = fit_model(model, Measurement(data=model.evaluate()))
    assert plot_fit(result).axes


def test_pictures_go_into_axes_and_figures_of_the_caller(one: FitResult, two: FitResult) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8))
    left, right = figure.subfigures(1, 2)
    assert plot_fit(two, fig=left) is left
    assert len(left.axes) == 5
    assert plot_fit(one, fig=right) is right
    assert len(right.axes) == 2
    plain = Figure()
    ax = plain.subplots()
    assert plot_fit(one, ax=ax) is plain  # data and fit; the residual needs a second panel
    assert plain.axes == [ax]
    assert {"data", "fit"} <= set(ax.get_legend_handles_labels()[1])
    with pytest.raises(PlotError, match="several panels; give fig="):
        plot_fit(two, ax=ax)
    with pytest.raises(PlotError, match="not both"):
        plot_fit(one, ax=ax, fig=figure)
    with pytest.raises(PlotError, match="already holds axes"):
        plot_fit(one, fig=plain)
    with pytest.raises(PlotError, match="takes matplotlib Axes, not int"):
        plot_fit(one, ax=3)


def test_unwritable_picture_leaves_nothing(one: FitResult, tmp_path: Path) -> None:
    with pytest.raises(PlotError, match="nowhere' is missing; create it first"):
        plot_fit(one, save_path=tmp_path / "nowhere" / "fit.png")
    with pytest.raises(PlotError, match="no pictures of the kind 'xyz'"):
        plot_fit(one, save_path=tmp_path / "fit.xyz")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(
    one: FitResult, two: FitResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in (one, two):
        with pytest.raises(PlotError, match=r"pip install 'pyspec-fit\[plot\]'"):
            plot_fit(result)


def test_full_range_draws_more_than_the_window(one: FitResult, two: FitResult) -> None:
    def n_data(result: FitResult, **fields: object) -> int:
        ax = plot_fit(result, **fields).axes[0]
        return next(line for line in ax.lines if line.get_label() == "data").get_xdata().size

    assert n_data(one, full_range=True) == 60
    assert n_data(one) == 45
    assert n_data(one, data_slice=[[10, 20]]) == 10
    whole, window = plot_fit(two, full_range=True), plot_fit(two)
    assert whole.axes[0].collections[0].get_array().shape == (21, 60)
    assert window.axes[0].collections[0].get_array().shape == (19, 45)
    cut = plot_fit(two, data_slice=[[0, 9], [0, 30]])
    assert cut.axes[0].collections[0].get_array().shape == (9, 30)
    with pytest.raises(PlotError, match=r"\[\[row, end\], \[column, end\]\]"):
        plot_fit(two, data_slice=[[0, 9]])
    with pytest.raises(PlotError, match="is empty"):
        plot_fit(two, data_slice=[[9, 9], [0, 30]])


def test_start_is_drawn_unless_switched_off(one: FitResult) -> None:
    def labels(**fields: object) -> list[str]:
        return plot_fit(one, **fields).axes[0].get_legend_handles_labels()[1]

    assert "start" in labels()
    assert "start" not in labels(show_init=False)


def test_fields_reach_the_axes(one: FitResult, two: FitResult) -> None:
    config = PlotConfig(x_lim=(2, 18), vlines=[7.0], ticksize=6.0, title="scan", z_type="log")
    above = plot_fit(one, config=config).axes[0]
    assert above.get_xlim() == (18.0, 2.0)
    assert above.get_yscale() == "log"
    assert above.get_title(loc="left") == "scan"
    figure = plot_fit(two, x_dir="asc", y_dir="rev", z_colorbar="hor", z_lim=(0, 5))
    assert not figure.axes[0].xaxis_inverted()
    assert figure.axes[0].yaxis_inverted()
    assert figure.axes[0].collections[0].get_clim() == (0.0, 5.0)
    assert len(plot_fit(two, z_colorbar="none").axes) == 3
    assert plot_fit(two, z_type="log", y_type="log").axes[0].get_yscale() == "log"
    with pytest.raises(PlotError, match="no field 'colour'"):
        plot_fit(two, colour="red")


def test_waterfall(tmp_path: Path) -> None:
    data = np.random.default_rng(0).normal(size=(30, 60))
    figure = plot_waterfall(data, ENERGY, np.arange(30.0), n=5, unit="ps", fit=data)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["0 ps", "7 ps", "14 ps", "22 ps", "29 ps"]
    bases = [line for line in figure.axes[0].lines if line.get_xdata().size == 2]
    assert len(bases) == 5  # data of both signs stand on their zero
    assert len(figure.axes[0].lines) == 15
    plot_waterfall(data[:3], ENERGY, y_norm=1, y_scale=[1, 2, 3], legend=["a", "b", "c"])
    assert plot_data(data, ENERGY, np.arange(30.0), waterfall=3.0).axes[0].texts
    with pytest.raises(PlotError, match="legend has 1 names for 3"):
        plot_waterfall(data[:3], ENERGY, legend=["a"])
    with pytest.raises(PlotError, match="shape"):
        plot_waterfall(data, ENERGY[:-1])


def test_moving_parameters_have_the_error_of_their_law(two: FitResult) -> None:
    found = two.moving()
    values, errors = found.values, found.stderr
    assert found.time.size == 19
    assert set(values) == {"GLP_01_x0", "GLP_02_x0"}
    np.testing.assert_allclose(values["GLP_01_x0"] - values["GLP_02_x0"], 6.0)
    # Before t = 0 only the base moves it: the band is its standard error.
    error = errors["GLP_01_x0"]
    np.testing.assert_allclose(error[0], two.stderr["GLP_01_x0"], rtol=1e-6)
    assert error[-1] < error[3]
    figure = plot_moving(two, params=["GLP_01_x0"], t_label="ps")
    assert figure.axes[0].get_xlabel() == "ps"
    with pytest.raises(PlotError, match="did you mean 'GLP_01_x0'"):
        plot_moving(two, params=["GLP_01_x"])


def test_what_does_not_move_is_said(one: FitResult, two: FitResult) -> None:
    with pytest.raises(PlotError, match="no parameter moves in the fit of one spectrum"):
        plot_moving(one)
    with pytest.raises(PlotError, match="fit a baseline or one spectrum"):
        plot_components(two)


def test_evolution_of_slices() -> None:
    values = {name: np.arange(8.0) for name in "abcd"}
    values["a"] = np.full(8, np.nan)
    errors = {"b": np.array([0.1] * 7 + [np.nan])}
    figure = plot_evolution(np.arange(8.0), values, errors, y_type="symlog", hlines=[3.0])
    assert len(figure.axes) == 4
    assert len(plot_evolution(np.arange(8.0), {"a": np.ones(8)}).axes) == 1
    for label, title in (
        ("kinetic energy (eV)", "parameters over kinetic energy"),  # was "over time" whatever it is
        ("delay (ps)", "parameters over time"),
        ("", "parameters over time"),
    ):
        figure = plot_evolution(np.arange(8.0), {"a": np.ones(8)}, y_label=label)
        assert title in [text.get_text() for text in figure.texts]
    with pytest.raises(PlotError, match="b has shape"):
        plot_evolution(np.arange(8.0), {"b": np.ones(7)})
    with pytest.raises(PlotError, match="no parameter moves"):
        plot_evolution(np.arange(8.0), {})


def test_a_first_look_at_any_dataset() -> None:
    generator = np.random.default_rng(0)

    def look(names: Any = None, data: Any = None, show: Any = None, **axes: Any) -> Any:
        """The axes of the picture of a dataset with these axes."""
        data = (
            generator.normal(size=[len(axis) for axis in axes.values()]) if data is None else data
        )
        dataset = Dataset(data, tuple(axes), axes, **(names or {}))
        return plot_overview(dataset, **(show or {})).axes

    names = {"labels": {"energy": "BE"}, "units": {"energy": "eV", "time": "ps"}}
    ax = look(names, energy=ENERGY[::-1])[0]
    assert ax.get_xlabel() == "binding energy (eV)"
    assert ax.xaxis_inverted()
    assert len(look(y=np.arange(4), x=np.arange(5), energy=ENERGY)) == 3
    data = generator.normal(size=(4, 8, 60))
    data[1, 2] = np.nan
    far = np.r_[np.arange(4.0), np.arange(20.0, 24.0)]
    place = look(data=data, y=np.arange(4), x=far, energy=ENERGY)[0]
    assert place.patch.get_hatch()  # a gap and a missing place were white, like paper
    assert [width_of(one)[0] for one in place.patches] == [3.5]
    assert place.get_xlim() == (-0.5, 23.5)
    time = np.concatenate([np.linspace(-1, 1, 20), np.geomspace(2, 1000, 20)])
    ax = look(time=time, energy=ENERGY)[0]
    assert ax.get_yscale() == "symlog"
    low, high = ax.collections[0].get_clim()
    assert low == -high
    assert look(show={"y_type": "lin"}, time=time, energy=ENERGY)[0].get_yscale() == "linear"
    assert look(names, time=time)[0].get_xlabel() == "time (ps)"
    ax = look(y=np.arange(4), energy=ENERGY)[0]  # was its mean over the energies, without a band
    assert (ax.get_ylabel(), len(ax.collections)) == ("y", 1)
    angles = {"labels": {"angle": "Y-Scale"}, "units": {"angle": "deg"}}
    angle = np.array([3.0, 1.0, -1.0, -3.0])
    assert look(angles, angle=angle, energy=ENERGY)[0].get_ylabel() == "Y-Scale (deg)"
    assert look(column=np.arange(4), energy=ENERGY)[0].get_xlabel() == "column"


def test_an_axis_of_few_decades_is_labelled_between_them() -> None:
    # Of delays from -5 to 60 only 0 and 10 were labelled.
    def labels(time: Any) -> list[float]:
        ax = plot_data(np.zeros((time.size, 60)), ENERGY, time).axes[0]
        low, high = ax.get_ylim()
        assert not set(ax.get_yticks()) & set(ax.get_yticks(minor=True))
        return [float(tick) for tick in ax.get_yticks() if low <= tick <= high]

    delays = np.concatenate([np.linspace(-5, 3, 33), np.geomspace(3.2, 60, 18)])
    assert labels(delays) == [0.0, 10.0, 20.0, 50.0]
    delays = np.concatenate([np.linspace(-1, 1, 21), np.geomspace(1.2, 2000, 30)])
    assert labels(delays) == [-1.0, 0.0, 1.0, 10.0, 100.0, 1000.0]


def test_large_maps_are_averaged_and_keep_their_borders() -> None:
    axis = np.linspace(0.0, 1.0, 4 * MAX_CELLS)
    values = np.arange(axis.size, dtype=float).reshape(1, -1)
    borders, fewer = coarse(edges(axis), values, 1)
    assert fewer.shape == (1, MAX_CELLS)
    assert borders.size == MAX_CELLS + 1
    assert (borders[0], borders[-1]) == (edges(axis)[0], edges(axis)[-1])
    np.testing.assert_allclose(fewer[0, :2], [1.5, 5.5])
