"""Fits on a cluster take all rows in every evaluation, and so do those they are compared with."""

from __future__ import annotations

import pytest

from pyspec.fit.solve.native import NativeSolver


@pytest.fixture(autouse=True)
def all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits in memory do not begin on a part of the rows."""
    monkeypatch.setattr(NativeSolver, "every", 1)
