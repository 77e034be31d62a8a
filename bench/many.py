"""Many small fits of one model: ``python -m bench.many --rounds 7``.

Each case is a series of spectra whose parameters differ from one to the next. All are fitted from
the same start, as of a neighbour or, in the rows "hard", far off: as a batch (`fit_slices`,
`fit_many`), by SciPy's leastsq, and by `fit_model` one after the other. "leastsq" has the residual
and its exact derivatives in NumPy, as a script would (`bench/problems/in_numpy.py`); "leastsq on C"
gets both from the compiled executor. All read their standard errors. In every round each of them
runs on the same data. The table has medians of the processor time of one thread, in µs a fit.

- "nfev": the mean number of evaluations of a fit.
- "left": the share of fits that C left to the single fit in Python.
- "off": how far the batch ends from the single fits, in standard errors at most.
- "leastsq off": how far leastsq ends from the batch.
- "best": the share of fits of the batch whose chi² is the lowest within the bounds that any of
  these found; leastsq does not know the bounds.
- "leastsq best": the same of leastsq.
- "at 0": the share of fits that end with a mixing m of 0.
- "times": how much longer each of these takes than the others, as batches of their own.
"""

from __future__ import annotations

import os
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import leastsq

from bench.measure import arguments_of, finish, print_rows
from bench.problems.in_numpy import Doublet, GaussOffset, PeaksShirley, Script, VoigtLine
from pyspec import fit_many, fit_model, fit_slices, load_model
from pyspec.executor import executor_of, make_executor
from pyspec.model import Measurement, Model
from pyspec.plan import compile_model

Array = npt.NDArray[np.float64]

#: How many spectra the batch has, a map of 45 × 45, and how many of them the others fit.
MANY, FEW = 2025, 60

#: Relative differences of chi² that are none.
NEAR = 1e-6

#: Of the comparison of those that end at m = 0 with the others.
ROUNDS = 15

LINE = "{A: [20, True, 0, 500], x0: [84.6, True, 80, 90], F: [1, True, 0.1, 5], m: [0.3, False]}"
SECOND = LINE.replace("84.6", "87.8")
TIED = '{A: ["GLP_01_A * 0.75"], x0: ["GLP_01_x0 + 3"], F: ["GLP_01_F"], m: ["GLP_01_m"]}'
BACK = "{m: [0.1, True, -5, 5], b: [2, True, -50, 50], xStart: [80, False], xStop: [92, False]}"
DOUBLET = f"line:\n  LinBack: {BACK}\n  GLP: {LINE}\n  GLP: {TIED}\n"
VOIGT = (
    "{A: [20, True, 0, 500], x0: [84.6, True, 80, 90], SD: [0.5, True, 0.05, 5], W: [0.4, False]}"
)
GAUSS = "{A: [20, True, 0, 500], x0: [85.6, True, 80, 92], SD: [1.2, True, 0.1, 5]}"


@dataclass(frozen=True)
class Case:
    """A model, the points of a spectrum, the script, and the standard deviation of its noise. The
    parameters of the spectra lie around those of the model, at which fits start: `spread` is the
    logarithm of their ratio at most, that of places `shift`."""

    text: str
    points: int
    script: Callable[[Array], Script]
    noise: float = 0.5
    spread: float = 0.03
    shift: float = 2e-3

    def model(self) -> Model:
        model = load_model(self.text, "line")
        model.set_axes(energy=self.energy())
        return model

    def energy(self) -> Array:
        return np.linspace(80.0, 92.0, self.points)

    def data(self, model: Model) -> Array:
        """(MANY, points)."""
        rng = np.random.default_rng(1)
        executor, theta = make_executor(model, None), model.theta()
        is_place = [name.endswith("_x0") for name in model.opt_param_names]
        shares = np.exp(
            np.where(is_place, self.shift, self.spread) * rng.uniform(-1.0, 1.0, (MANY, theta.size))
        )
        clean = np.array([executor.run(theta * share) for share in shares])
        return np.asarray(clean + rng.normal(0.0, self.noise, clean.shape))


