"""The fits of a batch, one after the other here, or in parts by the workers of a cluster."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from pyspec.calls import stack_outside
from pyspec.fit.batch.batch import Batch, Made
from pyspec.fit.batch.fits import Fit
from pyspec.fit.batch.in_c import InC
from pyspec.fit.batch.pools import ClusterPool, GoneError, LostError, run_tasks
from pyspec.fit.batch.solved import Solved
from pyspec.fit.interrupts import Hold, current_hold
from pyspec.fit.progress import Steps
from pyspec.fit.solve.methods import NATIVE, check_linear
from pyspec.fit.solve.native import native_options

#: Fits of a part: about 50 ms of work.
CHUNK = 32


def fit_batch(
    batch: Batch[Fit],
    progress: bool | Callable[[int, int], object] | None,
    client: object,
    n_threads: int | None = None,
) -> Made[Fit]:
    """All fits in their order, here with so many threads of C. Where a signal ended them, the
    status of those that did not begin is "not run".

    Raises :class:`FitError` for options that no fit could have, and KeyboardInterrupt as
    :func:`fit_cases`.
    """
    label, plural, n, done = batch.label, batch.kind.plural, len(batch.cases), 0
    check_linear(label, batch.how.methods, batch.how.options)
    if batch.how.methods[-1] == NATIVE:
        native_options(label, batch.how.options)
    pool = None if client is None else ClusterPool(client)
    steps, each = Steps(progress, f"{label}, {plural}"), callable(progress)

    def tell(numbers: range) -> None:
        nonlocal done
        for k in range(len(numbers)) if each else range(len(numbers) - 1, len(numbers)):
            steps.update(done + k + 1, n)
        done += len(numbers)

    fits, begin = Made(batch), time.perf_counter()
    try:
        fits.interrupted, gone = fit_cases(fits, pool, tell, each, n_threads)
    finally:
        steps.close()
    fits.seconds = time.perf_counter() - begin
    if gone:
        told = f"{fits.n_done} of {n} {plural} are kept"
        warnings.warn(f"{label}: {gone}; {told}", stacklevel=stack_outside())
    fits.left = "not run", gone or "interrupted before it ended"
    return fits


def fit_cases(
    fits: Made[Fit],
    pool: ClusterPool | None,
    tell: Callable[[range], object],
    each: bool = False,
    n_threads: int | None = None,
) -> tuple[bool, str]:
    """Makes all fits of a batch: in turn here, or in parts by the workers of a cluster.
    `tell` is told which numbers have ended; without a pool and with `each`, before the next one
    begins.

    Returns whether a signal ended them, and why the cluster is gone, "" where it is not. Raises
    KeyboardInterrupt where a signal came before anything was kept, or a second one.
    """
    interrupted, gone = False, ""
    hold = current_hold()
    try:
        if pool is None:
            for numbers in _in_turn(fits, each, n_threads):
                tell(numbers)
        else:
            _share(fits, pool, hold, tell)
    except KeyboardInterrupt:
        interrupted = True
    except GoneError as error:
        if fits.batch.is_empty(fits):
            raise
        gone = str(error)
    interrupted |= any(fit.interrupted for fit in fits.others.values())
    if hold.insists or (interrupted and fits.batch.is_empty(fits)):
        raise KeyboardInterrupt
    return interrupted, gone


def _in_turn(fits: Made[Fit], each: bool = False, n_threads: int | None = None) -> Iterator[range]:
    """Makes all fits, in C where that is possible, and yields the numbers of those that have ended.
    With `each`, a fit is told before the next one begins. Raises KeyboardInterrupt where they are
    to end."""
    batch, done = fits.batch, fits.first
    check, template = current_hold().check, batch.template()
    in_c = None if template is None else InC.of(batch.cases, batch.how, *template)
    if in_c is None and n_threads is not None and n_threads > 1:
        warnings.warn(
            f"{batch.label}: n_workers= are threads of C, and Python takes part in each of these "
            f"{batch.kind.plural}; client=dask.distributed.Client() shares them among processes",
            stacklevel=stack_outside(),
        )
    blocks = iter([(0, np.zeros(fits.n, bool))])
    if in_c is not None:
        fits.solved = in_c.solved
        blocks = in_c.run(max(0, batch.n_first - batch.first), check, each, n_threads)
    for begin, made in blocks:
        for number in (fits.first + begin + np.flatnonzero(~made)).tolist():
            if number > done:
                yield range(done, number)
            check()
            fit = fits.others[number] = batch.fit(number)
            if fit.interrupted:
                return
            yield range(number, number + 1)
            done = number + 1
        end = fits.first + begin + len(made)
        if end > done:
            yield range(done, end)
        done = end


def _share(fits: Made[Fit], pool: ClusterPool, hold: Hold, tell: Callable[[range], object]) -> None:
    """All fits by the workers of a cluster; those of workers that were lost here."""
    batch, n = fits.batch, fits.n
    size = max(1, min(CHUNK, -(-n // (4 * pool.width))))
    parts = [range(k, min(k + size, n)) for k in range(0, n, size)]
    left: list[range] = []
    calls = (partial(_run, batch.part(numbers)) for numbers in parts)
    for k, outcome in run_tasks(pool, calls, hold):
        if isinstance(outcome, LostError):
            left.append(parts[k])
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            fits.take(parts[k][0], *outcome)
            tell(parts[k])
    if left:
        warnings.warn(
            f"{batch.label}: worker processes ended early, {sum(map(len, left))} "
            f"{batch.kind.plural} are fitted here",
            stacklevel=stack_outside(),
        )
    for numbers in left:
        own = Made(batch.part(numbers))
        try:
            ended = [*_in_turn(own)]
        finally:
            fits.take(numbers[0], own.others, own.solved)
        for new in ended:
            tell(new)


def _run(part: Batch[Fit]) -> tuple[dict[int, Fit], Solved | None]:
    """Runs on a worker."""
    part.begin_part()
    fits = Made(part)
    with suppress(KeyboardInterrupt):  # before the first point of a fit
        for _ in _in_turn(fits, n_threads=1):
            pass
    return fits.others, fits.solved
