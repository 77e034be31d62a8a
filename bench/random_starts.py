"""Fits from random starts: ``python -m bench.random_starts --starts 200 --json FILE``.

Ten models, each fitted from many random starts, with and without bounds. What a fit reached is
judged by a reference of its own (:mod:`bench.problems.start_models`): derivatives by complex steps,
residuals in NumPy. A `success` is false where

- the first-order conditions do not hold: over the parameters that no bound holds, the undamped
  step is longer than 1e-3 standard errors; or
- the data do not determine all of these parameters: a column of J is zero, a scaled singular value
  is below 1e-12 of the largest, or below 1e-4 and chi² rises by less than a hundredth of what it
  should when the parameters go one standard error along that direction, or to their bounds.

A second part fits well-posed data from near the truth, where a fit that does not report success
raises a false alarm.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import arguments_of, machine, print_machine, print_rows, write_json
from bench.problems.start_models import Array, StartModel, start_models, well_posed
from pyspec.errors import PyspecError
from pyspec.fit import fit_model

Places = npt.NDArray[np.intp]

#: What a success must hold, as the solver's page says.
FIRST_ORDER, LOST, WEAK, RISE = 1e-3, 1e-12, 1e-4, 1e-2

#: A parameter is at a bound within this share of the interval of its bounds.
NEAR = 1e-6

#: Parts of a way off a bound, in its own units, and a fall of chi², in variances of a point.
RUNGS, FALL = (1e-3, 3e-3, 1e-2), 1e-5

#: A chi² this near to the best one, relative to it, is the same optimum.
SAME = 1e-6

#: A fit that takes more evaluations is listed.
MOST = 1000


class Reference:
    """chi², gradient and information of one data set, in NumPy."""

    def __init__(self, model: StartModel, data: Array, bounds: Mapping[str, tuple[float, float]]):
        self.model, self.data, self.bounds = model, data, bounds

    def chisqr(self, values: Mapping[str, float]) -> float:
        """Sum of squares, or the Poisson deviance."""
        at = np.real(self.model.at(values))
        if self.model.noise:
            return float(np.sum((self.data - at) ** 2))
        if np.any(at <= 0.0):
            return np.inf
        ratio = np.where(self.data > 0, self.data, 1.0) / at
        return float(
            2 * np.sum(np.where(self.data > 0, self.data * np.log(ratio), 0.0) - self.data + at)
        )

    def judge(self, values: Mapping[str, float]) -> str:
        """Why a success is false at these values; "" if it is true."""
        model, names = self.model, self.model.names
        at = np.real(model.at(values))
        slopes = model.slopes(values)
        if model.noise:
            variance = self.chisqr(values) / (at.size - len(names))
            residual = (self.data - at).ravel()
        else:
            variance = 1.0
            slopes = slopes / np.sqrt(at.reshape(-1, 1))
            residual = ((self.data - at) / np.sqrt(at)).ravel()
        size = np.sqrt(np.sum(slopes**2, axis=0))
        if np.any(size == 0.0):
            return "column of zeros"
        scaled = slopes / size
        downhill = scaled.T @ residual
        place = np.array([values[n] for n in names])
        lower, upper = np.array([self.bounds[n] for n in names]).T
        near = NEAR * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
        low, high = place <= lower + near, place >= upper - near
        pushed = (low & (downhill < 0.0)) | (high & (downhill > 0.0))
        neutral = (low | high) & (np.abs(downhill) < FIRST_ORDER * np.sqrt(variance))
        free = np.flatnonzero(~pushed & ~neutral)
        given = values, scaled, size, residual, variance
        why = self._judge_these(*given, free, 0) if free.size else ""
        # A mixture of two parameters at bounds may be blocked both ways although each of them is
        # free to move: each is judged with those that no bound holds.
        for k in np.flatnonzero(neutral):
            why = why or self._judge_these(*given, np.append(free, k), 1 if low[k] else -1)
        return why

    def _judge_these(
        self,
        values: Mapping[str, float],
        scaled: Array,
        size: Array,
        residual: Array,
        variance: float,
        free: Places,
        inward: int,
    ) -> str:
        """The same of some parameters, while the others stay. `inward` is 0, or the sign of the way
        off the bound that the last of them is at."""
        names = self.model.names
        u, singular, vt = np.linalg.svd(scaled[:, free], full_matrices=False)
        if singular[-1] < LOST * singular[0]:
            # A slope of 0 at a bound: there the second order decides, all the way to the bounds.
            step = vt[-1] / size[free]
            if not inward or abs(vt[-1, -1]) < 1e-5:
                return "rank"
            span = np.array([np.ptp(self.bounds[names[k]]) for k in free])
            longest = np.min(span / np.maximum(np.abs(step), 1e-300))
            if not np.isfinite(longest) or self._is_flat(values, step * longest, free, variance):
                return "rank"
        if inward and singular[-1] < WEAK * singular[0] and abs(vt[-1, -1]) > 1e-5:
            off = vt[-1] / size[free] * np.sign(vt[-1, -1]) * inward
            if self._falls(values, off / np.abs(off[-1]), free, variance):
                return "saddle"
        sound = singular > LOST * singular[0]
        along = (u.T @ residual)[sound]
        distance = float(np.linalg.norm(along) / np.sqrt(variance))
        is_outward = (vt[sound, -1] @ (along / singular[sound])) * inward < 0.0
        if distance > FIRST_ORDER and not is_outward:
            return f"first order: {distance:.1e} standard errors"
        for value, direction in zip(singular, vt, strict=True):
            if value < WEAK * singular[0] and self._is_flat(
                values, direction / size[free] * np.sqrt(variance) / value, free, variance
            ):
                return "flat direction"
        return ""

    def _falls(
        self, values: Mapping[str, float], step: Array, free: Places, variance: float
    ) -> bool:
        """Whether chi² falls along a step, near its begin or farther on."""
        base, names = self.chisqr(values), [self.model.names[k] for k in free]
        for share in RUNGS:
            moved = {n: values[n] + share * change for n, change in zip(names, step, strict=True)}
            if self.chisqr({**values, **moved}) < base - FALL * variance:
                return True
        return False

    def _is_flat(
        self, values: Mapping[str, float], step: Array, free: Array, variance: float
    ) -> bool:
        """Whether chi² hardly rises along a step, or its opposite, within the bounds."""
        names = self.model.names
        base = self.chisqr(values)
        for sign in (1.0, -1.0):
            share = 1.0
            for k, change in zip(free, sign * step, strict=True):
                low, high = self.bounds[names[k]]
                room = (high if change > 0 else low) - values[names[k]]
                if change and abs(room) < abs(change) * share:
                    share = abs(room / change)
            moved = dict(values)
            for k, change in zip(free, sign * step, strict=True):
                moved[names[k]] += share * change
            if not self.chisqr(moved) - base < RISE * variance:
                return False
        return True


@dataclass
class Tally:
    """What became of the fits of one model."""

    model: str
    bounds: bool
    fits: int = 0
    successes: int = 0
    false: list[str] = field(default_factory=list)
    refused: int = 0
    best: int = 0
    silent: int = 0
    long: int = 0
    most: int = 0
    evaluations: int = 0
    messages: dict[str, int] = field(default_factory=dict)


def random_start(model: StartModel, rng: np.random.Generator) -> dict[str, float]:
    """Uniform within the ranges."""
    return {name: float(rng.uniform(low, high)) for name, (low, high) in model.ranges.items()}


def run(
    model: StartModel,
    bounded: bool,
    n: int,
    start: Callable[[StartModel, np.random.Generator], dict[str, float]],
    options: dict[str, Any],
    new_data: bool = False,
) -> Tally:
    """`n` fits of one model."""
    tally, found = Tally(model.name, bounded), []
    first = model.model(model.truth, bounded).parameters
    bounds = {name: (first[name].min, first[name].max) for name in model.names}
    for k in range(n):
        rng = np.random.default_rng([k, int(bounded)])
        measurement = model.measurement(k if new_data else 0)
        assert measurement.data is not None
        tally.fits += 1
        try:
            result = fit_model(model.model(start(model, rng), bounded), measurement, **options)
        except PyspecError as error:
            tally.refused += 1
            tally.messages[str(error)[:60]] = tally.messages.get(str(error)[:60], 0) + 1
            continue
        tally.evaluations += result.nfev
        tally.long += result.nfev > MOST
        tally.most = max(tally.most, result.nfev)
        values = {name: result.values[name] for name in model.names}
        reference = Reference(model, np.asarray(measurement.data, np.float64), bounds)
        found.append((reference.chisqr(values), bool(result.success)))
        tally.successes += bool(result.success)
        if not result.success:
            key = str(result.message)[:60]
            tally.messages[key] = tally.messages.get(key, 0) + 1
        elif not result.intervals:
            why = reference.judge(values)
            if why:
                tally.false.append(f"start {k}: {why}")
    if found and not new_data:
        best = min(value for value, _ in found)
        near = [success for value, success in found if value <= best * (1 + SAME)]
        tally.best, tally.silent = len(near), len(near) - sum(near)
    return tally


def near_truth(model: StartModel, rng: np.random.Generator) -> dict[str, float]:
    """The truth, each parameter moved by up to 1 % of its range."""
    start = {}
    for name, value in model.truth.items():
        low, high = model.ranges[name]
        moved = value + 0.01 * (high - low) * rng.uniform(-1, 1)
        start[name] = float(np.clip(moved, low, high))
    return start


#: The last parts of the names of heights and offsets.
HEIGHTS = ("A", "y0")


def unknown_heights(model: StartModel, rng: np.random.Generator) -> dict[str, float]:
    """Heights and offsets wrong by up to 10³, of either sign where no bound forbids it; the others
    off the truth by up to 5 % of their ranges."""
    start = {}
    for name, value in model.truth.items():
        low, high = model.ranges[name]
        factor, sign = 10.0 ** rng.uniform(-3, 3), rng.choice((-1.0, 1.0))
        moved = value + 0.05 * (high - low) * rng.uniform(-1, 1)
        if name.rsplit("_", 1)[-1] in HEIGHTS and "_x0_" not in name:
            moved = sign * factor * (abs(value) or 1.0)
            low, high = -np.inf, np.inf
        start[name] = float(np.clip(moved, low, high))
    return start


def within(model: StartModel, rng: np.random.Generator) -> dict[str, float]:
    """The same within the bounds."""
    parameters = model.model(model.truth, True).parameters
    return {
        name: float(np.clip(abs(value), parameters[name].min, parameters[name].max))
        for name, value in unknown_heights(model, rng).items()
    }


def print_tallies(tallies: list[Tally]) -> None:
    """The table, and what was false."""
    print_rows(
        [
            "model",
            "bounds",
            "fits",
            "success",
            "false",
            "best",
            "best, no success",
            "refused",
            "> 1000 evaluations",
            "most",
            "mean evaluations",
        ],
        [
            [
                t.model,
                "yes" if t.bounds else "no",
                *(
                    str(number)
                    for number in (
                        t.fits,
                        t.successes,
                        len(t.false),
                        t.best,
                        t.silent,
                        t.refused,
                        t.long,
                        t.most,
                        round(t.evaluations / max(t.fits, 1), 1),
                    )
                ),
            ]
            for t in tallies
        ],
    )
    for tally in tallies:
        for line in tally.false[:5]:
            print(f"false success, {tally.model}: {line}")


def main() -> None:
    """The two parts."""
    parser = arguments_of("random_starts", __doc__)
    parser.add_argument(
        "--starts", type=int, default=200, help="of each model, with and without bounds"
    )
    parser.add_argument("--well-posed", type=int, default=1000, help="fits that must succeed")
    parser.add_argument("--method", default="native")
    parser.add_argument("--linear", help="eliminate: linear parameters are solved for")
    parser.add_argument(
        "--unknown-heights", type=int, default=0, help="starts whose heights are wrong by up to 10³"
    )
    arguments = parser.parse_args()
    options = {"method": arguments.method, "linear": arguments.linear}
    print_machine(machine())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tallies = [
            run(model, bounded, arguments.starts, random_start, options)
            for model in start_models()
            for bounded in (False, True)
        ]
        print_tallies(tallies)
        total = sum(t.fits for t in tallies)
        print(
            f"{total} fits, {sum(t.successes for t in tallies)} successes, "
            f"{sum(len(t.false) for t in tallies)} false, {sum(t.best for t in tallies)} at the "
            f"best optimum, {sum(t.long for t in tallies)} above {MOST} evaluations\n"
        )
        wrong = [
            run(model, bounded, n_wrong, within if bounded else unknown_heights, options)
            for model in start_models()
            for bounded in (False, True)
            if (n_wrong := arguments.unknown_heights)
        ]
        if wrong:
            print_tallies(wrong)
            print(
                f"{sum(t.fits for t in wrong)} fits from unknown heights, "
                f"{sum(t.best for t in wrong)} at the best optimum, "
                f"{sum(t.evaluations for t in wrong)} evaluations\n"
            )
        cases = well_posed()
        each = max(arguments.well_posed // len(cases), 1)
        posed = [run(model, True, each, near_truth, options, True) for model in cases]
    print_tallies(posed)
    fits = sum(t.fits for t in posed)
    alarms = fits - sum(t.successes for t in posed)
    print(f"{fits} well-posed fits, {alarms} false alarms")
    for tally in posed:
        for text, count in tally.messages.items():
            print(f"  {tally.model}: {count} x {text}")
    if arguments.json:
        write_json(
            arguments.json,
            {
                "machine": machine(),
                "random": [asdict(t) for t in tallies],
                "unknown_heights": [asdict(t) for t in wrong],
                "well_posed": [asdict(t) for t in posed],
            },
        )


if __name__ == "__main__":
    main()
