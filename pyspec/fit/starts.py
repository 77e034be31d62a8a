"""One fit from several starts: the best of them, and how many agree with it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import meant, whole
from pyspec.errors import CallError, FitError, shortened
from pyspec.fit.batch.fits import Status
from pyspec.fit.ending import Start
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.result import FitResult
from pyspec.model import Model
from pyspec.model.parts import groups_of_laws
from pyspec.plan import CompiledModel

ResultT = TypeVar("ResultT", bound=FitResult)

#: Starts agree if their chi² differ by less than SAME variances of a point. If that is rounding,
#: they agree if chi² differs by less than ROUNDING of its own size.
SAME, ROUNDING = 1e-2, 1e-9

#: chi² below this share of the squares of the data is rounding.
EXACT = 1e-16

#: Values that differ by more standard errors than this are another optimum of the same chi².
APART = 1.0

#: Bounds whose ratio is at least this are drawn from on a logarithmic scale.
DECADE = 10.0

#: The spread of a start around the given one, in units of the interval of its bounds, or of its
#: own size without bounds.
NEAR, OPEN = 0.15, 0.5

#: Laws with a frequency, f. χ² has an optimum in f about every 1 / T. Here T is the length of the
#: times. A fit ends at the optimum beside its start. Random starts leave gaps, and some reach the
#: same optimum again.
OSCILLATING = ("sinFun", "dampedSinFun", "sinDivX")

#: Multiples of the golden section, without their whole parts, are spread evenly at any number.
GOLDEN = (5.0**0.5 - 1.0) / 2.0


def check_starts(n_starts: object, seed: object) -> tuple[int, int]:
    """Both as they are counted with. Raises :class:`FitError` unless these are whole numbers, from
    1 and from 0 on."""
    return whole("n_starts", n_starts, 1, FitError), whole("seed", seed, 0, FitError)


def check_seeds(model: Model, seeds: Mapping[str, float]) -> None:
    """Raises :class:`FitError` for a start value of an unknown parameter, of a follower of an
    expression, or one that is no number. A start value of a quantity that takes no part yet is
    accepted."""
    if not isinstance(seeds, Mapping):
        raise FitError(f"{model.name}: seeds are values by name, {{'GLP_01_A': 20}}, not {seeds!r}")
    if not seeds:
        return
    names = [par.name for par in model.parameters.values() if par.formula is None]
    idle = [par.name for par in model.quantities if par.formula is None]
    for name in seeds:
        if name in model.parameters and model.parameters[name].formula is not None:
            raise FitError(
                f"{model.name}: seeds name {name!r}, which is no free or fixed parameter but "
                f"follows the expression {model.parameters[name].expr!r}; leave it out: "
                "{name: result.values[name] for name in result.free_names}"
            )
        if name not in names and name not in idle:
            raise FitError(
                f"{model.name}: seeds name {name!r}, which is no free or fixed parameter"
                f"{meant(name, names)}"
            )
    check_numbers(model.name, seeds)


def listed_seeds(
    call: str, model: Model, seeds: Iterable[Mapping[str, float]]
) -> list[Mapping[str, float]]:
    """The start values of each of many fits, which are checked as :func:`check_seeds` does. Raises
    :class:`CallError` for those of one fit."""
    if isinstance(seeds, Mapping):
        raise CallError(
            f"{call}: seeds are a list with values for each fit, [{{'GLP_01_A': 20}}, ...], not a "
            "mapping; put it into a list once for each"
        )
    listed = list(seeds)
    by_names = {
        tuple(seed) if isinstance(seed, Mapping) else k: seed for k, seed in enumerate(listed)
    }
    for seed in by_names.values():
        check_seeds(model, seed)
    for seed in listed:
        check_numbers(model.name, seed)
    return listed


def check_numbers(label: str, seeds: Mapping[str, npt.ArrayLike]) -> None:
    """Raises :class:`FitError` for a start value that is no number: a text, a flag, an array."""
    for name, value in seeds.items():
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            if np.ndim(value) == 0 and getattr(value, "dtype", np.dtype("O")).kind in "iuf":
                continue  # an array of no dimensions
            raise FitError(
                f"{label}: seeds[{name!r}] is {shortened(value)}, not a number; give the value "
                "that the fit begins with"
            )


def with_fixed(compiled: CompiledModel, seeds: Mapping[str, float]) -> CompiledModel:
    """The model, with other values of the fixed parameters that `seeds` name."""
    fixed = {
        name: value
        for name, value in seeds.items()
        if (par := compiled.parameters.get(name)) is not None
        and not par.vary
        and par.free is None
        and par.value != value
    }
    return compiled.at(fixed) if fixed else compiled


def drawn_starts(
    problem: FitProblem, seeds: Mapping[str, float] | None, n_starts: int, seed: int
) -> Iterator[dict[str, float]]:
    """Start values of the free parameters: first those given, then random ones, in turn anywhere
    within the bounds and around the given start. The same `seed` gives the same starts.

    A parameter without two finite bounds is always drawn around its start. The frequency of an
    oscillation with two is always anywhere, spread evenly over all starts.
    """
    start = problem.start(seeds)
    generator = np.random.default_rng(seed)
    yield {**(seeds or {})}
    if n_starts == 1:
        return
    swings = {
        name: _evenly(generator, *start.limits[name][:2])
        for name in _frequencies_of(problem)
        if all(map(math.isfinite, start.limits[name][:2]))
    }
    for index in range(1, n_starts):
        values = {**(seeds or {})}
        for name in problem.names:
            if name in swings:
                values[name] = next(swings[name])
                continue
            (low, high, unit), value = start.limits[name], start.values[name]
            is_closed = math.isfinite(low) and math.isfinite(high)
            if is_closed and index % 2:
                is_wide = low > 0.0 and high / low >= DECADE
                ends = np.log([low, high]) if is_wide else (low, high)
                drawn = generator.uniform(*ends)
                values[name] = float(np.exp(drawn) if is_wide else drawn)
                continue
            spread = NEAR * (high - low) if is_closed else OPEN * (abs(value) or unit)
            near = generator.normal(value, spread)
            values[name] = float(min(max(near, low), high))
        yield values


def _frequencies_of(problem: FitProblem) -> list[str]:
    """The free parameters that are a frequency of an oscillation, in the order of the others."""
    frequencies = set()
    for own, names in problem.named_files:
        groups = groups_of_laws(own.model, own.parameters)
        laws = [law for group in groups for law in group if law.op.name in OSCILLATING]
        frequencies |= {
            names.get(p.name) for law in laws for p in law.parameters if p.argument == "f"
        }
    return [name for name in problem.names if name in frequencies]


def _evenly(generator: np.random.Generator, low: float, high: float) -> Iterator[float]:
    """Places between two bounds without end, spread evenly from a first one at random."""
    place = generator.uniform()
    while True:
        yield float(low + (high - low) * place)
        place = (place + GOLDEN) % 1.0


@dataclass
class Ended(Status):
    """A fit from one start.

    Attributes
    ----------
    start : how it ended
    tolerance : how far a chi² may be from this one to be the same
    nfev : its evaluations
    status : as of many fits
    result : of the best so far; others are not kept
    """

    start: Start
    tolerance: float = math.nan
    nfev: int = 0
    status: str = "converged"
    result: FitResult | None = field(default=None, repr=False)

    plural, fit_type = "starts", ""

    @classmethod
    def of(cls, index: int, row: int, status: str, message: str, result: FitResult | None) -> Ended:
        if result is None:
            return cls(Start({}, {}, math.nan, False, message), status=status)
        values, names = result.values, result.free_names
        start = {name: result.start[name] for name in names}
        final = {name: values[name] for name in names}
        ended = Start(start, final, result.chisqr, result.success, message)
        variance = result.redchi if result._scale_covar else 1.0
        own = cls.at(ended, variance, result.problem.data_square, result.nfev)
        return replace(own, status=status)

    @classmethod
    def at(cls, ended: Start, variance: float, data_square: float, nfev: int) -> Ended:
        """Of a fit with that variance of a point."""
        rounding = max(ROUNDING * ended.chisqr, EXACT * data_square)
        return cls(ended, max(SAME * variance, rounding), nfev=nfev)

    @property
    def is_failed(self) -> bool:
        """Whether it could not be made."""
        return self.status == "failed"

    def is_better(self, other: Ended | None) -> bool:
        """Whether this is a better fit than an earlier one, or none. Of two with the same chi² the
        earlier one stays: the first start is the user's, whose order of equal parts is meant."""
        if other is None or self.is_failed:
            return not self.is_failed
        if abs(self.start.chisqr - other.start.chisqr) <= other.tolerance:
            return self.start.success and not other.start.success
        return self.start.chisqr < other.start.chisqr


