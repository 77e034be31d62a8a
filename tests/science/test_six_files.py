"""Six files with one decay time and one instrument, fitted as one: the truth is found."""

from __future__ import annotations

import numpy as np
import pytest
from support.joint_fit import fit_joint as fit_joint_with_scipy

from bench.problems.cases import FilesCase, six_files
from pyspec.fit import JointResult, fit_joint, fit_model

SHARED = ("GLP_01_x0_gaussIRF_SD", "GLP_01_x0_expFun_01_tau")


@pytest.fixture(scope="module")
def case() -> FilesCase:
    return six_files()


@pytest.fixture(scope="module")
def result(case: FilesCase) -> JointResult:
    return fit_joint(case.parts)


def test_the_truth_within_three_standard_errors(case: FilesCase, result: JointResult) -> None:
    assert case.n_points == 6 * 98 * 200
    assert result.success
    assert set(result.joint.problem.names) == set(case.truth)
    assert len(case.truth) == 6 * 6 + 2
    pulls = {n: (result.values[n] - true) / result.stderr[n] for n, true in case.truth.items()}
    assert max(map(abs, pulls.values())) < 3, pulls
    assert np.std(list(pulls.values())) == pytest.approx(1.0, abs=0.35)  # of 38 draws
    assert result.redchi == pytest.approx(0.3**2, rel=0.02)


@pytest.mark.slow
def test_scipy_alone_finds_the_same(case: FilesCase, result: JointResult) -> None:
    """On the joint residual of make_joint_executor, without lmfit."""
    plain = fit_joint_with_scipy(case.parts)
    for name in case.truth:
        error = plain.errors[name]
        assert abs(result.values[name] - plain.values[name]) <= 1e-3 * error, name
        assert result.stderr[name] == pytest.approx(error, rel=1e-2), name


def test_sharing_pays(case: FilesCase, result: JointResult) -> None:
    """The shared parameters are known better than from any file alone, as their errors say."""
    alone = [fit_model(*part) for part in case.parts]
    for name in SHARED:
        errors = np.array([fit.stderr[name] for fit in alone])
        expected = 1 / np.sqrt(np.sum(errors**-2.0))
        assert result.stderr[name] == pytest.approx(expected, rel=0.1)
        assert result.stderr[name] < errors.min()
