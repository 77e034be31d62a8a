"""What holds of every model: three executors agree, derivatives are differences, and sums of chunks
are those of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pyspec.executor import AGREEMENT, make_executor, worst_difference
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import collect
from pyspec.executor.store import Job
from pyspec.model import Measurement, Model

Array = Any

BACKENDS = ("tree", "interpreted", "compiled")


def agreed(model: Model, theta: Array = None, tolerance: float = AGREEMENT) -> Array:
    """The model by the compiled executor, which the other two confirm."""
    spectra = [make_executor(model, None, backend).run(theta) for backend in BACKENDS]
    for other in spectra[:2]:
        assert worst_difference(other, spectra[2]) <= tolerance
    return spectra[2]


def differences(
    function: Callable[[Array], Array], theta: Array, step: float = 0.002, halvings: int = 4
) -> Array:
    """(n_theta, n) derivatives by central differences, extrapolated over halvings of the step,
    which is in units of the parameter, at least 0.1."""
    columns = []
    for k in range(theta.size):
        table: list[Array] = []
        for level in range(halvings + 1):
            h = step * max(abs(theta[k]), 0.1) / 2**level
            up, down = theta.copy(), theta.copy()
            up[k] += h
            down[k] -= h
            row = [(function(up) - function(down)).ravel() / (up[k] - down[k])]
            for order in range(1, level + 1):
                row.append(row[-1] + (row[-1] - table[order - 1]) / (4**order - 1))
            table = row
        columns.append(table[-1])
    return np.array(columns)


def check_slopes(
    model: Model,
    tolerance: float = 1e-8,
    *,
    step: float = 0.002,
    halvings: int = 4,
    backend: str = "compiled",
    least: float = 0.0,
    **measured: Any,
) -> None:
    """The derivatives of C are differences of the residual of a backend, within a tolerance in
    units of the largest of each column, at least `least`; without data of data that are 0."""
    if "data" not in measured:
        measured["data"] = np.zeros(np.shape(model.evaluate()))
    measurement, theta = Measurement(**measured), model.theta()
    exact = make_executor(model, measurement).jacobian(theta)
    residual = make_executor(model, measurement, backend).residual
    expected = differences(residual, theta, step, halvings)
    scale = np.maximum(np.abs(expected).max(axis=1, keepdims=True), least)
    scale[scale == 0.0] = 1.0
    worst = (np.abs(exact - expected) / scale).max(axis=1)
    names = dict(zip(model.opt_param_names, worst.tolist(), strict=True))
    assert max(worst) <= tolerance, names


def sum_chunks(
    executor: Any, theta: Any, chunks: Iterable[Chunk], fixed: Any = None, form: str = "gram"
) -> Array:
    """chi², Jᵀr and JᵀJ over chunks that are all of the window: a packed triangle."""
    nodes = chunk_nodes(executor, Job(0, theta, fixed, form, False), chunks)
    return collect(nodes, len(executor.opt_param_names), form)
