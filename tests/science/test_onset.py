"""An onset between two samples: t0 free under an exact Gaussian response."""

from __future__ import annotations

import numpy as np
import pytest

from bench.science import FreeOnset


@pytest.mark.parametrize("samples", [0.5, 1.0, 2.0])
def test_a_free_onset_is_unbiased(samples: float) -> None:
    pulls = FreeOnset(samples).pulls(200)
    assert abs(np.mean(pulls)) < 0.3
    # The errors are honest too: three standard deviations of the spread of 200 draws.
    assert np.std(pulls, ddof=1) == pytest.approx(1.0, abs=0.15)
