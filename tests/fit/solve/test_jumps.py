"""Parameters that move a jump over the samples: found from afar, reported as an interval."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_model
from pyspec.executor import make_plan
from pyspec.model import Model, load_dynamics, load_model
from pyspec.plan.places import differences, interval, jump_places

SPECTRUM = """
line:
  Offset: {y0: [1.0, true]}
  GLP: {A: [10.0, true], x0: [5.0, true, 0, 10], F: [1.2, true, 0.1, 5], m: [0.3, false]}
"""
LAWS = """
decay:
  expFun: {A: [1.0, FREE], tau: [4.0, true, 0.1, 100], t0: [ONSET, true, -5, 15]}
step:
  stepFun: {A: [1.0, FREE], t0: [ONSET, true, -5, 15]}
exact:
  gaussIRF: {SD: [0.4, false]}
  stepFun: {A: [1.0, FREE], t0: [ONSET, true, -5, 15]}
box:
  boxCONV: {width: [WIDTH, true, 0.1, 9]}
  expFun: {A: [1.0, FREE], tau: [4.0, true, 0.1, 100], t0: [0.1, false]}
box by formula:
  Box: {w: [WIDTH, true, 0.1, 9]}
  expFun: {A: [1.0, FREE], tau: [4.0, true, 0.1, 100], t0: [0.1, false]}
functions:
  Box: {domain: kernel, parameters: w > 0, formula: "where(abs(d) <= w / 2, 1, 0)"}
"""
ENERGY, TIME = np.linspace(0.0, 10.0, 60), np.linspace(-5.0, 15.0, 81)


def model(law: str, onset: float = 0.0, free: str = "true", width: float = 1.0) -> Model:
    text = LAWS.replace("ONSET", str(onset)).replace("FREE", free).replace("WIDTH", str(width))
    made = load_model(SPECTRUM, "line")
    made.add_dynamics("GLP_01_x0", load_dynamics(text, [law], "GLP_01_x0", -1))
    made.set_axes(energy=ENERGY, time=TIME)
    return made


def data_of(made: Model) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.asarray(made.evaluate("tree", None)) + rng.normal(0.0, 0.1, (TIME.size, ENERGY.size))


@pytest.mark.parametrize(
    ("law", "start"), [("decay", 0.4), ("decay", 5.0), ("step", 1.6), ("step", -2.0)]
)
def test_onset_is_found_from_afar(law: str, start: float) -> None:
    kind = "expFun" if law == "decay" else "stepFun"
    name = f"GLP_01_x0_{kind}_01_t0"
    result = fit_model(model(law, start), Measurement(data=data_of(model(law, 1.63))))
    assert result.success, result.message
    assert result.intervals == {name: (1.5, 1.75)}
    assert result.stderr[name] is None
    assert "lies above 1.5, up to 1.75" in result.message
    for free in result.free_names:
        if free != name:
            assert result.stderr[free] is not None, free
    assert result.values["GLP_01_A"] == pytest.approx(10.0, abs=5 * result.stderr["GLP_01_A"])


def test_a_place_that_the_data_do_not_tell_is_the_middle() -> None:
    """A and t0 of a decay replace one another between two samples."""
    data = data_of(model("decay", 1.63))
    found = [fit_model(model("decay", start), Measurement(data=data)) for start in (1.0, 1.7)]
    for result in found:
        assert result.values["GLP_01_x0_expFun_01_t0"] == 1.625
    a, b = (result.values["GLP_01_x0_expFun_01_A"] for result in found)
    assert a == pytest.approx(b, rel=1e-8)


def test_a_place_that_the_data_tell_is_found() -> None:
    """With its height known, a decay tells its onset between two samples."""
    data = data_of(model("decay", 1.63, free="false"))
    result = fit_model(model("decay", 0.7, free="false"), Measurement(data=data))
    assert result.intervals == {"GLP_01_x0_expFun_01_t0": (1.5, 1.75)}
    assert result.values["GLP_01_x0_expFun_01_t0"] == pytest.approx(1.63, abs=0.03)


def test_width_of_a_box() -> None:
    """A box reads the straight lines between samples: its width has an error as any other. One by
    formula sums over the samples, and is searched for between them."""
    name = "GLP_01_x0_boxCONV_width"
    result = fit_model(model("box", width=1.2), Measurement(data=data_of(model("box", width=3.1))))
    assert result.intervals == {}
    error = result.stderr[name]
    assert abs(result.values[name] - 3.1) < 5 * error < 0.5
    data = data_of(model("box by formula", width=3.1))
    result = fit_model(model("box by formula", width=1.2), Measurement(data=data))
    low, high = result.intervals["GLP_01_x0_Box_w"]
    assert low < 3.1 <= high
    assert high - low == pytest.approx(0.5)


def test_places_and_intervals() -> None:
    plan = make_plan(model("step"))
    places = jump_places(plan)["GLP_01_x0_stepFun_01_t0"]
    np.testing.assert_array_equal(places.at(plan.theta), TIME)
    grid = np.array([0.0, 1.0, 2.0])
    assert interval(grid, 1.0) == (0.0, 1.0)
    assert interval(grid, 1.5) == (1.0, 2.0)
    assert interval(grid, -1.0) == (-np.inf, 0.0)
    assert interval(grid, 3.0) == (2.0, np.inf)
    np.testing.assert_allclose(differences(np.array([0.0, 0.1, 0.3])), [0.0, 0.1, 0.2, 0.3])
