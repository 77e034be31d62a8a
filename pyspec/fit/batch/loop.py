"""The fits of a batch: by threads of C where that is possible, else one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.fits import Fit
from pyspec.fit.interrupts import current_hold
from pyspec.fit.progress import Steps
from pyspec.fit.solve.methods import NATIVE, check_linear
from pyspec.fit.solve.native import native_options


def fit_batch(batch: Batch[Fit], progress: bool | Callable[[int, int], object] | None) -> None:
    """Makes all fits in their order. Where a signal ended them, the status of those that did not
    begin is "not run".

    Raises :class:`FitError` for options that no fit could have, and KeyboardInterrupt as
    :func:`fit_cases`.
    """
    label = batch.label
    check_linear(label, batch.how.methods, batch.how.options)
    if batch.how.methods[-1] == NATIVE:
        native_options(label, batch.how.options)
    steps, each = Steps(progress, f"{label}, {batch.kind.plural}"), callable(progress)

    def tell(numbers: range) -> None:
        for number in numbers if each else numbers[-1:]:
            steps.update(number + 1, batch.n)

    begin = time.perf_counter()
    try:
        batch.interrupted = fit_cases(batch, tell, each)
    finally:
        steps.close()
    batch.seconds = time.perf_counter() - begin


def fit_cases(
    batch: Batch[Fit], tell: Callable[[range], object] | None = None, each: bool = False
) -> bool:
    """Makes all fits of a batch. `tell` is told which numbers have ended; with `each`, before the
    next one begins.

    Returns whether a signal ended them. Raises KeyboardInterrupt where it came before anything was
    kept, or a second one did.
    """
    interrupted = False
    try:
        for numbers in _in_turn(batch, each):
            if tell is not None:
                tell(numbers)
    except KeyboardInterrupt:
        interrupted = True
    interrupted |= any(fit.interrupted for fit in batch.others.values())
    if current_hold().insists or (interrupted and batch.is_empty):
        raise KeyboardInterrupt
    return interrupted


def _in_turn(batch: Batch[Fit], each: bool) -> Iterator[range]:
    """Makes all fits, in C where that is possible, and yields the numbers of those that have ended.
    With `each`, a fit is told before the next one begins. Raises KeyboardInterrupt where they are
    to end."""
    done, check, in_c = 0, current_hold().check, batch.in_c()
    blocks = iter([(0, np.zeros(batch.n, bool))])
    if in_c is not None:
        batch.solved = in_c.solved
        blocks = in_c.run(batch.n_first, check, each)
    for begin, made in blocks:
        for number in (begin + np.flatnonzero(~made)).tolist():
            if number > done:
                yield range(done, number)
            check()
            fit = batch.others[number] = batch.fit(number)
            if fit.interrupted:
                return
            yield range(number, number + 1)
            done = number + 1
        end = begin + len(made)
        if end > done:
            yield range(done, end)
        done = end
