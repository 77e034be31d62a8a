"""Memory over a long session: ``python -m tests.campaign.soak``.

A million evaluations, 10,000 fits, a million fits in batches of 100 and 10,000 Files, one after the
other, in a process of its own for each kind. What the process holds is noted at 40 moments after a
first part in which caches fill; the last ten must not lie above the first ten by more than `FLAT`
bytes.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pyspec import File, Measurement, Project, fit_model, fit_slices, load_model
from pyspec.executor import make_executor
from tests.support.fit_cases import LINE

ROOT = Path(__file__).resolve().parents[2]

#: Bytes that a kind may hold more at its end: malloc keeps pieces.
FLAT = 2 << 20

#: Share of the turns in which caches fill, and how often memory is looked at afterwards.
WARM, LOOKS = 0.1, 40

TURNS = {"evaluations": 1_000_000, "fits": 10_000, "batches": 10_000, "files": 10_000}

ENERGY = np.linspace(0.0, 10.0, 60)


def peak() -> Any:
    model = load_model(LINE, "peak")
    model.set_axes(energy=ENERGY)
    return model


def data(seed: int, shape: tuple[int, ...] = (60,)) -> Any:
    clean = 1.0 + 10.0 * np.exp(-(((ENERGY - 5.0) / 0.8) ** 2))
    return clean + np.random.default_rng(seed).normal(0, 0.1, shape)


def evaluations() -> Callable[[int], object]:
    executor = make_executor(peak(), Measurement(data=data(0)), "compiled")
    theta, fixed = np.array([1.0, 8.0, 4.5, 1.6]), np.array([0.4])
    return lambda k: executor.residual(theta + 1e-9 * (k % 1000), fixed)


def fits() -> Callable[[int], object]:
    model = peak()
    return lambda k: fit_model(model, Measurement(data=data(k % 50)))


def batches() -> Callable[[int], object]:
    model = peak()

    def turn(k: int) -> None:
        found = fit_slices(model, Measurement(data=data(k % 50, (100, 60))))
        assert len(found.values) == len(found.stderr) == len(found.names)

    return turn


def files() -> Callable[[int], object]:
    folder = tempfile.TemporaryDirectory()
    (Path(folder.name) / "models.yaml").write_text(LINE, encoding="utf-8")

    def turn(k: int, folder: Any = folder) -> None:
        project = Project(folder.name, name="run", show_output=False)
        file = File(project, data=data(k % 50, (4, 60)), energy=ENERGY, time=np.arange(4.0))
        file.load_model("models.yaml", ["peak"])

    return turn


def leak() -> Callable[[int], object]:
    """20 kB more at every turn, to see that this is found."""
    kept: list[bytes] = []
    return lambda k: kept.append(b"x" * 20_000)


KINDS = {"evaluations": evaluations, "fits": fits, "batches": batches, "files": files, "leak": leak}


def held() -> int:
    """Bytes that this process holds in memory."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def run(kind: str, turns: int) -> tuple[int, int]:
    """Bytes at the beginning and at the end, each the median of ten looks."""
    turn, warm = KINDS[kind](), max(int(WARM * turns), 1)
    for k in range(warm):
        turn(k)
    looks, left = [], turns - warm
    for k in range(left):
        turn(warm + k)
        if len(looks) < LOOKS * (k + 1) // left:
            gc.collect()
            looks.append(held())
    return int(statistics.median(looks[:10])), int(statistics.median(looks[-10:]))


def own_process(kind: str, turns: int) -> int:
    """How many bytes more one kind holds at its end, in a process of its own."""
    places = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "tests.campaign.soak", "--kind", kind, "--turns", str(turns)],
        env={**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    begin, end = map(int, done.stdout.split())
    print(f"{turns:9} {kind:12} {begin / 1e6:8.2f} MB, at the end {(end - begin) / 1e3:+8.1f} kB")
    return end - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the full numbers of turns")
    parser.add_argument("--kind", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--turns", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.kind:
        print(*run(given.kind, given.turns))
        return 0
    grown = [own_process(kind, int(given.share * turns)) for kind, turns in TURNS.items()]
    return 1 if max(grown) > FLAT else 0


if __name__ == "__main__":
    sys.exit(main())
