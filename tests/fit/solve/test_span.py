"""Fits of separable models that read their data only while their functions of time are new: by
reference and in memory they are the same, bit for bit, and ask as seldom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same
from support.separable import measured, off, settled, three
from support.stores import Rows

from pyspec.executor import make_plan
from pyspec.executor.nodes import collect
from pyspec.executor.normal import unpack
from pyspec.executor.source import SourceExecutor
from pyspec.executor.store import Job
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
