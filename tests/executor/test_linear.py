"""Models with free amplitudes: parts that move or stand still beside them, what is refused, and how
values are given."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from support.agreement import check_slopes

from pyspec import DataError, Measurement, Model, ModelError, PlanError, load_dynamics
from pyspec import components as c
from pyspec.executor import BACKENDS, make_executor
from pyspec.functions.losses import deviance
from pyspec.model import load_model, load_profile

ENERGY, TIME = np.linspace(80.0, 90.0, 31), np.linspace(-2.0, 6.0, 17)

#: A line whose trace is free, beside what has none.
TEXT = """
still:
  Offset: {{y0: [2, True]}}
  Gauss: {{A: {0}, x0: [84, True], SD: [0.8, True]}}
moving:
  Offset: {{y0: [2, True]}}
  Gauss: {{A: [3, True], x0: [86, True], SD: [1, False]}}
  Gauss: {{A: {0}, x0: ["Gauss_01_x0 - 2"], SD: [0.8, True]}}
fed:
  Offset: {{y0: [2, True]}}
  Shirley: {{pShirley: [0.05, True]}}
  Gauss: {{A: [3, True], x0: [86, True], SD: [1, False]}}
  Gauss: {{A: {0}, x0: [84, True], SD: [0.8, True]}}
deep:
  Gauss: {{A: {0}, x0: [84, True], SD: [0.8, True]}}
  Gauss: {{A: {0}, x0: [86, True], SD: [1, False]}}
