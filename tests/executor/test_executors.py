"""Tree, interpreted and compiled mean the same; what each does with windows, data, threads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.agreement import BACKENDS as THREE
from support.zoo import make_model

from pyspec.errors import BackendError, DataError
from pyspec.executor import (
    BACKENDS,
    CompareExecutor,
    CompiledExecutor,
    InterpretedExecutor,
    evaluate_2d,
    extract_theta,
    make_executor,
    make_plan,
)
from pyspec.model import Measurement


def noisy(name: str, seed: int = 0) -> np.ndarray:
    model = make_model(name)
    clean = make_executor(model, None, "compiled").run(model.theta())
    return clean + np.random.default_rng(seed).normal(0.0, 0.1, clean.shape)


@pytest.mark.parametrize("kind", [CompiledExecutor, InterpretedExecutor])
def test_executor_pickles(kind: type) -> None:
    model = make_model("doublet_sin")
    executor = kind(make_plan(model), Measurement(data=noisy("doublet_sin")))
    again = pickle.loads(pickle.dumps(executor))
    np.testing.assert_array_equal(again.residual(model.theta()), executor.residual(model.theta()))


@pytest.mark.parametrize("backend", THREE)
def test_residual_without_data(backend: str) -> None:
    model = make_model("one_peak")
    with pytest.raises(DataError, match="needs data"):
        make_executor(model, None, backend).residual(model.theta())


def test_compare_raises_where_executors_differ() -> None:
    model = make_model("one_peak")

    class Off(InterpretedExecutor):
        def run(self, theta: object, fixed: object = None) -> np.ndarray:
            spectrum = super().run(theta, fixed)  # type: ignore[arg-type]
            spectrum[3, 5] += 1e-8
            return spectrum

    plan = make_plan(model)
    compare = CompareExecutor([Off(plan), CompiledExecutor(plan)])
    with pytest.raises(BackendError, match=r"index \(3, 5\)"):
        compare.run(model.theta())


def test_model_evaluate_and_evaluate_2d() -> None:
    model = make_model("doublet_sin")
    plan = make_plan(model)
    theta = extract_theta(plan, {name: par.value for name, par in model.parameters.items()})
    expected = evaluate_2d(plan, theta)  # type: ignore[arg-type]
    for backend in BACKENDS:
        np.testing.assert_allclose(
            model.evaluate(backend=backend), expected, rtol=0, atol=1e-10 * expected.max()
        )
