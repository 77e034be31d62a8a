"""Saving killed at random moments: every archive is readable."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
@pytest.mark.parametrize("kills", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_saving_killed_many_times_leaves_readable_archives(tmp_path: Path, kills: int) -> None:
    saver = Path(__file__).with_name("saver.py")
    command = [sys.executable, "-W", "error", str(saver), str(tmp_path), str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    counts = re.match(
        rf"{kills} kills, (\d+) in the middle of a save, (\d+) fits saved", done.stdout
    )
    assert counts is not None, done.stdout
    # The test means something only if kills fell into saves, and saves were finished.
    assert int(counts[1]) >= kills // 10
    assert int(counts[2]) >= kills // 10
