"""A declared σ that is the root of the data themselves: what is fitted comes out low, by about a
count at each point, and nothing said so."""

from __future__ import annotations

import numpy as np
import pytest
from support.findings import of_kind
from support.fit_cases import loaded

from pyspec import FitResult, Measurement, fit_model
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Model

MODELS = """
line:
  Offset: {y0: [40, True]}
  Gauss: {A: [100, True], x0: [5, True], SD: [1, True, 0.1, 3]}
flat:
  Offset: {y0: [40, True]}
"""
ENERGY = np.linspace(0.0, 10.0, 201)
LINE = 40.0 + 100.0 * np.exp(-((ENERGY - 5.0) ** 2) / 2.0)


def model(name: str = "line", n_time: int = 0) -> Model:
    return loaded(MODELS, name, energy=ENERGY, time=np.arange(float(n_time)) if n_time else None)


def fitted(data: np.ndarray, sigma: np.ndarray, **given: object) -> FitResult:
    made = model("line", len(data) if data.ndim == 2 else 0)
    weighted = Measurement(data=data, weight=1.0 / sigma, **given)
    return fit_model(made, weighted, scale_covar=False)


def drawn(expected: np.ndarray, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).poisson(expected).astype(float)


said = of_kind(Kind.SIGMA_FROM_DATA)


def test_a_constant_is_too_low_by_so_much() -> None:
    """What the sentence says of a constant, over 100 spectra: 2.2 standard errors."""
    made, pulls, told = model("flat"), [], []
    for seed in range(100):
        data = drawn(np.full(201, 40.0), seed)
        weighted = Measurement(data=data, weight=1.0 / np.sqrt(data))
        result = fit_model(made, weighted, scale_covar=False)
        (found,) = said(result)
        told.append(found.numbers["low"])
        pulls.append((result.values["Offset_y0"] - 40.0) / (result.stderr["Offset_y0"] or np.nan))
    assert np.mean(pulls) == pytest.approx(-np.mean(told), abs=0.3)


def test_the_remedy_is_the_scale_of_the_counts() -> None:
    counts = drawn(LINE)
    (found,) = said(fitted(counts, np.sqrt(counts)))
    assert found.numbers["counts"] == pytest.approx(1.0)
    (found,) = said(fitted(counts / 2.5, np.sqrt(counts) / 2.5))
    assert found.numbers["counts"] == pytest.approx(2.5)
    # as a file with few digits has it
    assert said(fitted(counts, np.round(np.sqrt(counts), 1)))


@pytest.mark.parametrize("seed", range(2))
def test_other_declared_noise_is_left_alone(seed: int) -> None:
    counts = drawn(LINE, seed)
    normal = LINE + np.random.default_rng(seed).normal(0.0, 6.3, 201)
    assert not said(fitted(counts, np.sqrt(LINE)))  # of what is expected
    assert not said(fitted(normal, np.full(201, 6.3)))
    assert not said(fitted(normal, np.sqrt(LINE)))
    assert not said(fitted(LINE, np.sqrt(LINE)))  # without noise
    many = drawn(LINE * 100.0, seed)
    assert not said(fitted(many, np.sqrt(many)))  # too low by a fifth of a standard error
    flat = Measurement(data=np.full(201, 40.0) + normal - LINE, weight=np.full(201, 1 / 6.3))
    assert not fit_model(model("flat"), flat, scale_covar=False).findings
