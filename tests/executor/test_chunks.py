"""Data that come in chunks: the sums are those of all data at once, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.agreement import sum_chunks
from support.native_cases import CASES

from pyspec.errors import DataError
from pyspec.executor import make_executor
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import all_nodes, collect
from pyspec.executor.normal import FORMS
from pyspec.executor.store import Job
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


@pytest.mark.parametrize("name", ["a series", "a window", "two oscillating peaks"])
def test_chunks_may_have_weights_that_the_executor_lacks(name: str) -> None:
    model, measurement = CASES[name]()[0]
    data, theta = np.asarray(measurement.data), model.theta() * 1.01
    weighted = replace(measurement, weight=1.0 + np.arange(data.size).reshape(data.shape) % 7)
    expected = make_executor(model, weighted).normal(theta, None, "gram")
    executor: Any = make_executor(model, measurement)
    for sizes in ((7,), (1000,)):
        found = sum_chunks(executor, theta, cut(weighted, sizes), None, "gram")
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("name", ["a series", "weights and a mask", "counts", "a window"])
def test_threads_change_no_bits(name: str, threads: int) -> None:
    model, measurement = CASES[name]()[0]
    executor: Any = make_executor(model, measurement)
    theta, n_free = model.theta() * 1.01, len(executor.opt_param_names)
    for form in FORMS:
        job = Job(0, theta, None, form, False)
        expected = executor.normal(theta, None, form).tobytes()
        for sizes in ((1,), (7,), (8, 3, 16), (1000,)):
            nodes = chunk_nodes(executor, job, cut(measurement, sizes), threads=threads)
            assert collect(nodes, n_free, form).tobytes() == expected, form
        # Rows that are missing leave nodes that other ones fill in.
        chunks = list(cut(measurement, (5,)))
        parts = [
            chunk_nodes(executor, job, some, threads=threads)
            for some in (chunks[0::2], chunks[1::2])
        ]
        assert collect(all_nodes(parts), n_free, form).tobytes() == expected, form
        assert executor.normal(theta, None, form).tobytes() == expected, form


def test_a_chunk_that_does_not_fit_is_one_error() -> None:
    model, measurement = CASES["a series"]()[0]
    executor: Any = make_executor(model, measurement)
    data = np.asarray(measurement.data)
    with pytest.raises(DataError, match="chunk of 5 rows from row -1 on does not fit"):
        sum_chunks(executor, model.theta(), [Chunk(-1, data[:5])])
    with pytest.raises(DataError, match="data of the chunk from row 0 on has shape"):
        sum_chunks(executor, model.theta(), [Chunk(0, data[:5, 1:])])
    assert np.isfinite(executor.normal(model.theta())).all()
