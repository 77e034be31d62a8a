"""fit_model: simulate, fit, find the truth; what it refuses; what it leaves behind."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from typing import Any

import lmfit
import numpy as np
import pytest

from pyspec.errors import BackendError, DataError, FitError, PlanError
from pyspec.executor import CompiledExecutor
from pyspec.fit import FitResult, canonical_method, fit_model, known_methods
from pyspec.model import Measurement, Model, load_dynamics, load_model

ENERGY = np.linspace(78.0, 94.0, 81)
TIME = np.linspace(-5.0, 30.0, 36)

STATIC = """
spectrum:
  Offset:
    y0: [{y0}, True]
  Shirley:
    pShirley: [0.004, False]
  GLP:
    A: [{A}, True, 0, 100]
    x0: [{x0}, True, 80, 92]
    F: [{F}, True, 0.1, 5]
    m: [0.3, False]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""
DECAY = """
decay:
  expFun:
    A: [{A}, True]
    tau: [{tau}, True, 0.1, 100]
    t0: [0, False]
"""
TRUTH = {"y0": 2.0, "A": 12.0, "x0": 84.0, "F": 1.2}
START = {"y0": 2.4, "A": 10.0, "x0": 84.3, "F": 1.6}


def spectrum(values: dict[str, float] = START) -> Model:
    model = load_model(STATIC.format(**values), "spectrum")
    model.set_axes(energy=ENERGY)
    return model


def series(values: dict[str, float] = START, A: float = 0.7, tau: float = 12.0) -> Model:
    model = spectrum(values)
    law = load_dynamics(DECAY.format(A=A, tau=tau), "decay", model.parameters["GLP_01_x0"])
    model.add_dynamics("GLP_01_x0", law)
    model.set_axes(energy=ENERGY, time=TIME)
    return model


TRUE_1D = {
    "Offset_y0": 2.0,
    "GLP_01_A": 12.0,
    "GLP_01_x0": 84.0,
    "GLP_01_F": 1.2,
}
TRUE_2D = {**TRUE_1D, "GLP_01_x0_expFun_01_A": 1.0, "GLP_01_x0_expFun_01_tau": 8.0}


def data_1d(sd: float = 0.05, seed: int = 1) -> np.ndarray:
    clean = spectrum(TRUTH).evaluate()
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def data_2d(sd: float = 0.05, seed: int = 1) -> np.ndarray:
    clean = series(TRUTH, 1.0, 8.0).evaluate()
    return clean + np.random.default_rng(seed).normal(0.0, sd, clean.shape)


def check_truth(result: FitResult, truth: dict[str, float], pulls: float = 4.0) -> None:
    for name, true in truth.items():
        error = result.stderr[name]
        assert error, name
        assert abs(result.values[name] - true) <= pulls * error, name


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled", "compare"])
def test_fit_finds_the_truth_in_every_backend(backend: str) -> None:
    one = fit_model(spectrum(), Measurement(data=data_1d()), backend=backend)
    two = fit_model(series(), Measurement(data=data_2d()), backend=backend)
    for result, truth in ((one, TRUE_1D), (two, TRUE_2D)):
        assert result.success
        assert result.backend == backend
        check_truth(result, truth)
        assert result.redchi == pytest.approx(0.05**2, rel=0.4)


def test_fit_agrees_with_plain_lmfit() -> None:
    """The same residual, fitted by lmfit alone, has the same answer and the same errors."""
    data = data_2d()
    result = fit_model(series(), Measurement(data=data))
    model = series()
    params = lmfit.Parameters()
    for name in model.opt_param_names:
        par = model.parameters[name]
        params.add(name, par.value, min=par.min, max=par.max)

    def residual(given: Any) -> np.ndarray:
        theta = [given[name].value for name in model.opt_param_names]
        return (data - model.evaluate("tree", theta)).ravel()

    plain = lmfit.minimize(residual, params)
    assert result.redchi == pytest.approx(plain.redchi, rel=1e-10)
    for name in model.opt_param_names:
        assert result.values[name] == pytest.approx(plain.params[name].value, rel=1e-7)
        assert result.stderr[name] == pytest.approx(plain.params[name].stderr, rel=1e-5)
        for other in model.opt_param_names:
            if other != name:
                expected = plain.params[name].correl[other]
                assert result.correl[name][other] == pytest.approx(expected, abs=1e-5)


