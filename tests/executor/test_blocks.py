"""Spectra of more energies than C takes at a time mean the same as pieces of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.zoo import TIME, ZOO, make_model

from pyspec.executor import AGREEMENT, CompiledExecutor, make_executor, worst_difference
from pyspec.model import Measurement

#: Several blocks of rows side by side, and of one spectrum; neither is a multiple of anything.
MANY, MOST = 437, 3301
PIECE = 97


def long_model(name: str, n_energy: int, time: np.ndarray | None) -> Any:
    return make_model(name, np.linspace(78.0, 94.0, n_energy), time)


CASES = [(name, MANY, TIME[::4]) for name in ZOO] + [
    (name, MOST, None) for name, entry in ZOO.items() if not entry.dynamics
]


@pytest.mark.parametrize(("name", "n_energy", "time"), CASES)
def test_executors_agree(name: str, n_energy: int, time: np.ndarray | None) -> None:
    model = long_model(name, n_energy, time)
    interpreted, compiled = (
        make_executor(model, None, backend).run(model.theta())
        for backend in ("interpreted", "compiled")
    )
    assert worst_difference(interpreted, compiled) <= AGREEMENT


@pytest.mark.parametrize(("name", "n_energy", "time"), CASES)
def test_derivatives_are_those_of_windows(
    name: str, n_energy: int, time: np.ndarray | None
) -> None:
    model = long_model(name, n_energy, time)
    theta, n_rows = model.theta() * 1.01, 1 if time is None else time.size
    data = np.zeros(n_energy if time is None else (n_rows, n_energy))

    def jacobian(columns: tuple[int, int]) -> np.ndarray:
        measured = Measurement(data=data, columns=columns)
        executor: Any = make_executor(model, measured, "compiled")
        return executor.jacobian(theta).reshape(-1, n_rows, columns[1] - columns[0])

    whole = jacobian((0, n_energy))
    scale = np.abs(whole).max(axis=(1, 2), keepdims=True)
    for begin in range(0, n_energy, PIECE):
        part = jacobian((begin, min(begin + PIECE, n_energy)))
        assert np.all(np.abs(part - whole[:, :, begin : begin + PIECE]) <= 1e-12 * scale)


@pytest.mark.parametrize(("name", "n_energy", "time"), CASES)
def test_sums_are_those_of_derivatives(name: str, n_energy: int, time: np.ndarray | None) -> None:
    model = long_model(name, n_energy, time)
    clean = make_executor(model).run(model.theta())
    data = clean + np.random.default_rng(4).normal(0.0, 0.1, clean.shape)
    executor = make_executor(model, Measurement(data=data), "compiled")
    assert isinstance(executor, CompiledExecutor)
    theta = model.theta() * 1.01
    columns = np.vstack([-executor.jacobian(theta), executor.residual(theta)])
    expected = columns @ columns.T
    rows, places = np.triu_indices(len(columns))
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    off = executor.normal(theta) - expected[rows, places]
    assert np.all(np.abs(off) <= 1e-12 * size[rows, places])
