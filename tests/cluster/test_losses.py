"""Workers and schedulers that die in the middle of a fit."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.clusters import assert_same, cluster, long_series
from support.later import later

from pyspec.fit import fit_model
from pyspec.io import by_reference

later("distributed")

pytestmark = pytest.mark.slow


class Kills:
    """A progress function that kills a worker at the evaluation `at`; which=None: all of them."""

    def __init__(self, client: Any, at: int, which: int | None) -> None:
        self.client, self.at, self.which = client, at, which
        self.killed: list[int] = []

    def __call__(self, nfev: int, chisqr: float, best: float) -> None:
        if nfev >= self.at and not self.killed:
            pids = sorted(self.client.run(os.getpid).values())
            self.killed = pids if self.which is None else [pids[self.which % len(pids)]]
            for pid in self.killed:
                os.kill(pid, signal.SIGKILL)


def test_a_worker_killed_in_twenty_fits_changes_no_bit() -> None:
    dask_array = pytest.importorskip("dask.array")
    rng, moved = np.random.default_rng(9), 0
    with cluster(["", "", ""]) as client:
        for k in range(20):
            name = ["a series", "three files"][k % 2]
            model, measurement = long_series(name)
            expected = fit_model(model, measurement)
            if k % 4 > 1:
                array = dask_array.from_array(np.asarray(measurement.data), chunks=(100, -1))
                held: Any = by_reference(array)
                measurement = replace(measurement, data=held)
            kills = Kills(client, int(rng.integers(1, expected.nfev)), int(rng.integers(3)))
            result = fit_model(model, measurement, client=client, progress=kills)
            assert_same(result, expected)
            assert kills.killed
            moved += result.spent.moved
            client.wait_for_workers(3, timeout=60)
    assert moved >= 10  # not all: the worker that is killed may be one that has just begun


def test_scattered_data_that_are_lost_are_named() -> None:
    dask_array = pytest.importorskip("dask.array")
    with cluster() as client:
        model, measurement = long_series("a series")
        data = np.asarray(measurement.data)
        workers = sorted(client.nthreads())
        futures = [
            client.scatter(data[k * 275 : k * 275 + 275], workers=[workers[k % 2]], hash=False)
            for k in range(4)
        ]
        parts = [
            dask_array.from_delayed(future, (275, data.shape[1]), dtype=data.dtype)
            for future in futures
        ]
        held: Any = by_reference(dask_array.concatenate(parts))
        kills = Kills(client, 2, None)  # one may hold no chunk: the engine moves them
        result = fit_model(model, replace(measurement, data=held), client=client, progress=kills)
        assert not result.success
        assert "was lost with its worker" in result.message


def test_a_scheduler_that_is_gone_is_one_answer_with_the_best_point() -> None:
    with cluster() as client:
        model, measurement = long_series("a series")

        def stop(nfev: int, chisqr: float, best: float) -> None:
            if nfev == 3:
                scheduler = client.cluster.scheduler
                client.cluster.sync(scheduler.close)

        result = fit_model(model, measurement, client=client, progress=stop)
        assert not result.success
        assert "the cluster is gone" in result.message
        assert "the best point is kept" in result.message
        assert np.isfinite(result.chisqr)


def test_ctrl_c_and_limits_end_the_fit_with_the_best_point() -> None:
    with cluster() as client:
        model, measurement = long_series("a series")

        def interrupt(nfev: int, chisqr: float, best: float) -> None:
            if nfev == 3:
                threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()
                time.sleep(0.2)

        result = fit_model(model, measurement, client=client, progress=interrupt)
        assert result.interrupted
        assert "the best point is kept" in result.message
        short = fit_model(model, measurement, client=client, max_nfev=4)
        assert short.nfev == 4
        assert "max_nfev" in short.message
        timed = fit_model(model, measurement, client=client, max_seconds=1e-6)
        assert "max_seconds" in timed.message
