"""A fit whose sums come from the workers of a dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from pyspec.errors import FitError
from pyspec.executor import CompiledExecutor, PartsExecutor
from pyspec.executor.cluster import (
    ClusterSums,
    Spent,
    keep_on_workers,
    need_client,
    rows_that_count,
    survey_on_workers,
)
from pyspec.executor.store import RowSums
from pyspec.fit.part import FitPart
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.methods import NATIVE
from pyspec.model import Measurement, Model
from pyspec.model.data.source import Held, source_of


def on_workers(client: object, model: Model, measurement: Measurement) -> Measurement:
    """The measurement after the workers have surveyed its data by reference. A dask array of data
    is computed if its rows count, and its chunks stay on their workers."""
    source = source_of(measurement.data)
    shape = tuple(axis.size for axis in (model.time, model.energy) if axis is not None)
    if client is None or source is None or source.shape != shape:
        return measurement  # other shapes are refused when the executor is made
    engine = need_client(client)
    if source.collection is not None:
        counts = rows_that_count(engine, measurement)
        kept: Any = Held(source, keep_on_workers(engine, source.collection, source.name, counts))
        measurement = replace(measurement, data=kept)
    if "survey" not in measurement.__dict__:
        survey_on_workers(engine, measurement)
    return measurement


def refuse_shared(label: str, client: object) -> None:
    """Raises :class:`FitError` where work that one process does is to be shared."""
    if client is not None:
        raise FitError(f"{label}: chunks= is of fits in one process; leave it out, or client=")


@contextmanager
def shared(problem: FitProblem, client: object, methods: Sequence[str]) -> Iterator[Spent | None]:
    """Inside of this block the workers of `client` sum; None: nothing is shared.

    Raises :class:`FitError` for what cannot be shared, :class:`pyspec.errors.ClusterError` where
    the workers are not fit for it.
    """
    if client is None:
        yield None
        return
    if not problem.in_c:
        raise FitError(
            f"{problem.label}: client= needs a model that runs in C alone, on backend 'compiled' "
            "and without registered functions; write these as formulas, or leave client= out"
        )
    executors = [_shareable(executor, methods) for executor in problem.files]
    sums, whole = ClusterSums(client, executors), problem.executor
    places = [np.arange(len(executor.opt_param_names)) for executor in executors]
    each = [RowSums(sums, [pair], k) for k, pair in enumerate(zip(executors, places, strict=True))]
    before = [executor.rows for executor in executors]
    problem.rest()  # no layout: the loop asks the executors
    try:
        for executor, rows in zip(executors, each, strict=True):
            executor.rows = rows
        if isinstance(whole, PartsExecutor):
            whole.rows = RowSums(sums, list(zip(executors, problem.gathers, strict=True)))
        yield sums.spent
    finally:
        sums.close()
        for executor, own in zip(executors, before, strict=True):
            executor.rows = own
        if isinstance(whole, PartsExecutor):
            whole.rows = None


def _shareable(problem: FitPart, methods: Sequence[str]) -> CompiledExecutor:
    """The executor of a file, whose rows can be shared. Raises :class:`FitError`."""
    label = f"{problem.label}: client= "
    others = [method for method in methods if method != NATIVE]
    if others:
        raise FitError(f"{label}needs method {NATIVE!r}, not {others[0]!r}; leave method= out")
    executor = problem.executor
    if not isinstance(executor, CompiledExecutor):  # what else runs in C
        raise FitError(f"{label}takes no amplitudes that are free along an axis; leave it out")
    data = problem.measurement.data
    if data is None or data.ndim != 2:
        raise FitError(f"{label}shares the rows of a series; fit one spectrum without it")
    return executor
