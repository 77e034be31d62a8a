"""Intervals by profile likelihood: ``python -m bench.inside.intervals --json FILE``.

The intervals are those of all free parameters of the fits of :mod:`bench.whole_fits`, at one, two
and three standard deviations. Beside them :func:`lmfit.conf_interval` runs on the same fit, with
the same residual in C, for up to `MOST` parameters. It finds ends to a part of the parameter's
value: the largest difference of an end is given in standard errors. Medians of interleaved rounds.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import lmfit

from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import Task, all_tasks
from pyspec.fit import fit_model

#: lmfit takes tens of seconds for more parameters.
MOST = 5


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and what the call returns."""
    begin = time.perf_counter()
    found = call()
    return 1e3 * (time.perf_counter() - begin), found


def compare(task: Task, rounds: int) -> dict[str, Any]:
    """One problem: milliseconds of the fit and of its intervals, and how far lmfit's ends are."""
    case = task.case()
    fits, own, other = [], [], []
    worst = 0.0
    for _ in range(rounds):
        taken, result = timed(partial(fit_model, case.model, case.measurement))
        fits.append(taken)
        taken, found = timed(result.conf_interval)
        own.append(taken)
        if len(found) > MOST:
            continue
        taken, theirs = timed(partial(lmfit.conf_interval, result.minimizer, result.lmfit))
        other.append(taken)
        for name, pairs in found.items():
            error = result.stderr[name]
            if error:
                ends = zip(pairs, theirs[name], strict=True)
                worst = max(worst, *(abs(a[1] - b[1]) / error for a, b in ends))
    return {
        "name": task.name,
        "free": len(found),
        "fit": statistics.median(fits),
        "intervals": statistics.median(own),
        "lmfit": statistics.median(other) if other else None,
        "apart": worst if other else None,
    }


def main() -> None:
    parser = arguments_of("inside.intervals", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [compare(task, given.rounds) for task in all_tasks(given.data)]
    head = ["problem", "free", "fit, ms", "intervals, ms", "lmfit, ms", "apart / s.e."]
    rows = []
    for one in found:
        known = one["lmfit"] is not None
        beside = [f"{one['lmfit']:.0f}", f"{one['apart']:.2f}"] if known else ["–", "–"]
        own = f"{one['fit']:.2f}", f"{one['intervals']:.1f}"
        rows.append([one["name"], str(one["free"]), *own, *beside])
    print_rows(head, rows)
    finish(given.json, {"intervals": found})


if __name__ == "__main__":
    main()
