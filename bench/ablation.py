"""What each executor costs: ``python -m bench.ablation --json FILE``.

The table has for every problem and executor the milliseconds of one residual evaluation, ns per
point of the fit window, and milliseconds and evaluations of a whole fit. Speed is that relative to
`interpreted` (its time over the own time). The largest difference from the other executors is in
units of the largest value. Evaluations are interleaved in one run; times are medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, interleaved, jitter, print_rows
from bench.problems.cases import Case, FilesCase, all_cases
from pyspec.executor import worst_difference

EXECUTORS = ("tree", "interpreted", "compiled")

#: Calls in a row within a round: a fast executor alone would mostly measure the switch.
CALLS = {"tree": 1, "interpreted": 3, "compiled": 10}


def measure_case(case: Case | FilesCase, rounds: int, fits: int) -> dict[str, dict[str, Any]]:
    """All numbers of one problem, by executor."""
    executors = {name: case.executor(name) for name in EXECUTORS}
    theta = case.theta()
    draw = jitter(theta)
    eval_ms = interleaved(
        {name: partial(_evaluate, executor, draw) for name, executor in executors.items()},
        rounds,
        CALLS,
    )
    spectra = {name: executor.run(theta) for name, executor in executors.items()}
    rows: dict[str, dict[str, Any]] = {}
    for name in EXECUTORS:
        times, result = [], None
        for _ in range(1 if name == "tree" else fits):
            start = time.perf_counter()
            result = case.fit(name)
            times.append(1e3 * (time.perf_counter() - start))
        assert result is not None
        others = [spectra[other] for other in EXECUTORS if other != name]
        rows[name] = {
            "eval_ms": eval_ms[name],
            "ns_per_point": 1e6 * eval_ms[name] / case.n_points,
            "fit_ms": statistics.median(times),
            "nfev": result.nfev,
            "ratio": eval_ms["interpreted"] / eval_ms[name],
            "max_diff": max(worst_difference(other, spectra[name]) for other in others),
            "redchi": result.redchi,
            "success": result.success,
        }
    return rows


def _evaluate(executor: Any, draw: Callable[[], np.ndarray]) -> None:
    """One residual as a fit asks for it, at new values."""
    executor.residual(draw())


def main(arguments: list[str] | None = None) -> int:
    """Runs the ablation, prints a table, writes JSON if asked to."""
    parser = arguments_of("ablation", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds (15)")
    parser.add_argument("--fits", type=int, default=3, help="whole fits per executor (3)")
    given = parser.parse_args(arguments)
    problems: dict[str, Any] = {}
    head = ["problem, executor", "ms", "ns/point", "fit ms", "nfev", "speed", "difference"]
    table = []
    for case in all_cases(given.data):
        problems[case.name] = measure_case(case, given.rounds, given.fits)
        for name, row in problems[case.name].items():
            table.append(
                [
                    f"{case.name}, {name}",
                    f"{row['eval_ms']:.3f}",
                    f"{row['ns_per_point']:.2f}",
                    f"{row['fit_ms']:.0f}",
                    str(row["nfev"]),
                    f"{row['ratio']:.3g} ×",
                    f"{row['max_diff']:.1e}",
                ]
            )
    print_rows(head, table)
    finish(given.json, {"problems": problems})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
