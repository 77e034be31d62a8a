"""A plugin of pytest, for Wine, where the start of a process takes seconds: HDF5 files are read in
this process alone, as where no other can be started. Tests of that process keep it."""

from __future__ import annotations

import pytest

from pyspec.io import sandbox


@pytest.fixture(autouse=True)
def _read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.name != "test_sandbox.py":
        monkeypatch.setattr(sandbox, "run_apart", lambda *given: (0, b""))
