"""Fits of models that do not describe the data: ``python -m bench.wrong_models [--spectra 400]``.

Two peaks of one line shape over a background, the second lopsided, fitted by two of another shape,
from starts 10 % off. Residuals are many times the noise, and J^T J misses a part of the curvature
of chi^2: what that costs in evaluations. A success more than 1e-6 of chi^2 above a fit of MINPACK
from where the native one ended is false.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import wofz

from bench.measure import arguments_of, finish, print_rows
from pyspec import Measurement, fit_model, load_model
from pyspec.model import Model

Array = np.ndarray

ENERGY = np.linspace(0.0, 20.0, 300)

MODELS = {
    "two GLP on a Shirley": """
two GLP on a Shirley:
  Offset: {{y0: [1, True, -100, 100]}}
  Shirley: {{pShirley: [0.001, True, 0, 1]}}
  GLP:
    A: [{A1}, True, 0, 1000]
    x0: [{x1}, True, 0, 20]
    F: [{w1}, True, 0.1, 8]
    m: [0.4, True, 0, 1]
  GLP:
    A: [{A2}, True, 0, 1000]
    x0: [{x2}, True, 0, 20]
    F: [{w2}, True, 0.1, 8]
    m: [0.4, True, 0, 1]
""",
    "Gauss and Lorentz": """
Gauss and Lorentz:
  Gauss: {{A: [{A1}, True, 0, 1000], x0: [{x1}, True, 0, 20], SD: [{w1}, True, 0.05, 8]}}
  Lorentz: {{A: [{A2}, True, 0, 1000], x0: [{x2}, True, 0, 20], W: [{w2}, True, 0.05, 8]}}
  ExpBack: {{x0: [0, False], A: [10, True, 0, 1000], k: [0.1, True, -2, 2]}}
""",
}

#: chi² of one optimum, relative.
SAME = 1e-6


def voigt(A: float, x0: float, SD: float, W: float) -> Array:
    """A Voigt line of height A."""
    unit = SD * np.sqrt(2.0)
    return np.asarray(A * wofz((ENERGY - x0 + 1j * W) / unit).real / wofz(1j * W / unit).real)


def spectra(count: int) -> Iterator[tuple[Array, list[Model]]]:
    """Data and the models at their starts."""
    for seed in range(count):
        random = np.random.default_rng(seed)
        heights, first, apart = (
            random.uniform(20, 100, 2),
            random.uniform(6, 10),
            random.uniform(1, 5),
        )
        places, widths = (first, first + apart), random.uniform(0.3, 1, 2)
        lines = [
            voigt(height, x0, SD, random.uniform(0.05, 0.8))
            for height, x0, SD in zip(heights, places, widths, strict=True)
        ]
        data = lines[0] + lines[1] * (1 + 0.3 * np.tanh((ENERGY - places[1]) / widths[1]))
        data = data + 0.004 * np.cumsum(data[::-1])[::-1] + seed % 2 * 20 * np.exp(-ENERGY / 6)
        data = data + random.normal(0, 0.1, ENERGY.size)
        models = []
        for name, text in MODELS.items():
            start: dict[str, float] = {}
            for k in (1, 2):
                start[f"A{k}"] = heights[k - 1] * (1 + 0.1 * random.normal())
                start[f"x{k}"] = places[k - 1] + 0.2 * random.normal()
                start[f"w{k}"] = 2 * widths[k - 1] * (1 + 0.1 * random.normal())
            model = load_model(text.format(**start), name)
            model.set_axes(energy=ENERGY)
            models.append(model)
        yield data, models


def is_false(model: Model, data: Array, result: Any) -> bool:
    """Whether MINPACK finds a lower chi² from where a success ended."""
    model.set_values({name: result.params[name].value for name in model.opt_param_names})
    other = fit_model(model, Measurement(data=data), method="leastsq")
    return bool(other.chisqr < result.chisqr * (1 - SAME))


def measure(count: int) -> dict[str, dict[str, float]]:
    """What the fits of each model cost, and how they ended."""
    fits: dict[str, list[tuple[int, bool, bool]]] = {name: [] for name in MODELS}
    for data, models in spectra(count):
        for model in models:
            result = fit_model(model, Measurement(data=data))
            wrong = result.success and is_false(model, data, result)
            fits[model.name].append((result.nfev, result.success, wrong))
    found = {}
    for name, rows in fits.items():
        nfev, successes, wrong = (np.array(column) for column in zip(*rows, strict=True))
        found[name] = {
            "fits": nfev.size,
            "successes": int(successes.sum()),
            "false": int(wrong.sum()),
            "median": float(np.median(nfev)),
            "nine_of_ten": float(np.percentile(nfev, 90)),
            "most": int(nfev.max()),
        }
    return found


def main(arguments: list[str] | None = None) -> int:
    """Fits, prints a table, writes JSON if asked to."""
    parser = arguments_of("wrong_models", __doc__)
    parser.add_argument("--spectra", type=int, default=400, help="for each of the models (400)")
    given = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measure(given.spectra)
    heads = ["fits", "successes", "false", "median", "nine_of_ten", "most"]
    rows = [[name, *(f"{row[head]:g}" for head in heads)] for name, row in found.items()]
    print_rows(["", *heads[:3], "evaluations", "nine of ten below", "most"], rows)
    finish(given.json, {"models": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
