"""Whether standard errors are right: ``python -m bench.pulls --fits 1000 --json FILE``.

Each model is simulated with noise many times and fitted from starts ten standard errors around the
truth. Printed for every free parameter, and for what follows from them: mean and standard
deviation of (fit - truth) / standard error, which are 0 and 1 for an unbiased fit with honest
errors. The signal is strong enough for the models to be linear within the errors.
"""

from __future__ import annotations

import math
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.measure import arguments_of, finish, print_rows
from bench.problems.hard_cases import Array, Case
from pyspec.errors import ModelWarning
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit import FitResult, fit_model, fit_slices
from pyspec.fit.solve.methods import known_methods
from pyspec.model import Measurement, Model

ENERGY = np.linspace(80.0, 90.0, 101)
COARSE = np.linspace(80.0, 88.0, 41)
TIME = np.linspace(-5.0, 25.0, 31)
DELAYS = np.linspace(-4.0, 60.0, 129)

#: Starts lie so many standard errors around the truth.
SPREAD = 10.0

#: Mean and standard deviation of pulls may be off by so many times their own spread: of 1,000 fits
#: by 0.1 and 0.07.
DEVIATIONS = math.sqrt(10)

_LINE = """
m:
  Offset: {y0: [5, True]}
  GLP: {A: [40, True], x0: [84, True], F: [1.2, True], m: [0.3, False]}
"""

_DECAY = "  expFun: {A: [0.8, True], tau: [6, True], t0: [0.3, True]}\n"
_RESPONSE = f"law:\n  gaussIRF: {{SD: [0.9, True]}}\n{_DECAY}"

#: Standard deviations that grow with the energy.
_SIGMA = np.geomspace(0.3, 3.0, ENERGY.size)


def _lines(name: str, text: str, noise: float = 1.0, **more: Any) -> Case:
    return Case(name, text, {}, noise, **{"energy": ENERGY, **more})


def _edge(name: str, T: float, SD: float) -> Case:
    """All of a Fermi edge free, temperature and resolution too, on an axis of 12 widths."""
    half = 6 * np.hypot(1.8 * 8.617e-5 * T, SD)
    text = f"""
m:
  Offset: {{y0: [40, True]}}
  FermiEdge:
    A: [1000, True]
    x0: [21.2, True]
    T: [{T}, True, 0, 1000]
    SD: [{SD}, True, 0, 1]
    mBelow: [{-50 / half}, True]
    mAbove: [{5 / half}, True]
"""
    return Case(name, text, {}, 1.0, energy=21.2 + np.linspace(-half, half, 201))


def _series(name: str, target: str, law: str) -> Case:
    return Case(
        name, f"{_LINE}{law}", {}, 0.3, energy=COARSE, time=TIME, moved={f"GLP_01_{target}": "law"}
    )


