"""A fit with free amplitudes at other times (spectra were free) or other energies (traces were),
and its components one by one.

A prediction changes with theta directly, and through the amplitudes that follow theta. Let G and B
be the derivatives at the predicted points, by theta and by the amplitudes of a group. Let Z and
(B'B)^-1 be those of the data, see :mod:`pyspec.fit.amplitudes.amplitudes`. The variance of the
prediction is (G - B Z) C (G - B Z)' + s^2 B (B'B)^-1 B'.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, FitError
from pyspec.executor.amplitudes.design import Design
from pyspec.fit.amplitudes.amplitudes import Solution, solution_of
from pyspec.fit.amplitudes.part import FreePart
from pyspec.fit.ending import Ending
from pyspec.fit.results.prediction import Prediction

Array = npt.NDArray[np.float64]


def predict_amplitudes(
    problem: FreePart,
    ending: Ending,
    energy: npt.ArrayLike | None,
    time: npt.ArrayLike | None,
) -> Prediction:
    """The prediction of a fit on the energies or times given, within the window along the other
    axis; `problem` is that of the fit.

    Raises :class:`DataError` for values along the axis on which amplitudes are free. It also raises
    it if the model sums over the samples of the axis to be changed.
    """
    executor = problem.executor
    axis = executor.designer.axis
    fixed, wanted = (energy, time) if axis == "energy" else (time, energy)
    if fixed is not None:
        raise DataError(
            f"{problem.label}: amplitudes are free along {axis} and known where the data are; "
            f"leave {axis}= out"
        )
    with executor.lock:
        solution = solution_of(problem, ending)
        design, x = solution.solved.design, executor.designer.x
        if wanted is not None:
            design, x = executor.elsewhere(ending.theta, problem.fixed, wanted)
        value = executor.groups_of(design.model(solution.solved.amplitudes))
        error = executor.groups_of(_errors(design, solution))
    along = executor.designer.along
    axes = (along, x) if axis == "energy" else (x, along)
    return Prediction(*axes, value, error)


def _errors(design: Design, solution: Solution) -> Array:
    """(n_groups, n_x) standard errors."""
    amplitudes, covariance = solution.solved.amplitudes, solution.covariance
    errors = np.zeros((len(amplitudes), design.basis.shape[-1]))
    changes = [design.change(amplitudes, k) for k in range(len(covariance))]
    for group, own in enumerate(solution.inverse):
        basis = design.basis[:, group % design.basis.shape[1]].T
        rows = np.array([change[group] for change in changes]).reshape(len(changes), -1).T
        rows = rows - basis @ solution.slopes[group]
        spread = np.einsum("xi,ij,xj->x", rows, covariance, rows)
        spread += np.einsum("xi,ij,xj->x", basis, own, basis)
        errors[group] = np.sqrt(np.maximum(spread, 0.0))
    return errors


def amplitude_components(problem: FreePart, theta: Array) -> dict[str, Array]:
    """Name → (n_rows, n_columns) of every component, in file order.

    Raises :class:`FitError` where one reads the spectrum of the others.
    """
    components = problem.model.components
    reader = next((component.name for component in components if component.op.spectrum_fed), None)
    if reader is not None:
        raise FitError(
            f"{problem.label}: {reader} reads the lines whose amplitudes are free, and is solved "
            "for together with them; result.amplitudes has each amplitude, and in basis what it is "
            "multiplied with"
        )
    return problem.executor.components(theta, problem.fixed)
