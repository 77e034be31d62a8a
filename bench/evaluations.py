"""How many evaluations fits take: ``python -m bench.evaluations --json FILE [--against FILE]``.

Five families of fits, all from fixed seeds: the whole fits that other programs are timed on, hard
starts, NIST's problems from both starts, the cases of :mod:`bench.pulls` from starts 10 to 30 %
off, and random models from starts as far off. Of each: fits, successes, evaluations in the median
and in all. With ``--against`` the numbers that another version wrote: what it solved and this one
does not is listed, and evaluations are compared. A fit is lost where chi² is larger by more than a
millionth of itself and a hundredth of the variance of a point, or where success is reported no
more.
"""

from __future__ import annotations

import json
import statistics
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.hard_starts import all_cases
from bench.measure import arguments_of, machine, print_machine, print_rows, write_json
from bench.nist import data_folder
from bench.problems.cases import all_tasks
from bench.problems.nist_problems import PROBLEMS, read_strd
from bench.pulls import CASES
from pyspec.errors import PyspecError
from pyspec.fit import fit_model
from pyspec.functions.external import forget_function
from pyspec.model import Measurement, Model

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.random_models import generate

#: Starts are off by so much of themselves, places by so much of a part of the axis.
LEAST_OFF, MOST_OFF, PART = 0.1, 0.3, 0.1

#: Of a random model the noise, in units of the largest value.
NOISE = 0.01

#: A chi² that is larger by this share of itself, and this share of the variance, is another one.
SAME, PART_OF_VARIANCE = 1e-6, 1e-2

#: What is said of fits that leave nothing but rounding.
EXACT = "meets the data to rounding"

#: No fit takes more.
MOST = 3000


@dataclass(frozen=True)
class Fit:
    """One problem."""

    family: str
    name: str
    model: Model
    measurement: Measurement


@dataclass(frozen=True)
class Ending:
    """What became of it."""

    family: str
    name: str
    nfev: int
    success: bool
    chisqr: float
    variance: float
    message: str


def off(model: Model, rng: np.random.Generator) -> dict[str, float]:
    """The free parameters 10 to 30 % off, within their bounds: of themselves, or of `PART` of the
    axis where that is less, since a place on an axis has no size of its own."""
    axes = [model.time if model.energy is None else model.energy, model.time, model.aux]
    lengths = {"x0": axes[0], "t0": axes[1], "xStart": axes[0], "xStop": axes[0]}
    found = {}
    for name, value in zip(model.opt_param_names, model.theta(), strict=True):
        par, size = model.parameters[name], abs(value) or 1.0
        axis = lengths.get(name.rsplit("_", 1)[-1])
        if axis is not None:
            size = min(size, PART * float(np.ptp(axis))) if value else PART * float(np.ptp(axis))
        away = rng.uniform(LEAST_OFF, MOST_OFF) * rng.choice((-1.0, 1.0))
        found[name] = float(np.clip(value + away * size, par.min, par.max))
    return found


def whole_fits(data: Path | None) -> Iterator[Fit]:
    """Those of :mod:`bench.whole_fits`."""
    for task in all_tasks(data):
        case = task.case()
        yield Fit("whole fits", task.name, case.model, case.measurement)


def hard_starts() -> Iterator[Fit]:
    """Those of :mod:`bench.hard_starts`."""
    for case in all_cases():
        yield Fit("hard starts", case.name, case.model(), case.measurement())


def nist(data: Path | None) -> Iterator[Fit]:
    """NIST's problems, each by its most natural route."""
    folder = data_folder(data)
    if folder is None:
        print("NIST's files are not at hand: left out; set PYSPEC_SHARED, or give --data FOLDER")
        return
    for name, problem in PROBLEMS.items():
        strd = read_strd(folder / f"{name}.dat")
        for start in (1, 2):
            model, measurement = problem.build(strd, strd.starts[start - 1], problem.route)
            yield Fit("NIST", f"{name}, start {start}", model, measurement)
            if problem.route == "external":
                forget_function(problem.name)


def near_starts(n: int) -> Iterator[Fit]:
    """Cases whose truth is known, from starts 10 to 30 % off."""
    for k in range(n):
        case = CASES[k % len(CASES)]
        model, measurement = case.model(), case.measurement()
        model.set_values(off(model, np.random.default_rng(k)))
        yield Fit("10 to 30 % off", f"{case.name}, {k}", model, measurement)


