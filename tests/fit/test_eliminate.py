"""Fits that solve for linear parameters: the same optimum and errors, from starts of any height."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import DECAY, energy_model

from bench.cases import seed_case, six_files
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
)
from pyspec.errors import PyspecError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit import fit_joint, fit_trace
from pyspec.fit.solve.bounded import least_squares
from pyspec.io.source import ArraySource

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
    assert found.cautions == known.cautions
    for name, error in known.stderr.items():
        if error is None:
            assert found.stderr[name] is None, name
            assert found.values[name] == pytest.approx(known.values[name], rel=1e-9), name
            continue
        assert found.values[name] == pytest.approx(known.values[name], abs=at * error), name
        assert found.stderr[name] == pytest.approx(error, rel=at), name
        for other, value in (known.params[name].correl or {}).items():
            assert found.params[name].correl[other] == pytest.approx(value, abs=at), name


def both(model: Model, measurement: Measurement, **options: Any) -> tuple[FitResult, FitResult]:
    known = fit_model(model, measurement, **options)
    return fit_model(model, measurement, linear="eliminate", **options), known


@pytest.mark.parametrize("name", ["seed_amplitude", "seed_position"])
def test_the_seed_problems(name: str) -> None:
    case = seed_case(name)
    agree(*both(case.model, case.measurement))


WEIGHT = np.linspace(2.0, 4.0, ENERGY.size)


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


def test_heights_that_move() -> None:
    glp = "GLP: {A: [9, true], x0: [84, true, 82, 86], F: [1, true, 0.2, 5], m: [0.3, false]}"
    offset = "Offset: {y0: [1, true]}"
    seen_by = f"gaussIRF: {{SD: [0.5, true, 0.1, 3]}}\n{DECAY}"
    model = energy_model(offset, glp, moves={"GLP_01_A": seen_by.replace("[0.1", "[0")})
    data = seen(model, sigma=0.05)
    agree(*both(model, Measurement(data=data)))
    model.set("GLP_01_A_expFun_01_A", -2e3)
    model.set("GLP_01_A", 1e4)
    found = fit_model(model, Measurement(data=data), linear="eliminate")
    assert found.success
    assert found.values["GLP_01_A_expFun_01_A"] == pytest.approx(2.0, abs=0.2)


def test_several_files() -> None:
    parts = six_files(30, 100).parts
    agree(fit_joint(parts, linear="eliminate").joint, fit_joint(parts).joint)


#: Starts of the offset and both heights: 10³ times too much, of either sign, and nothing.
STARTS = [(0, 1e5, 3e4), (0, -1e5, -3e4), (0, -1e5, 3e4), (-1e3, 1e-3, 1e-3), (0, 0, 0)]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("loss", ["squares", "counts"])
def test_starts_of_any_height(start: tuple[float, float, float], loss: str) -> None:
    measurement = counts() if loss == "counts" else Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    agree(fit_model(doublet(*start), measurement, linear="eliminate"), known)


def test_where_the_ordinary_fit_fails() -> None:
    """The reason for all of this: it ends elsewhere, or takes many times the evaluations."""
    measurement = Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    plain = fit_model(doublet(*STARTS[3]), measurement)
    assert plain.chisqr > 10 * known.chisqr
    many = fit_model(doublet(0, 1, 1), measurement)
    few = fit_model(doublet(0, 1, 1), measurement, linear="eliminate")
    assert few.nfev < 0.5 * many.nfev


def test_evaluations_hardly_depend_on_the_heights() -> None:
    measurement = Measurement(data=seen(doublet()))
    taken = [
        fit_model(doublet(*start), measurement, linear="eliminate").nfev
        for start in [(5, 100, 30), *STARTS]
    ]
    assert max(taken) - min(taken) <= 1


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
    from pyspec.executor.normal import Parts

    whole = Parts.sum

    def watched(self: Parts, theta: Array, form: str) -> Array:
        asked.append(theta.copy())
        return whole(self, theta, form)

    monkeypatch.setattr(Parts, "sum", watched)
    result = fit_model(model, measurement, linear="eliminate")
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


# what the data do not determine


def test_columns_that_are_the_same() -> None:
    text = "m:\n" + 2 * "  Offset: {y0: [1, True]}\n" + "  Gauss: {A: [5, True], x0: [84, True], "
    model = load_model(text + "SD: [1, True, 0.1, 9]}\n", "m")
    model.set_axes(energy=ENERGY)
    found, known = both(model, Measurement(data=seen(model)))
    assert found.degenerate
    assert not found.success
    assert found.without_effect == known.without_effect == ("Offset_y0", "Offset_02_y0")
    assert found.values["Gauss_01_A"] == pytest.approx(known.values["Gauss_01_A"], rel=1e-9)
    error = known.stderr["Gauss_01_A"]
    assert error is not None
    assert found.stderr["Gauss_01_A"] == pytest.approx(error, rel=1e-6)


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
    assert any(text.startswith('linear="eliminate" has nothing to do') for text in found.cautions)


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


def test_a_trace() -> None:
    text = "law:\n  expFun: {A: [1e4, True], tau: [2, True, 0.1, 50], t0: [0, False]}\n"
    time = np.linspace(-2.0, 20.0, 90)
    values = np.where(time >= 0, 3.0 * np.exp(-time / 5.0), 0.0)
    values = values + np.random.default_rng(0).normal(0, 0.02, time.size)
    known = fit_trace(text.replace("1e4", "3"), "law", time, values)
    agree(fit_trace(text, "law", time, values, linear="eliminate"), known)


# limits, signals


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 11])
def test_max_nfev_keeps_the_best_point(most: int) -> None:
    start, measurement = doublet(0, -1e5, 3e4), Measurement(data=seen(doublet()))
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


@pytest.mark.parametrize("at", [1, 4, 10])
@pytest.mark.parametrize("loss", ["squares", "counts"])
def test_ctrl_c_keeps_the_best_point(at: int, loss: str) -> None:
    measurement = counts() if loss == "counts" else Measurement(data=seen(doublet()))
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


def test_max_seconds_and_progress() -> None:
    told: list[tuple[int, float]] = []
    result = fit_model(
        doublet(0, 1, 1),
        Measurement(data=seen(doublet())),
        progress=lambda nfev, chisqr, best: sleep(0.02),
        max_seconds=0.03,
        linear="eliminate",
    )
    assert "max_seconds" in result.message
    assert 1 <= result.nfev <= 3
    told.clear()
    whole = fit_model(
        doublet(0, 1, 1),
        Measurement(data=seen(doublet())),
        progress=lambda nfev, chisqr, best: told.append((nfev, best)),
        linear="eliminate",
    )
    assert [nfev for nfev, _ in told] == list(range(1, whole.nfev + 1))
    assert all(later <= best for (_, best), (_, later) in pairwise(told))


# where it may be asked for


def test_of_slices_and_files(tmp_path: Path) -> None:
    model = doublet()
    data = np.array([seen(model, seed) for seed in range(3)])
    path = tmp_path / "models.yaml"
    path.write_text(DOUBLET.format(y0=0, a=-1e5, b=1e4))
    file = File(Project("."), name="f", data=data, energy=ENERGY, time=np.arange(3.0))
    file.load_model(path, "m")
    slices = fit_slices(doublet(0, 1, 1), Measurement(data=data), linear="eliminate")
    assert all(slices.success)
    mean = file.fit_spectrum("m", time_range=(0, 2), linear="eliminate")
    assert mean.success
    assert mean.settings["linear"] == "eliminate"
    whole = file.fit_2d("m", seed_source="model", linear="eliminate")
    assert whole.success
    for row in slices:
        known = fit_model(model, Measurement(data=data[row.row]))
        assert row.result is not None
        agree(row.result, known)


def test_after_another_method_and_from_several_starts() -> None:
    measurement = Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    staged = fit_model(doublet(4, 90, 25), measurement, stages=2, max_nfev=4000, linear="eliminate")
    agree(staged, known)
    several = fit_model(doublet(0, 1, 1), measurement, n_starts=3, linear="eliminate")
    assert len(several.starts) == 3
    assert several.chisqr <= known.chisqr * (1 + 1e-9)


def test_of_data_by_reference() -> None:
    case = seed_case("seed_amplitude")
    assert case.measurement.data is not None
    known = fit_model(case.model, case.measurement)
    source = Measurement(data=ArraySource(np.asarray(case.measurement.data), "data", 16))
    agree(fit_model(case.model, source, linear="eliminate"), known)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"linear": "eliminat"}, r"m: linear='eliminat' is unknown; did you mean 'eliminate'\?"),
        ({"linear": "varpro"}, "linear='varpro' is unknown; it may be 'eliminate', or left out"),
        ({"linear": True}, "linear"),
        (
            {"linear": "eliminate", "method": "leastsq"},
            "is an option of method 'native', and leastsq searches all .* stages=2",
        ),
        ({"liner": "eliminate"}, "fits have no argument 'liner'; did you mean 'linear'"),
    ],
)
def test_what_is_refused(options: dict[str, Any], says: str) -> None:
    data = np.array([seen(doublet())] * 2)
    with pytest.raises(PyspecError, match=says):
        fit_model(doublet(), Measurement(data=data[0]), **options)
    with pytest.raises(PyspecError, match=says):
        fit_slices(doublet(), Measurement(data=data), **options)


def test_none_is_the_ordinary_fit_of_any_method() -> None:
    measurement = Measurement(data=seen(doublet()))
    known = fit_model(doublet(), measurement)
    assert fit_model(doublet(), measurement, linear=None).values == known.values
    agree(fit_model(doublet(), measurement, method="leastsq", linear=None), known, 1e-2)


def test_a_start_outside_of_the_domain_is_an_error_that_names_it() -> None:
    model = doublet()
    model.set("LinBack_m", 1e308)
    with pytest.raises(FitError, match="not finite at the start"):
        fit_model(model, Measurement(data=seen(doublet())), linear="eliminate")


# the bounded problem


def test_bounded_least_squares_against_scipy() -> None:
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(1, 7))
        columns = rng.normal(size=(n + 4, n)) * 10.0 ** rng.uniform(-6, 6, n)
        right = rng.normal(size=n + 4)
        scale = 1.0 / np.linalg.norm(columns, axis=0)
        low, high = -scale * rng.uniform(0, 1, n), scale * rng.uniform(0, 1, n)
        found = least_squares(columns, right, low, high)
        known = lsq_linear(columns / (1 / scale), right, (low / scale, high / scale), tol=1e-14)
        assert np.all((found.step >= low) & (found.step <= high))
        left = np.linalg.norm(right - columns @ found.step)
        assert left <= np.sqrt(2 * known.cost) * (1 + 1e-9)


def test_bounded_least_squares_of_nothing() -> None:
    empty = least_squares(np.zeros((3, 2)), np.ones(3), -np.ones(2), np.ones(2))
    assert empty.step.tolist() == [0.0, 0.0]
    assert empty.basis.shape == (3, 0)
