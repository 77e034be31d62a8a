"""What is said of a fit without a scheme that is asked for the spectra of its decays."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_model, load_model
from pyspec.errors import FitError
from pyspec.functions.response import expFun_gaussIRF

MODEL = """
decays:
  gaussFun: {A: {free: energy}, SD: ["gaussIRF_SD"], t0: ["expFun_01_t0"]}
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [2, True, 0.1, 30], t0: [0, True]}
"""


def test_the_spectrum_of_a_decay_is_that_of_no_artifact() -> None:
    """It was said that decay-associated spectra are result.amplitudes['gaussFun_01_A']."""
    energy, time = np.linspace(1, 2, 9), np.linspace(-1, 8, 91)
    model = load_model(MODEL, "decays")
    model.set_axes(energy=energy, time=time)
    data = np.outer(expFun_gaussIRF(time, 1, 2.0, 0, 0.1), energy)
    data += np.random.default_rng(0).normal(0, 0.01, data.shape)
    linear = fit_model(model, Measurement(data)).amplitudes
    assert linear is not None
    for asked in (linear.das, linear.eas):
        with pytest.raises(FitError, match=r"decay-associated .*amplitudes\['expFun_01_A'\]"):
            asked()
