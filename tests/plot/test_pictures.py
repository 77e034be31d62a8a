"""Pictures: what is drawn, where it is written, and life without matplotlib."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, load_dynamics, load_model
from pyspec.plot import PlotError, plot_data, plot_fit
from pyspec.plot.elements.cells import edges

pytest.importorskip("matplotlib")

ENERGY = np.linspace(20.0, 0.0, 50)
TIME = np.concatenate([np.linspace(-2.0, 0.0, 5), np.geomspace(0.5, 20.0, 15)])
TEXT = """
peak:
  Offset:
    y0: [2.0, True]
  GLP:
    A: [10.0, True, 0, 100]
    x0: [9.0, True]
    F: [2.0, True, 0.1, 9]
    m: [0.3, False]
"""


@pytest.fixture(scope="module")
def fits() -> dict[str, FitResult]:
    model = load_model(TEXT, "peak")
    model.set_axes(energy=ENERGY)
    generator = np.random.default_rng(0)
    one = fit_model(model, Measurement(data=model.evaluate() + generator.normal(0, 0.3, 50)))
    law = "law:\n  expFun:\n    A: [2, True]\n    tau: [5, True, 0.1, 50]\n    t0: [0, False]\n"
    model.add_dynamics("GLP_01_x0", load_dynamics(law, "law", model.parameters["GLP_01_x0"]))
    model.set_axes(energy=ENERGY, time=TIME)
    data = model.evaluate() + generator.normal(0, 0.3, (20, 50))
    two = fit_model(model, Measurement(data=data, rows=(2, 20), columns=(5, 45)))
    two.file_name = "scan"
    return {"1d": one, "2d": two}


@pytest.mark.slow
def test_maps_share_colours_and_the_residual_is_symmetric(
    fits: dict[str, FitResult], tmp_path: Path
) -> None:
    path = tmp_path / "fit.png"
    figure = plot_fit(fits["2d"], save_path=path, energy_label="eV", time_label="ps")
    data, fit, residual, *bars = figure.axes
    meshes = [ax.collections[0] for ax in (data, fit, residual)]
    assert meshes[0].get_clim() == meshes[1].get_clim()
    low, high = meshes[2].get_clim()
    assert low == -high
    assert [ax.get_title(loc="left") for ax in (data, fit, residual)] == [
        "data",
        "fit",
        "residual",
    ]
    assert data.get_xlabel() == "eV"
    assert data.get_ylabel() == "ps"
    assert len(bars) == 2
    assert bars[1].get_xlabel() == "data − fit"  # no σ was declared
    assert "rms = 0.2" in residual.get_title(loc="right")
    assert data.get_xlim()[0] > data.get_xlim()[1]  # as the axis of the data
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]


def test_residual_in_units_of_the_data(fits: dict[str, FitResult]) -> None:
    figure = plot_fit(fits["2d"], residual_unit="rms")
    assert figure.axes[4].get_xlabel() == "(data − fit) / rms"
    with pytest.raises(PlotError, match="the noise of these data was not declared"):
        plot_fit(fits["2d"], residual_unit="sigma")
    figure = plot_fit(fits["1d"], residual_unit="data")
    assert figure.axes[1].get_ylabel() == "data − fit"
    with pytest.raises(PlotError, match="did you mean 'sigma'"):
        plot_fit(fits["2d"], residual_unit="sigmas")


def test_spectrum_has_data_fit_components_and_residual(
    fits: dict[str, FitResult], tmp_path: Path
) -> None:
    figure = plot_fit(fits["1d"], save_path=tmp_path / "fit.pdf", title="a peak")
    above, below = figure.axes
    labels = above.get_legend_handles_labels()[1]
    assert {"data", "fit", "background", "GLP_01"} <= set(labels)
    assert above.get_title(loc="left") == "a peak"
    assert below.get_ylabel() == "data − fit"
    assert (tmp_path / "fit.pdf").is_file()


def test_data_with_window_and_baseline() -> None:
    data = np.random.default_rng(1).normal(size=(20, 50))
    figure = plot_data(data, ENERGY, TIME, rows=(2, 20), columns=(5, 45), baseline=(0, 4))
    assert figure.axes[0].get_legend() is not None
    assert len(plot_data(data[0], ENERGY, columns=(3, 9)).axes) == 1


def test_noise_free_fit_is_drawn() -> None:
    model = load_model(TEXT, "peak")
    model.set_axes(energy=ENERGY)
    result = fit_model(model, Measurement(data=model.evaluate()))
    assert plot_fit(result).axes


def test_cells_of_an_uneven_axis() -> None:
    np.testing.assert_allclose(edges(np.array([0.0, 1.0, 3.0])), [-0.5, 0.5, 2.0, 4.0])
    np.testing.assert_allclose(edges(np.array([5.0])), [4.5, 5.5])


def test_pictures_go_into_axes_and_figures_of_the_caller(
    fits: dict[str, FitResult], tmp_path: Path
) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8))
    left, right = figure.subfigures(1, 2)
    assert plot_fit(fits["2d"], fig=left, save_path=tmp_path / "both.png") is left
    assert len(left.axes) == 5
    assert plot_fit(fits["1d"], fig=right) is right
    assert len(right.axes) == 2
    plain = Figure()
    ax = plain.subplots()
    assert plot_fit(fits["1d"], ax=ax) is plain  # data and fit; the residual needs a second panel
    assert plain.axes == [ax]
    assert {"data", "fit"} <= set(ax.get_legend_handles_labels()[1])
    with pytest.raises(PlotError, match="several panels; give fig="):
        plot_fit(fits["2d"], ax=ax)
    with pytest.raises(PlotError, match="not both"):
        plot_fit(fits["1d"], ax=ax, fig=figure)
    with pytest.raises(PlotError, match="already holds axes"):
        plot_fit(fits["1d"], fig=plain)
    with pytest.raises(PlotError, match="takes matplotlib Axes, not int"):
        plot_fit(fits["1d"], ax=3)


def test_unwritable_picture_leaves_nothing(fits: dict[str, FitResult], tmp_path: Path) -> None:
    with pytest.raises(PlotError, match="nowhere' is missing; create it first"):
        plot_fit(fits["1d"], save_path=tmp_path / "nowhere" / "fit.png")
    with pytest.raises(PlotError, match="no pictures of the kind 'xyz'"):
        plot_fit(fits["1d"], save_path=tmp_path / "fit.xyz")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(
    fits: dict[str, FitResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for result in fits.values():
        with pytest.raises(PlotError, match=r"pip install 'pyspec-fit\[plot\]'"):
            plot_fit(result)
