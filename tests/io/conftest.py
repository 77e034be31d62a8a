"""The child that reads a damaged archive is forked: no Python has to start for each."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable

import pytest

from pyspec.io.archive import salvage


def run_apart(work: Callable[[], object], seconds: float, memory: int) -> tuple[int, bytes]:
    """``sandbox.run_apart`` by a fork."""
    with tempfile.TemporaryFile() as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads at a fork
        child = os.fork()
        if not child:
            try:
                sys.stdout = os.fdopen(os.dup(printed.fileno()), "w")
                work()
            finally:
                sys.stdout.flush()
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        printed.seek(0)
        return os.waitstatus_to_exitcode(status), printed.read()


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "linux":
        monkeypatch.setattr(salvage, "run_apart", run_apart)
