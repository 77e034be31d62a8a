"""The cluster that the command line names: a scheduler, or processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspec._library.threads import refuse_many
from pyspec.cli.jobs.fields import FlagError
from pyspec.errors import FitError
from pyspec.executor.cluster.client import INSTALL

#: So many seconds are waited for workers.
PATIENCE = 60


@contextmanager
def client_of(scheduler: str | None, workers: int | None) -> Iterator[object]:
    """A client of the scheduler at this address, with that many workers at least; or of so many
    processes of this machine; None where neither is given.

    Raises :class:`FlagError` where there is no scheduler, or too few workers.
    """
    if scheduler is None and workers is None:
        yield None
        return
    flag = "--workers" if scheduler is None else "--scheduler"
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise FlagError(f"{flag} needs dask and distributed ({error}); {INSTALL}") from None
    if scheduler is None:
        try:
            refuse_many("--workers", workers or 1)
        except FitError as error:
            raise FlagError(str(error).replace("=", " ", 1)) from None
        options = {
            "n_workers": workers,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",
        }
        with LocalCluster(**options) as local, Client(local) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE / 4)
    except (OSError, ValueError) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise FlagError(f"--scheduler {scheduler}: no scheduler answers ({reason})") from error
    with client:
        try:
            client.wait_for_workers(workers or 1, timeout=PATIENCE)
        except TimeoutError:
            count = len(client.nthreads())
            raise FlagError(
                f"--scheduler {scheduler}: {count} workers after {PATIENCE} s, not {workers or 1}; "
                "start more: dask worker ADDRESS"
            ) from None
        yield client
