"""Runs the fits of a batch: one after the other, in threads, in processes, or on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.fits import Fit
from pyspec.fit.batch.pools import Pool, make_pool, parts_of, run_parts, warn_lost
from pyspec.fit.interrupts import Hold
from pyspec.fit.progress import Steps
from pyspec.fit.solve.methods import NATIVE, check_linear
from pyspec.fit.solve.native import native_options


def run_batch(
    batch: Batch[Fit],
    n: int,
    hold: Hold,
    progress: bool | Callable[[int, int], object] | None,
    client: Any,
    n_workers: int | None,
    workers: str = "processes",
) -> tuple[list[Fit], bool]:
    """All `n` fits in their order, and whether a signal ended them: then the status of those that
    did not begin is "not run".

    Raises :class:`FitError` for options that no fit could have, KeyboardInterrupt where a signal
    came before the first fit, or a second one.
    """
    methods, options = batch.how.methods, batch.how.options
    check_linear(batch.model.name, methods, options)
    if methods[-1] == NATIVE:
        native_options(batch.model.name, options)
    pool = make_pool(batch.model.name, client, n_workers, workers)
    steps = Steps(progress, f"{batch.model.name}, {batch.plural}")
    done: dict[int, Fit] = {}
    interrupted = False
    try:
        for fit in _as_they_end(batch, n, pool, hold, workers):
            done[fit.index] = fit
            interrupted |= fit.status == "interrupted"
            steps.update(len(done), n)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        steps.close()
    if hold.insists or (interrupted and not done):
        raise KeyboardInterrupt
    left = "not run", "interrupted before it began", None
    return [done.get(k) or batch.kept(k, *left) for k in range(n)], interrupted


def _as_they_end(
    batch: Batch[Fit], n: int, pool: Pool | None, hold: Hold, workers: str
) -> Iterator[Fit]:
    """The fits, one after the other without a pool. Raises KeyboardInterrupt where a signal
    comes."""
    if pool is None:
        yield from _one_by_one(batch, range(n), hold)
        return
    parts = parts_of(range(n), pool)
    if workers == "threads":
        batch.stop = threading.Event()
        calls = [(_fits, (batch, part)) for part in parts]
    else:
        calls = [(_fits, (batch.part(part), part)) for part in parts]
    left: list[int] = []
    try:
        for k, fits in run_parts(pool, calls, hold, batch.stop):
            if fits is None:
                left += parts[k]
            else:
                yield from fits
    finally:
        batch.stop = None
    if left:
        warn_lost(batch.model.name, len(left), batch.plural)
        yield from _one_by_one(batch, sorted(left), hold)


def _one_by_one(batch: Batch[Fit], numbers: Sequence[int], hold: Hold) -> Iterator[Fit]:
    for number in numbers:
        hold.check()
        fit = batch.fit(number)
        yield fit
        if fit.status == "interrupted":
            return


def _fits(batch: Batch[Fit], numbers: Sequence[int]) -> list[Fit]:
    batch.need_functions()
    fits = []
    for number in numbers:
        if batch.stop is not None and batch.stop.is_set():
            break
        try:
            fits.append(batch.fit(number))
        except KeyboardInterrupt:  # before the first point of this one
            break
    return fits
