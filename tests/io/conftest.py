"""The child that reads a damaged archive is forked: no Python has to start for each."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import warnings
from importlib import import_module

import pytest

from pyspec.io import sandbox
from pyspec.io.archive import salvage


def run_apart(module: str, stdin: bytes, seconds: float) -> sandbox.Ended:
    """``sandbox.run_apart`` by a fork."""
    with tempfile.TemporaryFile() as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads at a fork
        child = os.fork()
        if not child:
            try:
                sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
                sys.stdout = io.TextIOWrapper(io.FileIO(printed.fileno(), "w", closefd=False))
                import_module(module).main()
            finally:
                sys.stdout.flush()
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        printed.seek(0)
        return sandbox.Ended(os.waitstatus_to_exitcode(status), printed.read())


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "linux":
        monkeypatch.setattr(salvage, "run_apart", run_apart)
