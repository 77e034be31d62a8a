"""A fit whose sums come from the workers of a dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspec.errors import FitError
from pyspec.executor import CompiledExecutor, Executor
from pyspec.executor.cluster import ClusterExecutor, ClusterSums
from pyspec.fit.problem import FitProblem
from pyspec.fit.solve.methods import NATIVE


@contextmanager
def shared(problem: FitProblem, client: Any, methods: tuple[str, ...]) -> Iterator[None]:
    """Inside of this block the workers of `client` sum; None: nothing is shared.

    Raises :class:`FitError` for what cannot be, :class:`pyspec.errors.ClusterError` where the
    workers are not fit for it.
    """
    if client is None:
        yield
        return
    local = _shareable(problem, problem.executor, methods)
    sums = ClusterSums(client, [local])
    try:
        problem.use(ClusterExecutor(local, sums))
        yield
    finally:
        sums.close()


def _shareable(
    problem: FitProblem, executor: Executor, methods: tuple[str, ...]
) -> CompiledExecutor:
    """The executor of a problem, whose rows can be shared. Raises :class:`FitError`."""
    label = f"{problem.label}: client= "
    others = [method for method in methods if method != NATIVE]
    if others:
        raise FitError(f"{label}needs method {NATIVE!r}, not {others[0]!r}; leave method= out")
    if problem.n_linear:
        raise FitError(f"{label}takes no amplitudes that are free along an axis; leave it out")
    if not isinstance(executor, CompiledExecutor) or not problem.in_c:
        raise FitError(
            f"{label}needs a model that runs in C alone, on backend 'compiled' and without "
            "registered functions; write these as formulas, or leave client= out"
        )
    data = problem.measurement.data
    if data is None or data.ndim != 2:
        raise FitError(f"{label}shares the rows of a series; fit one spectrum without it")
    return executor
