"""Least squares on the joint residual of several files, with SciPy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from pyspec.executor import make_joint_executor
from pyspec.model import Measurement, Model


@dataclass(frozen=True)
class JointFit:
    """Best values and standard errors by name, and what they were found from."""

    values: dict[str, float]
    errors: dict[str, float]
    redchi: float
    n_free: int


def fit_joint(
    parts: Sequence[tuple[Model, Measurement]],
    start: Mapping[str, float] | None = None,
    backend: str = "compiled",
) -> JointFit:
    """Fits all free parameters of all files with MINPACK, by differences of one joint residual.

    Every free parameter counts in the degrees of freedom, the amplitudes too. No bounds.
    """
    joint = make_joint_executor(parts, backend)
    theta = joint.problem.start.copy()
    for name, value in (start or {}).items():
        theta[joint.opt_param_names.index(name)] = value
    found = least_squares(
        joint.residual, theta, method="lm", x_scale=np.maximum(np.abs(theta), 0.1), xtol=1e-12
    )
    assert found.success, found.message
    redchi = 2 * found.cost / (found.fun.size - theta.size)
    covariance = redchi * np.linalg.inv(found.jac.T @ found.jac)
    names = joint.opt_param_names
    return JointFit(
        dict(zip(names, found.x.tolist(), strict=True)),
        dict(zip(names, np.sqrt(np.diag(covariance)).tolist(), strict=True)),
        float(redchi),
        theta.size,
    )
