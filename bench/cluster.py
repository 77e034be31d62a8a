"""Sums of one fit by processes of this machine: the time outside of the sums, and of tasks alone.

python -m bench.cluster [--points 2000000] [--evaluations 40] [--tasks 10000] [--json FILE]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from pyspec.executor import make_executor
from pyspec.executor.cluster import ClusterSums
from pyspec.executor.store import RowSums
from pyspec.model import Measurement, load_dynamics, load_model

MODEL = """
doublet:
  Offset: {y0: [3, True, 0, 10]}
  Gauss: {A: [18, True, 0, 100], x0: [84, True, 82, 86], SD: [0.6, True, 0.1, 3]}
  Gauss: {A: [9, True, 0, 100], x0: [87.5, True, 86, 90], SD: [0.6, True, 0.1, 3]}
decay:
  gaussIRF: {SD: [0.7, True, 0.1, 5]}
  expFun: {A: [-0.3, True, -5, 5], tau: [5, True, 0.1, 100], t0: [0, False]}
"""

N_ENERGY = 400


def problem(points: int) -> Any:
    """An executor of a doublet one line of which moves, in memory."""
    model = load_model(MODEL, "doublet")
    model.add_dynamics("Gauss_01_x0", load_dynamics(MODEL, "decay", "Gauss_01_x0"))
    times = np.linspace(-5.0, 20.0, points // N_ENERGY)
    model.set_axes(energy=np.linspace(80.0, 92.0, N_ENERGY), time=times)
    data = np.random.default_rng(1).normal(model.evaluate(), 0.3)
    return make_executor(model, Measurement(data=data))


def stub(k: int) -> int:
    """A task that does nothing."""
    return k


def sums(client: Any, executor: Any, evaluations: int) -> dict[str, Any]:
    """Seconds of an evaluation: in the sums of the slowest worker, and outside of them."""
    found = ClusterSums(client, [executor])
    theta = executor.plan.theta
    shared = RowSums(found, [(executor, np.arange(theta.size))])
    expected = executor.normal(theta, in_strips=True)
    same = shared.at(theta, None, "gram").tobytes() == expected.tobytes()
    first = (found.spent.sums, found.spent.outside)
    for _ in range(evaluations):
        shared.at(theta, None, "gram")
    within, outside = found.spent.sums - first[0], found.spent.outside - first[1]
    return {"sums_s": within / evaluations, "outside_s": outside / evaluations, "same_bits": same}


def tasks(client: Any, n: int) -> float:
    """Seconds of a task that does nothing, of n together."""
    begin = time.perf_counter()
    client.gather(client.map(stub, range(n), pure=False))
    return (time.perf_counter() - begin) / n


def main(arguments: list[str] | None = None) -> int:
    """Measures with 1, 2 and 4 workers, prints a table, writes JSON if asked to."""
    from distributed import Client, LocalCluster

    parser = arguments_of("cluster", __doc__)
    parser.add_argument("--points", type=int, default=2_000_000, help="points (2e6)")
    parser.add_argument("--evaluations", type=int, default=40, help="of each (40)")
    parser.add_argument("--tasks", type=int, default=10_000, help="stub tasks, 4 workers (1e4)")
    given = parser.parse_args(arguments)
    executor, found = problem(given.points), {}
    for n in (1, 2, 4):
        options = {"n_workers": n, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            row = sums(client, executor, given.evaluations) if n < 4 else {}
            if n == 4:
                tasks(client, 100)
                row = {"task_s": tasks(client, given.tasks), "tasks": given.tasks}
            found[f"{n} workers"] = row
    table = [
        [name, f"{1e3 * row['sums_s']:.1f}", f"{1e3 * row['outside_s']:.1f}", str(row["same_bits"])]
        for name, row in found.items()
        if "sums_s" in row
    ]
    print_rows(["workers", "sums ms", "outside ms", "same bits"], table)
    print(f"{given.tasks} stub tasks, 4 workers: {1e3 * found['4 workers']['task_s']:.3f} ms each")
    finish(given.json, {"workers": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
