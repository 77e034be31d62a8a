"""Classes of Jacobian columns can be switched off; the answer is the same."""

from __future__ import annotations

import numpy as np
import pytest
from fit_cases import data_2d, series

from pyspec import FitError, Measurement, fit_model
from pyspec._library import CONSTANTS
from pyspec.executor import make_plan
from pyspec.plan import pack


@pytest.mark.parametrize(
    "without", [("constant",), ("structured",), ("constant", "structured"), "structured"]
)
def test_same_fit_without_a_class(without: tuple[str, ...] | str) -> None:
    measurement = Measurement(data=data_2d())
    whole = fit_model(series(), measurement)
    result = fit_model(series(), measurement, jacobian_without=without)
    assert result.success
    for name in whole.free_names:
        error = whole.stderr[name]
        assert error is not None
        assert result.values[name] == pytest.approx(whole.values[name], abs=1e-6 * error), name
        assert result.stderr[name] == pytest.approx(error, rel=1e-6), name
    if "structured" in without:
        assert result.nfev > whole.nfev  # differences are evaluations, too


def test_without_constant_columns_nothing_is_computed_ahead() -> None:
    plan = make_plan(series())
    ahead = CONSTANTS["FLAG_STATIC"] | CONSTANTS["FLAG_SHAPE"]
    steps = {True: pack(plan).nodes(), False: pack(plan, lines=False).nodes()}
    component = CONSTANTS["STEP_COMPONENT"]
    flags = {k: v["flags"][v["step"] == component] & ahead for k, v in steps.items()}
    assert np.any(flags[True])
    assert not np.any(flags[False])


def test_unknown_class() -> None:
    with pytest.raises(FitError, match=r"jacobian_without='structure' .* did you mean"):
        fit_model(series(), Measurement(data=data_2d()), jacobian_without=("structure",))
