"""The problem of a fit on the backend asked for, or on the first that can run the model."""

from __future__ import annotations

import warnings
from collections.abc import Collection

from pyspec.calls import stack_outside
from pyspec.errors import BackendError, FitError, PlanError
from pyspec.executor import backend_name
from pyspec.fit.problem import FitProblem, problem_of
from pyspec.model import Measurement
from pyspec.plan import CompiledModel

#: What `backend=None` tries, in this order.
FALLBACK = ("compiled", "interpreted", "tree")


def make_problem(
    compiled: CompiledModel,
    measurement: Measurement,
    backend: str | None,
    without: Collection[str] = (),
) -> FitProblem:
    """The problem on the backend asked for; without one, on the first that can run it."""
    model = compiled.model
    if not isinstance(measurement, Measurement):
        raise FitError(
            f"{model.name}: a fit needs a Measurement, not {type(measurement).__name__}; give "
            "Measurement(data=...)"
        )
    if measurement.data is None:
        raise FitError(
            f"{model.name}: a fit needs data, the measurement has none; give Measurement(data=...)"
        )
    if backend is not None:
        return problem_of(compiled, measurement, backend_name(backend), without=without)
    reasons: list[str] = []
    for name in FALLBACK:
        try:
            problem = problem_of(compiled, measurement, name, without=without)
        except (PlanError, BackendError) as error:
            reasons.append(f"{name}: {error}")
            continue
        if reasons:
            text = f"{model.name}: fitted on {name!r}, because " + "; ".join(reasons)
            warnings.warn(text, stacklevel=stack_outside())
        return problem
    raise BackendError(f"{model.name}: no backend can run this model; " + "; ".join(reasons))
