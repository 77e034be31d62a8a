"""How the benchmarks measure: interleaved rounds, medians, and the machine they ran on."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def interleaved(
    jobs: Mapping[str, Callable[[], object]],
    rounds: int,
    calls: Mapping[str, int] | None = None,
) -> dict[str, float]:
    """Median milliseconds of one call of each job.

    Every round runs every job, so that a drift of the machine meets all of them. `calls` is
    how often a job is called in a row within a round (1 by default); the first round is not
    counted.
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for round_number in range(rounds + 1):
        for name, job in jobs.items():
            repeat = (calls or {}).get(name, 1)
            start = time.perf_counter()
            for _ in range(repeat):
                job()
            if round_number:
                times[name].append((time.perf_counter() - start) / repeat)
    return {name: 1e3 * statistics.median(values) for name, values in times.items()}


def machine() -> dict[str, Any]:
    """What the numbers were taken on."""
    import lmfit
    import scipy

    from pyspec import __version__

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "lmfit": lmfit.__version__,
        "pyspec": __version__,
    }


def arguments_of(name: str, doc: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """What the benchmark ``python -m bench.NAME`` takes, as most do: a file for its numbers, and
    the folder of the reference `data`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m bench.{name}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here")
    if data:
        parser.add_argument("--data", type=Path, help="folder of the reference data")
    return parser


def finish(path: Path | None, numbers: Mapping[str, Any], **versions: str) -> None:
    """Says what the numbers were taken on, with the `versions` of peers, and writes both to a file
    if there is a path."""
    facts = {**machine(), **versions}
    print_machine(facts)
    if path is not None:
        write_json(path, {"machine": facts, **numbers})


def jitter(theta: np.ndarray, count: int = 16) -> Callable[[], np.ndarray]:
    """Values that change a little from call to call: no cache can hold the answer."""
    generator = np.random.default_rng(3)
    shape = (count, theta.size)
    values = theta * (1 + 1e-6 * generator.uniform(-1, 1, shape))
    state = {"next": 0}

    def draw() -> np.ndarray:
        state["next"] = (state["next"] + 1) % count
        return values[state["next"]]

    return draw


def write_json(path: Path, content: Any) -> None:
    """Writes a file completely or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, path)


def print_machine(facts: Mapping[str, Any]) -> None:
    """One line under a table."""
    print(
        f"\n{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}, "
        f"NumPy {facts['numpy']}, load {facts['load']}"
    )


def print_rows(head: list[str], rows: list[list[str]]) -> None:
    """A table: the first column to the left, numbers to the right."""
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        first, *rest = row
        print(
            f"{first:<{widths[0]}}  "
            + "  ".join(f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True))
        )
