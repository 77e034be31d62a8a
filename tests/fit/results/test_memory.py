"""A fixed share of what tests/campaign/soak.py does."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("resource", reason="limits of POSIX")

from campaign import soak


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("kind", "turns"), [("evaluations", 60_000), ("fits", 800), ("files", 600)]
)
def test_memory_stays_flat(kind: str, turns: int) -> None:
    assert soak.own_process(kind, turns) <= soak.FLAT


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_leak_is_found() -> None:
    """In a process of its own: where other tests ran, a leak may fill what they have freed."""
    assert soak.own_process("leak", 1000) > soak.FLAT
