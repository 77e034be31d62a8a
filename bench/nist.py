"""NIST's 27 nonlinear problems, each from both starts: ``python -m bench.nist --json FILE``.

Printed for each fit: the correct digits (-log10 of the relative error, the worst parameter, at most
11 as the certified values have) of values and standard errors, evaluations, whether the fit
reports success, and its message. The data are read from PYSPEC_SHARED, or --data.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import SHARED
from bench.problems.nist_problems import PROBLEMS, ROUTES, Array, Problem, StrdFile, read_strd
from pyspec.errors import PyspecError
from pyspec.fit import fit_model
from pyspec.fit.solve.methods import known_methods
from pyspec.functions.external import forget_function

#: Digits of the certified values.
CAP = 11.0

#: MINPACK stops where its tolerances say so; its own are for 8 digits of chi².
OPTIONS: dict[str, dict[str, float]] = {"leastsq": {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}}

#: Lanczos1: the residual is the rounding of the data, and so are its standard errors.
NO_ERRORS = ("Lanczos1",)

#: What counts as solved, and as found at all.
SOLVED, FOUND = 6.0, 4.0


@dataclass(frozen=True)
class Outcome:
    """How one fit ended. `error_digits` is NaN where the standard errors are not judged."""

    problem: str
    start: int
    route: str
    method: str
    digits: float
    error_digits: float
    nfev: int
    success: bool
    message: str

    @property
    def solved(self) -> bool:
        """Whether six digits of every value and standard error are right."""
        return self.digits >= SOLVED and not self.error_digits < SOLVED

    @property
    def false_success(self) -> bool:
        """Whether the fit reports success where not even four digits are right."""
        return self.success and self.digits < FOUND


def correct_digits(found: Sequence[float | None], certified: Array) -> float:
    """-log10 of the largest relative error: from 0 to `CAP`, 0 where a value is missing."""
    values = np.array([math.nan if value is None else value for value in found])
    error = float(np.max(np.abs(values / certified - 1.0)))
    if math.isnan(error):
        return 0.0
    return float(min(max(-math.log10(max(error, 1e-300)), 0.0), CAP))


def arrangements(problem: Problem, n_parameters: int) -> Iterable[tuple[list[int], Array]]:
    """The orders and signs of the parameters in which the curve is the same."""
    for order in itertools.permutations(range(len(problem.alike))):
        places = list(range(n_parameters))
        for term, other in enumerate(order):
            for own, taken in zip(problem.alike[term], problem.alike[other], strict=True):
                places[own - 1] = taken - 1
        yield places, np.ones(n_parameters)
        if problem.mirrored:
            numbers = np.arange(1, n_parameters + 1)
            yield places, np.where(np.isin(numbers, problem.mirrored), -1.0, 1.0)


def run_one(
    problem: Problem, strd: StrdFile, start: int, method: str, route: str = "", **options: Any
) -> Outcome:
    """One fit from start 1 or 2."""
    route = route or problem.route
    model, measurement = problem.build(strd, strd.starts[start - 1], route)
    options = {**OPTIONS.get(method, {}), **options}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy in a registered function
            result = fit_model(model, measurement, method=method, **options)
    except PyspecError as error:
        message = f"{type(error).__name__}: {error}"
        return Outcome(problem.name, start, route, method, 0.0, 0.0, 0, False, message)
    finally:
        if route == "external":
            forget_function(problem.name)
    names = [f"b{k}" for k in range(1, strd.certified.size + 1)]
    values = [result.values[name] for name in names]
    errors = [result.stderr[name] for name in names]
    best, error_digits = -1.0, 0.0
    for places, signs in arrangements(problem, len(names)):
        digits = correct_digits([values[k] for k in places], strd.certified * signs)
        if digits > best:
            best = digits
            error_digits = correct_digits([errors[k] for k in places], strd.errors)
    if problem.name in NO_ERRORS:
        error_digits = math.nan
    found = best, error_digits, result.nfev, result.success, result.message
    return Outcome(problem.name, start, route, method, *found)


def run_all(folder: Path, method: str, route: str = "", **options: Any) -> list[Outcome]:
    """Every problem from both starts; `route` where a problem has it, else its own."""
    found = []
    for name, problem in PROBLEMS.items():
        strd = read_strd(folder / f"{name}.dat")
        own = route if route in problem.routes else ""
        found += [run_one(problem, strd, start, method, own, **options) for start in (1, 2)]
    return found


def data_folder(given: Path | None = None) -> Path | None:
    """The folder of NIST's files, or None where they are not at hand."""
    root = given or SHARED
    for folder in (root, root / "nist_strd", root / "data" / "nist_strd"):
        if all((folder / f"{name}.dat").is_file() for name in PROBLEMS):
            return folder
    return None


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Counts over all fits."""
    return {
        "fits": len(outcomes),
        "solved": sum(outcome.solved for outcome in outcomes),
        "false_success": sum(outcome.false_success for outcome in outcomes),
        "solved_without_success": sum(o.solved and not o.success for o in outcomes),
        "evaluations": sum(outcome.nfev for outcome in outcomes),
    }


def main(arguments: list[str] | None = None) -> int:
    """Prints a table; returns 1 where a fit reports success without having found the values."""
    parser = arguments_of("nist", __doc__)
    native = "native" in known_methods()
    parser.add_argument("--method", default="native" if native else "leastsq")
    parser.add_argument("--route", choices=ROUTES, default="", help="the most natural by default")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where NIST's files are")
    given = parser.parse_args(arguments)
    folder = data_folder(given.data)
    if folder is None:
        print("skipped: NIST's files are not at hand; set PYSPEC_SHARED, or give --data FOLDER")
        return 0
    outcomes = run_all(folder, given.method, given.route)
    head = ["problem", "start", "route", "digits", "of errors", "evaluations", "success"]
    rows = [
        [
            outcome.problem,
            str(outcome.start),
            outcome.route,
            f"{outcome.digits:.1f}",
            f"{outcome.error_digits:.1f}",
            str(outcome.nfev),
            "yes" if outcome.success else "no",
        ]
        for outcome in outcomes
    ]
    width = max(len(outcome.message) for outcome in outcomes)
    messages = [outcome.message.ljust(width) for outcome in outcomes]
    rows = [[*row, message] for row, message in zip(rows, messages, strict=True)]
    print_rows([*head, "message".ljust(width)], rows)
    counts = summary(outcomes)
    print(
        f"\n{given.method}: {counts['solved']} of {counts['fits']} solved to six digits, "
        f"{counts['false_success']} false successes"
    )
    fits = [
        {**asdict(o), "error_digits": None if math.isnan(o.error_digits) else o.error_digits}
        for o in outcomes
    ]
    finish(given.json, {"method": given.method, "summary": counts, "fits": fits})
    return int(counts["false_success"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
