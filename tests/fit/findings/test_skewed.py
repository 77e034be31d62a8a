"""Errors that are too small: of weak lines and of lines close together half of the places further
than three errors from the truth used to be told by nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.fit_cases import loaded

from pyspec import Finding, Measurement, Model, fit_model
from pyspec.fit.findings.kinds import Kind
from tests.support.findings import looked

Array = npt.NDArray[np.float64]
ENERGY = np.linspace(80, 92, 121)

LINES = """
one:
  Offset: {{y0: [{0}, True, 0, 1000]}}
  Gauss: {{A: [{1}, True, 0, 1000], x0: [86, {2}, 81, 91], SD: [0.5, {3}, 0.05, 5]}}
"""
PAIR = """
pair:
  Offset: {y0: [1, True, -1000, 1000]}
  Gauss: {A: [1, True, 0, 1000], x0: [86, True, 81, 91], SD: [0.5, True, 0.05, 5]}
  Gauss: {A: [0.5, True, 0, 1000], x0: [87, True, 81, 91], SD: [0.5, True, 0.05, 5]}
"""


def gauss(height: float, place: float) -> Array:
    return np.asarray(height * np.exp(-0.5 * ((ENERGY - place) / 0.5) ** 2))


def one(offset: float, height: float, place: str = "True", width: str = "True") -> Model:
    return loaded(LINES.format(offset, height, place, width), "one", energy=ENERGY)


def pair() -> Model:
    return loaded(PAIR, "pair", energy=ENERGY)


def counts(offset: float, height: float, seed: int) -> Measurement:
    drawn = np.random.default_rng([7, seed]).poisson(offset + gauss(height, 86))
    return Measurement(drawn.astype(float), loss="poisson")


def noisy(clean: Array, sigma: float, seed: int) -> Measurement:
    noise = sigma * np.random.default_rng([7, seed]).normal(size=clean.size)
    return Measurement(clean + noise, weight=1 / sigma)


def fit_one(height: float, seed: int, **held: str) -> Any:
    measurement = noisy(3 + gauss(height, 86), 1.0, seed)
    return fit_model(one(3, height, **held), measurement, scale_covar=False)


def fit_pair(sigma: float, seed: int) -> Any:
    clean = 1 + gauss(1, 86) + gauss(0.5, 87)
    return fit_model(pair(), noisy(clean, sigma, seed), scale_covar=False)


def said(result: Any, kind: Kind = Kind.ERRORS_ASYMMETRIC) -> list[Finding]:
    """What it finds of errors that are too small."""
    return [one for one in looked(result, deep=True) if one.kind is kind]


def too_small(result: Any, truth: Array, far: float = 3.0) -> bool:
    """Whether a parameter is so many errors from the truth."""
    errors = [result.stderr[name] or np.inf for name in result.free_names]
    return bool((np.abs(result.theta - truth) > far * np.array(errors)).any())


def test_weak_lines_are_told() -> None:
    far = []
    for seed in range(60):
        result = fit_one(1.5, seed)
        if result.success and too_small(result, np.array([3, 1.5, 86, 0.5])):
            far.append(bool(looked(result, deep=True)))
    assert len(far) > 5  # in place of one
    assert np.mean(far) > 0.9


def test_lines_close_together_are_told() -> None:
    truth = np.array([1, 1, 86, 0.5, 0.5, 87, 0.5])
    far, told = [], 0
    for seed in range(30):
        result = fit_pair(0.05, seed)
        told += bool(said(result))
        if too_small(result, truth):
            far.append(bool(said(result)))
    assert told > 22
    assert len(far) > 1
    assert np.mean(far) > 0.7


@pytest.mark.parametrize("kind", ["line", "counts", "pair", "place alone"])
def test_there_is_no_false_alarm(kind: str) -> None:
    for seed in range(12):
        if kind == "counts":
            result = fit_model(one(10, 30), counts(10, 30, seed))
        elif kind == "pair":
            result = fit_pair(0.005, seed)
        elif kind == "line":
            result = fit_one(8, seed)
        else:
            result = fit_one(3, seed, width="False")
        assert not said(result)
        assert not said(result, Kind.WEAK_LINE)


def test_it_is_chi_square_two_errors_away() -> None:
    """The share is that of a fit where the parameter is held there."""
    for seed in range(6):
        result = fit_pair(0.05, seed)
        for one in said(result):
            lowest = 1.0
            for name in one.places:
                shares = []
                for side in (-2, 2):
                    model = pair()
                    value = result.values[name] + side * result.stderr[name]
                    model.set_values({k: result.values[k] for k in result.free_names})
                    par = model.parameters[name]
                    if not par.min < value < par.max:
                        continue
                    model.set(name, value, vary=False)
                    held = fit_model(model, result.measurement, scale_covar=False)
                    shares.append((held.chisqr - result.chisqr) / 4)
                assert min(shares) < 0.55
                lowest = min(lowest, *shares)
            assert one.numbers["share"] == pytest.approx(lowest, abs=0.005) or lowest < 0.4
