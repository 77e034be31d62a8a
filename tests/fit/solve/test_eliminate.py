"""Fits that solve for linear parameters: the same optimum and errors, from starts of any height."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support import fit_cases
from support.fit_cases import loaded
from support.native_cases import CASES

from bench.problems.cases import seed_case, six_files
from pyspec import (
    FitError,
    FitResult,
    Measurement,
    Model,
    fit_model,
    fit_slices,
)
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit import fit_joint
from pyspec.fit.findings.kinds import Kind
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
    return loaded(DOUBLET.format(y0=y0, a=a, b=b), "m", energy=ENERGY)


def seen(model: Model, seed: int = 0, sigma: float = 0.3) -> Array:
    clean = CompiledExecutor(make_plan(model)).run(None)
    return np.asarray(clean + np.random.default_rng(seed).normal(0.0, sigma, clean.shape))


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


DATA, KEEP = seen(doublet()), np.arange(ENERGY.size) % 7 > 0
COUNTS = np.random.default_rng(1).poisson(np.ravel(doublet().evaluate())).astype(float)
MEASURED = {
    "plain": Measurement(DATA),
    "weights": Measurement(DATA, weight=np.linspace(2.0, 4.0, ENERGY.size), keep=KEEP),
    "a window": Measurement(DATA, columns=(10, 200)),
    "counts": Measurement(COUNTS, loss="poisson"),
}


@pytest.mark.parametrize(
    ("kind", "backend"), [*((kind, "compiled") for kind in MEASURED), ("weights", "interpreted")]
)
def test_a_tied_doublet_on_a_shirley(kind: str, backend: str) -> None:
    found = fit_model(doublet(0.0, -1e5, 3e4), MEASURED[kind], backend, linear="eliminate")
    known = fit_model(doublet(), MEASURED[kind])
    agree(found, known, 1e-6 if backend == "compiled" else 1e-4)


def test_several_files() -> None:
    parts = six_files(20, 80).parts[:3]
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


BOUNDED = """\
m:
  Offset: {{y0: [{y0}, True{offset}]}}
  Gauss: {{A: [{a}, True, 0, 50], x0: [84, True, 80, 90], SD: [1, True, 0.2, 4]}}
  Gauss: {{A: [3, True, {least}, 50], x0: [88, False], SD: [1, False]}}
"""


def bounded(offset: str = "", a: float = 20.0, least: float = 0.0, y0: float = 1.0) -> Model:
    return loaded(BOUNDED.format(offset=offset, a=a, least=least, y0=y0), "m", energy=ENERGY)


def without_the_second() -> Array:
    model = bounded()
    model.set("Gauss_02_A", 0.0)
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


def test_a_line_whose_height_a_bound_takes_to_nothing_keeps_its_slopes() -> None:
    """At a wrong place the best height is 0, and a line of height 0 has no way back: its height is
    left among the others then."""
    model = bounded()
    model.set("Gauss_01_x0", 89.0)
    model.set("Gauss_01_SD", 3.5)
    found, known = both(model, Measurement(data=seen(bounded(), 5, 0.2)))
    agree(found, known)


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


FREE = "m:\n  expFun: {A: {free: energy}, tau: [3, True, 0.5, 30], t0: [0, False]}\n"
HELD = "m:\n  Gauss: {A: [5, False], x0: [84, True], SD: [1, True, 0.1, 9]}\n"


@pytest.mark.parametrize("text", [FREE, HELD])
def test_where_no_parameter_is_linear_the_fit_is_an_ordinary_one(text: str) -> None:
    """Free amplitudes are eliminated in every fit."""
    model = loaded(text, "m", energy=ENERGY[:60])
    data = seen(loaded(HELD, "m", energy=ENERGY[:60]))
    if text is FREE:
        model.set_axes(time=np.linspace(-1.0, 9.0, 40))
        decay = np.where(model.time >= 0.0, np.exp(-model.time / 4.0), 0.0)
        data = decay[:, None] * data + np.random.default_rng(2).normal(0, 0.01, (40, 60))
    found, known = both(model, Measurement(data))
    assert known.success
    assert (found.values, found.nfev) == (known.values, known.nfev)
    assert (Kind.NOTHING_LINEAR in kinds(found)) == (text is HELD)


def press(nfev: int, chisqr: float, best: float) -> None:
    if nfev == 6:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("kind", "given", "most"),
    [("plain", {"max_nfev": 1}, 1), ("plain", {"max_nfev": 7}, 7), ("counts", {}, 7)],
)
def test_a_limit_or_ctrl_c_keeps_the_best_point(
    kind: str, given: dict[str, int], most: int
) -> None:
    model, measurement = doublet(0, -1e5, 3e4), MEASURED[kind]
    model.set("GLP_01_x0", 84.6)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = fit_model(
            model, measurement, linear="eliminate", progress=None if given else press, **given
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert not result.success
    assert result.interrupted == (not given)
    assert result.nfev <= most
    executor = CompiledExecutor(make_plan(model), measurement)
    residual, first = executor.residual(result.theta), executor.residual(None)
    assert result.chisqr == pytest.approx(float(residual @ residual), rel=1e-9)
    assert most == 1 or result.chisqr < 1e-3 * float(first @ first)


def test_of_slices() -> None:
    data = np.array([seen(doublet(), seed) for seed in range(3)])
    for row in fit_slices(doublet(0, 1, 1), Measurement(data=data), linear="eliminate"):
        agree(row.result, fit_model(doublet(), Measurement(data=data[row.row])))


def test_of_data_by_reference() -> None:
    case = seed_case("seed_amplitude")
    known = fit_model(case.model, case.measurement)
    source = Measurement(data=ArraySource(np.asarray(case.measurement.data), "data", 16))
    agree(fit_model(case.model, source, linear="eliminate"), known)


def test_a_start_outside_of_the_domain_is_an_error_that_names_it() -> None:
    model = doublet()
    model.set("LinBack_m", 1e308)
    with pytest.raises(FitError, match=r"at the start: .*at energy 81\.8: a value overf"):
        fit_model(model, Measurement(data=seen(doublet())), linear="eliminate")
