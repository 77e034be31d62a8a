"""pyglotaran in its own environment, for benchmarks that stand beside it.

The variable PYSPEC_PYGLOTARAN names a Python in which `pip install pyglotaran` was run; without it
benchmarks leave pyglotaran out and say so.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

VARIABLE = "PYSPEC_PYGLOTARAN"


def interpreter() -> str | None:
    """The Python that has pyglotaran, or None, with a line that says how to give one."""
    found = os.environ.get(VARIABLE)
    if not found:
        print(f"pyglotaran is left out: set {VARIABLE} to a Python that has it")
    return found


def fit_all(
    python: str,
    model: str,
    names: Sequence[str],
    starts: np.ndarray,
    data: tuple[np.ndarray, np.ndarray, np.ndarray],
    fixed: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:
    """pyglotaran's fits from all starts: seconds, success, cost (sum of squares) and values.
    `data` is (energy,
    time, values)."""
    energy, t, values = data
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder, "task.npz"), Path(folder, "answer.json")
        np.savez(
            task, data=values, time=t, energy=energy, model=np.array(model),
            names=np.array(list(names)), starts=np.atleast_2d(starts),
            fixed=np.array(json.dumps(dict(fixed or {}))),
        )  # fmt: skip
        script = Path(__file__).with_name("pyglotaran_process.py")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run([python, str(script), str(task), str(answer)], check=True, env=environment)
        found: list[dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))
    return found
