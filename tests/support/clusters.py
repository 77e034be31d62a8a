"""Clusters of processes on this machine, for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspec


@contextmanager
def cluster(isas: Sequence[str] = ("", "")) -> Iterator[Any]:
    """A client of a worker process for each of `isas`, which is its ``PYSPEC_ISA``."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    root = str(Path(pyspec.__file__).parents[1])
    path = os.pathsep.join([root, str(Path(root) / "tests")])
    shared = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    workers = {
        k: {
            "cls": Nanny,
            "options": {"nthreads": 1, "env": {**shared, "PYSPEC_ISA": isa}, "dashboard": False},
        }
        for k, isa in enumerate(isas)
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "port": 0}}
    with SpecCluster(workers=workers, scheduler=scheduler) as made, Client(made) as client:
        client.wait_for_workers(len(isas), timeout=60)
        yield client
