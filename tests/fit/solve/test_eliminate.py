"""Fits that solve for linear parameters: the same optimum and errors, from starts of any height."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import energy_model
from support.eliminated import ENERGY, STARTS, WEIGHT, agree, both, counts, doublet, seen
from support.native_cases import CASES

from bench.problems.cases import six_files
from pyspec import (
    Measurement,
    Model,
    fit_model,
    load_model,
    register_function,
)
from pyspec.fit import fit_joint
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.objective import Objective
from pyspec.ir import build_graph
from pyspec.passes import linear_parameters
from tests.support.findings import kinds

Array = npt.NDArray[np.float64]


@pytest.mark.parametrize(
    "measurement",
    [
        Measurement(data=seen(doublet())),
        Measurement(data=seen(doublet()), weight=WEIGHT),
        Measurement(data=seen(doublet()), weight=WEIGHT, keep=np.arange(ENERGY.size) % 7 > 0),
        Measurement(data=seen(doublet()), columns=(10, 200)),
        counts(),
    ],
    ids=["plain", "weights", "mask", "window", "counts"],
)
@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_tied_doublet_on_a_shirley(measurement: Measurement, backend: str) -> None:
    known = fit_model(doublet(), measurement)
    found = fit_model(doublet(), measurement, backend, linear="eliminate")
    agree(found, known, 1e-6 if backend == "compiled" else 1e-4)


def test_several_files() -> None:
    parts = six_files(30, 100).parts
    agree(fit_joint(parts, linear="eliminate").joint, fit_joint(parts).joint)


@pytest.mark.parametrize("name", [name for name in CASES if name != "three files"])
def test_problems_of_many_kinds_from_wild_heights(name: str) -> None:
    ((model, measurement),) = CASES[name]()
    known = fit_model(model, measurement)
    wild = model.copy()
    for index, one in enumerate(linear_parameters(build_graph(model)).names):
        par = wild.parameters[one]
        far = (-1) ** index * 1e3 * (abs(par.value) or 1.0)
        wild.set(one, float(np.clip(far, par.min, par.max)))
    found = fit_model(wild, measurement, linear="eliminate")
    assert found.success, found.message
    assert found.chisqr == pytest.approx(known.chisqr, rel=1e-9)
    for one, error in known.stderr.items():
        if error is not None:
            assert found.values[one] == pytest.approx(known.values[one], abs=1e-6 * error), one
            assert found.stderr[one] == pytest.approx(error, rel=1e-6), one


def as_counts(measurement: Measurement) -> Measurement:
    data = np.maximum(np.asarray(measurement.data), 0.0)
    rng = np.random.default_rng(3)
    return replace(measurement, data=rng.poisson(5.0 * data).astype(float), loss="poisson")


def test_several_files_of_counts() -> None:
    parts = [(model, as_counts(measurement)) for model, measurement in six_files(20, 80).parts[:3]]
    agree(fit_joint(parts, linear="eliminate").joint, fit_joint(parts).joint)


def test_several_files_by_differences() -> None:
    parts = six_files(12, 60).parts[:2]
    known = fit_joint(parts).joint
    agree(fit_joint(parts, "interpreted", linear="eliminate").joint, known, 1e-4)


def test_beside_free_amplitudes_nothing_changes() -> None:
    """They are eliminated in every fit."""
    text = "m:\n  expFun: {A: {free: energy}, tau: [3, True, 0.5, 30], t0: [0, False]}\n"
    model = load_model(text, "m")
    time = np.linspace(-1.0, 9.0, 40)
    model.set_axes(energy=np.arange(6.0), time=time)
    rng = np.random.default_rng(2)
    trace = np.where(time >= 0.0, np.exp(-time / 4.0), 0.0)
    data = np.outer(trace, rng.uniform(1, 2, 6)) + rng.normal(0, 0.01, (40, 6))
    found, known = both(model, Measurement(data=data))
    assert known.success
    assert found.values == known.values
    assert found.nfev == known.nfev
    assert kinds(found) == kinds(known)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("loss", ["squares", "counts"])
def test_starts_of_any_height(start: tuple[float, float, float], loss: str) -> None:
    measurement = counts() if loss == "counts" else Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    agree(fit_model(doublet(*start), measurement, linear="eliminate"), known)


# bounds


BOUNDED = """\
m:
  Offset: {{y0: [{y0}, True{offset}]}}
  Gauss: {{A: [{a}, True, 0, 50], x0: [84, True, 80, 90], SD: [1, True, 0.2, 4]}}
  Gauss: {{A: [3, True, {least}, 50], x0: [88, False], SD: [1, False]}}