def with_starts(
    best: ResultT,
    ended: Sequence[Ended],
    own: Ended,
    drawn: Mapping[str, int],
    interrupted: bool = False,
) -> ResultT:
    """The best fit, with a record of how all fits ended. `own` is the record of the best fit
    itself. `drawn` has the number of starts and the seed of the random ones; both become part of
    its settings."""
    best.settings = {**best.settings, **drawn}
    at, tolerance = own.start.chisqr, own.tolerance
    best.interrupted = best.interrupted or interrupted
    best.starts = tuple(
        replace(fit.start, agrees=abs(fit.start.chisqr - at) <= tolerance) for fit in ended
    )
    finished = [at for at, fit in zip(best.starts, ended, strict=True) if not fit.interrupted]
    # Findings about starts that ended elsewhere or did not finish, and about other values of the
    # same chi².
    findings, n, n_starts = list(best._findings), len(finished), drawn["n_starts"]
    others = [start for start in finished if not start.agrees]
    if others or n < n_starts:
        elsewhere = [start.chisqr for start in others if math.isfinite(start.chisqr)]
        counts = {"agree": n - len(others), "finished": n, "all": n_starts}
        nearest = {"nearest": min(elsewhere)} if elsewhere else {}
        numbers = {**counts, "chisqr": best.chisqr, **nearest}
        findings.append(Finding(Kind.STARTS_DISAGREE, (), numbers))
    errors, values = best.stderr, best.values
    apart = dict.fromkeys(
        name
        for start in best.starts
        if start.agrees and start.success
        for name, value in start.values.items()
        if (error := errors[name]) and abs(value - values[name]) > APART * error
    )
    if apart:
        findings.append(Finding(Kind.PARTS_EXCHANGED, (*apart,)))
    best._findings = tuple(findings)
    return best
