"""Whole fits, by pyspec and by trspecfit: ``python -m bench.whole_fits --json FILE``.

What is timed is the call that a user waits for: from a loaded model and data to a result with
standard errors, for trspecfit without intervals. Every round runs every fit once, the quick ones
several times, after a collection of garbage, which empties the caches of the processor; times are
medians. Each quick one is followed by others at once, whose times stand apart. One column is the
next fit; another is the fits of a loop from the fifth on, when the caches hold what a fit takes.
Fits that take longer fill the caches themselves. The first fit of each is not counted; what it took
longer is printed apart (for JAX: the compilation, which trspecfit repeats in every fit).

Every problem also gets a tightly converged optimum, by Gauss-Newton steps from the end of a fit
with tolerances of 1e-14. One executor takes chi² there and at the values of each fit. The distance
of a fit is that of its worst parameter in standard errors.

Separable problems are also fitted with a second trace, without some columns, with a sigma by row.
Other programs take no sigma and no such mask: those fits stand beside theirs of the plain problem.
pyspec runs on one thread, and where the position of a line moves on two as well.

trspecfit needs Python 3.12 or later, beside pyspec in one environment: pip install trspecfit jax.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from bench.peers.trspecfit_fits import PeerFit, runs_on, versions
from bench.problems.cases import Array, Case, Task, all_tasks, variants
from pyspec.fit import known_methods
from pyspec.fit.objective import Objective

#: Programs that a fit is compared with.
RIVALS = {
    "seed": ("interpreted", "trspecfit jax"),
    "data": ("trspecfit jax", "trspecfit numpy", "trspecfit interpreter"),
}

#: How much faster than the quickest of them a fit has to be, by the start of the problem's name.
BARS = {
    "seed_amplitude_4": 150.0,
    "seed_amplitude_14": 500.0,
    "seed_position_4": 25.0,
    "seed_position_14": 80.0,
    "data": 30.0,
}

#: Problems that are judged by their fit on two threads; and those that have variants.
ON_TWO, SEPARABLE = "seed_position", "seed_amplitude"

#: Only where trspecfit can do no better.
_SLOW = "trspecfit interpreter"

#: How near to the optimum the method has to end, in standard errors.
NEAR = 1e-6

TIGHT = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}

#: Those of lmfit, which the others have too: pyspec's own are tighter.
USUAL = {"ftol": 1.5e-8, "xtol": 1.5e-8}

#: A fit below this many milliseconds is repeated within a round, up to `MOST` times.
QUICK, MOST = 50.0, 5

#: Fits that follow a quick one at once, and after how many of them the caches hold what they take.
FOLLOWING, WARM = 12, 4

Outcome = dict[str, Any]
Fit = Callable[[], Outcome]
Prepare = Callable[[], Fit]


@dataclass(frozen=True)
class Optimum:
    """Where chi² is least: values and standard errors of the parameters inside their bounds."""

    problem: Any
    theta: Array
    free: tuple[int, ...]
    stderr: Array
    chisqr: float
    last_step: float

    def chisqr_at(self, values: Mapping[str, float]) -> float:
        """chi² at a fit's values."""
        residual = self.problem.plain_residual(np.array([values[n] for n in self.problem.names]))
        return float(residual @ residual)

    def distance(self, values: Mapping[str, float]) -> float:
        """Of the worst parameter, in standard errors."""
        at = np.array([values[name] for name in self.problem.names])
        free = list(self.free)
        return float(np.max(np.abs(at[free] - self.theta[free]) / self.stderr))


def find_optimum(case: Case, method: str) -> Optimum:
    """The lower of two optima: from a tight `leastsq`, and from `method` where there is it."""
    found = [case.fit("compiled", "leastsq", **TIGHT)]
    if method in known_methods() and method != "leastsq":
        found.append(case.fit("compiled", method))
    return min((polish(result) for result in found), key=lambda optimum: optimum.chisqr)


def polish(result: Any, most: int = 50) -> Optimum:
    """The end of a fit, moved by Gauss-Newton steps until they no longer shrink."""
    problem, theta = result.problem, result.theta.copy()
    objective = Objective(problem)
    free = [k for k, name in enumerate(problem.names) if name not in result.at_bound]
    bounds = [(-np.inf, np.inf)] * theta.size
    size = np.inf
    for _ in range(most):
        residual = problem.plain_residual(theta)
        slopes = objective.derivatives(theta, bounds)[free].T
        unit = np.linalg.norm(slopes, axis=0)
        q, r = np.linalg.qr(slopes / unit)
        inverse = np.linalg.inv(r)
        chisqr = float(residual @ residual)
        scale = np.sqrt(chisqr / (problem.n_points - theta.size))
        stderr = scale * np.linalg.norm(inverse, axis=1) / unit
        step = -inverse @ (q.T @ residual) / unit
        before, size = size, float(np.max(np.abs(step / stderr)))
        if size < 1e-10 or (size < NEAR and size > 0.5 * before):
            break
        theta[free] += step
    return Optimum(problem, theta, tuple(free), stderr, chisqr, size)


