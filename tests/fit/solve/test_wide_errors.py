"""Errors wider than the interval of their bounds, in fits that C makes."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import Measurement, fit_model, fit_slices, load_model
from pyspec.fit.findings.kinds import Kind

KIND = Kind.ERROR_BEYOND_BOUNDS
TEXT = """
m:
  Offset: {y0: [3, true]}
  GLP: {A: [9, true, 0, 100], x0: [0.05, true, -2, 2], F: [1.1, true, 0.1, 4], m: [0.3, true, 0, 1]}
"""


def test_they_stay_in_the_arrays_without_an_error() -> None:
    model = load_model(TEXT.replace("0.05, true, -2, 2", "0.05, true, -0.02, 0.12"), "m")
    model.set_axes(energy=np.linspace(-5, 5, 61))
    clean = model.evaluate()
    data = clean + 2.5 * np.random.default_rng(1).normal(size=(60, 61))
    slices = fit_slices(model, Measurement(data))
    made, wide = slices.fits.made, 0
    for k in np.flatnonzero(made).tolist():
        alone = fit_model(model, Measurement(data[k]))
        known = {name: np.nan if e is None else e for name, e in alone.stderr.items()}
        found = {name: column[k] for name, column in slices.stderr.items()}
        assert found == pytest.approx(known, rel=1e-5, nan_ok=True)
        made_alone = slices[k].result
        assert made_alone is not None
        told, also = (
            [(one.kind, one.places) for one in result.findings if one.kind is KIND]
            for result in (alone, made_alone)
        )
        assert told == also
        wide += bool(told)
    assert wide > 5
    assert made.sum() > 30