GAUSS_OFFSET = f"line:\n  Offset: {{y0: [2, True]}}\n  Gauss: {GAUSS}\n"
VOIGT_LINE = f"line:\n  LinBack: {BACK}\n  Voigt: {VOIGT}\n"
PEAKS_SHIRLEY = (
    f"line:\n  LinBack: {BACK}\n  Shirley: {{pShirley: [0.002, True, 0, 1]}}\n"
    f"  GLP: {SECOND}\n  GLP: {LINE}\n"
)
FREE_MIXING = DOUBLET.replace("[0.3, False]", "[0.05, True, 0, 1]", 1)

CASES = {
    "doublet 5, 100": Case(DOUBLET, 100, partial(Doublet, mixing=0.3)),
    "doublet 5, 400": Case(DOUBLET, 400, partial(Doublet, mixing=0.3)),
    "Gauss + offset 4, 25": Case(GAUSS_OFFSET, 25, GaussOffset),
    "Voigt 5, 100": Case(VOIGT_LINE, 100, partial(VoigtLine, W=0.4)),
    "two GLP + Shirley 9, 100": Case(PEAKS_SHIRLEY, 100, partial(PeaksShirley, mixing=0.3)),
    "doublet 6, half of m end at 0, 100": Case(
        FREE_MIXING, 100, partial(Doublet, mixing=None), noise=2.0
    ),
}
CASES |= {
    f"{name}, hard": replace(case, spread=1.0, shift=1.2e-2)
    for name, case in CASES.items()
    if case.noise == 0.5
}


