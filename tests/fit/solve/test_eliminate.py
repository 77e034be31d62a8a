"""Fits that solve for linear parameters: the same optimum and errors, from starts of any height;
limits and signals; where they may be asked for."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support import fit_cases
from support.column_models import energy_model
from support.fit_cases import loaded
from support.native_cases import CASES

from bench.problems.cases import seed_case, six_files
from pyspec import (
    File,
    FitError,
    FitResult,
    Measurement,
    Model,
    Project,
    fit_model,
    fit_slices,
    load_model,
    register_function,
)
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit import fit_joint
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.objective import Objective
from pyspec.io.sources.arrays import ArraySource
from pyspec.ir import build_graph
from pyspec.passes import linear_parameters
from tests.support.findings import kinds

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(80.0, 92.0, 241)

#: A doublet by expressions and a third line on an offset, a slope and a Shirley background.
DOUBLET = """\
m:
  Offset: {{y0: [{y0}, True]}}
  LinBack: {{m: [0.1, True], b: [0, False], xStart: [80, False], xStop: [92, False]}}
  Shirley: {{pShirley: [0.005, True, 0, 1]}}
  GLP: {{A: [{a}, True], x0: [84.2, True, 80, 90], F: [1, True, 0.2, 5], m: [0.3, True, 0, 1]}}
  GLP: {{A: ["0.75 * GLP_01_A"], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}}
  Gauss: {{A: [{b}, True], x0: [86, True, 80, 92], SD: [0.7, True, 0.1, 4]}}
