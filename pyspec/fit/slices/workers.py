"""Runs the slices of a job: one after the other, in threads, or in processes."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from pyspec.calls import stack_outside
from pyspec.fit.interrupts import Hold
from pyspec.fit.slices.job import Job
from pyspec.fit.slices.results import SliceFit

#: Slices that a worker takes at a time: about 50 ms of work.
CHUNK = 32

#: How often a job with workers looks for a signal, in seconds.
LOOK = 0.05


class Interrupted(Exception):  # noqa: N818  (carries what is done)
    def __init__(self, fits: list[SliceFit]) -> None:
        self.fits = fits


def run_job(
    job: Job, rows: list[int], n_workers: int, workers: str, hold: Hold
) -> Iterator[SliceFit]:
    """The slices as they end. Raises KeyboardInterrupt or :class:`Interrupted` where a signal ends
    the job before all have."""
    if n_workers == 1:
        yield from _one_by_one(job, list(enumerate(rows)), hold)
        return
    places = list(enumerate(rows))
    size = max(1, min(CHUNK, -(-len(places) // (4 * n_workers))))
    chunks = [places[k : k + size] for k in range(0, len(places), size)]
    pool: ThreadPoolExecutor | ProcessPoolExecutor
    if workers == "threads":
        job.stop = threading.Event()
        pool = ThreadPoolExecutor(n_workers)
        futures = [pool.submit(_chunk, job, chunk) for chunk in chunks]
    else:
        context = get_context("spawn")
        # The workers get nothing large when they start: one that dies then would block us.
        pool = ProcessPoolExecutor(n_workers, context, _start_worker)
        futures = [pool.submit(_chunk_of_worker, *_part(job, chunk)) for chunk in chunks]
    left: list[tuple[int, int]] = []
    try:
        for future in _as_completed(futures, hold):
            try:
                yield from future.result()
            except BrokenProcessPool:
                left += chunks[futures.index(future)]
    except KeyboardInterrupt:
        if job.stop is not None:
            job.stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        raise Interrupted([fit for future in futures for fit in _finished(future)]) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        job.stop = None
    if left:
        warnings.warn(
            f"{job.model.name}: worker processes ended early, {len(left)} slices are fitted here; "
            "a script that starts workers must do so under 'if __name__ == \"__main__\":'",
            stacklevel=stack_outside(),
        )
        yield from _one_by_one(job, sorted(left), hold)


def _as_completed(
    futures: list[Future[list[SliceFit]]], hold: Hold
) -> Iterator[Future[list[SliceFit]]]:
    """The futures as they end. Raises KeyboardInterrupt where a signal comes meanwhile."""
    pending = set(futures)
    while pending:
        hold.check()
        done, pending = wait(pending, LOOK, FIRST_COMPLETED)
        yield from done


def _finished(future: Future[list[SliceFit]]) -> list[SliceFit]:
    if future.cancelled() or not future.done() or future.exception() is not None:
        return []
    return future.result()


def _one_by_one(job: Job, places: list[tuple[int, int]], hold: Hold) -> Iterator[SliceFit]:
    for index, row in places:
        hold.check()
        fit = job.fit(index, row)
        yield fit
        if fit.status == "interrupted":
            return


def _chunk(job: Job, places: list[tuple[int, int]]) -> list[SliceFit]:
    fits = []
    for index, row in places:
        if job.stop is not None and job.stop.is_set():
            break
        try:
            fits.append(job.fit(index, row))
        except KeyboardInterrupt:  # before the first point of this slice
            break
    return fits


def _part(job: Job, places: list[tuple[int, int]]) -> tuple[Job, list[tuple[int, int]]]:
    """The job of one chunk, with its rows of the data alone: (job, its rows)."""
    series = job.series
    assert series.data is not None
    begin, end = places[0][1], places[-1][1] + 1
    weight = series.weight
    if weight is not None:
        weight = np.broadcast_to(weight, series.data.shape)[begin:end]
    keep = None if series.keep is None else series.keep[begin:end]
    data = series.data[begin:end]
    series = replace(series, data=data, rows=None, weight=weight, keep=keep)
    first = places[0][0]
    seeds = job.seeds[first : first + len(places)]
    return replace(job, series=series, seeds=seeds), places


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C, and says when to end


def _chunk_of_worker(job: Job, places: list[tuple[int, int]]) -> list[SliceFit]:
    """Runs in a worker, whose data begin with its first row."""
    fits = [job.fit(k, k) for k in range(len(places))]
    pairs = zip(fits, places, strict=True)
    return [replace(fit, index=index, row=row) for fit, (index, row) in pairs]