CASES = (
    _lines(
        "Gauss on a slope",
        "m:\n  LinBack: {m: [2, True], b: [20, True], xStart: [80, False], xStop: [90, False]}\n"
        "  Gauss: {A: [200, True], x0: [84.3, True], SD: [0.7, True]}\n",
    ),
    _lines(
        "GLP, shape free",
        "m:\n  Offset: {y0: [20, True]}\n"
        "  GLP: {A: [500, True], x0: [84.3, True], F: [2, True], m: [0.4, True, 0, 1]}\n",
    ),
    _lines(
        "Voigt",
        "m:\n  Offset: {y0: [20, True]}\n"
        "  Voigt: {A: [500, True], x0: [84.3, True], SD: [0.5, True], W: [0.8, True]}\n",
    ),
    _lines(
        "doublet on a Shirley",
        """
m:
  Offset: {y0: [20, True]}
  Shirley: {pShirley: [5.0e-3, True, 0, 1]}
  GLP: {A: [250, True, 0, 1000], x0: [83, True], F: [1.2, True, 0.1, 5], m: [0.5, True, 0, 1]}
  GLP: {A: [180, True, 0, 1000], x0: ["GLP_01_x0 + 3.67"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
""",
    ),
    _lines(
        "quantities and what follows from them",
        """
parameters:
  width: [1.4, True, 0.1, 5]
  ratio: [0.6, True]
  area: ["GLP_01_A * width * 1.0645"]
m:
  Offset: {y0: [20, True]}
  GLP: {A: [250, True], x0: [83, True], F: ["width"], m: [0, False]}
  GLP: {A: ["ratio * GLP_01_A"], x0: [85.5, True], F: ["1.2 * width"], m: [0, False]}
""",
    ),
    _lines(
        "asymmetric line",
        "m:\n  DS: {A: [150, True], x0: [84.3, True], F: [0.8, True], alpha: [0.1, True]}\n",
    ),
    _edge("Fermi edge at 10 K", 10.0, 0.0012),
    _edge("Fermi edge at 300 K", 300.0, 0.03),
    _lines(
        "counts",
        "m:\n  Offset: {y0: [30, True]}\n"
        "  GLP: {A: [400, True], x0: [84.3, True], F: [1.6, True], m: [0.3, False]}\n",
        measure=lambda clean: {"loss": "poisson"},
    ),
    _lines(
        "weights",
        "m:\n  Offset: {y0: [20, True]}\n"
        "  GLP: {A: [200, True], x0: [84.3, True], F: [1.6, True], m: [0.3, False]}\n",
        measure=lambda clean: {"weight": 1 / _SIGMA},
    ),
    _lines(
        "profile",
        _LINE + "bend:\n  pExpDecay: {A: [-1.5, True], tau: [3, True]}\n",
        0.05,
        aux=np.linspace(0.0, 10.0, 11),
        bent={"GLP_01_x0": "bend"},
    ),
    Case(
        "two decays",
        "m:\n  expFun: {A: [3, True], tau: [4, True], t0: [0, False]}\n"
        "  expFun: {A: [2, True], tau: [25, True], t0: [0, False]}\n",
        {},
        0.01,
        time=DELAYS,
    ),
    Case(
        "decay under an instrument",
        "m:\n  gaussIRF: {SD: [0.9, True]}\n"
        "  expFun: {A: [3, True], tau: [6, True], t0: [0.3, True]}\n",
        {},
        0.02,
        time=DELAYS,
    ),
    _series("series: place decays under an instrument", "x0", _RESPONSE),
    _series(
        "series: height oscillates",
        "A",
        "law:\n  sinFun: {A: [8, True], f: [0.17, True], phi: [0.4, True], t0: [0, False]}\n",
    ),
)


@dataclass(frozen=True)
class Pulls:
    """Of one model: `values` (n_fits, n_names), NaN in the rows of fits that did not end well."""

    case: str
    names: tuple[str, ...]
    values: Array
    seconds: float
    messages: tuple[str, ...]

    @property
    def good(self) -> Array:
        """(n_good, n_names) the rows without NaN."""
        return self.values[np.isfinite(self.values).all(axis=1)]

    @property
    def means(self) -> Array:
        """(n_names,)"""
        return np.asarray(self.good.mean(axis=0))

    @property
    def sds(self) -> Array:
        """(n_names,)"""
        return np.asarray(self.good.std(axis=0, ddof=1))


def limits(fits: int, deviations: float = DEVIATIONS) -> tuple[float, float]:
    """How far mean and standard deviation of so many pulls may be from 0 and 1."""
    return deviations / math.sqrt(fits), deviations / math.sqrt(2 * fits)


def run_case(case: Case, fits: int, method: str, seed: int = 0) -> Pulls:
    """Simulates and fits. Names are the free parameters, and the expressions of them that have a
    standard error, unless they repeat a parameter."""
    model = case.model()
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    clean = model.evaluate()
    given = {} if case.measure is None else case.measure(clean)
    names = [*model.opt_param_names, *(par.name for par in model.quantities if par.formula)]
    data = _noisy(case, clean, given, fits, rng)
    starts = _starts(case, model, clean, given, fits, rng)
    truth = model.values
    begin = time.perf_counter()
    rows, messages = [], []
    for result in _fit(model, data, given, starts, method):
        values, errors = result.values, result.stderr
        messages += [] if result.success else [result.message]
        rows.append(
            [
                (values[name] - truth[name]) / (errors[name] or np.nan)
                if result.success
                else np.nan
                for name in names
            ]
        )
    seconds = time.perf_counter() - begin
    return Pulls(case.name, tuple(names), np.array(rows, np.float64), seconds, tuple(messages))


