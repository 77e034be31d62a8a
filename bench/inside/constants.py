"""The constants of :mod:`bench.on_paper`, measured on this machine."""

from __future__ import annotations

import os
import queue
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.cluster import problem, sums, tasks
from bench.measure import machine
from bench.on_paper import Check, Constants, Site, cost
from bench.problems.scale_data import STORES, Grid
from bench.scale import InChild, drop_cached
from pyspec.executor import make_executor
from pyspec.executor.nodes import Nodes, all_nodes, collect
from pyspec.executor.normal import triangle_size
from pyspec.model import Measurement

#: Points of the sums and of the file.
POINTS = 100_000_000

#: Points, and how many evaluations, of the sums by workers.
SHARED, EVALUATIONS = 4_000_000, 40

ROUNDS = 5


def median_of(*jobs: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Seconds of each job, medians of interleaved rounds."""
    spent: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds + 1):
        for job, own in zip(jobs, spent, strict=True):
            begun = time.perf_counter()
            job()
            own.append(time.perf_counter() - begun)
    return [statistics.median(own[1:]) for own in spent]


def _sums_and_reading(folder: Path) -> dict[str, float]:
    grid = Grid(POINTS // 400, 400, ("place", "height"))
    STORES[0].write(folder, grid, grid.simulated())
    store = STORES[1]
    store.write(folder, grid, STORES[0].open(folder))
    source = store.source(folder)
    held = np.concatenate([block for _, block in source.blocks()])
    jobs: list[Callable[[], object]] = []
    for motion in grid.motions:
        model = grid.model(motion)
        executor: Any = make_executor(model, Measurement(data=held))
        given = {"separable": executor.is_apart("gram")}
        jobs.append(partial(executor.normal, model.theta(), **given))

    def read() -> None:
        for _ in source.blocks():
            pass

    def read_from_disk() -> None:
        drop_cached(store.files(folder))
        read()

    general, apart, cached = median_of(*jobs, read)
    (disk,) = median_of(read_from_disk, rounds=2)
    return {
        "seconds_per_point": general / held.size,
        "seconds_apart": apart / held.size,
        "bytes_per_point": source.dtype.itemsize,
        "cached": source.nbytes / cached,
        "disk": source.nbytes / disk,
    }


def _tree(n_free: int) -> dict[str, float]:
    size = triangle_size(n_free + 1)

    def joined(n: int) -> float:
        triangles = np.ones((n, size))
        places = np.stack([np.zeros(n, np.int64), np.arange(n)], axis=1)
        parts = [Nodes(places[k : k + 30], triangles[k : k + 30]) for k in range(0, n, 30)]
        return median_of(lambda: collect(all_nodes(parts), n_free, "gram"))[0]

    few, many = joined(3_000), joined(30_000)
    return {
        "bytes_per_node": 8.0 * size + 16.0,
        "seconds_per_node": (many - few) / 27_000,
    }


def _messages() -> tuple[dict[str, float], dict[int, Any]]:
    from distributed import Client, LocalCluster

    executor, found = problem(SHARED), {}
    found[0] = median_of(lambda: executor.normal(executor.plan.theta), rounds=20)[0]
    task = answer = 0.0
    for n in (1, 2, 4):
        options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            if n < 4:
                found[n] = sums(client, executor, EVALUATIONS)
            else:
                tasks(client, 100)
                task, answer = tasks(client, 10_000), answers(client, 10_000)
    latency = max(found[1]["outside_s"] - answer, 0.0)
    known = {"latency": latency, "seconds_per_worker": answer, "task_seconds": task}
    return known, found


def some_nodes(n: int) -> Any:
    """What a worker answers, of so many nodes, without any sums."""
    return Nodes(np.zeros((n, 2), np.int64), np.ones((n, 66)))


def answers(client: Any, n: int) -> float:
    """Seconds of a task that sends an answer, of n that are asked for as those of an evaluation."""
    workers = sorted(client.scheduler_info()["workers"])
    done: queue.Queue[Any] = queue.Queue()
    begun = time.perf_counter()
    for k in range(n):
        place = [workers[k % len(workers)]]
        client.submit(some_nodes, 30, workers=place, pure=False).add_done_callback(done.put)
    for _ in range(n):
        done.get().result()
    return (time.perf_counter() - begun) / n


def memory_of(n_time: int) -> None:
    """Evaluates a series of that many times and few energies: it takes the time axis."""
    grid = Grid(n_time, 8, ("place",))
    data = np.broadcast_to(np.ones(8), (n_time, 8))
    executor: Any = make_executor(grid.model("place"), Measurement(data=data))
    executor.normal(executor.plan.theta)


def measure(folder: Path | None = None) -> tuple[Constants, list[Check]]:
    """The constants, and checks of evaluations by 1 and 2 workers."""
    known, found = _messages()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        known |= _sums_and_reading(Path(name))
    known |= _tree(10)
    few, many = (InChild(memory_of, n).needed for n in (100_000, 2_100_000))
    known["bytes_per_time"] = (many - few) / 2e6
    facts = machine()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    name = f"{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}, load {load}"
    constants = Constants(**known, machine=name)
    # The sums of this model, not those of the constants: what is checked is how they are shared.
    own = replace(constants, seconds_per_point=found[0] / SHARED)
    checks = []
    for n in (1, 2):
        derived = cost(SHARED, n, own, Site(), in_memory=True)
        # The engine shares the work of one worker too.
        messages = own.latency + own.seconds_per_worker if n == 1 else 0.0
        measured = found[n]["sums_s"] + found[n]["outside_s"]
        checks.append(Check(n, SHARED, measured, derived.total + messages))
    return constants, checks
