"""What passes and facts of kernels save: ``python -m bench.inside.passes --json FILE``.

The table has for every problem of one model the milliseconds of a residual and of the normal
equations with all passes. It says how many times as long they take

- without one pass, and without all of them;
- with one fact kept from the kernels;
- with columns of J that stand still summed row by row. This is a Fisher matrix, which equals JᵀJ
  without weights.

The largest difference of the spectra is given in units of the largest value. For separable problems
there are also the milliseconds of a fit's loop in C, and how many times as long the loop takes
where it reads the data in every evaluation. All runs are interleaved; times are medians.

No kernel reads two facts so far, which are left out: one shape times a trace (other than the height
of a peak), and what is the same before the onset.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, interleaved, jitter, print_rows
from bench.problems.cases import Case, all_cases
from pyspec._library import DTYPES
from pyspec._library.memory import WORDS
from pyspec.executor import CompiledExecutor, make_plan, worst_difference
from pyspec.executor.normal import fit_parts
from pyspec.fit.solve.native import MOST_EVALUATIONS, NativeSolver
from pyspec.ir import build_graph
from pyspec.model import Model
from pyspec.passes import PASSES, Facts, Pace, neutral, run
from pyspec.plan import ScheduledPlan, schedule

#: Facts, by what is made of them where they are kept from the kernels; `nothing` are neutral ones.
FACTS: dict[str, Callable[[Facts, Facts], Facts]] = {
    "static": lambda known, nothing: dataclasses.replace(
        known, moves=nothing.moves, paces=_without(known, Pace.STATIC)
    ),
    "height": lambda known, _: dataclasses.replace(known, paces=_without(known, Pace.HEIGHT)),
    "dependence": lambda known, nothing: dataclasses.replace(known, thetas=nothing.thetas),
}

#: Every column of J summed row by row.
BY_ROW = "columns by row"


def _without(known: Facts, pace: Pace) -> tuple[Pace, ...]:
    return tuple(Pace.MOVING if found is pace else found for found in known.paces)


def plans(model: Model) -> dict[str, ScheduledPlan]:
    """The plan of all passes, and plans with something left out."""
    found = {"all": make_plan(model), "no pass": make_plan(model, tuple(PASSES))}
    found |= {f"without {name}": make_plan(model, name) for name in PASSES}
    graph, facts, _ = run(build_graph(model))
    nothing = neutral(graph)
    for name, kept in FACTS.items():
        found[f"without fact {name}"] = schedule(graph, kept(facts, nothing))
    return found


def measure_case(case: Case, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds and ratios by what is left out."""
    made = plans(case.model)
    executors = {name: CompiledExecutor(plan, case.measurement) for name, plan in made.items()}
    forms = dict.fromkeys(executors, "gram") | {BY_ROW: "fisher"}
    executors[BY_ROW] = executors["all"]
    draw, out = jitter(case.theta()), np.empty(case.n_points)
    calls = dict.fromkeys(executors, 5)
    value = interleaved(
        {name: partial(_residual, executor, draw, out) for name, executor in executors.items()},
        rounds,
        calls,
    )
    normal = interleaved(
        {
            name: partial(_normal, executor, draw, forms[name])
            for name, executor in executors.items()
        },
        rounds,
        calls,
    )
    known = executors["all"].run(case.theta())
    return {
        name: {
            "residual_ms": value[name],
            "residual_ratio": value[name] / value["all"],
            "normal_ms": normal[name],
            "normal_ratio": normal[name] / normal["all"],
            "max_diff": worst_difference(known, executor.run(case.theta())),
        }
        for name, executor in executors.items()
    }


def measure_fit(case: Case, rounds: int) -> dict[str, float] | None:
    """Milliseconds of the loop of a fit, and with the data read in each of its evaluations; None
    where the problem is not separable."""
    executor = CompiledExecutor(make_plan(case.model), case.measurement)
    n = executor.plan.theta.size
    span = (DTYPES["pyspec_part"].names or ()).index("span")
    with fit_parts([executor], [np.arange(n)], n, None) as parts:
        places = (ctypes.c_int64 * WORDS["pyspec_part"]).from_address(parts.address)
        memory = places[span]
        if not memory:
            return None
        free = [case.model.parameters[name] for name in case.model.opt_param_names]
        bounds = np.array([par.min for par in free]), np.array([par.max for par in free])
        square = float(np.sum(np.square(case.measurement.data)))

        def fit(place: int) -> None:
            places[span] = place
            solver = NativeSolver(case.theta(), *bounds, case.n_points, square, MOST_EVALUATIONS)
            solver.run_parts(parts, lambda *_: None, each=False)

        jobs = {"fit_ms": partial(fit, memory), "reading_ms": partial(fit, 0)}
        return interleaved(jobs, rounds, dict.fromkeys(jobs, 5))


def _residual(executor: CompiledExecutor, draw: Callable[[], Any], out: Any) -> None:
    executor.residual(draw(), out=out)


def _normal(executor: CompiledExecutor, draw: Callable[[], Any], form: str) -> None:
    executor.normal(draw(), form=form, in_strips=True)  # as fits do


def main(arguments: list[str] | None = None) -> int:
    """Runs the ablation, prints a table, writes JSON if asked to."""
    parser = arguments_of("inside.passes", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds (15)")
    given = parser.parse_args(arguments)
    head = ["problem", "residual ms", "ratio", "normal ms", "ratio", "difference"]
    problems: dict[str, Any] = {}
    fits: dict[str, dict[str, float]] = {}
    table = []
    for case in all_cases(given.data):
        if not isinstance(case, Case):
            continue
        problems[case.name] = measure_case(case, given.rounds)
        for name, row in problems[case.name].items():
            table.append(
                [
                    f"{case.name}, {name}",
                    f"{row['residual_ms']:.3f}",
                    f"{row['residual_ratio']:.2f} ×",
                    f"{row['normal_ms']:.3f}",
                    f"{row['normal_ratio']:.2f} ×",
                    f"{row['max_diff']:.1e}",
                ]
            )
        if (fit := measure_fit(case, given.rounds)) is not None:
            fits[case.name] = fit
    print_rows(head, table)
    for name, fit in fits.items():
        ratio = fit["reading_ms"] / fit["fit_ms"]
        print(f"{name}, loop of a fit: {fit['fit_ms']:.3f} ms; data always read: {ratio:.2f} ×")
    finish(given.json, {"problems": problems, "fits": fits})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