def by_pyspec(case: Case, backend: str, method: str, threads: int = 1) -> Prepare:
    """Fits by pyspec, which leaves the model as it was."""

    def fit() -> Outcome:
        result = case.fit(backend, method, **(USUAL if method == "leastsq" else {}))
        return {
            "values": {name: result.values[name] for name in result.free_names},
            "chisqr": result.chisqr,
            "nfev": result.nfev,
            "jacobians": 0,
            "success": result.success
            and all(
                result.stderr[n] is not None or n in result.at_bound for n in result.free_names
            ),
        }

    def prepare() -> Fit:
        os.environ["PYSPEC_NUM_THREADS"] = str(threads)  # until main ends
        return fit

    return prepare


def contestants(task: Task, case: Case, method: str, peer: bool) -> dict[str, Prepare]:
    """Everyone that can fit this problem here, by name."""
    found: dict[str, Prepare] = {}
    if method in known_methods():
        found[method] = by_pyspec(case, "compiled", method)
        if task.name.startswith(ON_TWO):
            found[f"{method}, 2 threads"] = by_pyspec(case, "compiled", method, threads=2)
    found["leastsq"] = by_pyspec(case, "compiled", "leastsq")
    found["interpreted"] = by_pyspec(case, "interpreted", "leastsq")
    for engine in ("jax", "numpy") if peer and task.is_common else ():
        real = runs_on(task, engine) if engine == "numpy" or "jax" in versions() else ""
        if real == engine or engine == "numpy":
            found[f"trspecfit {real}"] = PeerFit(task, engine).prepare
    return found


def timed(prepare: Prepare, follows: bool = False) -> tuple[float, float, Outcome]:
    """Milliseconds, those of all threads on a core, and outcome of one fit; what goes before it,
    and garbage, are not counted. One that `follows` another finds the caches as that left them."""
    fit = prepare()
    if not follows:
        gc.collect()
    start, start_cpu = time.perf_counter(), time.process_time()
    found = fit()
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    return 1e3 * wall, 1e3 * cpu, found


def measure(task: Task, method: str, rounds: int, peer: bool) -> dict[str, Any]:
    """All numbers of one problem."""
    case = task.case()
    optimum = find_optimum(case, method)
    fits = contestants(task, case, method, peer)
    first, found = {}, {}
    for name, prepare in fits.items():
        first[name], _, found[name] = timed(prepare)
    repeat = {name: 1 if first[name] > QUICK else MOST for name in fits}
    times: dict[str, list[float]] = {name: [] for name in fits}
    on_core: dict[str, list[float]] = {name: [] for name in fits}
    next_times: dict[str, list[float]] = {name: [] for name in fits}
    loop_times: dict[str, list[float]] = {name: [] for name in fits}
    names = list(fits)
    for number in range(rounds):
        # Everyone follows everyone in turn: threads of one may still spin when the next starts.
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            for _ in range(repeat[name]):
                wall, cpu, _ = timed(fits[name])
                times[name].append(wall)
                on_core[name].append(cpu)
                if repeat[name] > 1:
                    following = [timed(fits[name], follows=True)[0] for _ in range(FOLLOWING)]
                    next_times[name].append(following[0])
                    loop_times[name] += following[WARM - 1 :]
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians.get(method, medians["leastsq"])
    rows = {}
    for name, outcome in found.items():
        chisqr = optimum.chisqr_at(outcome["values"])
        rows[name] = {
            "ms": medians[name],
            "fastest_ms": min(times[name]),
            "next_ms": statistics.median(next_times[name]) if next_times[name] else None,
            "loop_ms": statistics.median(loop_times[name]) if loop_times[name] else None,
            "cpu_ms": statistics.median(on_core[name]),
            "ratio": medians[name] / base,
            "first_extra_ms": max(first[name] - medians[name], 0.0),
            "nfev": outcome["nfev"],
            "jacobians": outcome["jacobians"],
            "distance": optimum.distance(outcome["values"]),
            "chisqr_excess": chisqr / optimum.chisqr - 1.0,
            "chisqr_differs": abs(outcome["chisqr"] / chisqr - 1.0),
            "success": outcome["success"],
        }
    return {
        "n_points": case.n_points,
        "n_free": len(optimum.theta),
        "optimum": {
            "chisqr": optimum.chisqr,
            "last_step": optimum.last_step,
            "values": dict(zip(optimum.problem.names, optimum.theta.tolist(), strict=True)),
        },
        "fits": rows,
    }


