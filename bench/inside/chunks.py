"""Sums of data that come in chunks: ``python -m bench.inside.chunks --points 10000000``.

The table has for each problem the time of one piece, that of 100 chunks read from a memory-mapped
file, and their ratio (medians of interleaved rounds). It says whether the bits are the same, what
the axis stage holds, and how much anonymous memory the chunks needed beyond that.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import arguments_of, finish, print_rows
from pyspec._library import CONSTANTS, LIBRARY
from pyspec.executor import CompiledExecutor, make_executor
from pyspec.executor.chunks import Chunk, chunk_nodes
from pyspec.executor.nodes import collect
from pyspec.executor.store import Job
from pyspec.model import Measurement, Model, load_dynamics, load_model

_LINES = """\
lines:
  Offset:
    y0: [2.0, True, 0, 10]
  GLP:
    A: [5.0, True, 0, 50]
    x0: [4.0, True, 0, 10]
    F: [1.2, True, 0.1, 5]
    m: [0.3, True, 0, 1]
  Gauss:
    A: [3.0, True, 0, 50]
    x0: [6.5, True, 0, 10]
    SD: [0.6, True, 0.1, 5]
"""

_LAWS = """\
decay:
  expFun:
    A: [1.5, True, -5, 5]
    tau: [30.0, True, 1, 500]
    t0: [5.0, False]
smeared:
  gaussCONV:
    SD: [0.02, True, 0.005, 2]
  expFun:
    A: [1.5, True, -5, 5]
    tau: [3.0, True, 0.1, 50]
    t0: [1.0, False]
pulse:
  expFun:
    A: [0.5, True, -5, 5]
    tau: [0.3, True, 0.01, 5]
    t0: [0.0, False]
"""

N_CHUNKS = 100


@dataclass(frozen=True)
class Problem:
    """Shape and motion of one problem."""

    name: str
    n_energy: int
    laws: tuple[str, ...]
    frequency: float = -1.0

    def model(self, points: int) -> Model:
        """The model on axes with this many points."""
        model = load_model(_LINES, "lines")
        target = model.parameters["GLP_01_x0"]
        model.add_dynamics(
            "GLP_01_x0", load_dynamics(_LAWS, self.laws, target, frequency=self.frequency)
        )
        n_time = points // self.n_energy
        model.set_axes(energy=np.linspace(0, 10, self.n_energy), time=np.linspace(0, 100, n_time))
        return model


PROBLEMS = (
    Problem("400 energies", 400, ("decay",)),
    Problem("100 energies, gaussCONV, sub-cycles", 100, ("smeared", "pulse"), 0.5),
    Problem("10 energies", 10, ("decay",)),
)


def anonymous_bytes() -> int:
    """Anonymous memory of this process."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return 1024 * int(line.split()[1])
    return 0


def read_chunks(path: Path, peak: list[int] | None = None) -> Iterator[Chunk]:
    """The rows of a file in chunks: views of a memory-mapped array."""
    data: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    size = -(-len(data) // N_CHUNKS)
    for first in range(0, len(data), size):
        yield Chunk(first, data[first : first + size])
        if peak is not None:
            peak[0] = max(peak[0], anonymous_bytes())


def write_data(path: Path, executor: CompiledExecutor, theta: Any, shape: tuple[int, int]) -> None:
    """Simulated data, written without holding them."""
    rng = np.random.default_rng(1)
    data = np.lib.format.open_memmap(path, "w+", np.float64, shape)
    row = np.asarray(executor.run(theta)).reshape(1, -1)
    for first in range(0, shape[0], 1000):
        part = data[first : first + 1000]
        part[...] = row + rng.normal(0, 0.1, part.shape)
    data.flush()


def sum_chunks(executor: CompiledExecutor, theta: Any, chunks: Iterator[Chunk]) -> Any:
    """chi², Jᵀr and JᵀJ over chunks: a packed triangle."""
    nodes = chunk_nodes(executor, Job(0, theta, None, "gram", False), chunks)
    return collect(nodes, len(executor.opt_param_names), "gram")


def measure(problem: Problem, points: int, rounds: int, folder: Path) -> dict[str, Any]:
    """All numbers of one problem."""
    model = problem.model(points)
    theta = model.theta()
    n_time, n_energy = points // problem.n_energy, problem.n_energy
    path = folder / "data.npy"
    first: Any = make_executor(model, Measurement(rows=(0, 1)))
    write_data(path, first, theta, (n_time, n_energy))
    plan, packed = first.plan, first.packed
    one = CompiledExecutor(plan, Measurement(data=np.load(path, mmap_mode="r")), packed=packed)
    many = CompiledExecutor(plan, Measurement(), packed=packed)
    what = CONSTANTS["PREPARE_SLOPES"]
    axis = int(LIBRARY.pyspec_prepared_size(packed.address, many.problem.ctypes.data, what))
    peak = [0]
    before = anonymous_bytes()
    chunked = sum_chunks(many, theta, read_chunks(path, peak))
    own = peak[0] - before - axis
    whole = one.normal(theta)
    times: dict[str, list[float]] = {"one piece": [], "chunks": []}
    for _ in range(rounds):
        begin = time.perf_counter()
        one.normal(theta)
        times["one piece"].append(time.perf_counter() - begin)
        begin = time.perf_counter()
        sum_chunks(many, theta, read_chunks(path))
        times["chunks"].append(time.perf_counter() - begin)
    middle = {name: statistics.median(found) for name, found in times.items()}
    return {
        "shape": f"{n_time} x {n_energy}",
        "one_piece_s": middle["one piece"],
        "chunks_s": middle["chunks"],
        "ratio": middle["chunks"] / middle["one piece"],
        "same_bits": whole.tobytes() == chunked.tobytes(),
        "axis_mib": axis / 2**20,
        "own_mib": own / 2**20,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measures all problems, prints a table, writes JSON if asked to."""
    parser = arguments_of("inside.chunks", __doc__)
    parser.add_argument("--points", type=int, default=10_000_000, help="points (1e7)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    given = parser.parse_args(arguments)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for problem in PROBLEMS:
            found[problem.name] = measure(problem, given.points, given.rounds, Path(folder))
    head = [
        "problem",
        "shape",
        "one piece s",
        "chunks s",
        "ratio",
        "same bits",
        "axis MiB",
        "own MiB",
    ]
    table = [
        [
            name,
            row["shape"],
            f"{row['one_piece_s']:.3f}",
            f"{row['chunks_s']:.3f}",
            f"{row['ratio']:.3f}",
            "yes" if row["same_bits"] else "NO",
            f"{row['axis_mib']:.1f}",
            f"{row['own_mib']:.1f}",
        ]
        for name, row in found.items()
    ]
    print_rows(head, table)
    finish(given.json, {"problems": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
