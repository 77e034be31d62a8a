"""What a result makes when somebody asks for it is that of its own fit: parameters as objects, the
covariance, the text of the message."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.line_model import line_text, measured

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model, load_model

FOLLOWERS = """  Gauss:
    A: ["Gauss_01_A / 2"]
    x0: ["Gauss_01_x0 + 3"]
    SD: [0.7, False]
"""


def line() -> tuple[Model, Measurement]:
    """A line that another one follows, and data of both."""
    model = load_model(line_text(more=FOLLOWERS), "line")
    model.set_axes(energy=np.linspace(80.0, 90.0, 60))
    truth = model.copy()
    truth.set_values({"Gauss_01_x0": 84.3, "Gauss_01_SD": 0.9})
    return model, measured(truth)


def facts(result: FitResult) -> list[object]:
    """All that is made late, and what it is made of."""
    made = {
        name: (par.value, par.vary, par.min, par.max, par.stderr, par.correl, par.init_value)
        for name, par in result.params.items()
    }
    correl = {name: dict(row) for name, row in result.correl.items()}
    texts = result.message, str(result.table), result.fit_report(), result.lmfit.message
    found: list[object] = [dict(result.values), dict(result.stderr), dict(result.start), made]
    return [*found, correl, result.lmfit.covar.tolist(), str(result.correlations), *texts]


def change_the_model(model: Model, measurement: Measurement, other: FitResult) -> None:
    model.set("Gauss_01_x0", 82.0, min=81.0, max=83.0)
    model.set("Gauss_01_SD", vary=False)
    model.set("Gauss_02_A", 3.0, expr="")


def fit_it_again(model: Model, measurement: Measurement, other: FitResult) -> None:
    fit_model(model, measurement, seeds={"Gauss_01_A": 3.0, "Gauss_01_x0": 84.0})
    fit_model(model, measurement, "interpreted", "leastsq")


def change_another_result(model: Model, measurement: Measurement, other: FitResult) -> None:
    for par in other.params.values():
        par.min, par.max, par.value, par.stderr, par.correl = -np.inf, np.inf, 1.0, None, None
    other.lmfit.covar[:] = 0.0
    other.lmfit.init_values.clear()
    other.lmfit.message = "changed"
    other.start.clear()
    other._expressions.clear()
    other.values.clear()
    other.stderr.clear()
    with pytest.raises(ValueError, match="read-only"):
        other.theta[:] = 0.0
    other.model.set("Gauss_01_x0", 82.0, min=81.0, max=83.0)


@pytest.mark.parametrize("change", [change_the_model, fit_it_again, change_another_result])
def test_what_comes_after_a_fit_changes_nothing_of_it(change: Callable[..., None]) -> None:
    model, measurement = line()
    at_once, later, third = (fit_model(model, measurement) for _ in range(3))
    expected = facts(at_once)
    change(model, measurement, third)
    assert facts(later) == expected
    assert facts(fit_model(*line())) == expected
