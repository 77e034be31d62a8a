"""A fit whose rows are summed by several processes: the bits of the fit in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.clusters import cluster
from support.native_cases import CASES

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

NAMES = ["a series", "weights and a mask", "a window", "counts", "three files"]


def long_series(name: str, n_time: int = 1100) -> tuple[Model, Measurement]:
    """A case of the solver's tests with more rows; that of "three files" is separable."""
    model, measurement = CASES[name]()[0]
    rng = np.random.default_rng(5)
    start = model.theta()
    model.set_axes(energy=model.energy, time=np.linspace(-10.0, 50.0, n_time))
    clean = model.evaluate(theta=start)
    data = rng.normal(clean, 0.1)
    if measurement.loss == "poisson":
        data = rng.poisson(np.maximum(clean, 0.0) * 4.0) / 4.0
    given = replace(measurement, data=None, weight=None, keep=None)
    weight = None if measurement.weight is None else rng.uniform(5.0, 40.0, data.shape)
    keep = None if measurement.keep is None else rng.uniform(size=data.shape) > 0.3
    return model, replace(given, data=data, weight=weight, keep=keep)


def assert_same(found: FitResult, expected: FitResult) -> None:
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert dict(found.stderr) == dict(expected.stderr)
    assert (found.chisqr, found.nfev) == (expected.chisqr, expected.nfev)
    assert (found.success, found.message) == (expected.success, expected.message)
    assert found.cautions == expected.cautions


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_two_processes_give_the_bits_of_one(name: str, two: Any) -> None:
    model, measurement = long_series(name)
    assert_same(fit_model(model, measurement, client=two), fit_model(model, measurement))
