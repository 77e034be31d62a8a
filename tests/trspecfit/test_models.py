"""What scripts of trspecfit ask of a model and its components."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import DataError, Model, ModelError, load_dynamics, load_model, load_profile

matplotlib = pytest.importorskip("matplotlib")
import pyspec.trspecfit  # noqa: E402, F401  (it gives a Model these names)

pytestmark = pytest.mark.usefixtures("quick_figures")

TEXT = """
line:
  Offset: {y0: [1.0, True, 0, 10]}
  Shirley: {pShirley: [0.01, False]}
  Gauss: {A: [5.0, True, 0, 50], x0: [85.0, True, 82, 88], SD: [1.0, True, 0.2, 3]}
"""
LAW = "rise: {stepFun: {A: [2.0, True, 0, 5], t0: [0.0, False]}}"
PROFILE = "depth: {pExpDecay: {A: [3.0, True, 0, 9], tau: [2.0, True, 0.1, 9]}}"


def made(time: bool = True) -> Model:
    model = load_model(TEXT, "line")
    if time:
        model.add_dynamics("Gauss_01_A", load_dynamics(LAW + "\n", "rise", "Gauss_01_A"))
    times = np.linspace(-2.0, 2.0, 5) if time else None
    model.set_axes(energy=np.linspace(80.0, 90.0, 41), time=times)
    return model


def test_names_and_places() -> None:
    model = made()
    assert (model.dim, made(time=False).dim) == (2, 1)
    assert model.parameter_names == list(model.parameters)
    component, place = model.find_par_by_name("Gauss_01_x0")
    assert model.components[component].pars[place].name == "Gauss_01_x0"
    assert model.find_par_by_name("Gauss_1_x0") == (None, None)
    assert (model.components[2].comp_name, model.components[2].fct_str) == ("Gauss_01", "Gauss")


def test_values_of_rows_and_components() -> None:
    model, whole = made(), made().evaluate()
    assert model.create_value_1d(4) is None
    assert np.array_equal(model.value_1d, whole[4])
    assert np.array_equal(model.create_value_1d(1, return_1d=1), whole[1])
    model.create_value_1d(4, store_1d=1)
    assert len(model.component_spectra) == 3
    assert np.allclose(sum(model.component_spectra), whole[4], rtol=1e-12)
    model.create_value_2d()
    assert np.array_equal(model.value_2d, whole)
    model.create_value_2d([1, 3])
    assert np.array_equal(model.value_2d, whole[1:3])
    with pytest.raises(DataError, match="times with both axes"):
        made(time=False).create_value_2d()
    with pytest.raises(DataError, match="t_ind True is not a row"):
        model.create_value_1d(True)
    with pytest.raises(DataError, match=r"t_ind is \[3\]; give"):
        model.create_value_2d([3])


def test_pictures_of_a_model(tmp_path: Path) -> None:
    model = made()
    figure = model.plot_1d(4, save_img=-1, save_path=tmp_path)
    assert (tmp_path / "line_1d.png").exists()
    line = figure.axes[0].lines[0]
    assert np.array_equal(line.get_ydata(), model.value_1d)
    figure = model.plot_1d(4, plot_sum=False, y_lim=(0, 12), x_label="energy (eV)")
    assert [line.get_label() for line in figure.axes[0].lines] == ["Offset", "Shirley", "Gauss_01"]
    assert figure.axes[0].get_ylim() == (0, 12)
    model.plot_2d(save_img=1, save_path=tmp_path / "map.png")
    assert (tmp_path / "map.png").exists()
    model.plot_1d(4, save_img=0, save_path=tmp_path / "not.png")
    assert not (tmp_path / "not.png").exists()
    model.plot_1d(4, save_path=tmp_path / "alone.png")
    assert (tmp_path / "alone.png").exists()


def test_a_component_is_drawn_with_the_values_of_its_model() -> None:
    model = made(time=False)
    model.set_values({"Gauss_01_A": 8.0})
    gauss = model.components[2]
    assert gauss.owner is model
    assert gauss.plot().axes[0].lines[0].get_ydata().max() == pytest.approx(8.0)
    assert gauss.value().max() == pytest.approx(8.0)
    assert np.array_equal(gauss.energy, model.energy)
    assert gauss.parent_model is model
    fed = model.components[1].plot(spectrum=np.ones(41)).axes[0].lines[0].get_ydata()
    assert fed[0] == pytest.approx(0.41)
    profile = load_profile(PROFILE + "\n", "depth", "Gauss_01_A")
    model.add_profile("Gauss_01_A", profile)
    model.set_axes(aux=np.linspace(0.0, 5.0, 6))
    assert len(gauss.plot().axes[0].lines) == 6
    model.set_axes(aux=np.linspace(1000.0, 1000.5, 6))  # all curves were "at 1000", and one
    assert len(gauss.plot().axes[0].lines) == 6
    assert len(gauss.plot(plot_every=2, plot_max=2).axes[0].lines) == 2
    assert len(gauss.plot(plot_traces=False).axes[0].lines) == 1
    with pytest.raises(DataError, match="whole numbers from 1"):
        gauss.plot(plot_every=0)
    with pytest.raises(ModelError, match="belongs to no model"):
        profile.components[0].plot()


def test_axes_of_components_are_those_of_their_model() -> None:
    model = made()
    gauss = model.components[2]
    assert np.array_equal(gauss.time, model.time)
    assert (model.aux_axis, gauss.aux_axis) == (None, None)
    model.add_profile("Gauss_01_A", load_profile(PROFILE + "\n", "depth", "Gauss_01_A"))
    model.set_axes(aux=np.linspace(0.0, 5.0, 6))
    assert np.array_equal(model.aux_axis, gauss.aux_axis)
    shirley = model.components[1]
    assert shirley.value(spectrum=np.ones(41))[0] == pytest.approx(0.41)
    alone = load_dynamics(LAW + "\n", "rise", "Gauss_01_A").components[0]
    assert (alone.energy, alone.time, alone.aux_axis) == (None, None, None)


def test_a_graph_in_the_dot_language(capsys: pytest.CaptureFixture[str]) -> None:
    text = made().visualize(rendering="string")
    assert text == capsys.readouterr().out.rstrip("\n")
    assert text.startswith('digraph "line" {')
    assert text.count(" -> ") > 8
    assert "Gauss_01_A_stepFun_01_A" in text
    with pytest.raises(ModelError, match="rendering is graphviz or string"):
        made().visualize(rendering="svg")
