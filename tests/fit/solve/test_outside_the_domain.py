"""Points outside of the domain of a function, which methods that compare values go past."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec.errors import FitError
from pyspec.fit import FitResult, fit_joint, fit_model
from pyspec.model import Measurement, Model, load_model

ENERGY = np.linspace(0.0, 10.0, 61)

#: A width of 0, the lower bound, is outside of the domain of Gauss.
TEXT = """
m: {Gauss: {A: [9, True, 0, 15], x0: [5.2, True, 4, 6], SD: [1, True, 0, 5]}}
never: {Gauss: {A: [9, True, 0, 15], x0: [5, True, 4, 6], SD: ["b - 2"]}}
"""

#: Widths that are all below 0 come from the last model.
PARAMETERS = "parameters: {b: [0.5, True, 0, 1]}\n"


def _model(name: str = "m") -> Model:
    return loaded((PARAMETERS if name == "never" else "") + TEXT, name, energy=ENERGY)


def _data() -> np.ndarray:
    noise = np.random.default_rng(1).normal(0.0, 0.1, ENERGY.size)
    return 8.0 * np.exp(-(((ENERGY - 5.0) / 1.3) ** 2) / 2.0) + noise


def _fit(method: str, name: str = "m", **options: int) -> FitResult:
    return fit_model(_model(name), Measurement(data=_data()), method=method, **options)


@pytest.mark.parametrize(
    "method",
    [
        *("differential_evolution", "shgo"),
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("dual_annealing", "brute")),
    ],
)
def test_a_global_search_goes_past_them(method: str) -> None:
    """shgo and brute begin in the corners of the bounds."""
    best = _fit("native")
    result = fit_model(_model(), Measurement(data=_data()), method=(method, "native"), seed=1)
    assert result.chisqr == pytest.approx(best.chisqr, rel=1e-9)
    assert result.success


@pytest.mark.parametrize("method", ["differential_evolution", "nelder", "brute"])
def test_no_point_within_the_domain_is_an_error(method: str) -> None:
    with pytest.raises(FitError, match=r"not finite.*Gauss_01_SD = -[12].*SD > 0"):
        _fit(method, "never", **({"Ns": 4} if method == "brute" else {}))


def test_local_methods_that_compare_go_past_them_too() -> None:
    """The methods that make slopes of their values keep the error."""
    model = _model()
    model.parameters["Gauss_01_SD"].min = -50.0
    best = _fit("native")
    for method in ("nelder", "powell"):
        result = fit_model(model, Measurement(data=_data()), method=method)
        assert result.chisqr == pytest.approx(best.chisqr, rel=1e-4)
    for method in ("leastsq", "lbfgsb"):
        with pytest.raises(FitError, match=r"not finite.*Gauss_01_SD = -\d.*SD > 0"):
            fit_model(_model("never"), Measurement(data=_data()), method=method)


STEEP = """
m:
  Offset: {y0: [3, True, 0, 100]}
  ExpBack: {A: [0, True], x0: [0, False], k: [1, False]}
"""


@pytest.mark.parametrize("options", [{}, {"method": "leastsq"}, {"linear": "eliminate"}])
def test_a_derivative_that_overflows_names_its_parameter(options: dict[str, str]) -> None:
    """chi² is finite there, and so is the residual."""
    energy = np.linspace(-900.0, 900.0, 181)
    n = int(np.sum(-2.0 * energy > np.log(np.finfo(float).max)))  # exp(-energy)² overflows
    parts = []
    for _ in range(2):
        model = loaded(STEEP, "m", energy=energy)
        parts.append((model, Measurement(data=np.full(181, 3.1))))
    said = (
        "m: a derivative is not finite at the start: that of the residual by ExpBack_A is too "
        f"large at {n} of 181 points, though the residual itself is finite; hold ExpBack_A fixed"
    )
    with pytest.raises(FitError, match=said):
        fit_model(*parts[0], **options)
    with pytest.raises(FitError, match=f"by file00_ExpBack_A is too large at {n} of 362 points"):
        fit_joint(parts, **options)
    model.energy = energy[60:]  # from -300 eV on it is not
    fit_model(model, Measurement(data=np.full(121, 3.1)), **options)


def test_so_it_does_at_the_end_of_a_search_without_derivatives() -> None:
    model = load_model(STEEP, "m")
    model.energy = np.linspace(-900.0, 900.0, 181)
    with pytest.raises(FitError, match="that of the residual by ExpBack_A is too large"):
        fit_model(model, Measurement(data=np.full(181, 3.1)), method="nelder")