def test_model_and_data_are_left_alone() -> None:
    model, data = series(), data_2d()
    before, kept = copy.deepcopy(model.values), data.copy()
    data.setflags(write=False)
    fit_model(model, Measurement(data=data))
    assert model.values == before
    np.testing.assert_array_equal(data, kept)


def test_one_executor_call_for_each_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    own = CompiledExecutor.residual

    def count(self: Any, *given: Any, **named: Any) -> Any:
        calls.append(1)
        return own(self, *given, **named)

    monkeypatch.setattr(CompiledExecutor, "residual", count)
    result = fit_model(series(), Measurement(data=data_2d()))
    assert len(calls) == result.nfev


def test_followers_have_value_and_propagated_error() -> None:
    result = fit_model(series(), Measurement(data=data_2d()))
    values, errors = result.values, result.stderr
    assert values["GLP_02_x0"] == values["GLP_01_x0"] + 3.67
    assert errors["GLP_02_x0"] == pytest.approx(errors["GLP_01_x0"], rel=1e-12)
    assert errors["GLP_02_A"] == pytest.approx(0.75 * errors["GLP_01_A"], rel=1e-12)
    assert errors["GLP_02_m"] is None  # follows a fixed parameter
    follower = result.params["GLP_02_A"]
    assert follower.expr is None
    assert follower.user_data == "3/4 * GLP_01_A"
    assert not follower.vary


def test_followers_through_chains_and_correlations() -> None:
    text = STATIC.format(**START).replace(
        '["GLP_01_F"]', '["(GLP_02_A - GLP_01_A) ** 2 / GLP_01_F / 5"]'
    )
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    clean = model.evaluate(theta=[2.0, 12.0, 84.0, 1.4])
    data = clean + np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    result = fit_model(model, Measurement(data=data))
    a, f = result.values["GLP_01_A"], result.values["GLP_01_F"]
    names = list(result.lmfit.var_names)
    i, j = names.index("GLP_01_A"), names.index("GLP_01_F")
    slope = np.zeros(len(names))
    slope[i], slope[j] = a / 8 / f / 5, -(a**2) / 16 / f**2 / 5
    expected = np.sqrt(slope @ result.lmfit.covar @ slope)
    assert result.values["GLP_02_F"] == pytest.approx(a**2 / 16 / f / 5, rel=1e-12)
    assert result.stderr["GLP_02_F"] == pytest.approx(expected, rel=1e-10)


def test_lmfit_never_sees_an_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("asteval was called")

    monkeypatch.setattr("asteval.Interpreter.eval", refuse)
    monkeypatch.setattr("asteval.Interpreter.__call__", refuse)
    assert fit_model(series(), Measurement(data=data_2d())).success


def test_fixed_parameters_have_no_error() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()))
    assert result.stderr["GLP_01_m"] is None
    assert result.values["GLP_01_m"] == 0.3


def test_window_weight_and_mask() -> None:
    data = data_2d()
    spoiled = data.copy()
    spoiled[:, :10] += 50.0  # outside of the window
    spoiled[3, 40] = 1e6  # masked
    keep = np.ones(data.shape, bool)
    keep[3, 40] = False
    measurement = Measurement(data=spoiled, rows=(2, 30), columns=(10, 81), keep=keep)
    result = fit_model(series(), measurement)
    check_truth(result, TRUE_2D)
    assert result.n_data == 28 * 71 - 1
    nfree = result.n_data - result.n_free
    assert result.redchi == pytest.approx(result.chisqr / nfree, rel=1e-12)
    weighted = fit_model(
        series(), Measurement(data=data, weight=np.full(data.shape, 20.0)), scale_covar=False
    )
    assert weighted.redchi == pytest.approx(1.0, rel=0.1)
    check_truth(weighted, TRUE_2D)


def test_masked_fit_equals_a_fit_without_those_points() -> None:
    """lmfit counts masked points as data; redchi and errors must not."""
    data = data_1d()
    keep = np.ones(data.shape, bool)
    keep[60:] = False
    masked = fit_model(spectrum(), Measurement(data=data, keep=keep))
    cut = fit_model(spectrum(), Measurement(data=data, columns=(0, 60)))
    assert masked.redchi == pytest.approx(cut.redchi, rel=1e-9)
    for name in masked.problem.names:
        assert masked.stderr[name] == pytest.approx(cut.stderr[name], rel=1e-5)


