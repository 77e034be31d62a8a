"""Many problems in one call: the sums of each are those that it has alone, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES
from support.sums import sum_problems

from pyspec.errors import LibraryError, PlanError
from pyspec.executor import CompiledExecutor, make_executor
from pyspec.executor.normal import FORMS
from pyspec.model import Measurement

Array = Any

NAMES = [
    "one spectrum",
    "a series",
    "weights and a mask",
    "counts",
    "a Shirley",
    "a profile",
    "expressions",
    "a time trace",
]


def problems(name: str, count: int) -> tuple[list[CompiledExecutor], list[Array]]:
    """Problems of one model with data, rows and values of their own."""
    model, measurement = CASES[name]()[0]
    first: Any = make_executor(model, measurement)
    data, rng = np.asarray(measurement.data, float), np.random.default_rng(5)
    executors, thetas = [], []
    for k in range(count):
        own = replace(measurement, data=np.abs(data * (1.0 + 0.01 * k)))
        if data.ndim == 2:
            end = len(data) - k % 3
            own = replace(own, rows=(k % 5, end))
        executors.append(CompiledExecutor(first.plan, own, packed=first.packed))
        thetas.append(model.theta() * (1.0 + 0.003 * rng.normal(size=model.theta().size)))
    return executors, thetas


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_problems_together_equal_each_alone(name: str, form: str) -> None:
    executors, thetas = problems(name, 13)
    alone = [
        sum_problems([executor], [theta], form=form)[0]
        for executor, theta in zip(executors, thetas, strict=True)
    ]
    for count in (1, 7, 8, 13):
        together = sum_problems(executors[:count], thetas[:count], form=form)
        assert together.tobytes() == np.array(alone[:count]).tobytes(), count
    for executor, theta, triangle in zip(executors, thetas, alone, strict=True):
        own = executor.normal(theta, None, form)
        if form != "factor":  # a row of a factor may be its own negative
            np.testing.assert_allclose(triangle, own, rtol=1e-9, atol=1e-12 * np.abs(own).max())


def test_fixed_values_belong_to_a_problem() -> None:
    model, measurement = CASES["one spectrum"]()[0]
    executor: Any = make_executor(model, measurement)
    names = executor.fixed_names
    if not names:
        pytest.fail("the case has no fixed value")
    moved = {names[0]: executor.plan.fixed[0] + 0.25}
    both = sum_problems([executor, executor], [model.theta()] * 2, [None, moved])
    alone = [sum_problems([executor], [model.theta()], [values])[0] for values in (None, moved)]
    assert both.tobytes() == np.array(alone).tobytes()
    assert both[0, -1] != both[1, -1]


def test_problems_of_other_windows_or_models_are_refused() -> None:
    model, measurement = CASES["a series"]()[0]
    executor: Any = make_executor(model, measurement)
    cropped: Any = make_executor(model, replace(measurement, columns=(1, 30)))
    with pytest.raises(LibraryError, match="share plan, energies, window"):
        sum_problems([executor, cropped], [model.theta()] * 2)
    other, data = CASES["one spectrum"]()[0]
    with pytest.raises(PlanError, match="same model as the first"):
        sum_problems([executor, make_executor(other, data)], [model.theta(), other.theta()])  # type: ignore[list-item]


def test_measurement_is_the_only_difference() -> None:
    """The same problem twice has the same sums in every lane."""
    model, measurement = CASES["one spectrum"]()[0]
    executor: Any = make_executor(model, measurement)
    assert isinstance(measurement, Measurement)
    triangles = sum_problems([executor] * 11, [model.theta()] * 11)
    assert len({triangle.tobytes() for triangle in triangles}) == 1
