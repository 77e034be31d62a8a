"""Random models: sums over energies and times apart equal those of the general walk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from support.random_models import accepted

from pyspec.executor import CompiledExecutor, make_plan
from pyspec.executor.normal import unpack
from pyspec.model import Measurement
from pyspec.plan import ScheduledPlan

Array = npt.NDArray[np.float64]

#: Of chi², and of the lengths of the two columns that an entry belongs to: the order of additions
#: is another, and components may be large where their sum is not.
SAME = 1e-11


def separable_plans(seeds: range) -> Iterator[tuple[int, ScheduledPlan]]:
    """Plans of random models whose spectra are shapes times traces, and finite."""
    for seed, model in accepted(seeds):
        plan = make_plan(model)
        if plan.separable and np.isfinite(CompiledExecutor(plan).run(None)).all():
            yield seed, plan


def measurements(plan: ScheduledPlan, seed: int) -> Iterator[tuple[str, Measurement, bool]]:
    """Data with noise of every kind of weights, and whether the structure is of use."""
    random = np.random.default_rng(seed)
    clean = CompiledExecutor(plan).run(None)
    data = clean + 0.01 * np.abs(clean).max() * random.normal(size=clean.shape)
    n_rows, n_x = clean.shape
    rows, columns = random.random((n_rows, 1)) + 0.5, random.random((1, n_x)) + 0.5
    kept_row, kept_column = random.random((n_rows, 1)) > 0.2, random.random((1, n_x)) > 0.2
    kept_row[0] = kept_column[0, 0] = True
    keep_rows = np.broadcast_to(kept_row, clean.shape).copy()
    keep_columns = np.broadcast_to(kept_column, clean.shape).copy()
    scattered = random.random(clean.shape) > 0.5
    scattered[0, :: max(n_x - 1, 1)] = scattered[-1, 0] = True  # three corners of four: no product
    scattered[-1, -1] = False
    yield "plain", Measurement(data), True
    yield "by row", Measurement(data, weight=rows), True
    yield "by column", Measurement(data.astype(np.float32), weight=columns), True
    yield "map", Measurement(data, weight=rows * columns), False
    yield "rows dropped", Measurement(data, keep=keep_rows, weight=columns), True
    yield "columns dropped", Measurement(data, keep=keep_columns, weight=rows), True
    yield "points dropped", Measurement(data, keep=scattered), False
    yield "counts", Measurement(np.abs(data), loss="poisson"), False
    window = (n_rows // 4, n_rows), (0, max(n_x // 2, 1))
    yield "window", Measurement(data, rows=window[0], columns=window[1], weight=columns), True


@pytest.mark.parametrize("count", [40, pytest.param(1500, marks=pytest.mark.slow)])
def test_sums_are_those_of_the_general_walk(count: int) -> None:
    n_plans = n_other = 0
    for seed, plan in separable_plans(range(count)):
        n_plans += 1
        for name, measurement, apart in measurements(plan, seed):
            executor = CompiledExecutor(plan, measurement)
            walked, found = executor.normal(None), executor.normal(None, in_strips=True)
            where = f"seed {seed}, {name}"
            assert abs(found[-1] - walked[-1]) <= SAME * walked[-1], where
            same = executor.normal(None, in_strips=True, threads=3)
            assert same.tobytes() == found.tobytes(), where
            value = executor.normal(None, form="value", in_strips=True)
            assert value[0] == found[-1], where
            if not apart:  # along one axis alone everything factors
                same_walk = walked.tobytes() == found.tobytes()
                assert same_walk or 1 in executor.window.shape, where
                continue
            n_other += walked.tobytes() != found.tobytes()
            square = unpack(walked)
            # The square of a column below 1e-154 is not a normal number, and tells no length.
            length = np.sqrt(np.maximum(np.diag(square), np.finfo(float).tiny))
            scale = np.outer(length, length)
            error = np.abs(unpack(found) - square)
            assert (error <= SAME * scale).all(), where
    assert n_plans > count // 50, n_plans
    assert n_other > n_plans, "the structure was never of use"