def test_arrays_of_the_result_cover_the_window() -> None:
    data = data_2d()
    result = fit_model(series(), Measurement(data=data, rows=(2, 30), columns=(10, 70)))
    np.testing.assert_array_equal(result.energy, ENERGY[10:70])
    np.testing.assert_array_equal(result.time, TIME[2:30])
    np.testing.assert_array_equal(result.data, data[2:30, 10:70])
    assert result.fit.shape == (28, 60)
    np.testing.assert_allclose(result.residual, result.data - result.fit, rtol=0, atol=0)
    flat = result.lmfit.residual
    np.testing.assert_allclose(flat, result.residual.ravel(), rtol=0, atol=1e-12)
    assert float(flat @ flat) == pytest.approx(result.chisqr, rel=1e-12)


def test_components_add_up() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d(), columns=(10, 70)))
    peaks, grounds = result.components()
    assert list(peaks) == ["GLP_01", "GLP_02"]
    assert list(grounds) == ["Offset", "Shirley"]
    total = sum([*peaks.values(), *grounds.values()])
    np.testing.assert_allclose(total, result.fit, rtol=1e-12)


def test_integer_and_single_precision_data() -> None:
    counts = np.round(100 * data_2d()).astype(np.uint16)
    model = series()
    model.parameters["GLP_01_A"].max = 1e5
    model.set_values({"Offset_y0": 240.0, "GLP_01_A": 1000.0})
    wanted = fit_model(model, Measurement(data=counts.astype(float)))
    for kind in (np.uint16, np.float32, np.int32):
        result = fit_model(model, Measurement(data=counts.astype(kind)))
        assert result.values == pytest.approx(wanted.values, rel=1e-9)
        assert result.data.dtype == kind


# what is refused


def test_nothing_to_fit() -> None:
    model = spectrum()
    for par in model.parameters.values():
        par.vary = False
    with pytest.raises(FitError, match="every parameter is fixed"):
        fit_model(model, Measurement(data=data_1d()))


def test_no_data_and_too_few_points() -> None:
    with pytest.raises(FitError, match="needs data"):
        fit_model(spectrum(), Measurement())
    with pytest.raises(FitError, match="3 points cannot determine 4 free"):
        fit_model(spectrum(), Measurement(data=data_1d(), columns=(0, 3)))


def test_unknown_method_is_an_error_with_a_suggestion() -> None:
    """lmfit takes an unknown name for another method without a word."""
    with pytest.raises(FitError, match="did you mean 'leastsq'"):
        fit_model(spectrum(), Measurement(data=data_1d()), method="leatsq")
    with pytest.raises(FitError, match="not 3"):
        fit_model(spectrum(), Measurement(data=data_1d()), method=3)  # type: ignore[arg-type]


def test_method_names() -> None:
    assert canonical_method("Nelder") == "nelder"
    assert canonical_method("Nelder-Mead") == "nelder"
    assert canonical_method("LEASTSQ") == "leastsq"
    assert canonical_method("L-BFGS-B") in ("lbfgsb", "l-bfgsb")
    for name in known_methods():
        assert canonical_method(name) == name


def test_unknown_backend() -> None:
    with pytest.raises(BackendError, match="did you mean"):
        fit_model(spectrum(), Measurement(data=data_1d()), backend="compild")


def test_contradicting_options() -> None:
    measurement = Measurement(data=data_1d())
    with pytest.raises(FitError, match="contradict"):
        fit_model(spectrum(), measurement, method="nelder", fit_alg_1="powell")
    with pytest.raises(FitError, match="stages must be 1 or 2"):
        fit_model(spectrum(), measurement, stages=3)
    with pytest.raises(FitError, match="conf_interval"):
        fit_model(spectrum(), measurement, try_ci=1)
    assert fit_model(spectrum(), measurement, try_ci=0).success


def test_start_outside_of_bounds() -> None:
    model = spectrum()
    model.parameters["GLP_01_F"].value = 9.0
    with pytest.raises(FitError, match=r"GLP_01.F.* 9, outside of its bounds \[0.1, 5\]"):
        fit_model(model, Measurement(data=data_1d()))


