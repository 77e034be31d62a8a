"""What fit_model refuses, and how it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from support.fit_cases import (
    DECAY,
    ENERGY,
    START,
    STATIC,
    TIME,
    data_1d,
    data_2d,
    series,
    spectrum,
)

from pyspec import File, Project, fit_map
from pyspec.cli.syntax_hints import for_fields
from pyspec.errors import BackendError, CallError, FitError
from pyspec.fit import (
    fit_joint,
    fit_many,
    fit_model,
    fit_slices,
    known_methods,
)
from pyspec.model import Measurement, Model, load_dynamics, load_model


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


@pytest.mark.parametrize("method", [name for name in known_methods() if name != "emcee"])
def test_every_method_that_is_known_runs(method: str) -> None:
    """Five of SciPy's wanted a gradient, and ended in its error."""
    text = "m: {Gauss: {A: [9, True, 5, 15], x0: [5.2, True, 4, 6], SD: [1, True, 0.5, 2]}}"
    model, x = load_model(text, "m"), np.linspace(0.0, 10.0, 41)
    model.set_axes(energy=x)
    noise = np.random.default_rng(0).normal(0.0, 0.1, x.size)
    measurement = Measurement(data=10.0 * np.exp(-0.5 * (x - 5.0) ** 2) + noise)
    best = fit_model(model, measurement)
    options = {"Ns": 5} if method == "brute" else {}
    found = fit_model(model, measurement, method=method, **options)
    assert found.values["Gauss_01_x0"] == pytest.approx(5.0, abs=0.02)
    if method != "brute":
        assert found.chisqr == pytest.approx(best.chisqr, rel=1e-3)


def test_a_method_that_wants_a_gradient_is_refused() -> None:
    with pytest.raises(FitError, match="'Newton-CG' wants a gradient, which lmfit does not hand"):
        fit_model(spectrum(), Measurement(data=data_1d()), method="Newton-CG")


def test_unknown_backend() -> None:
    with pytest.raises(BackendError, match="did you mean"):
        fit_model(spectrum(), Measurement(data=data_1d()), backend="compild")


def test_contradicting_options() -> None:
    measurement = Measurement(data=data_1d())
    with pytest.raises(FitError, match="contradict"):
        fit_model(spectrum(), measurement, method="nelder", fit_alg_1="powell")
    with pytest.raises(FitError, match="stages must be 1, or 2"):
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


def test_leaving_the_domain_during_the_fit_names_the_parameter() -> None:
    model = spectrum({**START, "F": 0.3})
    model.parameters["GLP_01_F"].min = -50.0
    data = -np.abs(data_1d()) * 1e3
    with pytest.raises(FitError, match=r"at evaluation \d+.*GLP_01_F = -.*F > 0"):
        fit_model(model, Measurement(data=data), method="leastsq")


def test_intervals_of_what_there_is_not() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()))
    with pytest.raises(CallError, match=r"no argument 'names'.*'p_names'"):
        result.conf_interval(names=["GLP_01_x0"])
    with pytest.raises(CallError, match=r"'GLP_01_x' is no free parameter.*'GLP_01_x0'"):
        result.conf_interval(p_names=["GLP_01_x"])
    interval = result.conf_interval(p_names="GLP_01_x0", sigmas=[1])
    assert list(interval) == ["GLP_01_x0"]


NO_NOISE = "m: scale_covar=False takes standard errors from the declared noise, and none is"


def flat() -> Model:
    model = load_model("m: {Offset: {y0: [5, True, 0, 1e6]}}", "m")
    model.set_axes(energy=np.arange(12.0))
    return model


@pytest.mark.parametrize("given", [False, 0, np.False_])
@pytest.mark.parametrize("method", ["native", "leastsq", "nelder"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1000.0])
def test_errors_of_a_noise_that_nobody_declared(scale: float, method: str, given: Any) -> None:
    """They were those of a noise of 1, whatever the unit of the data is: wrong by any factor."""
    data = scale * (5.0 + np.random.default_rng(0).normal(0.0, 0.01, 12))
    kept = np.arange(12) > 2
    for one in (Measurement(data), Measurement(data, columns=(2, 9)), Measurement(data, keep=kept)):
        with pytest.raises(FitError, match=NO_NOISE):
            fit_model(flat(), one, method=method, scale_covar=given)
    known = Measurement(data, weight=np.full(12, 100.0 / scale))
    result = fit_model(flat(), known, method=method, scale_covar=given)
    assert result.stderr["Offset_y0"] == pytest.approx(0.01 * scale / np.sqrt(12), rel=1e-6)
    assert fit_model(
        flat(), Measurement(np.arange(12.0), loss="poisson"), scale_covar=given
    ).success


