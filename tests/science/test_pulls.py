"""Standard errors are right: pulls of many simulated fits have mean 0 and standard deviation 1.

``python -m bench.pulls`` runs 1,000 fits of more models.
"""

from __future__ import annotations

import numpy as np
import pytest

from bench.problems.cases import six_files
from bench.pulls import CASES, limits, run_case
from bench.science import FreeOnset, TiedDoublet
from pyspec.fit import fit_joint

#: A fit by lmfit has the same Jacobian and covariance; the usual path is native.
METHODS = ["native", pytest.param("leastsq", marks=pytest.mark.slow)]
BY_NAME = {case.name: case for case in CASES}
FITS = 200


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["doublet on a Shirley", "counts", "decay under an instrument"])
def test_mean_0_and_sd_1(name: str, method: str) -> None:
    pulls = run_case(BY_NAME[name], FITS, method)
    assert len(pulls.good) == FITS, pulls.messages
    # 30 numbers in all: one of them is beyond by chance in one of 500 runs.
    mean_limit, sd_limit = limits(FITS, 4.0)
    assert dict(zip(pulls.names, pulls.means, strict=True)) == pytest.approx(
        dict.fromkeys(pulls.names, 0.0), abs=mean_limit
    )
    assert dict(zip(pulls.names, pulls.sds, strict=True)) == pytest.approx(
        dict.fromkeys(pulls.names, 1.0), abs=sd_limit
    )


@pytest.mark.parametrize("samples", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_a_free_onset_is_unbiased(samples: float) -> None:
    """An onset between two samples, under an exact Gaussian response."""
    pulls = FreeOnset(samples).pulls(200)
    assert abs(np.mean(pulls)) < 0.3
    # The errors are honest too: three standard deviations of the spread of 200 draws.
    assert np.std(pulls, ddof=1) == pytest.approx(1.0, abs=0.15)


#: A spin-orbit doublet tied by expressions, whose first line moves under an instrument.
MOVED = pytest.mark.parametrize("moved", ["x0", "A"])
IRF = pytest.mark.parametrize("irf", ["gaussIRF", "gaussCONV"])


@MOVED
@IRF
def test_tau_of_a_tied_doublet(irf: str, moved: str) -> None:
    pulls = TiedDoublet(irf, moved).pulls(20)
    assert np.count_nonzero(np.abs(pulls) < 3) >= 19
    assert abs(np.mean(pulls)) < 3 / np.sqrt(20)


def test_six_files_with_one_decay_time_and_one_instrument() -> None:
    case = six_files()
    result = fit_joint(case.parts)
    assert case.n_points == 6 * 98 * 200
    assert result.success
    assert set(result.joint.problem.names) == set(case.truth)
    assert len(case.truth) == 6 * 6 + 2
    pulls = {n: (result.values[n] - true) / result.stderr[n] for n, true in case.truth.items()}
    assert max(map(abs, pulls.values())) < 3, pulls
    assert np.std(list(pulls.values())) == pytest.approx(1.0, abs=0.35)  # of 38 draws
    assert result.redchi == pytest.approx(0.3**2, rel=0.02)
