"""How the parameters of a 2D fit move in time, with their standard errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.errors import BackendError, FitError, PlanError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.fit.ending import Ending
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.prediction import differences
from pyspec.model import Model

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Moving:
    """Parameters over the times of the fit window.

    Attributes
    ----------
    time : (n_time,)
    values : name → (n_time,) of every parameter that moves
    stderr : name → (n_time,) one standard error, or None where the fit has none
    """

    time: Array
    values: Mapping[str, Array]
    stderr: Mapping[str, Array | None]


def moving_parameters(
    problem: FitProblem, ending: Ending, every: int = 1, model: Model | None = None
) -> Moving | None:
    """The parameters that move, at every n-th time; None for the fit of one spectrum. `model` is
    that of the problem at other times, of which all are taken.

    Errors are sqrt(diag(J C Jᵀ)), with the slopes J of the traces and the covariance C of the
    free parameters. Raises :class:`FitError` where the model cannot be compiled.
    """
    window = slice(None)
    if model is None:
        begin, end = problem.measurement.rows or (None, None)
        model, window = problem.model, slice(begin, end, every)
    if model.time is None or model.is_time_model:
        return None
    try:
        # Every parameter is to have a row of its own name, and its own class.
        plan = make_plan(model, without=("drop", "share"))
        executor = CompiledExecutor(plan)
    except (PlanError, BackendError) as error:
        raise FitError(f"the parameters of {model.name} cannot be traced: {error}") from error
    parameters = model.parameters
    rows = {
        own: row
        for row, name in enumerate(plan.row_names[: plan.samples])
        if plan.row_moves[row] and (own := name.removesuffix("_resolved")) in parameters
    }

    def traces(at: Array) -> Array:
        return np.asarray(executor.traces(at, problem.fixed)[list(rows.values())][:, window])

    values = traces(ending.theta)
    errors, places = None, ending.places.tolist()
    if rows and places:
        free = [parameters[name] for name in problem.names]
        columns = differences(traces, model, free, ending.theta, places)
        errors = ending.propagated({place: columns[:, k] for k, place in enumerate(places)})
    return Moving(
        np.asarray(model.time[window]),
        {name: values[k] for k, name in enumerate(rows)},
        {name: None if errors is None else errors[k] for k, name in enumerate(rows)},
    )