"""


def bounded(offset: str = "", a: float = 20.0, least: float = 0.0, y0: float = 1.0) -> Model:
    model = load_model(BOUNDED.format(offset=offset, a=a, least=least, y0=y0), "m")
    model.set_axes(energy=ENERGY)
    return model


def without_the_second(second: float = 0.0) -> Array:
    model = bounded()
    model.set("Gauss_02_A", second)
    return seen(model, 3, 0.2) - 0.5 * np.exp(-(((ENERGY - 88.0) / 1.4) ** 2))


@pytest.mark.parametrize(
    ("offset", "least", "y0"),
    [("", 0.0, 1.0), (", 2, 9", 0.0, 5.0), (", -9, 0.5", 0.0, 0.0), (", -9, 0.5", 1.0, 0.0)],
)
def test_a_bound_holds_a_height_or_an_offset(offset: str, least: float, y0: float) -> None:
    model = bounded(offset, least=least, y0=y0)
    found, known = both(model, Measurement(data=without_the_second()))
    assert known.at_bound
    agree(found, known)


def test_no_evaluation_leaves_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bounded(", -9, 0.5", 49.0, y0=-8.0)
    measurement = Measurement(data=without_the_second())
    asked: list[Array] = []
    whole = Objective._by_differences

    def watched(own: Objective, bounds: Any, theta: Array, form: str) -> Array:
        asked.append(theta.copy())
        return whole(own, bounds, theta, form)

    monkeypatch.setattr(Objective, "_by_differences", watched)
    result = fit_model(model, measurement, "interpreted", linear="eliminate")
    assert result.success
    assert asked
    for name, values in zip(model.opt_param_names, np.array(asked).T, strict=True):
        par = model.parameters[name]
        assert par.min <= values.min() <= values.max() <= par.max, name


def test_a_line_whose_height_a_bound_takes_to_nothing_keeps_its_slopes() -> None:
    """At a wrong place the best height is 0, and a line of height 0 has no way back: its height is
    left among the others then."""
    model = bounded()
    model.set("Gauss_01_x0", 89.0)
    model.set("Gauss_01_SD", 3.5)
    found, known = both(model, Measurement(data=seen(bounded(), 5, 0.2)))
    agree(found, known)


def test_the_only_height_is_held_at_the_start() -> None:
    """Nothing is eliminated then, and the fit is an ordinary one."""
    text = "m:\n  Gauss: {A: [5, True, 0, 50], x0: [86.5, True, 80, 92], SD: [1, True, 0.2, 4]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    data = seen(model, 2, 0.05) - 2.0 * np.exp(-(((ENERGY - 89.0) / 0.7) ** 2))
    model.set("Gauss_01_x0", 88.9)
    found, known = both(model, Measurement(data=data))
    assert found.success == known.success
    assert found.chisqr <= known.chisqr * (1 + 1e-9)


# what the data do not determine


def test_nearly_the_same_columns_are_factorised() -> None:
    text = "m:\n  Gauss: {A: [5, True], x0: [84, False], SD: [1, True, 0.1, 9]}\n"
    text += "  Gauss: {A: [5, True], x0: [84.00001, False], SD: [Gauss_01_SD]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    found, known = both(model, Measurement(data=seen(model, 0, 1e-9)))
    total = known.values["Gauss_01_A"] + known.values["Gauss_02_A"]
    assert found.values["Gauss_01_A"] + found.values["Gauss_02_A"] == pytest.approx(total)
    assert found.success
    assert found.chisqr <= known.chisqr * (1 + 1e-6)


def test_all_parameters_are_linear() -> None:
    text = "m:\n  Offset: {y0: [0, True]}\n"
    text += "  Gauss: {A: [1e6, True], x0: [84, False], SD: [1, False]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    data = seen(model) * 1e-6
    found, known = both(model, Measurement(data=data))
    agree(found, known)
    assert found.nfev <= 4


def test_none_is_linear() -> None:
    text = "m:\n  Gauss: {A: [5, False], x0: [84, True], SD: [1, True, 0.1, 9]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    found, known = both(model, Measurement(data=seen(model)))
    assert found.values == known.values
    assert found.nfev == known.nfev
    assert Kind.NOTHING_LINEAR in kinds(found)


def test_a_jump_between_samples() -> None:
    onset = "expFun: {A: [2, true], tau: [3, true, 0.5, 20], t0: [0.6, true, -1.5, 8]}"
    line = "GLP: {A: [9, true], x0: [84, true], F: [1, true, 0.2, 9], m: [0.3, false]}"
    model = energy_model(line, moves={"GLP_01_A": onset})
    data = seen(model, sigma=0.05)
    model.set("GLP_01_A_expFun_01_t0", 2.7)
    known = fit_model(model, Measurement(data=data))
    model.set("GLP_01_A", 9e3)
    model.set("GLP_01_A_expFun_01_A", -2e3)
    found = fit_model(model, Measurement(data=data), linear="eliminate")
    agree(found, known)
    assert found.intervals == known.intervals


# functions of one's own


def ramp(x: Array, A: float, x0: float, w: float) -> Array:
    return np.asarray(A / (1.0 + np.exp(np.clip((x - x0) / w, -500.0, 500.0))))


def test_beside_a_function_of_python() -> None:
    """Its own height is not known to be linear; those of the others are."""
    register_function("RampForLinear", ramp, "A, x0, w>0")
    text = "m:\n  RampForLinear: {A: [15, True, 0, 99], x0: [87, True, 82, 89], "
    text += "w: [0.3, True, 0.1, 5]}\n  Offset: {y0: [2, True]}\n"
    text += "  Gauss: {A: [8, True], x0: [83, True], SD: [0.8, True, 0.1, 4]}\n"
    model = load_model(text, "m")
    model.set_axes(energy=ENERGY)
    noise = np.random.default_rng(4).normal(0.0, 0.2, ENERGY.size)
    measurement = Measurement(data=np.asarray(model.evaluate()) + noise)
    model.set("Gauss_01_x0", 83.2)
    known = fit_model(model, measurement, backend=None)
    assert linear_parameters(build_graph(model)).names == ("Offset_y0", "Gauss_01_A")
    model.set("Gauss_01_A", -3e3)
    model.set("Offset_y0", 1e4)
    agree(fit_model(model, measurement, backend=None, linear="eliminate"), known, 1e-3)