def test_an_error_of_the_method_becomes_a_fit_error() -> None:
    with pytest.raises(FitError, match=r"differential_evolution.*[Bb]ound"):
        fit_model(
            spectrum(), Measurement(data=data_1d()), method="differential_evolution", max_nfev=10
        )


def test_outside_of_the_domain_at_the_start_names_the_parameter() -> None:
    model = series()
    model.parameters["GLP_01_x0_expFun_01_tau"].min = -100.0
    model.parameters["GLP_01_x0_expFun_01_tau"].value = -3.0
    with pytest.raises(FitError, match="at the start") as caught:
        fit_model(model, Measurement(data=data_2d()))
    assert "GLP_01_x0_expFun_01_tau = -3" in str(caught.value)
    assert "tau > 0" in str(caught.value)


def test_outside_of_the_domain_in_time_names_time_and_parameter() -> None:
    model = spectrum()
    law = load_dynamics(DECAY.format(A=-3.0, tau=5.0), "decay", model.parameters["GLP_01_F"])
    model.add_dynamics("GLP_01_F", law)
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(FitError, match=r"GLP_01 is outside of its domain at time 0 \(row 5\)"):
        fit_model(model, Measurement(data=data_2d()))


def test_leaving_the_domain_during_the_fit_names_the_parameter() -> None:
    model = spectrum({**START, "F": 0.3})
    model.parameters["GLP_01_F"].min = -50.0
    data = -np.abs(data_1d()) * 1e3
    with pytest.raises(FitError, match=r"at evaluation \d+.*GLP_01_F = -.*F > 0"):
        fit_model(model, Measurement(data=data), method="nelder")


def test_expression_that_divides_by_zero_is_named() -> None:
    text = STATIC.format(**{**START, "y0": 0.0}).replace("3/4 * GLP_01_A", "GLP_01_A / Offset_y0")
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    with pytest.raises(FitError, match=r"GLP_02_A is inf \(expression 'GLP_01_A / Offset_y0'\)"):
        fit_model(model, Measurement(data=data_1d()))


def test_numpy_error_state_survives_a_failed_fit() -> None:
    """lmfit sets NumPy's error state and does not restore it when an exception passes."""
    before = np.geterr()
    model = spectrum({**START, "F": 0.3})
    model.parameters["GLP_01_F"].min = -50.0
    with pytest.raises(FitError):
        fit_model(model, Measurement(data=-np.abs(data_1d()) * 1e3), method="nelder")
    assert np.geterr() == before


# bounds and parameters without effect


def test_parameter_at_a_bound_is_named_and_has_no_error() -> None:
    model = spectrum()
    model.parameters["GLP_01_F"].max = 1.0  # truth 1.2
    model.parameters["GLP_01_F"].value = 0.8
    result = fit_model(model, Measurement(data=data_1d()))
    assert result.at_bound == {"GLP_01_F": "max"}
    assert result.stderr["GLP_01_F"] is None
    assert "GLP_01_F (max)" in result.message
    assert "(at max)" in str(result)
    fixed = spectrum()
    fixed.parameters["GLP_01_F"].value = 1.0
    fixed.parameters["GLP_01_F"].vary = False
    reference = fit_model(fixed, Measurement(data=data_1d()))
    for name in ("GLP_01_A", "GLP_01_x0", "Offset_y0"):
        # One more free parameter is counted, hence not exactly the same.
        assert result.stderr[name] == pytest.approx(reference.stderr[name], rel=0.02)


def test_start_on_a_bound_still_moves() -> None:
    """lmfit's transformation has no slope at a bound: such a parameter never moved."""
    model = spectrum()
    model.parameters["GLP_01_m"].vary = True
    model.parameters["GLP_01_m"].min, model.parameters["GLP_01_m"].max = 0.0, 1.0
    model.parameters["GLP_01_m"].value = 0.0
    result = fit_model(model, Measurement(data=data_1d()))
    assert abs(result.values["GLP_01_m"] - 0.3) < 4 * result.stderr["GLP_01_m"]
    assert "Started inside its bound: GLP_01_m" in result.message