def test_no_kind_of_fit_takes_a_noise_that_nobody_declared(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    data = 5.0 + np.random.default_rng(0).normal(0.0, 0.01, (3, 12))
    known = Measurement(data[0], weight=np.ones(12))
    spectra = xr.DataArray(data, {"energy": np.arange(12.0)}, ("x", "energy"))
    for fit in (
        lambda: fit_slices(flat(), Measurement(data), scale_covar=False),
        lambda: fit_many(flat(), [Measurement(one) for one in data], scale_covar=False),
        lambda: fit_many(flat(), [known, Measurement(data[0])], scale_covar=False),
        lambda: fit_joint([(flat(), Measurement(one)) for one in data], scale_covar=False),
        lambda: fit_map(flat(), spectra, tmp_path / "map.zarr", scale_covar=False),
    ):
        with pytest.raises(FitError, match="scale_covar=False takes standard errors from"):
            fit()
    file = File(Project(show_output=False), data=data[0], energy=np.arange(12.0))
    (tmp_path / "m.yaml").write_text(flat().to_yaml())
    file.load_model(tmp_path / "m.yaml", "m")
    with pytest.raises(FitError, match=NO_NOISE) as refused:
        file.fit_spectrum("m", scale_covar=False)
    in_a_job = for_fields(str(refused.value))
    assert "'scale_errors: false' takes standard errors from the declared noise" in in_a_job
    assert (
        "declare it, noise: {type: gaussian, sigma: ...}, or leave 'scale_errors: false' out"
        in (in_a_job)
    )
    file.set_noise("gaussian", sigma=0.01)
    assert file.fit_spectrum("m", scale_covar=False).success


def test_outside_of_the_domain_in_time_names_time_and_parameter() -> None:
    model = spectrum()
    law = load_dynamics(DECAY.format(A=-3.0, tau=5.0), "decay", model.parameters["GLP_01_F"])
    model.add_dynamics("GLP_01_F", law)
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(FitError, match=r"GLP_01 is outside of its domain at time 0 \(row 5\)"):
        fit_model(model, Measurement(data=data_2d()))


def test_expression_that_divides_by_zero_is_named() -> None:
    text = STATIC.format(**{**START, "y0": 0.0}).replace("3/4 * GLP_01_A", "GLP_01_A / Offset_y0")
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    with pytest.raises(FitError, match=r"GLP_02_A is inf \(expression 'GLP_01_A / Offset_y0'\)"):
        fit_model(model, Measurement(data=data_1d()))


@pytest.mark.parametrize("value", ["1.2", b"1.2", True, None, [1.2], 1 + 0j])
def test_a_start_that_is_no_number(value: object) -> None:
    """A text was taken for the number in it; None was "seeds must be a dict, not a dict"."""
    model = spectrum()
    with pytest.raises(FitError, match=r"seeds\['Offset_y0'\] is .*, not a number"):
        fit_model(model, Measurement(data=data_1d()), seeds={"Offset_y0": value})
    with pytest.raises(FitError, match=r"seeds\['Offset_y0'\] is .*, not a number"):
        fit_many(model, [Measurement(data=data_1d())], seeds=[{"Offset_y0": value}])
    with pytest.raises(FitError, match=r"seeds\['Offset_y0'\] is .*, not a number"):
        fit_slices(model, Measurement(data=data_2d()[:1]), seeds=[{"Offset_y0": value}])
    for number in (np.float32(4), np.array(4.0), np.int64(4)):
        fit = fit_model(model, Measurement(data=data_1d()), seeds={"Offset_y0": number})
        assert fit.start["Offset_y0"] == 4.0


def test_values_of_a_fit_as_starts_of_the_next() -> None:
    """What follows an expression was "no free or fixed parameter; did you mean" another."""
    model = spectrum()
    model.set("GLP_01_F", expr="GLP_01_A / 10")
    given = Measurement(data=data_1d())
    fit = fit_model(model, given)
    with pytest.raises(FitError, match=r"'GLP_01_F', which .* follows the expression 'GLP_01_A"):
        fit_model(model, given, seeds=fit.values)
    again = fit_model(model, given, seeds={name: fit.values[name] for name in fit.free_names})
    assert again.nfev <= 2
