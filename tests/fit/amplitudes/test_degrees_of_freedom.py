"""Amplitudes that the data do not determine are held at 0, and are no free parameters."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import Measurement, Model, fit_model

ENERGY, TIME = np.linspace(1.5, 3, 12), np.linspace(-1, 8, 13)
ONE = """
m:
  expFun: {A: {free: energy}, tau: [4, True, 0.1, 100], t0: [-1.5, False]}
"""
TWICE = ONE + '  expFun: {A: {free: energy}, tau: ["expFun_01_tau"], t0: [-1.5, False]}\n'
APART = ONE + "  stepFun: {A: {free: energy}, t0: [2.9, False]}\n"


def model(text: str) -> Model:
    return loaded(text, "m", energy=ENERGY, time=TIME)


def data(seed: int = 0) -> np.ndarray:
    clean = np.outer(np.exp(-(TIME + 1.5) / 4), 1 + ENERGY)
    return clean + 0.02 * np.random.default_rng(seed).normal(size=clean.shape)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_a_law_that_stands_twice_counts_once(method: str) -> None:
    """Its 12 amplitudes used to count, and reduced χ² was 143 / 131 times too large."""
    once, twice = (fit_model(model(t), Measurement(data()), method=method) for t in (ONE, TWICE))
    assert (once.n_data, once.n_free, twice.n_free) == (156, 13, 13)
    assert twice.chisqr == pytest.approx(once.chisqr, rel=1e-9)
    assert twice.redchi == pytest.approx(once.redchi, rel=1e-9)
    assert twice.stderr["expFun_01_tau"] == pytest.approx(once.stderr["expFun_01_tau"], rel=1e-6)
    for name in ("aic", "bic"):
        assert twice.statistics[name] == pytest.approx(once.statistics[name], rel=1e-9)


def test_energies_whose_late_times_are_masked() -> None:
    mask = np.zeros((TIME.size, ENERGY.size), bool)
    mask[TIME > 2.9, :4] = True
    found = fit_model(model(APART), Measurement(data(), mask=mask))
    assert np.count_nonzero(~found.amplitudes.determined["stepFun_01_A"]) == 4
    assert found.n_free == 1 + 2 * ENERGY.size - 4
    assert found.redchi == pytest.approx(found.chisqr / (found.n_data - found.n_free))
