"""Data that come in chunks: the sums are those of all data at once, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.native_cases import CASES

from pyspec.errors import DataError
from pyspec.executor import make_executor
from pyspec.executor.chunks import Chunk, sum_chunks
from pyspec.executor.normal import FORMS
from pyspec.model import Measurement

Array = Any


def cut(measurement: Measurement, sizes: tuple[int, ...]) -> Iterator[Chunk]:
    """Chunks of these sizes in turn, each in arrays of its own."""
    data = np.asarray(measurement.data)
    first = 0
    while first < len(data):
        end = first + sizes[first % len(sizes)]
        parts = [
            None if array is None else np.broadcast_to(array, data.shape)[first:end].copy()
            for array in (measurement.weight, measurement.keep)
        ]
        yield Chunk(first, data[first:end].copy(), *parts)
        first = end


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name",
    ["a series", "weights and a mask", "counts", "a window", "two oscillating peaks"],
)
def test_chunks_change_no_bits(name: str, form: str) -> None:
    model, measurement = CASES[name]()[0]
    executor: Any = make_executor(model, measurement)
    theta = model.theta() * 1.01
    expected = executor.normal(theta, None, form).tobytes()
    for sizes in ((1,), (7,), (8, 3, 16), (1000,)):
        assert (
            sum_chunks(executor, theta, cut(measurement, sizes), None, form).tobytes() == expected
        )
    assert executor.normal(theta, None, form).tobytes() == expected


def test_the_work_memory_does_not_grow_with_the_times() -> None:
    sizes = set()
    for n_time in (50, 5000):
        model, _ = CASES["a series"]()[0]
        model.set_axes(energy=model.energy, time=np.linspace(-2.0, 20.0, n_time))
        executor: Any = make_executor(model, Measurement())
        sizes.add(executor.derivative_work_size)
    assert len(sizes) == 1


def test_a_chunk_that_does_not_fit_is_one_error() -> None:
    model, measurement = CASES["a series"]()[0]
    executor: Any = make_executor(model, measurement)
    data = np.asarray(measurement.data)
    with pytest.raises(DataError, match="chunk of 5 rows from row -1 on does not fit"):
        sum_chunks(executor, model.theta(), [Chunk(-1, data[:5])])
    with pytest.raises(DataError, match="data of the chunk from row 0 on has shape"):
        sum_chunks(executor, model.theta(), [Chunk(0, data[:5, 1:])])
    assert np.isfinite(executor.normal(model.theta())).all()
