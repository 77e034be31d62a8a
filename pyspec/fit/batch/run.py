"""Runs the fits of a job: one after the other, in threads, or in processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from pyspec.fit.batch.batch import Job
from pyspec.fit.batch.fits import Fit
from pyspec.fit.batch.pools import Interrupted, Pool, parts_of, run_parts, warn_lost
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Steps


def run_job(
    job: Job[Fit], n: int, pool: Pool | None, steps: Steps, hold: Hold, workers: str = "processes"
) -> tuple[dict[int, Fit], bool]:
    """The fits by their numbers, all `n` of them unless a signal ended the job, and whether it did.

    Raises KeyboardInterrupt where a signal came before the first fit, or a second one.
    """
    done: dict[int, Fit] = {}
    interrupted = False
    try:
        for fit in _as_they_end(job, n, pool, hold, workers):
            done[fit.index] = fit
            interrupted |= fit.status == "interrupted"
            steps.update(len(done), n)
    except Interrupted as stop:
        interrupted = True
        done |= {fit.index: fit for _, fits in stop.found for fit in fits}
    except KeyboardInterrupt:
        interrupted = True
    finally:
        steps.close()
    if hold.insists or (interrupted and not done):
        raise KeyboardInterrupt
    return done, interrupted


def _as_they_end(
    job: Job[Fit], n: int, pool: Pool | None, hold: Hold, workers: str
) -> Iterator[Fit]:
    """The fits, one after the other without a pool. Raises KeyboardInterrupt or
    :class:`Interrupted` (whose parts are lists of fits) where a signal comes."""
    if pool is None:
        yield from _one_by_one(job, range(n), hold)
        return
    parts = parts_of(range(n), pool)
    if workers == "threads":
        job.stop = threading.Event()
        calls = [(_fits, (job, part)) for part in parts]
    else:
        calls = [(_fits, (job.part(part), part)) for part in parts]
    left: list[int] = []
    try:
        for k, fits in run_parts(pool, calls, hold, job.stop):
            if fits is None:
                left += parts[k]
            else:
                yield from fits
    finally:
        job.stop = None
    if left:
        warn_lost(job.model.name, len(left), job.plural)
        yield from _one_by_one(job, sorted(left), hold)


def _one_by_one(job: Job[Fit], numbers: Sequence[int], hold: Hold) -> Iterator[Fit]:
    for number in numbers:
        hold.check()
        fit = job.fit(number)
        yield fit
        if fit.status == "interrupted":
            return


def _fits(job: Job[Fit], numbers: Sequence[int]) -> list[Fit]:
    fits = []
    for number in numbers:
        if job.stop is not None and job.stop.is_set():
            break
        try:
            fits.append(job.fit(number))
        except KeyboardInterrupt:  # before the first point of this one
            break
    return fits
