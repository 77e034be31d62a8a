"""Random models in three executors: ``python -m bench.agreement --models 50000 --json FILE``.

Every model comes from a seed (tests/support/random_models). The command prints and writes how many
were accepted, refused and failed, and how often each feature occurs among the accepted ones. The
worst disagreement by kind of comparison is in units of the largest value. Each failure comes with
its seed, its reason and the whole input; ``--seed N`` runs one model alone.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from bench.measure import arguments_of, machine, print_machine, write_json

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.random_models import REQUIRED, Summary, examine, generate, summarise

#: Models that one task of a worker examines.
CHUNK = 100


def run(first: int, models: int, processes: int, path: Path | None = None) -> Summary:
    """Examines the seeds first ... first + models - 1. What is known so far is written to `path`
    every now and then."""
    begins = range(first, first + models, CHUNK)
    ranges = [(begin, min(begin + CHUNK, first + models)) for begin in begins]
    total = Summary()
    started = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for done, part in enumerate(pool.map(summarise, ranges), start=1):
            total.add(part)
            if done % 20 == 0 or done == len(ranges):
                seconds = time.perf_counter() - started
                print(
                    f"{total.models} models in {seconds:.0f} s: {total.status['accepted']} "
                    f"accepted, {total.status['refused']} refused, {total.status['failed']} failed",
                    flush=True,
                )
                if path is not None:
                    write_json(path, {"machine": machine(), "seconds": seconds, **report(total)})
    return total


def report(total: Summary) -> dict[str, Any]:
    """All numbers, as JSON holds them."""
    accepted = total.status["accepted"]
    rare = {name: total.features[name] for name in REQUIRED}
    return {
        "models": total.models,
        "status": dict(total.status),
        "accepted_share": accepted / max(total.models, 1),
        "refused_as": dict(total.refusals),
        "worst": dict(total.worst),
        "worst_seeds": dict(total.worst_seed),
        "ill_conditioned": total.fragile,
        "not_finite_at_start": total.not_finite,
        "least_frequent": dict(sorted(rare.items(), key=lambda item: item[1])[:10]),
        "features": dict(sorted(total.features.items())),
        "failures": total.failures,
    }


def main(arguments: list[str] | None = None) -> int:
    """Returns 1 if an executor disagreed, or a feature occurred in less than 2 %."""
    parser = arguments_of("agreement", __doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="one model alone, with its text")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return _replay(options.seed)
    print_machine(machine())
    total = run(options.first, options.models, options.processes, options.json)
    found = report(total)
    for name, value in sorted(found["worst"].items()):
        print(f"worst disagreement, {name}: {value:.3g} (seed {found['worst_seeds'][name]})")
    accepted = total.status["accepted"]
    for name, number in found["least_frequent"].items():
        print(f"{name}: {number} models, {100.0 * number / max(accepted, 1):.2f} %")
    print(f"ill-conditioned comparisons set aside: {len(total.fragile)}")
    for failure in total.failures[:10]:
        print(f"seed {failure['seed']}: {failure['reason'].strip()[-300:]}")
    frequent = all(total.features[name] >= 0.02 * accepted for name in REQUIRED)
    return 0 if frequent and not total.failures else 1


def _replay(seed: int) -> int:
    case = generate(seed)
    print(case.text)
    for step in case.steps:
        print(step)
    outcome = examine(case)
    print(f"{outcome.status}: {outcome.reason or dict(Counter(outcome.worst))}")
    return int(outcome.status == "failed")


if __name__ == "__main__":
    raise SystemExit(main())
