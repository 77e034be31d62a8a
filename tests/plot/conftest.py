"""Figures that pyplot knows are closed behind each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _quick(request: pytest.FixtureRequest) -> None:
    """Where labels stand is asked in the folder `layout` alone."""
    if "layout" not in request.path.parts:
        request.getfixturevalue("quick_figures")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
