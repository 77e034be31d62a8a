"""What scripts of trspecfit read of a kept fit."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyspec.trspecfit  # noqa: F401  (it gives the results of fits these names)
from pyspec import Measurement, fit_model, fit_slices, load_model

TEXT = "line: {Offset: {y0: [1.0, True, 0, 10]}}"


def test_data_and_metrics_of_a_fit_and_of_slices() -> None:
    model = load_model(TEXT, "line")
    energy = np.linspace(0.0, 1.0, 20)
    data = 3.0 + np.random.default_rng(1).normal(0.0, 0.1, (4, 20))
    model.set_axes(energy=energy)
    single: Any = fit_model(model, Measurement(data=data[0], weight=10.0))
    assert np.array_equal(single.observed, single.data)
    assert single.metrics == single.statistics
    slices: Any = fit_slices(model, Measurement(data=data, weight=10.0))
    assert np.allclose(slices.metrics["chi2"], slices.chisqr)
    assert slices.metrics["chi2"].shape == (4,)
