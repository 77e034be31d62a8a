"""Names of files that YAML, UTF-8 or a terminal cannot show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ENERGY = np.linspace(80.0, 90.0, 60)
ROWS = [f"{x:.3f},{3 + 20 * np.exp(-(((x - 85) / 0.7) ** 2)):.4f}" for x in ENERGY]

NAMES = [
    b"two\nlines.csv", b"carriage\rreturn.csv", b"latin\xff\xe9.csv", b"escape\x1b[31m.csv",
    "separator\u2028.csv".encode(), "next\x85line.csv".encode(), b"colon: #hash.csv",
]  # fmt: skip


def run(*words: bytes | str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pyspec", *words]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, encoding="utf-8", timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="names that Windows does not allow")
@pytest.mark.parametrize("name", NAMES)
def test_a_job_for_any_name(tmp_path: Path, name: bytes) -> None:
    """A newline ended the comment of models.yaml; bytes that are no UTF-8 were a traceback."""
    try:
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write("energy,counts\n" + "\n".join(ROWS) + "\n")
    except OSError:
        pytest.skip("the file system has no such names")
    made = run("new", "--json", "job", name, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["exit_code"] == 0
    done = run("fit", "job/job.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["results"][-1]["success"]
    assert {"fits.h5", "parameters.json", "parameters.csv", "report.html"} <= {*facts["written"]}
    json.loads((tmp_path / "job" / "results" / "parameters.json").read_text(encoding="utf-8"))
