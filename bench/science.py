"""What fits of simulated data find: ``python -m bench.science --json FILE``.

Each experiment simulates noisy data with a known truth by NumPy and SciPy alone, fits them from
starts off the truth, and reports pulls, (value - truth) / standard error: their mean, standard
deviation and largest size. An unbiased fit with honest errors has mean 0 and standard
deviation 1.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from bench.measure import arguments_of, finish, print_rows
from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model, load_time_model

Array = npt.NDArray[np.float64]


def decay(time: Array, A: float, tau: float, t0: float, sd: float) -> Array:
    """A exp(-(t - t0) / tau) from t0 on, convolved with a Gaussian of standard deviation sd: an
    exponentially modified Gaussian, by the logarithm of the normal distribution function."""
    u = time - t0
    exponent = sd**2 / (2 * tau**2) - u / tau + log_ndtr(u / sd - sd / tau)
    return np.asarray(A * np.exp(exponent))


def glp(energy: Array, A: float | Array, x0: float | Array, F: float, m: float) -> Array:
    """(n_time, n_energy) lines of height A and centre x0, numbers or one for each time."""
    u2 = ((energy - np.reshape(x0, (-1, 1))) / F) ** 2
    shape = np.exp(-4 * np.log(2) * (1 - m) * u2) / (1 + 4 * m * u2)
    return np.asarray(np.reshape(A, (-1, 1)) * shape)


def pull(result: FitResult, name: str, truth: float) -> float:
    """How far a value is off, in standard errors. Raises where the fit did not end well."""
    error = result.stderr[name]
    if not result.success or not error:
        raise RuntimeError(f"the fit gave {name} no error: {result.message}")
    return (result.values[name] - truth) / error


class TiedDoublet:
    """A spin-orbit doublet tied by expressions, whose first line moves under an instrument.

    `irf` is gaussIRF or gaussCONV; `moved` is what moves, "x0" or "A". The second line follows the
    first in height, place and width. In the truth both are written out, each with its own
    motion: no expression takes part.
    """

    energy = np.linspace(80.0, 92.0, 49)
    time = np.linspace(-10.0, 40.0, 51)
    noise = 0.1
    tau, sd = 9.0, 2.5
    lines = """
