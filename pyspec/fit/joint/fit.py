"""fit_joint: several files with parameters in common, one residual."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.executor import backend_name
from pyspec.fit.caution import warn
from pyspec.fit.evaluations import check_limits
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.joint.problem import JointProblem
from pyspec.fit.joint.result import JointFit, JointResult
from pyspec.fit.on_cluster import on_workers, shared
from pyspec.fit.options import MethodOptions, check_options, need_pairs
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.solve.assess import assess
from pyspec.fit.solve.methods import fit_stages, without_intervals
from pyspec.fit.solve.outcome import NativeOutcome
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import best_of, check_starts
from pyspec.model import Measurement, Model

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
@held
def fit_joint(
    parts: Sequence[tuple[Model, Measurement]],
    backend: str | None = "compiled",
    method: str | None = None,
    progress: bool | Callback | None = None,
    max_nfev: int | None = None,
    *,
    stages: int = 1,
    fit_alg_1: str | None = None,
    fit_alg_2: str | None = None,
    scale_covar: bool | None = None,
    names: Sequence[str] = (),
    max_seconds: float | None = None,
    n_starts: int = 1,
    seed: int = 0,
    client: Any = None,
    **options: Unpack[MethodOptions],
) -> JointResult:
    """Fits the models of several files together; parameters of scope "project" are shared.

    `parts` holds the model (with its axes) and the measurement of each file; their grids and
    models may differ. `names` are those of the files. The other arguments are those of
    :func:`pyspec.fit.fit_model`.

    Raises :class:`FitError` where the noise of some files is known and that of others is not.
    """
    need_pairs(parts)
    check_limits(max_nfev, max_seconds)
    methods = fit_stages(method, stages, fit_alg_1, fit_alg_2)
    given = without_intervals(options)
    chosen = "compiled" if backend is None else backend_name(backend)
    label = ", ".join(dict.fromkeys(model.name for model, _ in parts))
    check_options(label, options)
    copies = [
        (copy.deepcopy(model), on_workers(client, model, measured)) for model, measured in parts
    ]
    check_starts(n_starts)

    def fit(start: Mapping[str, float] | None) -> JointFit:
        own = problem
        if n_starts > 1:
            own = JointProblem(copies, chosen, label)
            own.run_on(problem)
        reporter = make_progress(progress, label)
        run, moved = run_fit(
            own, methods, given, reporter, max_nfev, scale_covar, start, max_seconds
        )
        joint = JointFit(own, run.minimizer, run.outcome, **assess(run, moved))
        joint.settings = {"methods": list(methods), "scale_covar": run.scale_covar, **given}
        return joint

    problem = JointProblem(copies, chosen, label)
    with Hold() as hold, shared(problem, client, methods, problem.problems) as spent:
        joint = fit(None) if n_starts == 1 else best_of(fit, problem, None, n_starts, seed)
        problem = joint.problem
        problem.settle(joint.theta, joint._spread()[0])
        joint.model_name, joint.fit_type = label, "2d"
        files = [_file_result(joint, problem, index) for index in range(len(parts))]
        for result, name in zip(files, names, strict=False):
            result.file_name = name
        joint.file_name = ", ".join(names)
        warn(problem.label, joint._warned)
        problem.give_back([measurement for _, measurement in parts])
        problem.rest()
        joint.spent = spent
        for result in (joint, *files):
            hold.mark(result)
        return JointResult(joint, files)


def _file_result(joint: FitResult, problem: JointProblem, index: int) -> FitResult:
    """What a joint fit says of one file."""
    own, full = problem.problems[index], problem.shared.full[index]
    back = {project: name for name, project in full.items()}
    params = {}
    for name in own.parameters:
        par = joint._params[full[name]]
        correl = par.correl
        if correl is not None:
            correl = {back[k]: v for k, v in correl.items() if k in back}
        params[name] = replace(par, name=name, correl=correl)
    theta = own.theta_of(params)
    result = FitResult(
        own,
        None,
        _file_outcome(joint._outcome, own, params, theta, full),
        of_many=True,
        params=params,
        scale_covar=joint._scale_covar,
        backend=joint.backend,
        method=joint.method,
        seconds=joint.seconds,
        nfev=joint.nfev,
        success=joint.success,
        interrupted=joint.interrupted,
        message=joint.message,
        at_bound={back[k]: side for k, side in joint.at_bound.items() if k in back},
        degenerate=joint.degenerate,
        cautions=joint.cautions,
        without_effect=tuple(back[k] for k in joint.without_effect if k in back),
        expressions={back[k]: text for k, text in joint.expressions.items() if k in back},
        start={back[k]: value for k, value in joint.start.items() if k in back},
        settings=joint.settings,
        variance=joint.redchi,
    )
    result.fit_type = "2d"
    return result


def _file_outcome(
    joint: Any, own: FitProblem, params: FitParameters, theta: Array, full: Mapping[str, str]
) -> Any:
    """The outcome of a joint fit for one file, `full` are the names that its parameters have
    there: its own residual, and its part of the covariance."""
    outcome = copy.copy(joint)
    outcome.var_names = list(own.names)
    if getattr(joint, "covar", None) is not None:
        places = [joint.var_names.index(full[name]) for name in own.names]
        outcome.covar = joint.covar[np.ix_(places, places)]
    if isinstance(outcome, NativeOutcome):
        outcome.params, outcome.problem, outcome.theta = params, own, theta
        outcome.chisqr = own.chisqr_at(theta)
    else:
        from pyspec.fit.units import lmfit_parameters

        residual = np.asarray(own.executor.residual(theta, own.fixed))
        outcome.params, outcome.residual = lmfit_parameters(params), residual
        outcome.chisqr = float(np.einsum("i,i", residual, residual))
    outcome.ndata, outcome.nvarys = own.n_points, len(own.names)
    outcome.nfree = max(outcome.ndata - outcome.nvarys - own.n_linear, 1)
    outcome.redchi = outcome.chisqr / outcome.nfree
    return outcome
