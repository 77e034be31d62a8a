"""Decays with free spectra that end at one rate are named, those that are tied are not."""

from __future__ import annotations

import numpy as np
import pytest
from support.findings import of_kind

from pyspec import Measurement, fit_model, load_model
from pyspec.fit import FitResult
from pyspec.fit.findings.kinds import Kind

MODELS = """
kinetics:
  chain: {A -> B: k1, B: k2}
laws:
  gaussIRF: {SD: [0.1, False]}
  expFun: {A: {free: energy}, tau: [1, True, 0.01, 100], t0: [0, False]}
  expFun: {A: {free: energy}, tau: [3, True, 0.01, 100], t0: ["expFun_01_t0"]}
onsets:
  gaussIRF: {SD: [0.1, False]}
  expFun: {A: {free: energy}, tau: [2, False], t0: [0, False]}
  expFun: {A: {free: energy}, tau: [2.0001, True, 0.01, 100], t0: [1, True]}
scheme:
  gaussIRF: {SD: [0.1, False]}
  chain: {k1: [1, True, 0.01, 100], k2: [0.3, True, 0.01, 100], t0: [0, False],
          spectra: {free: energy}}
tied:
  gaussIRF: {SD: [0.1, False]}
  chain: {k1: [1, True, 0.01, 100], k2: ["chain_k1"], t0: [0, False], spectra: {free: energy}}
"""
ENERGY, TIME = np.linspace(1.5, 3, 12), np.linspace(-1, 12, 140)


def _data(turn: float, apart: float = 1.0) -> np.ndarray:
    """A decay that turns slowly, for which no two decays are as good as two of one rate; or two
    decays, where `turn` is 0."""
    late = np.maximum(TIME, 0)
    first = np.where(TIME > 0, np.exp(-late / 2) * np.cos(turn * late), 0)
    second = np.where(TIME > 0, np.exp(-late / 2 * apart) * (np.sin(turn * late) + (turn == 0)), 0)
    bands = (np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.9, 2.5))
    clean = sum(np.outer(law, band) for law, band in zip((first, second), bands, strict=True))
    return clean + np.random.default_rng(1).normal(0, 0.01, clean.shape)


def _fit(name: str, data: np.ndarray) -> FitResult:
    model = load_model(MODELS, name)
    model.set_axes(energy=ENERGY, time=TIME)
    return fit_model(model, Measurement(data))


_said = of_kind(Kind.EQUAL_RATES)


def test_two_decays_of_a_scheme_at_one_rate_are_named() -> None:
    result = _fit("scheme", _data(0.2))
    assert result.values["chain_k1"] == pytest.approx(result.values["chain_k2"], rel=1e-3)
    (said,) = _said(result)
    assert said.places == ("chain",)


def test_decays_apart_and_tied_ones_are_not_named() -> None:
    assert not _said(_fit("laws", _data(0, 4.0)))
    assert not _said(_fit("scheme", _data(0, 4.0)))
    assert not _said(_fit("tied", _data(0.2)))


def test_decays_that_set_in_at_different_times_are_told_apart() -> None:
    data = np.outer(np.exp(-np.maximum(TIME, 0) / 2) * (TIME > 0), np.ones(ENERGY.size))
    data += np.outer(np.exp(-np.maximum(TIME - 1, 0) / 2) * (TIME > 1), np.sin(9 * ENERGY))
    assert not _said(_fit("onsets", data))
