"""Fits that sum over energies and times apart end where those of the general walk do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.separable import measured, three

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model


def same(found: FitResult, walked: FitResult) -> None:
    assert found.success
    assert walked.success
    for name, par in walked.params.items():
        if par.stderr:
            distance = abs(found.params[name].value - par.value) / par.stderr
            assert distance <= 1e-6, (name, distance)
            assert abs(found.params[name].stderr / par.stderr - 1) <= 1e-6, name
    assert abs(found.chisqr / walked.chisqr - 1) <= 1e-12


def both(model: Model, data: Measurement, monkeypatch: pytest.MonkeyPatch) -> list[FitResult]:
    """A fit with the pass, and one without, each from the same start."""
    start = model.values
    results = []
    for passes in ("", "-separable"):
        monkeypatch.setenv("PYSPEC_PASSES", passes)
        for name, value in start.items():
            if model.parameters[name].vary:
                model.parameters[name].value = value
        results.append(fit_model(model, data))
    return results


@pytest.mark.parametrize("weights", ["none", "rows", "columns dropped", "window"])
def test_the_optimum_is_that_of_the_general_walk(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, sigma = measured()
    given: dict[str, Any] = {}
    if weights == "rows":
        given["weight"] = np.broadcast_to(1 / sigma, data.shape).copy()
    elif weights == "columns dropped":
        given["keep"] = np.ones(data.shape, dtype=bool)
        given["keep"][:, 40:44] = False
    elif weights == "window":
        given["rows"], given["columns"] = (3, 97), (5, 120)
    model = three()
    for name in ("GLP_01_A", "GLP_01_x0", "GLP_02_A_expFun_01_tau"):
        model.parameters[name].value *= 1.15
    found, walked = both(model, Measurement(data, **given), monkeypatch)
    same(found, walked)
