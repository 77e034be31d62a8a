"""A model for fits that solve for linear parameters, and what it means that two fits agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import FitResult, Measurement, Model, fit_model, load_model
from pyspec.executor import CompiledExecutor, make_plan
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


WEIGHT = np.linspace(2.0, 4.0, ENERGY.size)

#: Starts of the offset and both heights: 10³ times too much, of either sign, and nothing.
STARTS = [(0, 1e5, 3e4), (0, -1e5, -3e4), (0, -1e5, 3e4), (-1e3, 1e-3, 1e-3), (0, 0, 0)]
