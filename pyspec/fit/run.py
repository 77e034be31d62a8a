"""fit_model: from a model and a measurement to a FitResult, through lmfit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Collection, Mapping
from typing import Any

from pyspec.errors import BackendError, FitError, ModelWarning, PlanError
from pyspec.executor import backend_name
from pyspec.fit.methods import fit_stages, refuse_intervals
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, Silent, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.running import Run
from pyspec.model import Measurement, Model

#: What `backend=None` tries, in this order.
FALLBACK = ("compiled", "interpreted", "tree")


def fit_model(
    model: Model,
    measurement: Measurement,
    backend: str | None = "compiled",
    method: str | None = None,
    progress: bool | Callback | None = None,
    max_nfev: int | None = None,
    *,
    stages: int = 1,
    fit_alg_1: str | None = None,
    fit_alg_2: str | None = None,
    scale_covar: bool | None = None,
    seeds: Mapping[str, float] | None = None,
    max_seconds: float | None = None,
    jacobian_without: Collection[str] = (),
    **options: Any,
) -> FitResult:
    """Fits the free parameters of `model` to `measurement` by least squares.

    Parameters
    ----------
    model : with its axes set; it is not changed
    measurement : data, window, weights
    backend : "compiled", "interpreted", "tree" or "compare" (or a founding name such as
        "fit_model_gir"); None tries them in that order and says why it fell back
    method : "native" (the default: Levenberg-Marquardt in C, with exact derivatives and bounds
        as an active set) or any method of lmfit, such as "leastsq"; `fit_alg_1` is another name
        for it
    progress : True for a bar or line on stderr, or a function (nfev, chisqr, best)
    max_nfev, max_seconds : stop after so many residual evaluations, or so long, keeping the best
        point
    stages : 1, or 2 for `fit_alg_1` ("nelder") followed by `fit_alg_2` ("native")
    scale_covar : whether standard errors are scaled by sqrt(redchi); by default they are, but
        with counting statistics they are not
    seeds : start values by name, in place of those of the model
    jacobian_without : classes of Jacobian columns to switch off, for comparison: "constant"
        computes what does not move in time for every time, "structured" takes finite differences
        (see ``pyspec explain --jacobian``)
    options : handed to the (last) method; "native" takes `tolerance`, in standard errors

    Raises
    ------
    FitError
        nothing to fit, an unknown method, fewer points than parameters, or a residual that is
        not finite; the message names the parameter
    """
    check_limits(max_nfev, max_seconds)
    methods = fit_stages(method, stages, fit_alg_1, fit_alg_2)
    refuse_intervals(options)
    problem = make_problem(copy.deepcopy(model), measurement, backend, jacobian_without)
    run, moved = run_fit(
        problem,
        methods,
        options,
        make_progress(progress, model.name),
        max_nfev,
        scale_covar,
        seeds,
        max_seconds,
    )
    result = FitResult(problem, run.minimizer, run.outcome, **run.facts(moved))
    result.settings = {"methods": list(methods), "scale_covar": run.scale_covar, **options}
    warn_of(problem, result.values, 3)
    return result


def check_limits(max_nfev: int | None, max_seconds: float | None) -> None:
    """Raises :class:`FitError` for limits that are none."""
    if max_nfev is not None and not (isinstance(max_nfev, int) and max_nfev > 0):
        raise FitError(f"max_nfev must be a whole number above 0, not {max_nfev!r}; None: no limit")
    if max_seconds is not None and not (isinstance(max_seconds, int | float) and max_seconds > 0):
        raise FitError(f"max_seconds must be a number above 0, not {max_seconds!r}; None: no limit")


def run_fit(
    problem: FitProblem,
    methods: tuple[str, ...],
    options: Mapping[str, Any],
    progress: Silent,
    max_nfev: int | None = None,
    scale_covar: bool | None = None,
    seeds: Mapping[str, float] | None = None,
    max_seconds: float | None = None,
) -> tuple[Run, tuple[str, ...]]:
    """Runs the stages on a problem; the Run, and the names moved off a bound at the start."""
    params, moved = problem.start(seeds)
    if problem.n_points < len(problem.names):
        raise FitError(
            f"{problem.label}: {problem.n_points} points cannot determine {len(problem.names)} "
            "free parameters; widen the window, unmask points, or fix some parameters"
        )
    if scale_covar is None:
        scale_covar = not problem.is_poisson
    run = Run(problem, params, methods, scale_covar)
    run.go(progress, max_nfev, dict(options), max_seconds)
    return run, moved


def warn_of(problem: FitProblem, values: Mapping[str, float], stacklevel: int) -> None:
    """Warns of what may mislead at the best fit."""
    for text in problem.cautions(values):
        warnings.warn(f"{problem.label}: {text}", ModelWarning, stacklevel=stacklevel + 1)


def make_problem(
    model: Model, measurement: Measurement, backend: str | None, without: Collection[str] = ()
) -> FitProblem:
    """The problem on the backend asked for; without one, on the first that can run it."""
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
        return FitProblem(model, measurement, backend_name(backend), without=without)
    reasons: list[str] = []
    for name in FALLBACK:
        try:
            problem = FitProblem(model, measurement, name, without=without)
        except (PlanError, BackendError) as error:
            reasons.append(f"{name}: {error}")
            continue
        if reasons:
            text = f"{model.name}: fitted on {name!r}, because " + "; ".join(reasons)
            warnings.warn(text, stacklevel=4)
        return problem
    raise BackendError(f"{model.name}: no backend can run this model; " + "; ".join(reasons))
