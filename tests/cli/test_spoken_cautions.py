"""Cautions of a fit in the words of a job."""

from __future__ import annotations

import numpy as np

from pyspec import Measurement, fit_model, load_model
from pyspec.cli.spoken import for_fields

LINE = """
m:
  Offset: {y0: [20, True]}
  GLP: {A: [250, True], x0: [83, True], F: [1.2, True], m: [0.3, False]}
"""


def test_noise_that_differs_is_declared_in_the_job() -> None:
    """The report of a job used to tell of a File and of weights, which a job does not have."""
    model = load_model(LINE, "m")
    model.set_axes(energy=np.linspace(78, 90, 401))
    noise = np.random.default_rng(1).normal(size=401) * np.geomspace(0.5, 5, 401)
    printed = for_fields(str(fit_model(model, Measurement(np.asarray(model.evaluate()) + noise))))
    text = " ".join(printed.split())
    assert (
        "declare it, noise: {type: gaussian, sigma: ...}; of counts in other units noise:" in text
    )
    assert "{type: poisson, scale: counts for a unit}" in text
    assert "set_noise" not in text
    assert "Measurement" not in text
