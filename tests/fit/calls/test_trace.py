"""fit_trace: what it takes from a measurement, and that the caller's model stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_trace, load_time_model
from pyspec.errors import CallError, DataError

MODEL = """
decay:
  expFun: {A: [1.5, true], tau: [3, true, 0.1, 100], t0: [0, false], y0: [0, false]}
"""
TIME = np.linspace(0.1, 20, 60)
VALUES = 2 * np.exp(-TIME / 4) + 0.05 * np.random.default_rng(0).normal(size=60)


def test_the_values_are_the_data_of_a_measurement_given() -> None:
    """Those of the measurement used to be fitted in place of the values."""
    mask = TIME > 15
    plain = fit_trace(MODEL, "decay", TIME[~mask], VALUES[~mask])
    given = Measurement(data=3 * VALUES, mask=mask)
    for measurement in (given, Measurement(mask=mask)):
        found = fit_trace(MODEL, "decay", TIME, VALUES, measurement=measurement)
        assert found.values["expFun_01_A"] == pytest.approx(plain.values["expFun_01_A"], rel=1e-9)


def test_sigma_beside_a_measurement() -> None:
    """It used to be dropped, and the errors not scaled because it was given."""
    alone = fit_trace(MODEL, "decay", TIME, VALUES, 0.05)
    beside = fit_trace(MODEL, "decay", TIME, VALUES, 0.05, measurement=Measurement())
    assert beside.stderr == alone.stderr
    assert beside.chisqr == alone.chisqr
    with pytest.raises(CallError, match="both say what the noise is"):
        fit_trace(MODEL, "decay", TIME, VALUES, 0.05, measurement=Measurement(weight=2.0))
    with pytest.raises(CallError, match="both say what the noise is"):
        fit_trace(MODEL, "decay", TIME, VALUES, 0.05, measurement=Measurement(loss="poisson"))


def test_sigma_of_masked_points_does_not_count() -> None:
    """As of a File. Such errors, of slices that failed say, were to be masked, and refused then."""
    mask, sigma = TIME > 15, np.full(TIME.size, 0.05)
    plain = fit_trace(MODEL, "decay", TIME[~mask], VALUES[~mask], 0.05)
    sigma[mask] = np.nan
    found = fit_trace(MODEL, "decay", TIME, VALUES, sigma, measurement=Measurement(mask=mask))
    assert found.stderr["expFun_01_tau"] == pytest.approx(plain.stderr["expFun_01_tau"], rel=1e-9)
    with pytest.raises(DataError, match=r"sigma must be finite .* at \(45,\)"):
        fit_trace(MODEL, "decay", TIME, VALUES, sigma)
    with pytest.raises(DataError, match=r"sigma has shape \(5,\), the data \(60,\)"):
        fit_trace(MODEL, "decay", TIME, VALUES, sigma[:5])


def test_the_model_keeps_its_times() -> None:
    model = load_time_model(MODEL, "decay")
    model.set_axes(time=[0.0, 1.0, 2.0])
    fit_trace(model, None, TIME, VALUES)
    with pytest.raises(DataError, match="shape"):
        fit_trace(model, None, TIME, VALUES[:5])
    np.testing.assert_array_equal(model.time, [0.0, 1.0, 2.0])


def test_times_and_values_exchanged() -> None:
    """It said that the time axis goes from 2.01 to 1.98 and must rise; sort it."""
    with pytest.raises(DataError, match="exchange them, fit_trace"):
        fit_trace(MODEL, "decay", VALUES, TIME)
    with pytest.raises(DataError, match="must rise"):  # a decay from its end
        fit_trace(MODEL, "decay", TIME[::-1], np.exp(-TIME / 4)[::-1])
