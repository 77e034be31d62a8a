"""Joint fits: several files with parameters in common, one residual."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import JointExecutor, Runner, backend_name, make_joint_executor
from pyspec.executor.joint import join_names
from pyspec.fit.export import confidence_intervals
from pyspec.fit.methods import fit_stages, refuse_intervals
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.run import check_limits, run_fit, warn_of
from pyspec.fit.table import CorrelationTable, ParameterTable
from pyspec.model import Measurement, Model, Par

Array = npt.NDArray[np.float64]


class JointProblem(FitProblem):
    """Several problems as one. Shared parameters occur once, the others as ``file00_name``."""

    def __init__(
        self, parts: Sequence[tuple[Model, Measurement]], backend: str, label: str
    ) -> None:
        self.parts = [(model, measurement) for model, measurement in parts]
        self.shared = join_names([model for model, _ in self.parts])
        self._label = label
        super().__init__(*self.parts[0], backend)
        assert isinstance(self.executor, JointExecutor)
        self.problems = [
            FitProblem(model, measurement, backend, executor)
            for (model, measurement), executor in zip(
                self.parts, self.executor.executors, strict=True
            )
        ]
        if len({problem.is_weighted for problem in self.problems}) > 1:
            raise FitError(
                f"{label}: the noise of some files is known and that of others is not, so their "
                "residuals cannot be weighed against each other; call set_noise for all or none"
            )

    def make_executor(self) -> Runner:
        return make_joint_executor(self.parts, self.backend)

    @property
    def label(self) -> str:
        return self._label

    @property
    def is_poisson(self) -> bool:
        return any(problem.is_poisson for problem in self.problems)

    @property
    def n_residuals(self) -> int:
        return sum(problem.n_residuals for problem in self.problems)

    @property
    def n_points(self) -> int:
        return sum(problem.n_points for problem in self.problems)

    @property
    def parameters(self) -> dict[str, Par]:
        found: dict[str, Par] = {}
        for problem, full in zip(self.problems, self.shared.full, strict=True):
            for name, par in problem.parameters.items():
                found.setdefault(full[name], par)
        return found

    @property
    def data_square(self) -> float:
        return sum(problem.data_square for problem in self.problems)

    def start(self, seeds: Mapping[str, float] | None = None) -> tuple[Any, tuple[str, ...]]:
        params: Any = None
        moved: list[str] = []
        for problem, full in zip(self.problems, self.shared.full, strict=True):
            own = {name: (seeds or {})[full[name]] for name in full if full[name] in (seeds or {})}
            local, moved_here = problem.start(own)
            moved += [full[name] for name in moved_here]
            params = type(local)() if params is None else params
            for name, par in local.items():
                if full[name] not in params:
                    params[full[name]] = copy.copy(par)
        self.sizes = [getattr(params[name], "unit", 1.0) for name in self.names]
        return params, tuple(dict.fromkeys(moved))

    def local(self, index: int, values: Mapping[str, float]) -> dict[str, float]:
        """The values of one file under its own names."""
        full = self.shared.full[index]
        return {name: values[full[name]] for name in full if full[name] in values}

    def followers(self, values: Mapping[str, float]) -> dict[str, tuple[float, dict[str, float]]]:
        found: dict[str, tuple[float, dict[str, float]]] = {}
        for index, (problem, full) in enumerate(zip(self.problems, self.shared.full, strict=True)):
            for name, (value, slopes) in problem.followers(self.local(index, values)).items():
                found[full[name]] = value, {full[leaf]: slope for leaf, slope in slopes.items()}
        return found

    def expression(self, name: str) -> str:
        return str(self.parameters[name].expr)

    def cautions(self, values: Mapping[str, float]) -> list[str]:
        found: list[str] = []
        for index, problem in enumerate(self.problems):
            found += problem.cautions(self.local(index, values))
        return list(dict.fromkeys(found))

    def slopes(self, theta: Array, bounds: Sequence[tuple[float, float]], free: list[int]) -> Array:
        if self.in_c:
            return super().slopes(theta, bounds, free)
        blocks = []
        for problem, gather in zip(self.problems, self.shared.gather, strict=True):
            block = np.zeros((problem.n_residuals, len(free)))
            mine = [k for k, column in enumerate(free) if column in gather]
            places = [int(np.flatnonzero(gather == free[k])[0]) for k in mine]
            if mine:
                own = [bounds[k] for k in gather]
                block[:, mine] = problem.slopes(theta[gather], own, places)
            blocks.append(block)
        self.nfev += 2 * len(free)
        return np.concatenate(blocks)

    def jumps(self) -> dict[str, Array]:
        found: dict[str, list[Array]] = {}
        for problem, full in zip(self.problems, self.shared.full, strict=True):
            for name, places in problem.jumps().items():
                found.setdefault(full[name], []).append(places)
        return {name: np.unique(np.concatenate(places)) for name, places in found.items()}

    def explain(self, theta: Array) -> str:
        for index, (problem, gather) in enumerate(
            zip(self.problems, self.shared.gather, strict=True)
        ):
            if not np.isfinite(problem.run(theta[gather])).all():
                return f"file {index}: {problem.explain(theta[gather])}"
        return self.problems[0].explain(theta[self.shared.gather[0]])


class JointResult(Sequence[FitResult]):
    """A joint fit: ``joint[0]`` is the FitResult of the first file, under its own names.

    Attributes
    ----------
    joint : the FitResult of all, under the project's names; its `values`, `stderr`, `table`,
        `correlations`, `redchi`, `success`, … are those of this object
    files : one FitResult a file; their chisqr is that of the file, their standard errors are
        those of the joint fit
    """

    def __init__(self, joint: FitResult, files: Sequence[FitResult]) -> None:
        self.joint = joint
        self.files = tuple(files)

    @overload
    def __getitem__(self, key: int) -> FitResult: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[FitResult, ...]: ...
    def __getitem__(self, key: int | slice) -> Any:
        return self.files[key]

    def __len__(self) -> int:
        return len(self.files)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("joint", "files", "data", "fit", "residual", "energy"):
            raise AttributeError(f"a JointResult has no {name!r}; its files may: joint[0].{name}")
        return getattr(self.joint, name)

    @property
    def values(self) -> dict[str, float]:
        """Name in the project → best-fit value."""
        return self.joint.values

    @property
    def stderr(self) -> dict[str, float | None]:
        """Name in the project → standard error."""
        return self.joint.stderr

    @property
    def table(self) -> ParameterTable:
        """All parameters of all files."""
        return self.joint.table

    @property
    def correlations(self) -> CorrelationTable:
        """Correlations of the free parameters."""
        return self.joint.correlations

    def conf_interval(self, **options: Any) -> Any:
        """Intervals by profile likelihood, of all free parameters."""
        return confidence_intervals(self.joint, **options)

    def __str__(self) -> str:
        return str(self.joint)

    def __repr__(self) -> str:
        return f"<JointResult of {len(self)} files: {self.joint!r}>"

    def _repr_html_(self) -> str:
        return f"<b>{escape(f'{len(self)} files together')}</b><br>{self.joint._repr_html_()}"


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
    **options: Any,
) -> JointResult:
    """Fits the models of several files together; parameters of scope "project" are shared.

    `parts` holds the model (with its axes) and the measurement of each file; their grids and
    models may differ. `names` are those of the files. The other arguments are those of
    :func:`pyspec.fit.fit_model`.

    Raises :class:`FitError` where the noise of some files is known and that of others is not.
    """
    if not parts:
        raise FitError("a joint fit needs at least one file")
    check_limits(max_nfev, max_seconds)
    methods = fit_stages(method, stages, fit_alg_1, fit_alg_2)
    refuse_intervals(options)
    chosen = "compiled" if backend is None else backend_name(backend)
    label = ", ".join(dict.fromkeys(model.name for model, _ in parts))
    copies = [(copy.deepcopy(model), measurement) for model, measurement in parts]
    problem = JointProblem(copies, chosen, label)
    reporter = make_progress(progress, label)
    run, moved = run_fit(
        problem, methods, options, reporter, max_nfev, scale_covar, max_seconds=max_seconds
    )
    joint = FitResult(problem, run.minimizer, run.outcome, **run.facts(moved))
    joint.model_name, joint.fit_type = label, "2d"
    joint.settings = {"methods": list(methods), "scale_covar": run.scale_covar, **options}
    files = [_file_result(joint, problem, index) for index in range(len(parts))]
    for result, name in zip(files, names, strict=False):
        result.file_name = name
    joint.file_name = ", ".join(names)
    warn_of(problem, joint.values, 3)
    return JointResult(joint, files)


def _file_result(joint: FitResult, problem: JointProblem, index: int) -> FitResult:
    """What a joint fit says of one file."""
    import lmfit

    own, full = problem.problems[index], problem.shared.full[index]
    outcome = copy.copy(joint.lmfit)
    params = lmfit.Parameters()
    back = {project: name for name, project in full.items()}
    for name in own.parameters:
        par = copy.copy(joint.params[full[name]])
        par.name = name
        if par.correl is not None:
            par.correl = {back[k]: v for k, v in par.correl.items() if k in back}
        params[name] = par
    outcome.params, outcome.var_names = params, list(own.names)
    if getattr(joint.lmfit, "covar", None) is not None:
        places = [joint.lmfit.var_names.index(full[name]) for name in own.names]
        outcome.covar = joint.lmfit.covar[np.ix_(places, places)]
    theta = np.array([params[name].value for name in own.names])
    outcome.residual = np.asarray(own.executor.residual(theta, own.fixed))
    outcome.chisqr = float(np.einsum("i,i", outcome.residual, outcome.residual))
    outcome.ndata, outcome.nvarys = own.n_points, len(own.names)
    outcome.nfree = max(outcome.ndata - outcome.nvarys, 1)
    outcome.redchi = outcome.chisqr / outcome.nfree
    result = FitResult(
        own,
        None,
        outcome,
        backend=joint.backend,
        method=joint.method,
        seconds=joint.seconds,
        nfev=joint.nfev,
        success=joint.success,
        interrupted=joint.interrupted,
        message=joint.message,
        at_bound={back[k]: side for k, side in joint.at_bound.items() if k in back},
        without_effect=tuple(back[k] for k in joint.without_effect if k in back),
        expressions={back[k]: text for k, text in joint.expressions.items() if k in back},
        start={back[k]: value for k, value in joint.start.items() if k in back},
        settings=joint.settings,
    )
    result.fit_type = "2d"
    return result