def main() -> None:
    """The command line."""
    parser = arguments_of("many", __doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds; one more is not counted")
    parser.add_argument("cases", nargs="*", help="of which cases, by words of their names")
    given = parser.parse_args()
    os.environ["PYSPEC_NUM_THREADS"] = "1"
    chosen = {n: c for n, c in CASES.items() if not given.cases or any(w in n for w in given.cases)}
    jobs = {name: Jobs(case) for name, case in chosen.items()}
    times: dict[str, dict[str, list[float]]] = {}
    for turn in range(given.rounds + 1):
        for name, own in jobs.items():
            for what, seconds in own.run().items():
                if turn:
                    times.setdefault(name, {}).setdefault(what, []).append(seconds)
    found: dict[str, dict[str, float]] = {}
    for name, own in jobs.items():
        medians = {what: 1e6 * statistics.median(one) for what, one in times[name].items()}
        found[name] = {**medians, **own.differences()}
    head = [
        "µs a fit",
        *Jobs.names,
        "leastsq / slices",
        "leastsq on C / slices",
        "fit_model / slices",
        "nfev",
        "left",
        "off",
        "leastsq off",
        "best",
        "leastsq best",
        "at 0",
        "times",
    ]
    rows = []
    for name, one in found.items():
        ratios = (one[what] / one["fit_slices"] for what in Jobs.names[2:])
        cells = [f"{one[what]:.1f}" for what in Jobs.names] + [f"{ratio:.1f}" for ratio in ratios]
        cells += [
            f"{one['nfev']:.1f}",
            f"{one['left']:.1%}",
            f"{one['off']:.1g}",
            f"{one['peer']:.1g}",
            f"{one['best']:.0%}",
            f"{one['peer best']:.0%}",
        ]
        times = f"{one['times']:.2f}" if one["at 0"] else ""
        rows.append([name, *cells, f"{one['at 0']:.0%}", times])
    print_rows(head, rows)
    finish(given.json, {"cases": found})


class Jobs:
    """The ways to fit one case."""

    names = ("fit_slices", "fit_many", "leastsq", "leastsq on C", "fit_model")

    def __init__(self, case: Case) -> None:
        self.model = case.model()
        data = case.data(self.model)
        self.series = Measurement(data)
        self.measured = [Measurement(one) for one in data]
        self.start = self.model.theta()
        self.compiled = compile_model(self.model)
        self.script = case.script(case.energy())
        self.found: dict[str, Any] = {}

    def run(self) -> dict[str, float]:
        """Seconds of the processor a fit, of each way."""
        ways: dict[str, tuple[Callable[[], Any], int]] = {
            "fit_slices": (lambda: _read(fit_slices(self.model, self.series)), MANY),
            "fit_many": (lambda: _read(fit_many(self.model, self.measured)), MANY),
            "leastsq": (lambda: [self._leastsq(one) for one in self.measured[:FEW]], FEW),
            "leastsq on C": (lambda: [self._on_c(one) for one in self.measured[:FEW]], FEW),
            "fit_model": (lambda: [self._alone(one) for one in self.measured[:FEW]], FEW),
        }
        seconds = {}
        for name, (way, n) in ways.items():
            begin = time.thread_time()
            self.found[name] = way()
            seconds[name] = (time.thread_time() - begin) / n
        return seconds

    def _leastsq(self, measured: Measurement) -> tuple[Array, Array]:
        script, data = self.script, measured.data
        return self._minpack(script.residual, script.jacobian, (data,))

    def _on_c(self, measured: Measurement) -> tuple[Array, Array]:
        executor = executor_of(self.compiled, measured, "compiled")
        return self._minpack(executor.residual, executor.jacobian, ())

    def _minpack(
        self,
        residual: Callable[..., Array],
        jacobian: Callable[..., Array],
        data: tuple[Array, ...],
    ) -> tuple[Array, Array]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theta, covariance, info, *_ = leastsq(
                residual, self.start, data, Dfun=jacobian, col_deriv=1, full_output=True,
                ftol=1e-14, xtol=1e-14,
            )  # fmt: skip
        left = info["fvec"]
        variance = left @ left / (left.size - theta.size)
        none = np.full(theta.shape, np.nan)
        return theta, none if covariance is None else np.sqrt(variance * np.diag(covariance))

    def _alone(self, measured: Measurement) -> tuple[Array, Array]:
        result = fit_model(self.model, measured)
        return result.theta, result.ending.stderr

    def differences(self) -> dict[str, float]:
        """What the batch left to Python, and how far it and leastsq are off."""
        slices = self.found["fit_slices"]
        theta = np.array([slices.values[name] for name in self.model.opt_param_names]).T[:FEW]
        others = {
            name: np.array([one[0] for one in self.found[name]])
            for name in ("fit_model", "leastsq")
        }
        ends = {"batch": theta, **others}
        squares = {
            name: np.array([*map(self._square, one, self.measured)]) for name, one in ends.items()
        }
        least = (1.0 + NEAR) * np.min([*squares.values()], axis=0)
        errors = np.array([one[1] for one in self.found["fit_model"]])
        off = {name: float(np.nanmax(np.abs(theta - one) / errors)) for name, one in others.items()}
        left = 1.0 - slices.fits.made.mean()
        known = {
            "nfev": float(np.nanmean(slices.nfev)),
            "left": float(left),
            "off": off["fit_model"],
            "peer": off["leastsq"],
            "best": float(np.mean(squares["batch"] <= least)),
            "peer best": float(np.mean(squares["leastsq"] <= least)),
        }
        return known | self._at_zero()

    def _square(self, theta: Array, measured: Measurement) -> float:
        """chi² at a point, infinite outside the bounds."""
        limits = (self.model.parameters[name] for name in self.model.opt_param_names)
        if not all(one.min <= value <= one.max for one, value in zip(limits, theta, strict=True)):
            return np.inf
        return float(np.sum(self.script.residual(theta, measured.data) ** 2))

    def _at_zero(self) -> dict[str, float]:
        """The share of fits that end with m at 0, and how many times as long each takes."""
        slices, data = self.found["fit_slices"], np.asarray(self.series.data)
        is_free = "GLP_01_m" in self.model.opt_param_names
        ends = slices.values["GLP_01_m"] == 0.0 if is_free else np.zeros(MANY, dtype=bool)
        if not ends.any():
            return {"at 0": 0.0, "times": np.nan}
        ratios = []
        for _ in range(ROUNDS):
            taken = []
            for own in (ends, ~ends):
                series = Measurement(data[own & slices.fits.made])
                begin = time.thread_time()
                found = _read(fit_slices(self.model, series))
                taken.append((time.thread_time() - begin) / len(found))
            ratios.append(taken[0] / taken[1])
        return {"at 0": float(ends.mean()), "times": statistics.median(ratios)}


def _read(fits: Any) -> Any:
    """The fits, of which values and errors were read."""
    return fits if fits.values and fits.stderr else None


if __name__ == "__main__":
    main()