"""
LAW = "law: {stepFun: {A: [0.5, True], t0: [0.1, False]}}\n"
DEPTH = "depth: {pExpDecay: {A: [1.5, True], tau: [2.0, True]}}\n"


def made(name: str, amplitude: str = "{free: time}") -> Model:
    model = load_model(TEXT.format(amplitude), name)
    model.set_axes(energy=ENERGY, time=TIME)
    if name in ("moving", "fed"):
        model.add_dynamics("Gauss_01_x0", load_dynamics(LAW, "law", "Gauss_01_x0"))
    if name == "deep":
        model.add_profile("Gauss_01_x0", load_profile(DEPTH, "depth", "Gauss_01_x0"))
        model.set_axes(aux=np.linspace(0.0, 3.0, 4))
    return model


@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree"])
@pytest.mark.parametrize("name", ["still", "moving", "fed", "deep"])
def test_without_data_each_amplitude_is_one(name: str, backend: str) -> None:
    model, plain = made(name), made(name, "[1, False]")
    if name == "still":
        plain.set_axes(time=TIME)
        plain.add_dynamics("Offset_y0", load_dynamics("law: {none: {}}\n", "law", "Offset_y0"))
    for window in ({}, {"rows": (2, 9), "columns": (3, 30)}):
        measurement = Measurement(**window)  # type: ignore[arg-type]
        found = make_executor(model, measurement, backend).run(None)
        expected = make_executor(plain, measurement, backend).run(None)
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["still", "moving", "fed", "deep"])
def test_derivatives_are_those_of_the_residual(name: str) -> None:
    model = made(name)
    data = np.random.default_rng(3).normal(5.0, 1.0, (TIME.size, ENERGY.size))
    check_slopes(model, 1e-6, step=1e-5, halvings=0, data=data, rows=(1, 15))


def test_values_by_name_by_place_and_those_of_the_model() -> None:
    model = made("still")
    model.set("Gauss_01_SD", vary=False)
    data = np.random.default_rng(3).normal(5.0, 1.0, (TIME.size, ENERGY.size))
    executor = make_executor(model, Measurement(data))
    first = np.array(executor.residual(None))
    assert executor.residual({"Gauss_01_x0": 84.0}).tobytes() == first.tobytes()
    assert executor.residual(model.theta(), [0.8]).tobytes() == first.tobytes()
    assert executor.residual(None, {"Gauss_01_SD": 0.8}).tobytes() == first.tobytes()
    assert np.abs(executor.residual({"Gauss_01_x0": 85.0}) - first).max() > 1e-3
    executor.rest()
    assert executor.residual(None).tobytes() == first.tobytes()
    with pytest.raises(PlanError, match="'Gauss_01_A' is not a fixed parameter"):
        executor.run(None, {"Gauss_01_A": 1.0})
    with pytest.raises(PlanError, match=r"fixed values have shape \(2,\), expected \(1,\)"):
        executor.run(None, [1.0, 2.0])
    with pytest.raises(PlanError, match=r"free values have shape \(1,\), expected \(2,\)"):
        executor.run([84.0])


def test_amplitudes_held_at_zero_are_left_out_of_a_model_without_data() -> None:
    model = made("still", "{free: time, zero: [[-2, 0]]}")
    found = np.asarray(make_executor(model).run(None))
    np.testing.assert_array_equal(found[TIME <= 0.0], 2.0)
    assert (found[TIME > 0.0].max(axis=1) > 2.9).all()


def test_what_cannot_be_asked() -> None:
    executor: Any = make_executor(made("still"))
    with pytest.raises(DataError, match="free amplitudes need data; give the measurement some"):
        executor.residual(None)
    with pytest.raises(PlanError, match="still: Python solves for the free amplitudes"):
        executor.parts().__enter__()
    with pytest.raises(TypeError, match="is made again, not pickled"):
        pickle.dumps(executor)
    executor.rest()
    with pytest.raises(ModelError, match="still: has free amplitudes, which executors do not comp"):
        make_executor(made("still"), None, "compare")
    assert "compare" in BACKENDS
    one = Model("m", [c.Gauss(c.free("time"), 84, 1)])
    one.set_axes(energy=ENERGY)
    with pytest.raises(ModelError, match="free along time need an energy and a time axis; call"):
        make_executor(one)
    many: list[Any] = [c.Gauss(c.free("time"), 80 + k / 4, 1) for k in range(33)]
    crowd = Model("crowd", many)
    crowd.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(
        ModelError, match=r"crowd: has 33 free amplitudes; .* at most can be solved"
    ):
        make_executor(crowd)


def test_counts_leave_the_signed_root_of_the_deviance() -> None:
    data = np.random.default_rng(3).poisson(4.0, (TIME.size, ENERGY.size)).astype(float)
    executor: Any = make_executor(made("still"), Measurement(data, loss="poisson"))
    found = executor.residual(None)
    expected = deviance(data, executor.run(None), 1.0).ravel()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    rested = executor.normal(None, None, "value")[0]
    assert rested == pytest.approx(np.sum(found**2), rel=1e-12)
    model = executor.run(None)
    line = model - model[:, :1]  # beside an offset of 2 the line is 0 at the first energy
    for share in (-1e-3, 1e-3):
        assert rested < np.sum(deviance(data, model + share * line, 1.0) ** 2) < 1.01 * rested


def test_basis_functions_are_known_elsewhere_where_no_part_reads_the_samples() -> None:
    x = np.array([83.2, 84.0, 99.0])
    executor: Any = make_executor(made("still"))
    design, axis = executor.elsewhere(None, None, x)
    np.testing.assert_array_equal(axis, x)
    np.testing.assert_allclose(
        design.basis[0, 0], np.exp(-(((x - 84.0) / 0.8) ** 2) / 2), rtol=1e-13
    )
    executor = make_executor(made("fed"))
    with pytest.raises(DataError, match="fed: reads the samples of the data, or moves in time"):
        executor.elsewhere(None, None, x)


DECAYS = """
decays:
  gaussIRF: {{SD: [0.25{0}, True, 0.01{0}, 2{0}]}}
  expFun: {{A: {{free: energy}}, tau: [1.3{0}, True, 0.1{0}, 10{0}], t0: [0, True]}}
  expFun: {{A: {{free: energy}}, tau: [9{0}, True, 1{0}, 100{0}], t0: ["expFun_01_t0"]}}
"""


@pytest.mark.parametrize("unit", ["", "e-9", "e-12"])
def test_differences_count_in_the_sizes_of_the_parameters(unit: str) -> None:
    """Steps of 6e-9 used to be taken at least: in seconds such derivatives were NaN."""
    model = load_model(DECAYS.format(unit), "decays")
    model.set_axes(energy=ENERGY, time=TIME * float(f"1{unit}"))
    data = np.random.default_rng(3).normal(5.0, 1.0, (TIME.size, ENERGY.size))
    exact, found = (
        make_executor(model, Measurement(data), backend).jacobian(None)
        for backend in ("compiled", "interpreted")
    )
    for one, other in zip(exact, found, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-8 * np.abs(one).max())