"""


def doublet(y0: float = 5.0, a: float = 100.0, b: float = 30.0) -> Model:
    model = load_model(DOUBLET.format(y0=y0, a=a, b=b), "m")
    model.set_axes(energy=ENERGY)
    return model


def seen(model: Model, seed: int = 0, sigma: float = 0.3) -> Array:
    clean = CompiledExecutor(make_plan(model)).run(None)
    return np.asarray(clean + np.random.default_rng(seed).normal(0.0, sigma, clean.shape))


def counts() -> Measurement:
    clean = CompiledExecutor(make_plan(doublet())).run(None)
    data = np.random.default_rng(1).poisson(clean).astype(float)
    return Measurement(data=data, loss="poisson")


def agree(found: FitResult, known: FitResult, at: float = 1e-6) -> None:
    """The same optimum, errors, correlations and words."""
    assert known.success, known.message
    assert found.success, found.message
    assert found.chisqr == pytest.approx(known.chisqr, rel=1e-10)
    assert found.redchi == pytest.approx(known.redchi, rel=1e-10)
    assert found.at_bound == known.at_bound
    assert kinds(found) == kinds(known)
    fit_cases.agree(found, known, at, at)
    for name, error in known.stderr.items():
        if error is None:
            assert found.stderr[name] is None, name
            assert found.values[name] == pytest.approx(known.values[name], rel=1e-9), name
        for other, value in (known.params[name].correl or {}).items():
            assert found.params[name].correl[other] == pytest.approx(value, abs=at), name


def both(model: Model, measurement: Measurement, **options: Any) -> tuple[FitResult, FitResult]:
    known = fit_model(model, measurement, **options)
    return fit_model(model, measurement, linear="eliminate", **options), known


WEIGHT = np.linspace(2.0, 4.0, ENERGY.size)


MEASURED = {
    "plain": Measurement(data=seen(doublet())),
    "weights": Measurement(
        data=seen(doublet()), weight=WEIGHT, keep=np.arange(ENERGY.size) % 7 > 0
    ),
    "a window": Measurement(data=seen(doublet()), columns=(10, 200)),
    "counts": counts(),
}


@pytest.fixture(scope="module")
def known() -> Callable[[str], FitResult]:
    """Fits of the doublet whose heights are parameters as any other."""
    return cache(lambda kind: fit_model(doublet(), MEASURED[kind]))


@pytest.mark.parametrize(
    ("kind", "backend"), [*((kind, "compiled") for kind in MEASURED), ("weights", "interpreted")]
)
def test_a_tied_doublet_on_a_shirley(
    kind: str, backend: str, known: Callable[[str], FitResult]
) -> None:
    found = fit_model(doublet(), MEASURED[kind], backend, linear="eliminate")
    agree(found, known(kind), 1e-6 if backend == "compiled" else 1e-4)


#: Starts of the offset and both heights: 10³ times too much, of either sign, and nothing.
STARTS = [(0, 1e5, 3e4), (0, -1e5, -3e4), (0, -1e5, 3e4), (-1e3, 1e-3, 1e-3), (0, 0, 0)]


@pytest.mark.parametrize("start", STARTS)
def test_starts_of_any_height(
    start: tuple[float, float, float], known: Callable[[str], FitResult]
) -> None:
    agree(fit_model(doublet(*start), MEASURED["plain"], linear="eliminate"), known("plain"))


def as_counts(measurement: Measurement) -> Measurement:
    data = np.maximum(np.asarray(measurement.data), 0.0)
    rng = np.random.default_rng(3)
    return replace(measurement, data=rng.poisson(5.0 * data).astype(float), loss="poisson")


@pytest.mark.parametrize("loss", ["squares", "poisson"])
def test_several_files(loss: str) -> None:
    parts = six_files(20, 80).parts[:3]
    if loss == "poisson":
        parts = [(model, as_counts(measurement)) for model, measurement in parts]
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
    fit_cases.agree(found, known)


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
    model = loaded(text, "m", energy=ENERGY)
    data = seen(model, 2, 0.05) - 2.0 * np.exp(-(((ENERGY - 89.0) / 0.7) ** 2))
    model.set("Gauss_01_x0", 88.9)
    found, known = both(model, Measurement(data=data))
    assert found.success == known.success
    assert found.chisqr <= known.chisqr * (1 + 1e-9)


# what the data do not determine


def test_nearly_the_same_columns_are_factorised() -> None:
    text = "m:\n  Gauss: {A: [5, True], x0: [84, False], SD: [1, True, 0.1, 9]}\n"
    text += "  Gauss: {A: [5, True], x0: [84.00001, False], SD: [Gauss_01_SD]}\n"
    model = loaded(text, "m", energy=ENERGY)
    found, known = both(model, Measurement(data=seen(model, 0, 1e-9)))
    total = known.values["Gauss_01_A"] + known.values["Gauss_02_A"]
    assert found.values["Gauss_01_A"] + found.values["Gauss_02_A"] == pytest.approx(total)
    assert found.success
    assert found.chisqr <= known.chisqr * (1 + 1e-6)


def test_all_parameters_are_linear() -> None:
    text = "m:\n  Offset: {y0: [0, True]}\n"
    text += "  Gauss: {A: [1e6, True], x0: [84, False], SD: [1, False]}\n"
    model = loaded(text, "m", energy=ENERGY)
    data = seen(model) * 1e-6
    found, known = both(model, Measurement(data=data))
    agree(found, known)
    assert found.nfev <= 4


def test_none_is_linear() -> None:
    text = "m:\n  Gauss: {A: [5, False], x0: [84, True], SD: [1, True, 0.1, 9]}\n"
    model = loaded(text, "m", energy=ENERGY)
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
    model = loaded(text, "m", energy=ENERGY)
    noise = np.random.default_rng(4).normal(0.0, 0.2, ENERGY.size)
    measurement = Measurement(data=np.asarray(model.evaluate()) + noise)
    model.set("Gauss_01_x0", 83.2)
    known = fit_model(model, measurement, backend=None)
    assert linear_parameters(build_graph(model)).names == ("Offset_y0", "Gauss_01_A")
    model.set("Gauss_01_A", -3e3)
    model.set("Offset_y0", 1e4)
    agree(fit_model(model, measurement, backend=None, linear="eliminate"), known, 1e-3)


# limits, signals


@pytest.mark.parametrize("most", [1, 7])
def test_max_nfev_keeps_the_best_point(most: int) -> None:
    start, measurement = doublet(0, -1e5, 3e4), MEASURED["plain"]
    model = start.copy()
    model.set("GLP_01_x0", 84.6)
    result = fit_model(model, measurement, max_nfev=most, linear="eliminate")
    assert not result.success
    assert result.nfev == most
    assert f"max_nfev = {most}" in result.message
    executor = CompiledExecutor(make_plan(model), measurement)
    residual = executor.residual(result.theta)
    assert result.chisqr == pytest.approx(float(residual @ residual), rel=1e-9)
    first = executor.residual(None)
    if most > 1:
        assert result.chisqr < 1e-3 * float(first @ first)


def pressed(at: int) -> Callable[[int, float, float], None]:
    def press(nfev: int, chisqr: float, best: float) -> None:
        if nfev == at:
            signal.raise_signal(signal.SIGINT)

    return press


@pytest.mark.parametrize(("at", "kind"), [(1, "plain"), (6, "counts")])
def test_ctrl_c_keeps_the_best_point(at: int, kind: str) -> None:
    measurement = MEASURED[kind]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = fit_model(doublet(0, 1, 1), measurement, progress=pressed(at), linear="eliminate")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.interrupted
    assert not result.success
    assert result.nfev <= at + 1
    executor = CompiledExecutor(make_plan(doublet()), measurement)
    residual = executor.residual(result.theta)
    assert result.chisqr == pytest.approx(float(residual @ residual), rel=1e-9)


# where it may be asked for


def test_of_slices_and_files(tmp_path: Path) -> None:
    model = doublet()
    data = np.array([seen(model, seed) for seed in range(3)])
    path = tmp_path / "models.yaml"
    path.write_text(DOUBLET.format(y0=0, a=-1e5, b=1e4))
    file = File(Project("."), name="f", data=data, energy=ENERGY, time=np.arange(3.0))
    file.load_model(path, "m")
    mean = file.fit_spectrum("m", time_range=(0, 2), linear="eliminate")
    assert mean.success
    assert mean.settings["linear"] == "eliminate"
    slices = fit_slices(doublet(0, 1, 1), Measurement(data=data), linear="eliminate")
    for row in slices:
        known = fit_model(model, Measurement(data=data[row.row]))
        agree(row.result, known)


def test_after_another_method_and_from_several_starts(known: Callable[[str], FitResult]) -> None:
    measurement = MEASURED["plain"]
    staged = fit_model(
        doublet(4, 90, 25),
        measurement,
        method=("nelder", "native"),
        max_nfev=4000,
        linear="eliminate",
    )
    agree(staged, known("plain"))
    several = fit_model(doublet(0, 1, 1), measurement, n_starts=3, linear="eliminate")
    assert len(several.starts) == 3
    assert several.chisqr <= known("plain").chisqr * (1 + 1e-9)


def test_of_data_by_reference() -> None:
    case = seed_case("seed_amplitude")
    known = fit_model(case.model, case.measurement)
    source = Measurement(data=ArraySource(np.asarray(case.measurement.data), "data", 16))
    agree(fit_model(case.model, source, linear="eliminate"), known)


def test_a_start_outside_of_the_domain_is_an_error_that_names_it() -> None:
    model = doublet()
    model.set("LinBack_m", 1e308)
    with pytest.raises(FitError, match="not finite at the start"):
        fit_model(model, Measurement(data=seen(doublet())), linear="eliminate")