def random_models(n: int) -> Iterator[Fit]:
    """Random models that a fit from the truth determines; noise of 1 % of the largest value."""
    seed = 0
    while n:
        seed += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = generate(seed).model()
                clean = model.evaluate()
        except (PyspecError, ValueError, ArithmeticError, Warning):
            continue
        if not np.isfinite(clean).all() or np.ptp(clean) == 0 or not len(model.opt_param_names):
            continue
        rng = np.random.default_rng(seed)
        noise = NOISE * float(np.abs(clean).max())
        measurement = Measurement(data=clean + noise * rng.standard_normal(clean.shape))
        fit = Fit("random models", f"seed {seed}", model, measurement)
        if not run(fit, {}).success:
            continue
        model.set_values(off(model, rng))
        yield fit
        n -= 1


def run(fit: Fit, options: Mapping[str, Any]) -> Ending:
    """One fit."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fit_model(fit.model, fit.measurement, max_nfev=MOST, **options)
    except PyspecError as error:
        message = f"{type(error).__name__}: {str(error)[:80]}"
        return Ending(fit.family, fit.name, 0, False, float("inf"), 0.0, message)
    chisqr = float(found.chisqr)
    variance = chisqr / max(found.n_data - found.n_free, 1)
    return Ending(
        fit.family, fit.name, found.nfev, bool(found.success), chisqr, variance, found.message[:80]
    )


def is_lost(before: Ending, after: Ending) -> bool:
    """Whether a fit that ended well ends worse now. Of data without noise chi² is chance."""
    if EXACT in before.message and EXACT in after.message:
        return False
    allowed = SAME * before.chisqr + PART_OF_VARIANCE * before.variance
    return before.success and (not after.success or after.chisqr > before.chisqr + allowed)


def row_of(family: str, endings: Sequence[Ending], before: Mapping[str, Ending]) -> list[str]:
    """A row of the table."""
    counts = [one.nfev for one in endings]
    row = [
        family,
        str(len(endings)),
        str(sum(one.success for one in endings)),
        f"{statistics.median(counts):g}",
        str(sum(counts)),
    ]
    known = [before[one.name] for one in endings if one.name in before]
    if known:
        here = [one for one in endings if one.name in before]
        both = [
            (a.nfev, b.nfev) for a, b in zip(known, here, strict=True) if a.success and b.success
        ]
        medians = [statistics.median(column) for column in zip(*both, strict=True)]
        totals = [sum(column) for column in zip(*both, strict=True)]
        lost = sum(is_lost(a, b) for a, b in zip(known, here, strict=True))
        won = sum(is_lost(b, a) for a, b in zip(known, here, strict=True))
        row += [
            f"{medians[1]:g} / {medians[0]:g}",
            f"{totals[1]} / {totals[0]}",
            str(lost),
            str(won),
        ]
    return row


def show(endings: Sequence[Ending], before: Mapping[str, Ending]) -> None:
    """The table, and what was lost."""
    head = ["family", "fits", "successes", "median", "evaluations"]
    if before:
        head += ["median of both, now / then", "evaluations of both", "lost", "won"]
    families = list(dict.fromkeys(one.family for one in endings))
    groups = [(name, [one for one in endings if one.family == name]) for name in families]
    print_rows(head, [row_of(*group, before) for group in [*groups, ("all", list(endings))]])
    for one in endings:
        if one.name in before and is_lost(before[one.name], one):
            then = before[one.name]
            print(
                f"lost: {one.family}, {one.name}: chi² {then.chisqr:.9g} -> {one.chisqr:.9g}; "
                f"{one.message}"
            )


def main() -> int:
    """Returns 1 where a fit was lost."""
    parser = arguments_of("evaluations", __doc__, data=True)
    parser.add_argument("--models", type=int, default=500, help="random models")
    parser.add_argument("--near", type=int, default=300, help="fits from starts 10 to 30 %% off")
    parser.add_argument("--method", default="native")
    parser.add_argument("--against", type=Path, metavar="FILE", help="numbers of another version")
    given = parser.parse_args()
    before: dict[str, Ending] = {}
    if given.against:
        known = json.loads(given.against.read_text())["fits"]
        before = {one["name"]: Ending(**one) for one in known}
    print_machine(machine())
    endings = [
        run(fit, {"method": given.method})
        for family in (
            whole_fits(given.data),
            hard_starts(),
            nist(given.data),
            near_starts(given.near),
            random_models(given.models),
        )
        for fit in family
    ]
    show(endings, before)
    if given.json:
        write_json(given.json, {"machine": machine(), "fits": [asdict(one) for one in endings]})
    return int(any(one.name in before and is_lost(before[one.name], one) for one in endings))


if __name__ == "__main__":
    raise SystemExit(main())
