"""What results cost that are kept, and that cleared ones cost nothing."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
from support.fit_cases import START, TRUTH, spectrum

from pyspec.fit import fit_model
from pyspec.model import Measurement

N = 60


@pytest.mark.slow
def test_kept_results_are_small_and_cleared_ones_are_freed() -> None:
    """One kept 120 kB of work memory beside 8 kB of data, and 60 kB of all else."""
    energy = np.linspace(78.0, 94.0, 1000)
    truth = spectrum(TRUTH)
    truth.set_axes(energy=energy)
    clean = truth.evaluate()
    model = spectrum(START)
    model.set_axes(energy=energy)
    noise = np.random.default_rng(0).normal(0, 0.05, (N, 1000))
    data = [clean + row for row in noise]
    warm = fit_model(model, Measurement(data=data[0]))
    np.testing.assert_array_equal(warm.fit, warm.fit)  # imports what it needs
    assert warm.fit.shape == (1000,)
    gc.collect()
    tracemalloc.start()
    try:
        kept = [fit_model(model, Measurement(data=one)) for one in data]
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] / N
        best = kept[0].fit.copy()
        kept[0].problem.rest()
        np.testing.assert_array_equal(kept[0].fit, best)
        kept.clear()
        gc.collect()
        left = tracemalloc.get_traced_memory()[0] / N
    finally:
        tracemalloc.stop()
    assert held < 110e3, held
    assert left < 5e3, left