def _noisy(
    case: Case, clean: Array, given: dict[str, Any], fits: int, rng: np.random.Generator
) -> Array:
    """(n_fits, ...) data."""
    shape = (fits, *clean.shape)
    if given.get("loss") == "poisson":
        return rng.poisson(clean, shape).astype(np.float64)
    sigma = case.noise / given.get("weight", 1.0)
    return np.asarray(clean + sigma * rng.standard_normal(shape))


def _starts(
    case: Case,
    model: Model,
    clean: Array,
    given: dict[str, Any],
    fits: int,
    rng: np.random.Generator,
) -> list[dict[str, float]]:
    """Starts by name, around the truth and inside of the bounds."""
    theta = model.theta()
    slopes = CompiledExecutor(make_plan(model), Measurement(data=clean)).jacobian(theta)
    counts = given.get("loss") == "poisson"
    slopes = slopes / (np.sqrt(clean) if counts else case.noise / given.get("weight", 1.0))
    size = np.sqrt(np.einsum("ij,ij->i", slopes, slopes))
    scaled = slopes / size[:, np.newaxis]
    errors = np.sqrt(np.diag(np.linalg.inv(scaled @ scaled.T))) / size
    starts = theta + SPREAD * errors * rng.uniform(-1, 1, (fits, theta.size))
    parameters = [model.parameters[name] for name in model.opt_param_names]
    for column, par in zip(starts.T, parameters, strict=True):
        for bound in (par.min, par.max):
            if np.isfinite(bound):  # a start keeps a tenth of the distance of the truth
                side = np.sign(par.value - bound)
                nearest = bound + 0.1 * (par.value - bound)
                column[:] = side * np.maximum(side * column, side * nearest)
    return [dict(zip(model.opt_param_names, row, strict=True)) for row in starts.tolist()]


def _fit(
    model: Model,
    data: Array,
    given: dict[str, Any],
    starts: Sequence[dict[str, float]],
    method: str,
) -> Iterator[FitResult]:
    """Spectra as slices of a series, on one plan; others one by one."""
    # Weights are 1 / sigma: they say what the noise is.
    options: dict[str, Any] = {"scale_covar": False} if "weight" in given else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        if model.time is None:
            measurement = Measurement(data=data, **given)
            slices = fit_slices(model, measurement, method=method, seeds=starts, **options)
            for fit in slices:
                if fit.result is None:
                    raise RuntimeError(f"{model.name}: {fit.message}")
                yield fit.result
            return
        for one, start in zip(data, starts, strict=True):
            measurement = Measurement(data=one, **given)
            yield fit_model(model, measurement, method=method, seeds=start, **options)


def main(arguments: list[str] | None = None) -> int:
    """Prints a table; returns 1 where pulls are beyond their limits, or a fit failed."""
    parser = arguments_of("pulls", __doc__)
    native = "native" in known_methods()
    parser.add_argument("--fits", type=int, default=1000, help="data sets per model (1000)")
    parser.add_argument("--method", default="native" if native else "leastsq")
    parser.add_argument("--case", default="", help="only models whose name contains this")
    given = parser.parse_args(arguments)
    rows, content = [], {}
    beyond = failures = 0
    mean_limit, sd_limit = limits(given.fits)
    for case in CASES:
        if given.case not in case.name:
            continue
        pulls = run_case(case, given.fits, given.method)
        for name, mean, sd in zip(pulls.names, pulls.means, pulls.sds, strict=True):
            out = bool(abs(mean) >= mean_limit or abs(sd - 1) >= sd_limit)
            beyond += out
            rows.append([case.name, name, f"{mean:+.3f}", f"{sd:.3f}", "beyond" if out else ""])
        failed = given.fits - len(pulls.good)
        failures += failed
        milliseconds = 1e3 * pulls.seconds / given.fits
        rows.append([case.name, f"{failed} failed", "", "", f"{milliseconds:.1f} ms/fit"])
        means, sds = (
            dict(zip(pulls.names, v.tolist(), strict=True)) for v in (pulls.means, pulls.sds)
        )
        content[case.name] = {"mean": means, "sd": sds, "failed": failed, "fit_ms": milliseconds}
        content[case.name]["messages"] = sorted(set(pulls.messages))
    print_rows(["model", "parameter", "mean", "sd", ""], rows)
    print(
        f"\n{given.method}, {given.fits} fits each: {beyond} parameters beyond, {failures} failed"
    )
    finish(given.json, {"method": given.method, "fits": given.fits, "models": content})
    return int(beyond > 0 or failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
