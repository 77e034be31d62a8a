"""Saving while writes fail or the process dies: the old archive stays, or the new one is whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library of Linux")
@pytest.mark.skipif(shutil.which("cc") is None, reason="compiles the faults")
def test_every_fault_leaves_the_old_archive_or_the_new_one(tmp_path: Path) -> None:
    """After a failed write HDF5 could not close its file, and took the next one for it."""
    shim, folder = tmp_path / "faults.so", tmp_path / "archives"
    folder.mkdir()
    build = ["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", str(shim)]
    subprocess.run([*build, str(HERE / "faults.c"), "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "faults.py"), str(folder), str(shim), "1"],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    hits = [int(count) for count in re.findall(r": (\d+) calls", done.stdout)]
    assert len(hits) == 4
    assert min(hits) >= 20, done.stdout
