"""A fit with free amplitudes at other times (spectra were free) or other energies (traces were).

A prediction changes with theta directly and through the amplitudes, which follow: with G and B the
derivatives there by theta and by the amplitudes of a group, and Z, (B'B)^-1 those of the data (see
:mod:`pyspec.fit.linear.amplitudes`), its variance is (G - B Z) C (G - B Z)' + s^2 B (B'B)^-1 B'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.executor.linear.design import Design
from pyspec.fit.linear.amplitudes import solution_of
from pyspec.fit.linear.followed import Followed
from pyspec.fit.linear.problem import LinearProblem
from pyspec.fit.predict import Prediction

if TYPE_CHECKING:
    from pyspec.fit.result import FitResult

Array = npt.NDArray[np.float64]


def predict_linear(
    result: FitResult,
    problem: LinearProblem,
    energy: npt.ArrayLike | None,
    time: npt.ArrayLike | None,
) -> Prediction:
    """The prediction of a fit on the energies or times given, within the window along the other
    axis; `problem` is that of the fit.

    Raises :class:`DataError` for values along the axis on which amplitudes are free, and where the
    model sums over the samples of an axis that is to change.
    """
    executor = problem.linear
    axis = executor.designer.axis
    fixed, given = (energy, time) if axis == "energy" else (time, energy)
    if fixed is not None:
        raise DataError(
            f"{problem.label}: amplitudes are free along {axis} and known where the data are; "
            f"leave {axis}= out"
        )
    with executor.lock:
        return _predicted(result, problem, given)


def _predicted(
    result: FitResult, problem: LinearProblem, given: npt.ArrayLike | None
) -> Prediction:
    executor = problem.linear
    solved, followed, covariance, _ = solution_of(result, problem)
    design, x = (
        (solved.design, executor.designer.x)
        if given is None
        else (executor.elsewhere(result.theta, problem.fixed, given))
    )
    amplitudes = solved.projected.amplitudes
    error = _errors(design, amplitudes, followed, covariance)
    along = executor.designer.along
    axes = (along, x) if executor.designer.axis == "energy" else (x, along)
    return Prediction(
        axes[0], axes[1], executor.groups_of(design.model(amplitudes)), executor.groups_of(error)
    )


def _errors(
    design: Design, amplitudes: Array, followed: list[Followed], covariance: Array
) -> Array:
    """(n_groups, n_x) standard errors."""
    changes = [design.change(amplitudes, k) for k in range(len(covariance))]
    found = np.zeros((len(amplitudes), design.basis.shape[-1]))
    for group, own in enumerate(followed):
        basis = design.basis[own.kept, group % design.basis.shape[1]].T
        rows = np.array([change[group] for change in changes]).reshape(len(changes), -1).T
        rows = rows - basis @ own.slopes
        spread = np.einsum("xi,ij,xj->x", rows, covariance, rows)
        spread += np.einsum("xi,ij,xj->x", basis, own.inverse, basis)
        found[group] = np.sqrt(np.maximum(spread, 0.0))
    return found
