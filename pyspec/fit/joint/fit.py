"""fit_joint: several files with parameters in common, one residual."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, answered
from pyspec.errors import FitError
from pyspec.executor import backend_name
from pyspec.fit.batch.from_starts import FromStarts, best_from_starts
from pyspec.fit.batch.pools import check_workers, make_pool, refuse_shared
from pyspec.fit.doubts.caution import warn
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.joint.file import FileFit, message_of_file, said_of_file
from pyspec.fit.joint.followers import local
from pyspec.fit.joint.problem import JointProblem
from pyspec.fit.joint.result import JointFit, JointResult
from pyspec.fit.on_cluster import on_workers, shared
from pyspec.fit.options import MethodOptions, need_pairs
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.solve.methods import RANDOM, checked_how
from pyspec.fit.solve.outcome import NativeOutcome, count
from pyspec.fit.starts import check_starts
from pyspec.model import Measurement, Model
from pyspec.model.cut import in_chunks
from pyspec.model.source import source_of

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
    names: Sequence[str] | None = None,
    max_seconds: float | None = None,
    n_starts: int = 1,
    seed: int = 0,
    client: Any = None,
    n_workers: int | None = None,
    chunks: int | None = None,
    **options: Unpack[MethodOptions],
) -> JointResult:
    """Fits the models of several files together; parameters of scope "project" are shared.

    `parts` holds the model (with its axes) and the measurement of each file; their grids and
    models may differ. `names` are those of the files. The other arguments are those of
    :func:`pyspec.fit.fit_model`.

    Raises :class:`FitError` where the noise of some files is known and that of others is not.
    """
    need_pairs(parts)
    label = ", ".join(dict.fromkeys(model.name for model, _ in parts))
    in_turn = method, stages, fit_alg_1, fit_alg_2
    how = checked_how(label, in_turn, options, max_nfev, max_seconds, scale_covar)
    chosen = "compiled" if backend is None else backend_name(backend)
    n_starts, seed = check_starts(n_starts, seed)
    if not RANDOM.isdisjoint(how.methods):
        how = how._replace(options={"seed": seed, **how.options})
    names = () if names is None else names
    if isinstance(names, str) or len(names) not in (0, len(parts)):
        raise FitError(f"names are {names!r}; give a list with one for each of {len(parts)} files")
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise FitError(f"two files are called {twice!r}; give each a name of its own")
    check_workers(label, client, n_workers)
    given_data = [measured for _, measured in parts]
    if chunks is not None:
        refuse_shared(label, client, n_workers)
        parts = [(model, in_chunks(measured, chunks)) for model, measured in parts]
    apart = n_starts > 1 and all(source_of(measured.data) is None for _, measured in parts)
    rows_on = None if apart else client  # whole fits are tasks, where the data are at hand
    copies = [
        (copy.deepcopy(model), on_workers(rows_on, model, measured)) for model, measured in parts
    ]
    fits = _Fits(how, copies, chosen, label)
    problem = fits.problem

    with Hold() as hold, shared(problem, rows_on, how.methods, problem.problems) as spent:
        if n_starts == 1:
            joint = fits.fit(None, make_progress(progress, label), problem)
        else:
            pool = make_pool(label, client, n_workers) if apart else None
            joint = best_from_starts(fits, None, n_starts, seed, pool, hold, progress)
        assert isinstance(joint, JointFit)
        problem = joint.problem
        problem.settle(joint.theta, *joint._spread(), joint._lost())
        kinds = {_fit_type(one) for one in problem.problems}
        joint.model_name, joint.fit_type = label, kinds.pop() if len(kinds) == 1 else ""
        called = list(names) or [""] * len(parts)
        files = [_file_result(joint, problem, k, called) for k in range(len(parts))]
        alone = copy.copy(joint)  # which does not refer to the files again
        for k, file in enumerate(files):
            file.belongs_to(alone, k, called)
        joint.file_name = ", ".join(names)
        warn(problem.label, joint._warned)
        problem.give_back(given_data)
        problem.rest()
        joint.spent = spent
        for result in (joint, *files):
            hold.mark(result)
        return JointResult(joint, files)


@dataclass
class _Fits(FromStarts):
    """Fits of several files together."""

    parts: list[tuple[Model, Measurement]]
    backend: str
    label: str

    kind: ClassVar[type[FitResult]] = JointFit

    @cached_property
    def problem(self) -> JointProblem:
        return self.first_problem()

    def first_problem(self) -> JointProblem:
        return JointProblem(self.parts, self.backend, self.label)

    def next_problem(self) -> JointProblem:
        own = self.first_problem()
        own.run_on(self.problem)
        return own


def _file_result(
    joint: FitResult, problem: JointProblem, index: int, names: Sequence[str]
) -> FileFit:
    """What a joint fit says of one file."""
    own, full = problem.problems[index], problem.shared.full[index]
    back = {project: name for name, project in full.items()}
    params = _of_file(joint._params, full, back)
    theta = own.theta_of(params.value)
    return FileFit(
        problem=own,
        _outcome=_file_outcome(joint._outcome, own, params, theta, full, joint._scale_covar),
        _params=params,
        _message=message_of_file(joint.message, back, names),
        method=joint.method,
        backend=joint.backend,
        settings=joint.settings,
        start=Named({back[k]: value for k, value in joint.start.items() if k in back}),
        seconds=joint.seconds,
        nfev=joint.nfev,
        success=joint.success,
        interrupted=joint.interrupted,
        degenerate=joint.degenerate,
        at_bound={back[k]: side for k, side in joint.at_bound.items() if k in back},
        without_effect=tuple(back[k] for k in joint.without_effect if k in back),
        intervals={back[k]: ends for k, ends in joint.intervals.items() if k in back},
        fit_type=_fit_type(own),
        file_name=names[index],
        _cautions=said_of_file(joint._cautions, index, back),
        _of_many=len(problem.problems) > 1,
        _variance=joint.redchi,
    )


def _of_file(
    joint: FitParameters, full: Mapping[str, str], back: Mapping[str, str]
) -> FitParameters:
    """The parameters of one file: `full` are their names in the joint fit, `back` the reverse."""
    errors = {name: joint.error(project) for name, project in full.items()}
    return FitParameters(
        local(joint.value, full),
        local(joint.began, full),
        local(joint.limits, full),
        stderr={name: error for name, error in errors.items() if error is not None},
        spread=None if joint.spread is None else joint.spread.part(back),
        expressions=local(joint.expressions, full),
    )


def _fit_type(problem: FitProblem) -> str:
    """What the fit of one file is called."""
    if problem.model.is_time_model and not problem.n_linear:
        return "trace"
    data = problem.measurement.data
    return "2d" if data is not None and data.ndim == 2 else "spectrum"


def _file_outcome(
    joint: Any,
    own: FitProblem,
    params: FitParameters,
    theta: Array,
    full: Mapping[str, str],
    scaled: bool,
) -> Any:
    """The outcome of a joint fit for one file, whose errors are `scaled` or not; `full` are the
    names that its parameters have there: its own residual, and its part of the covariance."""
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
    count(outcome, own.n_points, own.n_linear, own.is_weighted and not scaled)
    return outcome
