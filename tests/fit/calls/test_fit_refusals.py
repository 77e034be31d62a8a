"""What fits refuse beside the list of tests/mistakes, and how they say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from support.fit_cases import (
    DECAY,
    ENERGY,
    TIME,
    agree,
    data_1d,
    data_2d,
    loaded,
    spectrum,
)

from pyspec import fit_map
from pyspec.errors import CallError, FitError
from pyspec.fit import (
    fit_joint,
    fit_many,
    fit_model,
    fit_slices,
    known_methods,
)
from pyspec.model import Measurement, Model, load_dynamics, load_model

#: What ends a method sooner that would search on.
SHORTER: dict[str, Any] = {
    "brute": {"Ns": 5},
    "ampgo": {"max_nfev": 1000},
    "dual_annealing": {"max_nfev": 1000},
    "basinhopping": {"niter": 3},
}


@pytest.mark.parametrize("method", known_methods())
def test_every_method_that_is_known_runs(method: str) -> None:
    """Five of SciPy's wanted a gradient, and ended in its error."""
    text = "m: {Gauss: {A: [9, True, 5, 15], x0: [5.2, True, 4, 6], SD: [1, True, 0.5, 2]}}"
    model, x = load_model(text, "m"), np.linspace(0.0, 10.0, 41)
    model.set_axes(energy=x)
    noise = np.random.default_rng(0).normal(0.0, 0.1, x.size)
    measurement = Measurement(data=10.0 * np.exp(-0.5 * (x - 5.0) ** 2) + noise)
    best = fit_model(model, measurement)
    found = fit_model(model, measurement, method=method, **SHORTER.get(method, {}))
    assert found.values["Gauss_01_x0"] == pytest.approx(5.0, abs=0.02)
    if method != "brute":
        assert found.chisqr == pytest.approx(best.chisqr, rel=1e-3)
    if method in ("least_squares", "nelder", "lbfgsb"):
        agree(found, best, 0.05, 0.02)


def test_an_error_of_the_method_becomes_a_fit_error() -> None:
    with pytest.raises(FitError, match=r"differential_evolution.*[Bb]ound"):
        fit_model(
            spectrum(), Measurement(data=data_1d()), method="differential_evolution", max_nfev=10
        )


def test_intervals_of_what_there_is_not() -> None:
    model = spectrum()
    model.set("GLP_01_m", expr="GLP_01_F / 9")
    result = fit_model(model, Measurement(data=data_1d()))
    with pytest.raises(CallError, match=r"no argument 'names'.*'p_names'"):
        result.conf_interval(names=["GLP_01_x0"])
    with pytest.raises(CallError, match=r"'GLP_01_m' follows an expression .*bootstrap\(result\)"):
        result.conf_interval("GLP_01_m")
    with pytest.raises(CallError, match=r"'GLP_01_x' is no free parameter.*'GLP_01_x0'"):
        result.conf_interval(p_names=["GLP_01_x"])
    interval = result.conf_interval(p_names="GLP_01_x0", sigmas=[1])
    assert list(interval) == ["GLP_01_x0"]


NO_NOISE = "m: scale_covar=False takes standard errors from the declared noise, and none is"


def flat() -> Model:
    return loaded("m: {Offset: {y0: [5, True, 0, 1e6]}}", "m", energy=np.arange(12.0))


@pytest.mark.parametrize(
    ("method", "given"), [("native", False), ("native", 0), ("leastsq", np.False_), ("nelder", 0)]
)
def test_errors_of_a_noise_that_nobody_declared(method: str, given: Any) -> None:
    """They were those of a noise of 1, whatever the unit of the data is: wrong by any factor."""
    data = 1e-6 * (5.0 + np.random.default_rng(0).normal(0.0, 0.01, 12))
    kept = np.arange(12) > 2
    for one in (Measurement(data), Measurement(data, columns=(2, 9)), Measurement(data, keep=kept)):
        with pytest.raises(FitError, match=NO_NOISE):
            fit_model(flat(), one, method=method, scale_covar=given)
    known = Measurement(data, weight=np.full(12, 1e8))
    result = fit_model(flat(), known, method=method, scale_covar=given)
    assert result.stderr["Offset_y0"] == pytest.approx(1e-8 / np.sqrt(12), rel=1e-6)
    counts = Measurement(np.arange(12.0), loss="poisson")
    assert fit_model(flat(), counts, scale_covar=given).success


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


def test_outside_of_the_domain_in_time_names_time_and_parameter() -> None:
    model = spectrum()
    law = load_dynamics(DECAY.format(A=-3.0, tau=5.0), "decay", model.parameters["GLP_01_F"])
    model.add_dynamics("GLP_01_F", law)
    model.set_axes(energy=ENERGY, time=TIME)
    with pytest.raises(FitError, match=r"GLP_01 is outside of its domain at time 0 \(row 5\)"):
        fit_model(model, Measurement(data=data_2d()))


@pytest.mark.parametrize("value", ["1.2", b"1.2", True, None, [1.2], 1 + 0j])
def test_a_start_that_is_no_number(value: object) -> None:
    """A text was taken for the number in it; None was "seeds must be a dict, not a dict"."""
    model, seeds = spectrum(), {"Offset_y0": value}
    for fit in (
        lambda: fit_model(model, Measurement(data=data_1d()), seeds=seeds),
        lambda: fit_many(model, [Measurement(data=data_1d())], seeds=[seeds]),
        lambda: fit_slices(model, Measurement(data=data_2d()[:1]), seeds=[seeds]),
    ):
        with pytest.raises(FitError, match=r"seeds\['Offset_y0'\] is .*, not a number"):
            fit()


def test_a_start_may_be_an_array_of_no_dimensions() -> None:
    found = fit_model(spectrum(), Measurement(data_1d()), seeds={"Offset_y0": np.array(4.0)})
    assert found.start["Offset_y0"] == 4.0


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