doublet:
  Offset:
    y0: [2.0, True]
  GLP:
    A: [11.0, True]
    x0: [84.2, True]
    F: [1.5, True]
    m: [0.3, False]
  GLP:
    A: ["3/4 * GLP_01_A"]
    x0: ["GLP_01_x0 + 3.67"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
"""
    law = """
motion:
  {irf}:
    SD: [{sd}, True]
  expFun:
    A: [{A}, True]
    tau: [{tau}, True]
    t0: [0, False]
"""

    def __init__(self, irf: str, moved: str) -> None:
        self.irf, self.moved = irf, moved

    def motion(self, A: float) -> Array:
        """Of gaussIRF without pyspec; of gaussCONV, which means a quadrature on the samples, by
        the reference executor on the law alone."""
        if self.irf == "gaussIRF":
            return decay(self.time, A, self.tau, 0.0, self.sd)
        law = self.law.format(irf=self.irf, sd=self.sd, A=A, tau=self.tau)
        model = load_time_model(law, "motion")
        model.set_axes(time=self.time)
        return model.evaluate("tree")

    def data(self, seed: int) -> Array:
        """The truth with noise."""
        height, place = np.full(self.time.size, 12.0), np.full(self.time.size, 84.0)
        if self.moved == "A":
            height += self.motion(-5.0)
        else:
            place += self.motion(0.9)
        clean = 2.0 + glp(self.energy, height, place, 1.6, 0.3)
        clean += glp(self.energy, 0.75 * height, place + 3.67, 1.6, 0.3)
        return np.asarray(np.random.default_rng(seed).normal(clean, self.noise))

    def start(self, lines: str = lines) -> Model:
        """The model, off the truth."""
        target = f"GLP_01_{self.moved}"
        A = -4.0 if self.moved == "A" else 0.7
        model = load_model(lines, "doublet")
        law = self.law.format(irf=self.irf, sd=1.8, A=A, tau=6.0)
        model.add_dynamics(target, load_dynamics(law, "motion", target))
        model.set_axes(energy=self.energy, time=self.time)
        return model

    def pulls(self, n_seeds: int) -> Array:
        """Of tau."""
        name = f"GLP_01_{self.moved}_expFun_01_tau"
        fits = (fit_model(self.start(), Measurement(data=self.data(s))) for s in range(n_seeds))
        return np.array([pull(result, name, self.tau) for result in fits])


class FreeOnset:
    """A line that moves at an onset between two samples, under an instrument whose standard
    deviation is `samples` steps of the time axis. All eight parameters are free, and the start
    lies up to two samples off the onset, which differs from seed to seed."""

    step = 0.2
    time = np.arange(-3.0, 9.01, step)
    energy = np.linspace(80.0, 88.0, 33)
    noise = 0.2
    target = "GLP_01_x0"
    line = """
line:
  Offset:
    y0: [1.0, True]
  GLP:
    A: [20.0, True]
    x0: [84.2, True]
    F: [1.5, True]
    m: [0.3, False]
"""
    law = """
motion:
  gaussIRF:
    SD: [{sd}, True]
  expFun:
    A: [0.6, True]
    tau: [1.6, True]
    t0: [{t0}, True]
"""

    def __init__(self, samples: float) -> None:
        self.sd = samples * self.step

    def start(self, t0: float, sd: float) -> Model:
        """The model with an onset and a width."""
        model = load_model(self.line, "line")
        law = load_dynamics(self.law.format(sd=sd, t0=t0), "motion", self.target)
        model.add_dynamics(self.target, law)
        model.set_axes(energy=self.energy, time=self.time)
        return model

    def fit(self, seed: int) -> tuple[FitResult, float]:
        """A fit, and the true onset."""
        rng = np.random.default_rng(seed)
        t0 = 0.4 + self.step * rng.uniform()
        place = 84.0 + decay(self.time, 0.8, 2.0, t0, self.sd)
        data = rng.normal(1.0 + glp(self.energy, 20.0, place, 1.6, 0.3), self.noise)
        model = self.start(t0 + 2 * self.step * rng.uniform(-1, 1), self.sd * rng.uniform(0.7, 1.5))
        return fit_model(model, Measurement(data=data)), t0

    def pulls(self, n_seeds: int) -> Array:
        """Of the onset."""
        fits = (self.fit(seed) for seed in range(n_seeds))
        return np.array([pull(r, f"{self.target}_expFun_01_t0", t0) for r, t0 in fits])


def main(arguments: list[str] | None = None) -> int:
    """Runs the experiments, prints a table, writes JSON if asked to."""
    parser = arguments_of("science", __doc__)
    parser.add_argument("--seeds", type=int, default=200, help="data sets per experiment (200)")
    given = parser.parse_args(arguments)
    experiments: dict[str, TiedDoublet | FreeOnset] = {
        f"tied doublet, {irf}, {moved} moves: tau": TiedDoublet(irf, moved)
        for irf in ("gaussIRF", "gaussCONV")
        for moved in ("x0", "A")
    }
    for samples in (0.5, 1.0, 2.0):
        experiments[f"gaussIRF of {samples:g} samples: t0"] = FreeOnset(samples)
    rows: dict[str, dict[str, Any]] = {}
    for name, experiment in experiments.items():
        begin = time.perf_counter()
        pulls = experiment.pulls(given.seeds)
        rows[name] = {
            "mean": float(pulls.mean()),
            "sd": float(pulls.std(ddof=1)),
            "worst": float(np.abs(pulls).max()),
            "beyond_3": int(np.count_nonzero(np.abs(pulls) > 3)),
            "seeds": given.seeds,
            "fit_ms": 1e3 * (time.perf_counter() - begin) / given.seeds,
        }
    head = ["experiment", "mean pull", "sd", "worst", "beyond 3", "ms/fit"]
    table = [
        [
            name,
            f"{row['mean']:+.3f}",
            f"{row['sd']:.3f}",
            f"{row['worst']:.2f}",
            f"{row['beyond_3']} of {row['seeds']}",
            f"{row['fit_ms']:.1f}",
        ]
        for name, row in rows.items()
    ]
    print_rows(head, table)
    finish(given.json, {"experiments": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
