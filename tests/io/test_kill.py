"""Saving killed at random moments: every archive is readable."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_saving_killed_200_times_leaves_readable_archives(tmp_path: Path) -> None:
    saver = Path(__file__).with_name("saver.py")
    command = [sys.executable, "-W", "error", str(saver), str(tmp_path), "200"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    counts = re.match(r"200 kills, (\d+) in the middle of a save, (\d+) fits saved", done.stdout)
    assert counts is not None, done.stdout
    # The test means something only if kills fell into saves, and saves were finished.
    assert int(counts[1]) >= 20
    assert int(counts[2]) >= 20