def test_parameter_without_effect_is_not_a_success() -> None:
    text = STATIC.format(**START) + (
        "  Gauss:\n    A: [0, False]\n    x0: [85, True]\n    SD: [1, True, 0.1, 5]\n"
    )
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    result = fit_model(model, Measurement(data=data_1d()))
    assert not result.success
    assert result.without_effect == ("Gauss_01_x0", "Gauss_01_SD")
    assert "do not determine Gauss_01_x0, Gauss_01_SD" in result.message
    check_truth(result, TRUE_1D)


# methods, stages, stopping


@pytest.mark.parametrize("method", ["least_squares", "nelder", "lbfgsb"])
def test_other_methods_give_the_same_answer_and_errors(method: str) -> None:
    measurement = Measurement(data=data_1d())
    wanted = fit_model(spectrum(), measurement)
    result = fit_model(spectrum(), measurement, method=method)
    assert result.method == method
    for name in result.problem.names:
        assert abs(result.values[name] - wanted.values[name]) < 0.05 * wanted.stderr[name]
        assert result.stderr[name] == pytest.approx(wanted.stderr[name], rel=0.02)


def test_two_stages() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()), stages=2)
    assert result.method == "nelder then leastsq"
    assert result.success
    check_truth(result, TRUE_1D)


def test_max_nfev_keeps_the_best_point() -> None:
    seen: list[float] = []
    result = fit_model(
        spectrum(),
        Measurement(data=data_1d()),
        max_nfev=11,
        progress=lambda nfev, chisqr, best: seen.append(chisqr),
    )
    assert len(seen) == 11
    assert not result.success
    assert not result.interrupted
    assert "max_nfev = 11" in result.message
    assert result.chisqr == pytest.approx(min(seen), rel=1e-12)
    assert all(error is None for error in result.stderr.values())


@pytest.mark.parametrize("method", ["leastsq", "nelder", "least_squares"])
def test_ctrl_c_keeps_the_best_point(method: str) -> None:
    seen: list[float] = []

    def press(nfev: int, chisqr: float, best: float) -> None:
        seen.append(chisqr)
        if nfev == 12:
            raise KeyboardInterrupt

    result = fit_model(spectrum(), Measurement(data=data_1d()), method=method, progress=press)
    assert result.interrupted
    assert not result.success
    assert "interrupted after 12 evaluations" in result.message
    assert result.chisqr == pytest.approx(min(seen), rel=1e-12)


def test_fallback_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, *given: Any) -> None:
        raise PlanError("cannot compile this")

    measurement = Measurement(data=data_1d())
    monkeypatch.setattr(CompiledExecutor, "__init__", refuse)
    with pytest.warns(UserWarning, match="cannot compile this"):
        result = fit_model(spectrum(), measurement, backend=None)
    assert result.backend == "interpreted"
    with pytest.raises(PlanError, match="cannot compile this"):
        fit_model(spectrum(), measurement, backend="compiled")


# the result as an object


def test_result_pickles_and_serves_lmfit() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()))
    again = pickle.loads(pickle.dumps(result))
    assert again.values == result.values
    np.testing.assert_array_equal(again.fit, result.fit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interval = lmfit.conf_interval(again.minimizer, again.lmfit, p_names=["GLP_01_x0"])
    low, best, high = (interval["GLP_01_x0"][k][1] for k in (2, 3, 4))
    assert low < best < high
    assert (high - low) / 2 == pytest.approx(result.stderr["GLP_01_x0"], rel=0.2)


def test_pickle_is_small() -> None:
    data = data_2d()
    result = fit_model(series(), Measurement(data=data))
    # The data, lmfit's residual, and little else.
    assert len(pickle.dumps(result)) < 2 * data.nbytes + 40_000


def test_result_shows_itself() -> None:
    result = fit_model(series(), Measurement(data=data_2d()))
    text = str(result)
    assert "leastsq on compiled: converged" in text
    assert "GLP_01_x0_expFun_01_tau" in text
    html = result._repr_html_()
    assert html.count("<tr>") == 1 + len(result.values)
    assert "3/4 * GLP_01_A" in html
    facts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert facts["redchi"] == result.redchi
    assert [row["name"] for row in facts["parameters"]] == list(result.values)


def test_bad_data_never_reach_the_optimizer() -> None:
    data = data_1d()
    data[5] = np.nan
    with pytest.raises(DataError):
        fit_model(spectrum(), Measurement(data=data))
