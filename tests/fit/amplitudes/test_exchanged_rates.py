"""Rates of a sequence that ended in another order than they were started in: 9 of 100 fits from
starts up to three times off, of rates 4 and 2, used to be a success with the spectra of other
states, and without a word. χ² is the same in both orders."""

from __future__ import annotations

import numpy as np
import pytest
from support.findings import of_kind

from pyspec import Measurement, fit_model, load_model
from pyspec.fit.findings.kinds import Kind
from pyspec.functions.kinetics import populations

MODELS = """
kinetics:
  chain: {A -> B: k1, B -> C: k2, C: k3}
all:
  gaussIRF: {SD: [0.12, True, 0.01, 1]}
  chain: {k1: [4, True, 0.01, 400], k2: [2, True, 0.01, 400], k3: [0.02, True, 0.0001, 1],
          t0: [0.05, True, -1, 1], spectra: {free: energy}}
"""
ENERGY = np.linspace(1.5, 3, 30)
TIME = np.concatenate([np.linspace(-1, 2, 61), np.geomspace(2.05, 300, 50)])
BANDS = [np.exp(-(((ENERGY - at) / 0.25) ** 2)) for at in (1.9, 2.3, 2.6)]
RATES = np.array([[-4.0, 0, 0], [4.0, -2.0, 0], [0, 2.0, -0.02]])
CLEAN = populations(TIME - 0.05, RATES, np.array([1.0, 0, 0]), 0.12) @ np.array(BANDS)
START = {"chain_k1": 4.0, "chain_k2": 2.0}


def part(text: str, start: dict[str, float], seed: int = 1):
    """A model at `start` with its data."""
    model = load_model(text, "all")
    model.set_values(start)
    model.set_axes(energy=ENERGY, time=TIME)
    noise = np.random.default_rng(seed).normal(0, 0.01, CLEAN.shape)
    return model, Measurement(CLEAN + noise, weight=100.0)


def fit(text: str, start: dict[str, float], seed: int = 1):
    return fit_model(*part(text, start, seed), scale_covar=False)


said = of_kind(Kind.ORDER_EXCHANGED, level=2)


def starts(n: int) -> list[dict[str, float]]:
    """Up to three times off."""
    random = np.random.default_rng(5)
    return [{name: at * 3 ** random.uniform(-1, 1) for name, at in START.items()} for _ in range(n)]


def is_faster(values) -> bool:
    return values["chain_k1"] > values["chain_k2"]


def test_exactly_the_exchanged_ones_are_told():
    at = starts(60)[40:]
    fits = [fit(MODELS, one, seed) for seed, one in enumerate(at, 40)]
    assert all(one.success for one in fits)
    other = [is_faster(one.values) != is_faster(start) for one, start in zip(fits, at, strict=True)]
    assert [bool(said(one)) for one in fits] == other
    assert 1 <= sum(other) <= 6


def exchanged_start() -> dict[str, float]:
    for one in starts(60):
        if is_faster(fit(MODELS, one).values) != is_faster(one):
            return one
    raise AssertionError("no start leads to the other order")


def test_the_sentence_names_both_and_chisqr_is_the_same():
    start = exchanged_start()
    result = fit(MODELS, start)
    (found,) = said(result)
    assert found.places == ("chain", "chain_k1", "chain_k2")
    values = {**result.values, "chain_k1": result.values["chain_k2"]}
    back = fit(MODELS, {**values, "chain_k2": result.values["chain_k1"]})
    assert back.chisqr == pytest.approx(result.chisqr, rel=1e-9)
    assert is_faster(back.values) != is_faster(result.values)
