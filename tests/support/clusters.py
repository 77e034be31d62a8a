"""Clusters of processes on this machine, for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import pyspec
from pyspec.fit import FitResult
from pyspec.model import Measurement, Model
from support.native_cases import CASES


def long_series(name: str, n_time: int = 1100) -> tuple[Model, Measurement]:
    """A case of the solver's tests with more rows; that of "three files" is separable."""
    model, measurement = CASES[name]()[0]
    rng = np.random.default_rng(5)
    start = model.theta()
    model.set_axes(energy=model.energy, time=np.linspace(-10.0, 50.0, n_time))
    clean = model.evaluate(theta=start)
    data = rng.normal(clean, 0.1)
    if measurement.loss == "poisson":
        data = rng.poisson(np.maximum(clean, 0.0) * 4.0) / 4.0
    rows = None if measurement.rows is None else (5, n_time - 30)
    given = replace(measurement, data=None, weight=None, keep=None, rows=rows)
    weight = None if measurement.weight is None else rng.uniform(5.0, 40.0, data.shape)
    keep = None if measurement.keep is None else rng.uniform(size=data.shape) > 0.3
    return model, replace(given, data=data, weight=weight, keep=keep)


def assert_same(found: FitResult, expected: FitResult) -> None:
    """Values, errors, chi² and the number of evaluations to the last bit."""
    assert found.message == expected.message
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert dict(found.stderr) == dict(expected.stderr)
    assert (found.chisqr, found.nfev) == (expected.chisqr, expected.nfev)
    assert found.success == expected.success
    # Those of the residual are said of data in memory alone.
    assert found._findings == expected._findings


@contextmanager
def cluster(isas: Sequence[str] = ("", "")) -> Iterator[Any]:
    """A client of a worker process for each of `isas`, which is its ``PYSPEC_ISA``."""
    import dask
    from distributed import Client, Nanny, Scheduler, SpecCluster

    root = str(Path(pyspec.__file__).parents[1])
    path = os.pathsep.join([root, str(Path(root) / "tests")])
    shared = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    workers = {
        k: {
            "cls": Nanny,
            "options": {
                "nthreads": 1,
                "env": {**shared, "PYSPEC_ISA": isa},
                "dashboard": False,
                "host": "127.0.0.1",
            },
        }
        for k, isa in enumerate(isas)
    }
    scheduler = {
        "cls": Scheduler,
        "options": {"dashboard_address": ":0", "port": 0, "host": "127.0.0.1"},
    }
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"})
    with (
        patient,
        SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as made,
        Client(made) as client,
    ):
        client.wait_for_workers(len(isas), timeout=60)
        yield client