def judge(
    name: str, problems: Mapping[str, Any], method: str, plain: str = ""
) -> dict[str, Any] | None:
    """The bars of one problem; None where the method or all rivals are missing. `plain`: the
    problem whose fits by others it is compared with where they cannot do this one."""
    rivals = RIVALS[name.partition("_")[0]]
    least = next(bar for start, bar in BARS.items() if name.startswith(start))
    fits = problems[name]["fits"]
    theirs = {**problems.get(plain, {"fits": {}})["fits"], **fits}
    on_two = f"{method}, 2 threads"
    own = on_two if on_two in fits else method
    others = {rival: theirs[rival]["ms"] for rival in rivals if rival in theirs}
    if own not in fits or not others:
        return None
    rival = min(others, key=lambda other: others[other])
    ratio, distance = others[rival] / fits[own]["ms"], fits[own]["distance"]
    following, in_loop = fits[own]["next_ms"], fits[own]["loop_ms"]
    loop = others[rival] if theirs[rival]["loop_ms"] is None else theirs[rival]["loop_ms"]
    missing = [] if _SLOW in theirs else [r for r in rivals if r not in theirs and r != _SLOW]
    return {
        "fit": own,
        "rival": rival if rival in fits else f"{rival} on {plain}",
        "missing": missing,
        "ratio": ratio,
        "next_ratio": others[rival] / following if following else None,
        "loop_ratio": loop / in_loop if in_loop else None,
        "bar": least,
        "distance": distance,
        "met": bool(ratio >= least and distance <= NEAR and fits[own]["success"]),
    }


def table(problems: Mapping[str, Any], base: str) -> None:
    """Prints all fits."""
    head = [
        "problem, fit",
        "ms",
        "next, ms",
        "in a loop, ms",
        "CPU ms",
        f"over {base}",
        "evaluations",
        "distance / s.e.",
        "chi² excess",
    ]
    lines = []
    for problem, row in problems.items():
        for name, fit in row["fits"].items():
            calls = f"{fit['nfev']}" + (f" + {fit['jacobians']} J" if fit["jacobians"] else "")
            lines.append(
                [
                    f"{problem}, {name}" + ("" if fit["success"] else " (FAILED)"),
                    f"{fit['ms']:.2f}",
                    f"{fit['next_ms']:.2f}" if fit["next_ms"] else "",
                    f"{fit['loop_ms']:.2f}" if fit["loop_ms"] else "",
                    f"{fit['cpu_ms']:.2f}",
                    f"{fit['ratio']:.2f}",
                    calls,
                    f"{fit['distance']:.1e}",
                    f"{fit['chisqr_excess']:.1e}",
                    f"{fit['first_extra_ms']:.0f}",
                ]
            )
    print_rows([*head, "first fit, + ms"], lines)
    worst = max(fit["chisqr_differs"] for row in problems.values() for fit in row["fits"].values())
    last = max(row["optimum"]["last_step"] for row in problems.values())
    print(
        f"\nchi² as each fit reports it and by one executor differ by {worst:.1e} at most; "
        f"the optima are good to {last:.1e} standard errors."
    )


def print_bars(bars: Mapping[str, Any], method: str) -> None:
    """One line for every problem."""
    for name, bar in bars.items():
        if bar is None:
            print(f"{name}: no bar, {method} or every rival is missing")
            continue
        missing = f", without {', '.join(bar['missing'])}" if bar["missing"] else ""
        print(
            f"{name}: {bar['fit']} {bar['ratio']:.2f} × faster than {bar['rival']}{missing} "
            f"(bar {bar['bar']:g} ×), {bar['distance']:.1e} s.e. from the optimum "
            f"(bar {NEAR:g}): {'met' if bar['met'] else 'MISSED'}"
        )
        if bar["next_ratio"]:
            print(
                f"    {bar['next_ratio']:.2f} × where a fit follows another at once, "
                f"{bar['loop_ratio']:.2f} × in a loop"
            )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = arguments_of("whole_fits", __doc__, data=True)
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (9)")
    parser.add_argument("--method", default="native", help="pyspec's method to judge (native)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these problems only")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the fits, prints tables, writes JSON if asked to."""
    given = parse(arguments)
    method = given.method
    if method not in known_methods():
        print(f"left out: pyspec has no method {method!r} yet; ratios are to leastsq")
    peers = versions()
    if not peers:
        print(
            "left out: trspecfit is not installed here. It needs Python 3.12 or later: "
            "pip install trspecfit jax"
        )
    elif "jax" not in peers:
        print("left out: trspecfit on JAX, which is not installed here: pip install jax")
    tasks = all_tasks(given.data)
    if not any(task.name.startswith("data") for task in tasks):
        print("left out: data sets 01, 02, 03 are not at hand; give --data FOLDER")
    separable = [task for task in tasks if task.name.startswith(SEPARABLE)]
    tasks += [one for task in separable for one in variants(task)]
    if given.only:
        tasks = [task for task in tasks if task.name in given.only]
    problems: dict[str, Any] = {}
    with warnings.catch_warnings(), patch.dict(os.environ):
        warnings.simplefilter("ignore")
        for task in tasks:
            print(f"{task.name} ...", file=sys.stderr, flush=True)
            problems[task.name] = measure(task, method, given.rounds, bool(peers))
    if not problems:
        print("nothing to fit")
        return 1
    table(problems, method if method in known_methods() else "leastsq")
    plain = {task.name: task.plain for task in tasks}
    bars = {name: judge(name, problems, method, plain[name]) for name in problems}
    print_bars(bars, method)
    content = {"method": method, "rounds": given.rounds, "problems": problems, "bars": bars}
    finish(given.json, content, **peers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
