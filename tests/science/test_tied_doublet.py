"""A spin-orbit doublet tied by expressions, whose first line moves under an instrument."""

from __future__ import annotations

import numpy as np
import pytest

from bench.science import TiedDoublet
from pyspec.fit import fit_model
from pyspec.model import Measurement

MOVED = pytest.mark.parametrize("moved", ["x0", "A"])
IRF = pytest.mark.parametrize("irf", ["gaussIRF", "gaussCONV"])


@MOVED
@IRF
def test_tau_of_a_tied_doublet(irf: str, moved: str) -> None:
    pulls = TiedDoublet(irf, moved).pulls(20)
    assert np.count_nonzero(np.abs(pulls) < 3) >= 19
    assert abs(np.mean(pulls)) < 3 / np.sqrt(20)


@MOVED
@IRF
def test_a_follower_that_stands_still_would_show(irf: str, moved: str) -> None:
    case = TiedDoublet(irf, moved)
    measurement = Measurement(data=case.data(0))
    follows = fit_model(case.start(), measurement)
    assert follows.redchi == pytest.approx(case.noise**2, rel=0.1)
    still = case.lines.replace('"GLP_01_x0 + 3.67"', "87.67, True")
    still = still.replace('"3/4 * GLP_01_A"', "9.0, True")
    assert fit_model(case.start(still), measurement).redchi > 4 * follows.redchi
