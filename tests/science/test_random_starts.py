"""Random starts of three GLP, two of them without a Lorentzian part, within bounds."""

from __future__ import annotations

import numpy as np
import pytest

from bench.problems.start_models import start_models
from bench.random_starts import Reference, random_start
from pyspec import fit_model

MODEL = next(one for one in start_models() if one.name.startswith("three GLP"))


@pytest.mark.parametrize("start", [1, 13, 73])
def test_a_fit_that_left_a_bound_leaves_the_others_too(start: int) -> None:
    """Where a GLP's m is 0, its slopes by m and F are parallel: chi² may fall off the bound without
    a slope. These fits left one such bound, and ended at another."""
    measurement = MODEL.measurement(0)
    model = MODEL.model(random_start(MODEL, np.random.default_rng([start, 1])), True)
    found = fit_model(model, measurement)
    assert found.success
    assert found.chisqr == pytest.approx(413.208543, abs=1e-5)
    bounds = {n: (model.parameters[n].min, model.parameters[n].max) for n in MODEL.names}
    reference = Reference(MODEL, np.asarray(measurement.data, np.float64), bounds)
    assert reference.judge(found.values) == ""
    mixed = next(name for name in MODEL.names if 0.1 < found.values[name] < 0.15)
    model = MODEL.model(found.values, True)
    model.set(mixed, value=0.0, vary=False)
    assert reference.judge(fit_model(model, measurement).values) == "saddle"
