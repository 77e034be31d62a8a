"""Runs the slices of a job: one after the other, in threads, or in processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pyspec.fit.interrupts import Hold
from pyspec.fit.pools import Pool, parts_of, run_parts, warn_lost
from pyspec.fit.slices.job import Job
from pyspec.fit.slices.results import SliceFit


def run_job(
    job: Job, rows: list[int], pool: Pool | None, workers: str, hold: Hold
) -> Iterator[SliceFit]:
    """The slices as they end, one after the other without a pool.

    Raises KeyboardInterrupt or :class:`Interrupted` (whose parts are lists of slices) where a
    signal ends the job before all have.
    """
    places = list(enumerate(rows))
    if pool is None:
        yield from _one_by_one(job, places, hold)
        return
    parts = parts_of(places, pool)
    calls: list[Any]
    if workers == "threads":
        job.stop = threading.Event()
        calls = [(_chunk, (job, part)) for part in parts]
    else:
        calls = [(_chunk_of_worker, _part(job, part)) for part in parts]
    left: list[tuple[int, int]] = []
    try:
        for k, fits in run_parts(pool, calls, hold, job.stop):
            if fits is None:
                left += parts[k]
            else:
                yield from fits
    finally:
        job.stop = None
    if left:
        warn_lost(job.model.name, len(left), "slices")
        yield from _one_by_one(job, sorted(left), hold)


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
    own = slice(first, first + len(places))
    starts = job.start_seeds[own]
    return replace(job, series=series, seeds=job.seeds[own], start_seeds=starts), places


def _chunk_of_worker(job: Job, places: list[tuple[int, int]]) -> list[SliceFit]:
    """Runs in a worker, whose data begin with its first row."""
    fits = [job.fit(k, k) for k in range(len(places))]
    pairs = zip(fits, places, strict=True)
    return [replace(fit, index=index, row=row) for fit, (index, row) in pairs]
