"""Fits of separable models that read their data only while their functions of time are new: by
reference and in memory they are the same, bit for bit, and ask as seldom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same
from support.fit_cases import agree
from support.separable import measured, off, settled, three
from support.stores import Rows

from pyspec.executor import CompiledExecutor, make_plan
from pyspec.executor import span as spans
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import Nodes, collect
from pyspec.executor.normal import unpack
from pyspec.executor.source import SourceExecutor
from pyspec.executor.span import Reading
from pyspec.executor.store import Job, RowSums
from pyspec.fit import fit_joint, fit_model
from pyspec.fit.solve.native import NativeSolver
from pyspec.io import by_reference
from pyspec.model import Measurement
from pyspec.model.data import source as sources

SIZE = 301, 330

WEIGHTS = ["none", "of rows", "of columns", "a mask of rows", "a mask of columns"]


def weighted(weights: str, size: tuple[int, int] = SIZE) -> Measurement:
    """Data of the model, of a size that a span pays for, with weights or a mask."""
    data, sigma = measured(*size)
    rng = np.random.default_rng(3)
    given: dict[str, Any] = {}
    if weights == "of rows":
        given["weight"] = np.broadcast_to(1.0 / sigma, data.shape)
    elif weights == "of columns":
        given["weight"] = np.broadcast_to(rng.uniform(1.0, 2.0, size[0]), data.shape)
    elif weights == "of points":  # which leave no span
        given["weight"] = rng.uniform(1.0, 2.0, data.shape)
    elif weights.startswith("a mask"):
        shape: Any = (len(data), 1) if weights.endswith("rows") else (1, size[0])
        given["keep"] = np.broadcast_to(rng.uniform(size=shape) > 0.1, data.shape)
    return Measurement(data, **given)


@pytest.mark.parametrize(
    ("weights", "threads"), [(w, "1") for w in (*WEIGHTS, "of points")] + [("of rows", "3")]
)
def test_a_fit_by_reference_has_the_bits_of_one_in_memory(
    weights: str, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPEC_NUM_THREADS", threads)
    monkeypatch.setattr(sources, "BLOCK", 20_000)
    monkeypatch.setattr(NativeSolver, "every", 1)  # all rows in every evaluation
    given = replace(weighted(weights), rows=(5, 322))
    expected = fit_model(settled(*SIZE), given)
    for rows in (None, 7):
        held: Any = by_reference(Rows(given.data), rows=rows)
        assert_same(fit_model(settled(*SIZE), replace(given, data=held)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
def test_so_it_is_for_data_that_are_no_doubles(dtype: Any) -> None:
    data = (1000 * np.asarray(weighted("none").data)).astype(dtype)
    given = weighted("a mask of columns")
    expected = fit_model(settled(*SIZE), replace(given, data=data))
    held: Any = by_reference(Rows(data))
    assert_same(fit_model(settled(*SIZE), replace(given, data=held)), expected)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_data_are_read_in_some_evaluations_only(weights: str) -> None:
    """In one pass to look at them, and then in four or five of nine evaluations."""
    given = weighted(weights)
    store = Rows(np.asarray(given.data))
    held: Any = by_reference(store)
    result = fit_model(settled(*SIZE), replace(given, data=held))
    assert result.success
    assert result.nfev >= 9
    assert len(store.asked) <= 6 * len(store.array)


def test_a_joint_fit_by_reference_has_the_bits_of_one_in_memory() -> None:
    parts = [(settled(*SIZE), weighted(name)) for name in ("of rows", "of columns")]
    expected = fit_joint(parts)
    stores = [Rows(np.asarray(one.data)) for _, one in parts]
    held: list[Any] = [by_reference(store) for store in stores]
    again = [(settled(*SIZE), replace(m, data=d)) for (_, m), d in zip(parts, held, strict=True)]
    found = fit_joint(again)
    assert_same(found.joint, expected.joint)
    assert found.joint.nfev > len(stores[0].asked) / len(stores[0].array)


def source_executor() -> SourceExecutor:
    given = weighted("of rows")
    held: Any = by_reference(Rows(np.asarray(given.data)))
    return SourceExecutor(make_plan(three(*SIZE)), replace(given, data=held))


def test_the_sums_of_a_fit_are_those_of_one_evaluation() -> None:
    executor = source_executor()
    theta = off(0.1, *SIZE).theta()
    truth = three(*SIZE).theta()
    with executor.sums() as sums:
        for k in range(0, 8, 2):
            at = truth + 0.02**k * (theta - truth)
            for form in ("gram", "value", "factor"):
                found, expected = sums(at, form), executor.normal(at, None, form)
                if form == "factor":
                    np.testing.assert_array_equal(found, expected)
                    continue
                scale = np.sqrt(np.diag(unpack(expected)))
                off_by = np.abs(unpack(found) - unpack(expected)) / np.outer(scale, scale)
                assert off_by.max() < 1e-11
                assert found[-1] == pytest.approx(expected[-1], rel=1e-13)


def test_a_point_without_a_finite_model_leaves_nothing_behind() -> None:
    """There all is summed row by row, as in memory; from there on it begins anew."""
    executor = source_executor()
    good = three(*SIZE).theta()
    bad = good.copy()
    bad[executor.opt_param_names.index("GLP_01_A")] = np.inf
    with executor.sums() as sums:
        first = sums(good, "gram")
        (nodes,) = executor.nodes([Job(0, bad, None, "gram", False)])
        np.testing.assert_array_equal(sums(bad, "gram"), collect(nodes, bad.size, "gram"))
        assert not np.isfinite(sums(bad, "value")).any()
        np.testing.assert_array_equal(sums(good, "gram"), first)


def test_any_chunks_read_the_same() -> None:
    given = weighted("of columns")
    executor = CompiledExecutor(make_plan(three(*SIZE)), given)
    theta = off(0.1, *SIZE).theta()
    data, weight = np.asarray(given.data), np.asarray(executor.weight)
    asked: list[Reading] = []
    found = []

    class Chunks:
        isa = None

        def __init__(self, edges: list[int], workers: bool) -> None:
            self.edges, self.workers = edges, workers

        def nodes(self, jobs: Sequence[Job]) -> list[Nodes]:
            (job,) = jobs
            asked.append(job.reading)
            own = job.of_rows(0, self.edges[-1]) if self.workers else job
            chunks = (Chunk(a, data[a:b], weight[a:b]) for a, b in pairwise(self.edges))
            return [chunk_nodes(executor, own, chunks)]

    files = [(executor, np.arange(theta.size))]

    for edges in ([0, 330], [0, 64, 128, 330], [0, 192, 256, 320, 330]):
        for workers in (False, True):
            with RowSums(Chunks(edges, workers), files).of_fit(None) as sums:
                found.append(np.concatenate([sums(theta, "gram"), sums(theta, "value")]))
    assert len(asked) == 6  # the second evaluation reads nothing
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])


def test_there_is_no_span_for_other_sums() -> None:
    """Maps of weights, counts, few energies."""
    data, _ = measured(*SIZE)
    weight = np.random.default_rng(1).uniform(1.0, 2.0, data.shape)
    few = three(60, SIZE[1])
    cases = [
        (three(*SIZE), Measurement(data, weight=weight)),
        (three(*SIZE), Measurement(np.round(np.abs(data)), loss="poisson")),
        (few, Measurement(few.evaluate())),
    ]
    for model, measurement in cases:
        executor = CompiledExecutor(make_plan(model), measurement)
        with spans.span_of(executor, None) as span:
            assert span is None


@pytest.mark.slow  # that the sums are the same, random/test_separable.py says
def test_the_optimum_is_that_of_the_general_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over energies and times apart lead where those over all points do."""
    given = replace(weighted("of rows", (201, 101)), rows=(3, 97), columns=(5, 120))
    found = fit_model(off(0.15), given)
    monkeypatch.setenv("PYSPEC_PASSES", "-separable")
    walked = fit_model(off(0.15), given)
    assert found.success
    assert walked.success
    agree(found, walked)
    assert abs(found.chisqr / walked.chisqr - 1) <= 1e-12
