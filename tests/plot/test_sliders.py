"""Sliders: a model beside its data, moved by hand, in a window and in a notebook."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from support.slider_cases import ENERGY, TEXT, TIME, drawn, noisy, one, two

from pyspec import (
    File,
    Measurement,
    Project,
    fit_model,
    load_dynamics,
    load_model,
)
from pyspec.errors import CallError, ModelError
from pyspec.plot import PlotError, plot_sliders

pytest.importorskip("matplotlib").use("agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Any:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


# moving


def test_the_curve_and_the_model_follow_a_slider() -> None:
    model = one()
    sliders = plot_sliders(model, noisy(model), show=False)
    sliders.face.of_names["Gauss_01_x0"].set_val(85.0)
    assert model.parameters["Gauss_01_x0"].value == 85.0 == sliders.values["Gauss_01_x0"]
    x, y = drawn(sliders)
    np.testing.assert_array_equal(x, ENERGY)
    np.testing.assert_allclose(y, model.evaluate(), rtol=1e-12)
    offset, peak = drawn(sliders, "Offset")[1], drawn(sliders, "Gauss_01")[1]
    np.testing.assert_allclose(offset + peak, y, rtol=1e-12)


def test_a_series_shows_a_spectrum_and_a_trace_of_its_own_places() -> None:
    model = two()
    sliders = plot_sliders(model, Measurement(noisy(model), rows=(2, 12)), show=False)
    sliders.face.of_places["row"].set_val(6)
    sliders.face.of_places["column"].set_val(30)
    sliders.face.of_names["Gauss_01_A_expFun_01_tau"].set_val(7.0)
    whole = model.evaluate()
    np.testing.assert_allclose(drawn(sliders)[1], whole[6], rtol=1e-12)
    trace = drawn(sliders, panel=2)
    np.testing.assert_array_equal(trace[0], TIME)
    np.testing.assert_allclose(trace[1], whole[:, 30], rtol=1e-12)
    assert model.parameters["Gauss_01_A_expFun_01_tau"].value == 7.0


def test_masked_columns_do_not_disturb() -> None:
    model = two()
    data = noisy(model)
    mask = np.zeros(data.shape, dtype=bool)
    mask[:, :7] = True
    sliders = plot_sliders(model, Measurement(data, mask=mask), show=False)
    assert sliders.column >= 7
    assert np.isnan(drawn(sliders, "data")[1][:7]).all()


def test_chi_squared_is_that_of_a_fit_there() -> None:
    model = one()
    given = Measurement(noisy(model), columns=(10, 50), weight=np.array([2.0]))
    sliders = plot_sliders(model, given, show=False)
    residual = 2.0 * (given.data - model.evaluate())[10:50]
    assert f"χ² = {residual @ residual:.6g}," in sliders.text()


def test_fixed_parameters_move_too_where_they_are_named() -> None:
    model = two()
    sliders = plot_sliders(model, noisy(model), names=["Gauss_01_A_expFun_01_t0"], show=False)
    assert sliders.names == ("Gauss_01_A_expFun_01_t0",)
    sliders.set_values({"Gauss_01_A_expFun_01_t0": 2.0})
    assert model.parameters["Gauss_01_A_expFun_01_t0"].value == 2.0
    np.testing.assert_allclose(drawn(sliders)[1], model.evaluate()[sliders.row], rtol=1e-12)


def test_followers_follow() -> None:
    text = TEXT.replace(
        "decay:", '  Gauss: {A: ["Gauss_01_A / 2"], x0: [88, True], SD: [1, True]}\ndecay:'
    )
    model = load_model(text, "peak")
    model.set_axes(energy=ENERGY)
    sliders = plot_sliders(model, show=False)
    assert "Gauss_02_A" not in sliders.names
    sliders.set_values({"Gauss_01_A": 40.0})
    assert drawn(sliders, "Gauss_02")[1].max() == pytest.approx(20.0, rel=1e-3)


def test_reset_moves_back() -> None:
    model = one()
    sliders = plot_sliders(model, noisy(model), show=False)
    began = sliders.values
    sliders.set_values({"Gauss_01_x0": 85.5, "Gauss_01_A": 2.0})
    sliders.face.buttons["reset"]._observers.process("clicked", None)
    assert sliders.values == began
    assert sliders.face.of_names["Gauss_01_x0"].val == 84.0


# fitting


def test_the_button_fits_from_where_the_sliders_are() -> None:
    model = one()
    data = noisy(model)
    sliders = plot_sliders(model, data, show=False)
    sliders.set_values({"Gauss_01_x0": 85.0, "Offset_y0": 1.0})
    expected = fit_model(model, Measurement(data))
    sliders.face.buttons["fit"]._observers.process("clicked", None)
    assert sliders.result is not None
    assert sliders.values == {name: expected.values[name] for name in sliders.names}
    assert model.parameters["Gauss_01_x0"].value == expected.values["Gauss_01_x0"]
    np.testing.assert_allclose(drawn(sliders)[1], expected.fit, rtol=1e-12)


def test_a_fit_that_fails_says_so_in_the_picture() -> None:
    model = load_model("m:\n  Gauss: {A: [1, True], x0: [79, True], SD: [1, True]}\n", "m")
    model.set_axes(energy=ENERGY[:2])
    sliders = plot_sliders(model, np.ones(2), show=False)
    sliders.face.buttons["fit"]._observers.process("clicked", None)
    assert "2 points" in sliders.face.text.get_text()
    assert sliders.values == {"Gauss_01_A": 1.0, "Gauss_01_x0": 79.0, "Gauss_01_SD": 1.0}


def test_without_data_there_is_nothing_to_fit() -> None:
    sliders = plot_sliders(one(), show=False)
    assert list(sliders.face.buttons) == ["reset"]
    with pytest.raises(PlotError, match="no data to fit"):
        sliders.fit()


def test_a_slider_reaches_what_a_fit_found() -> None:
    model = load_model("m:\n  Offset: {y0: [1, True]}\n", "m")
    model.set_axes(energy=ENERGY)
    sliders = plot_sliders(model, np.full(ENERGY.size, 1.0), show=False)
    sliders.set_values({"Offset_y0": 77.0})
    assert sliders.face.of_names["Offset_y0"].valmax == 77.0
    assert sliders.face.of_names["Offset_y0"].val == 77.0


def test_free_spectra_are_solved_for_at_each_place_of_the_sliders() -> None:
    text = "m:\n  expFun: {A: {free: energy}, tau: [3, True, 0.1, 50], t0: [0, False]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY, time=TIME)
    spectrum = np.exp(-((ENERGY - 84.0) ** 2))
    data = np.outer(np.where(TIME >= 0, np.exp(-TIME / 5.0), 0.0), spectrum)
    data += np.random.default_rng(0).normal(0.0, 0.01, data.shape)
    sliders = plot_sliders(model, data, show=False)
    assert sliders.names == ("expFun_01_tau",)
    sliders.set_values({"expFun_01_tau": 4.0})
    law = np.where(TIME >= 0, np.exp(-TIME / 4.0), 0.0)
    best = law @ data / (law @ law)
    np.testing.assert_allclose(drawn(sliders)[1], law[sliders.row] * best, rtol=1e-9, atol=1e-12)
    assert sliders.fit().success
    assert model.parameters["expFun_01_tau"].value == pytest.approx(5.0, rel=0.05)
    with pytest.raises(PlotError, match="solved for by data"):
        plot_sliders(model, show=False)


def test_reset_undoes_a_fit_of_parameters_without_a_slider() -> None:
    """They kept what the fit had found, so that the picture was not that of the beginning."""
    model = one()
    began = {name: par.value for name, par in model.parameters.items()}
    sliders = plot_sliders(model, 1.5 * noisy(model), names="Gauss_01_x0", show=False)
    assert sliders.names == ("Gauss_01_x0",)
    sliders.fit()
    assert model.parameters["Gauss_01_A"].value > 25.0
    sliders.reset()
    assert {name: par.value for name, par in model.parameters.items()} == began


# how far they go


@pytest.mark.slow
def test_a_width_does_not_reach_0() -> None:
    """A slider moved to its left end left the model without curves, and without an answer."""
    model = load_model(TEXT.replace("SD: [1, True, 0.1, 5]", "SD: [1, True]"), "peak")
    model.add_dynamics("Gauss_01_A", load_dynamics(TEXT, "decay", "Gauss_01_A"))
    model.set("Gauss_01_A_expFun_01_tau", min=0.0)
    model.set_axes(energy=ENERGY, time=TIME)
    sliders = plot_sliders(model, noisy(model), show=False)
    for name in ("Gauss_01_SD", "Gauss_01_A_expFun_01_tau"):
        low, high = sliders.reaches[name]
        assert 0.0 < low <= high / 1000.0
    slider = sliders.face.of_names["Gauss_01_SD"]
    slider.set_val(slider.valmin)
    assert np.isfinite(drawn(sliders)[1]).all()


def test_sliders_go_along_the_axis_and_end_at_bounds() -> None:
    text = TEXT.replace("x0: [84, True, 82, 86]", "x0: [84, True]").replace("True, 0, 1000", "True")
    model = load_model(text, "peak")
    model.set_axes(energy=ENERGY)
    reach = plot_sliders(model, noisy(model), show=False).reaches
    assert reach["Gauss_01_x0"] == (78.0, 90.0)
    assert reach["Gauss_01_SD"] == (0.1, 5.0)
    assert reach["Gauss_01_A"][0] == 0.0
    assert 36.0 <= reach["Gauss_01_A"][1] <= 100.0
    assert reach["Offset_y0"][0] == 0.0
    assert reach["Offset_y0"][1] <= 100.0
    assert plot_sliders(one(), show=False).reaches["Gauss_01_x0"] == (82.0, 86.0)


@pytest.mark.slow
def test_a_shift_goes_to_both_sides_and_a_phase_around() -> None:
    law = "w:\n  sinFun: {A: [-1, True, -5, 5], f: [0.2, True], phi: [0.3, True], t0: [0, False]}\n"
    model = load_model(TEXT, "peak")
    model.add_dynamics("Gauss_01_x0", load_dynamics(law, "w", "Gauss_01_x0"))
    model.set_axes(energy=ENERGY, time=TIME)
    reach = plot_sliders(model, show=False).reaches
    assert reach["Gauss_01_x0_sinFun_01_A"] == (-5.0, 5.0)
    assert reach["Gauss_01_x0_sinFun_01_phi"] == (-np.pi, np.pi)


@pytest.mark.parametrize("value", [0.0, -5.0, 5.0, 1e9, 1e-9])
def test_the_value_lies_on_its_slider(value: float) -> None:
    model = load_model(
        f"m:\n  Gauss: {{A: [{value}, True], x0: [{value}, True], SD: [1, True]}}\n", "m"
    )
    model.set_axes(energy=ENERGY)
    for low, high in plot_sliders(model, show=False).reaches.values():
        assert low < high
    low, high = plot_sliders(model, show=False).reaches["Gauss_01_x0"]
    assert low <= value <= high


def test_many_parameters_come_in_pages() -> None:
    text = "m:\n" + "".join(
        f"  Gauss: {{A: [5, True], x0: [{80 + k}, True], SD: [1, True]}}\n" for k in range(7)
    )
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    sliders = plot_sliders(model, show=False)
    seen = [[s.ax.get_visible() for s in sliders.face.of_names.values()]]
    sliders.face.buttons["more"]._observers.process("clicked", None)
    seen.append([s.ax.get_visible() for s in sliders.face.of_names.values()])
    assert len(seen[0]) == 21
    assert [a + b for a, b in zip(*seen, strict=True)] == [1] * 21
    assert sum(seen[1]) == 5


# a file


@pytest.mark.slow
def test_the_next_fit_of_a_file_starts_at_the_sliders() -> None:
    model = two()
    project = Project(show_output=False)
    file = File(project, data=noisy(model), energy=ENERGY, time=TIME)
    file.load_model(TEXT, "peak")
    file.add_time_dependence("peak", "Gauss_01_A", TEXT, "decay")
    sliders = file.plot_sliders("peak", show=False)
    sliders.set_values({"Gauss_01_A_expFun_01_tau": 5.0})
    result = file.fit_2d("peak")
    assert result.start["Gauss_01_A_expFun_01_tau"] == 5.0
    found = sliders.fit()
    assert file.get_result(fit_type="2d") is found
    assert found.started_from == "the sliders"
    again = file.plot_sliders("peak", show=False)
    assert again.values["Gauss_01_A_expFun_01_tau"] == found.values["Gauss_01_A_expFun_01_tau"]


def test_the_model_of_a_file_takes_all_that_the_sliders_show() -> None:
    """It took the one that was moved: beside it were values set by hand, which nothing showed."""
    file = File(Project(show_output=0), data=noisy(two()), energy=ENERGY, time=TIME)
    file.load_model(TEXT, "peak")
    file.define_baseline(None, float(TIME[2]))
    file.fit_baseline("peak")
    model = file.select_model("peak")
    model.set_values({"Offset_y0": 5.0})
    sliders = file.plot_sliders("peak", show=False)
    sliders.set_values({"Gauss_01_A": 17.0})
    assert sliders.values["Offset_y0"] != 5.0
    assert {name: model.values[name] for name in sliders.names} == sliders.values
    start = file.fit_2d("peak", seed_source="model").start
    assert {name: start[name] for name in sliders.names} == sliders.values


def test_what_sliders_of_one_spectrum_do_not_show_starts_from_the_model() -> None:
    """It started from what a fit of the series had found, as if that were set by hand."""
    file = File(Project(show_output=0), data=noisy(two()), energy=ENERGY, time=TIME)
    file.load_model(TEXT, "peak")
    file.add_time_dependence("peak", "Gauss_01_A", TEXT, "decay")
    at_first = file.select_model("peak").values["Gauss_01_A_expFun_01_tau"]
    assert file.fit_2d("peak").values["Gauss_01_A_expFun_01_tau"] != at_first
    sliders = file.plot_sliders("peak", time_point=4.0, show=False)
    assert "Gauss_01_A_expFun_01_tau" not in sliders.names
    sliders.set_values({"Gauss_01_A": 17.0})
    start = file.fit_2d("peak", seed_source="model").start
    assert start["Gauss_01_A"] == 17.0
    assert start["Gauss_01_A_expFun_01_tau"] == at_first


def test_one_spectrum_of_a_file() -> None:
    data = noisy(two())
    file = File(Project(show_output=False), data=data, energy=ENERGY, time=TIME)
    file.load_model(TEXT, "peak")
    sliders = file.plot_sliders("peak", time_point=4.0, show=False)
    np.testing.assert_array_equal(drawn(sliders, "data")[1], data[7])
    found = sliders.fit()
    assert found.fit_type == "spectrum"
    assert found.values == file.fit_spectrum("peak", time_point=4.0, seed_source="model").values


def test_titles_are_not_written_twice() -> None:
    """Later titles stood in the middle, beside the first one on the left."""
    sliders = plot_sliders(two(), noisy(two()), show=False)
    sliders.look_at(row=2)
    panel = sliders.figure.axes[0]
    assert panel.get_title(loc="left") == "spectrum at -1"
    assert panel.get_title(loc="center") == ""


def test_a_backend_without_a_display_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    def refuse(**look: Any) -> None:
        raise ImportError("Cannot load backend 'QtAgg'")

    monkeypatch.setattr(pyplot, "figure", refuse)
    with pytest.raises(PlotError, match=r"no window can be opened here; .*QtAgg"):
        plot_sliders(one())


# what is refused


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: plot_sliders("peak", show=False), CallError, "takes a model, not str"),
        (lambda: plot_sliders(one(), names=["Gauss_01_x"], show=False), PlotError, "Gauss_01_x0"),
        (lambda: plot_sliders(one(), names=[], show=False), PlotError, "names is empty"),
        (lambda: plot_sliders(one(), ax=1, show=False), PlotError, "figure of their own"),
        (lambda: plot_sliders(load_model(TEXT, "peak")), PlotError, "has no axes"),
        (lambda: plot_sliders(one()), PlotError, "no window can be opened"),
    ],
)  # fmt: skip
def test_one_clear_error(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_a_value_beyond_its_bounds_moves_nothing() -> None:
    model = one()
    sliders = plot_sliders(model, show=False)
    before = sliders.values
    with pytest.raises(PlotError, match="outside of its bounds, 82 to 86"):
        sliders.set_values({"Gauss_01_A": 5.0, "Gauss_01_x0": 99.0})
    with pytest.raises((PlotError, ModelError), match="no slider"):
        sliders.set_values({"Gauss_01_A": 5.0, "Gauss_01_y0": 1.0})
    assert sliders.values == before
    with pytest.raises(PlotError, match="one spectrum"):
        sliders.look_at(row=1)


# in a notebook


def test_in_a_notebook_the_box_moves_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ipywidgets", reason="needs ipywidgets: pip install 'pyspec[test]'")
    from pyspec.plot import canvas

    monkeypatch.setattr(canvas, "kernel", lambda: object())
    model = two()
    data = noisy(model)
    sliders = plot_sliders(model, data, show=False)
    before = bytes(sliders.face.picture.value)
    sliders.face.of_names["Gauss_01_x0"].value = 85.5
    assert model.parameters["Gauss_01_x0"].value == 85.5
    assert bytes(sliders.face.picture.value) != before
    sliders.face.of_places["row"].value = 3
    np.testing.assert_allclose(drawn(sliders)[1], model.evaluate()[3], rtol=1e-12)
    expected = fit_model(model, Measurement(data))
    sliders.face.buttons["fit"].click()
    assert sliders.face.of_names["Gauss_01_x0"].value == expected.values["Gauss_01_x0"]
    assert sliders.box is not None
    picture = pytest.importorskip("PIL.Image").open(io.BytesIO(sliders.face.picture.value))
    assert picture.size[0] > 600
