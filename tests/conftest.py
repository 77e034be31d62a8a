"""Fixtures that every room shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the golden numbers: ../shared beside the source tree, or PYSPEC_SHARED."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("PYSPEC_SHARED", beside))
    if not (path / "golden").is_dir():
        pytest.skip(f"no golden numbers in {path}; set PYSPEC_SHARED to the folder that has them")
    return path
