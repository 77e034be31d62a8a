"""Six files with one decay time and one instrument, fitted as one: the truth is found."""

from __future__ import annotations

import numpy as np
import pytest

from bench.problems.cases import six_files
from pyspec.fit import fit_joint


def test_the_truth_within_three_standard_errors() -> None:
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
