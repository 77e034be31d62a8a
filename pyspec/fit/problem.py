"""What is fitted: one model to one measurement, or several together. Nothing of a run is in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.errors import BackendError, FitError, PlanError
from pyspec.executor import Executor, Part, PartsExecutor, Problem, backend_name
from pyspec.executor.protocol import PartsInMemory
from pyspec.fit.amplitudes.part import FreePart, part_of
from pyspec.fit.files import Files
from pyspec.fit.part import FitPart, chisqr_of
from pyspec.model import Measurement, Model
from pyspec.plan import CompiledModel
from pyspec.plan.start import Limits, StartParameters

Array = npt.NDArray[np.float64]

#: What `backend=None` tries, in this order.
FALLBACK = ("compiled", "interpreted", "tree")


class OnDemand(Protocol):
    """What an archive holds of a problem, which is made when it is asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters, the order of theta."""

    @property
    def label(self) -> str:
        """What the model is called."""

    @property
    def model(self) -> Model:
        """The model as the fit began; nobody changes it."""

    @property
    def fixed(self) -> Mapping[str, float] | None:
        """Values of fixed parameters in place of those of the model."""

    def made(self) -> FitProblem:
        """The problem."""

    def measured(self, data: Any = None) -> Measurement:
        """The measurement, or with other data in place of its own."""


class FitProblem(Files):
    """One file, or several with parameters in common, which then have the names of a project.

    Attributes
    ----------
    backend : which executors answer
    others : all starts that a fit of free amplitudes tries beside its optimum; None where these are
        not known
    settled : where files share amplitudes theta of all at the end of the fit
    """

    _executor: Executor | None = None

    def __init__(
        self,
        files: Sequence[FitPart],
        shared: Problem | None = None,
        settled: Array | None = None,
        others: list[Array] | None = None,
    ) -> None:
        super().__init__(files, shared)
        self.settled, self.others = settled, others
        self.backend = self.files[0].backend

    @classmethod
    def of(cls, files: Sequence[tuple[Model, Measurement]], backend: str) -> FitProblem:
        """That of several files together.

        Raises :class:`FitError` where the noise of some is known and that of others is not.
        """
        return cls._of(Problem.of(files), backend)

    @classmethod
    def _of(cls, shared: Problem, backend: str) -> FitProblem:
        made = cls([part_of(part, backend) for part in shared.parts], shared)
        if isinstance(whole := made.executor, PartsExecutor) and whole.stack is not None:
            for file in made.files:
                file.shares = made
        weighted = [k for k, file in enumerate(made.files) if file.is_weighted]
        if 0 < len(weighted) < len(made.files):
            which = ", ".join(f"file {k}" for k in weighted)
            raise FitError(
                f"{made.label}: the noise of some files is known ({which}) and that of others is "
                "not, so their residuals cannot be weighed against each other; call set_noise for "
                "all or none"
            )
        return made

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_executor"}

    @property
    def free(self) -> FreePart | None:
        """The file that is fitted by itself, where amplitudes of it are free along an axis."""
        return self.only if isinstance(self.only, FreePart) else None

    def alone(self, index: int) -> FitProblem:
        """One of the files by itself, under its own names."""
        return FitProblem([self.files[index]])

    def changed(self, parts: Sequence[Part]) -> FitProblem:
        """The same of other models, or measurements."""
        if self.shared is None:
            return FitProblem([part_of(parts[0], self.backend)])
        return FitProblem._of(replace(self.shared, parts=tuple(parts)), self.backend)

    def made(self) -> FitProblem:
        """This one; that of an archive is made when it is asked for."""
        return self

    def measured(self, data: Any = None) -> Measurement:
        """The measurement of the first file, or with other data in place of its own."""
        measurement = self.measurement
        return measurement if data is None else replace(measurement, data=data)

    def beside(self, others: list[Array]) -> FitProblem:
        """The same, of which it is known what starts to try beside its optimum."""
        return FitProblem(self.files, self.shared, self.settled, others)

    def of_squares(self) -> FitProblem:
        """The same with residuals that are not those of counts."""
        parts = [(file.part, replace(file.measurement, loss="squares")) for file in self.files]
        return self.changed([part._replace(measurement=plain) for part, plain in parts])

    # who answers

    @property
    def executor(self) -> Executor:
        """The executor that answers."""
        if self.only is not None:
            return self.only.executor
        if self._executor is None:
            assert self.shared is not None
            executors = [file._executor or file.make_executor() for file in self.files]
            self._executor = made = PartsExecutor(self.shared, executors)
            if made.stack is not None and self.settled is not None:
                made.stack.theta = self.settled
        return self._executor

    def rest(self) -> None:
        """Frees what only a running fit needs; it is made again when it is needed."""
        if self._executor is not None:
            self._executor.rest()
        for file in self.files:
            file.rest()

    def ended(self, measurements: Sequence[Measurement], theta: Array) -> FitProblem:
        """The problem after the fit. It refers to the original data again, not to the copies or
        chunks that workers hold. Where files share amplitudes, each of them needs theta of all."""
        files = [
            file.with_measurement(measurement)
            for file, measurement in zip(self.files, measurements, strict=True)
        ]
        is_same = all(a is b for a, b in zip(files, self.files, strict=True))
        whole = self._executor
        stack = whole.stack if isinstance(whole, PartsExecutor) else None
        if stack is None and is_same:
            return self
        shared = self.shared
        if shared is not None:
            shared = replace(shared, parts=tuple(file.part for file in files))
        theta = np.array(theta)
        problem = FitProblem(files, shared, None if stack is None else theta)
        if stack is not None:
            stack.theta = theta
            problem._executor = whole if is_same else None
            for file in files:
                file.shares = problem
        return problem

    @property
    def fixed(self) -> Mapping[str, float] | None:
        """Values of fixed parameters in place of those of the model; each of several files has its
        own."""
        return self.files[0].fixed

    @property
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""
        return self.files[0].laid is not None or self.executor.capabilities.in_c

    @property
    def in_memory(self) -> bool:
        """Whether the loop in C evaluates by itself."""
        return self.files[0].laid is not None or (self.in_c and self.executor.capabilities.in_parts)

    @property
    def is_plain(self) -> bool:
        """Whether the native solver is all that a fit calls: one loop in C, on data in memory."""
        file = self.files[0]
        return file.laid is not None and not file.compiled.jumps

    def in_parts(self) -> AbstractContextManager[PartsInMemory]:
        """What C evaluates, inside of a `with` block."""
        laid = self.files[0].laid
        return self.executor.parts(self.fixed) if laid is None else laid[0].take(laid[1])

    # the files

    def files_at(self, theta: Array) -> Iterator[tuple[FitPart, Array]]:
        """The files, each with its part of theta; meanwhile each knows the theta of the others."""
        with self._settled(theta):
            for file, gather in zip(self.files, self.gathers, strict=True):
                yield file, theta[gather]

    def _settled(self, theta: Array) -> AbstractContextManager[None]:
        if self.shared is None or self.files[0].shares is None:
            return nullcontext()
        whole = self.executor
        assert isinstance(whole, PartsExecutor)
        return whole.settled(theta)

    @property
    def n_amplitudes(self) -> int:
        """Amplitudes that are solved for beside the parameters; shared ones count once."""
        if self.only is not None:
            return self.only.n_amplitudes
        if self.files[0].shares is None:
            return sum(file.n_amplitudes for file in self.files)
        whole = self.executor
        assert isinstance(whole, PartsExecutor)
        assert whole.stack is not None
        return whole.stack.n_amplitudes

    def n_amplitudes_at(self, theta: Array) -> int:
        """The same, but for those that the data do not determine at `theta`."""
        if self.only is not None:
            return self.only.n_amplitudes_at(theta)
        if self.files[0].shares is not None:
            return self.n_amplitudes
        pairs = zip(self.files, self.gathers, strict=True)
        return sum(file.n_amplitudes_at(theta[gather]) for file, gather in pairs)

    # at values of the parameters

    def theta_of(self, values: Mapping[str, float]) -> Array:
        """The values of the free parameters, in the order of theta."""
        return np.fromiter(map(values.__getitem__, self.names), np.float64, len(self.names))

    def start(self, seeds: Mapping[str, float] | None = None) -> StartParameters:
        """Where a fit starts."""
        if self.only is not None:
            return self.only.start(seeds)
        values_by_name = seeds or {}
        began: dict[str, float] = {}
        limits: dict[str, Limits] = {}
        for file, full in self.named_files:
            own = file.start(
                {name: values_by_name[full[name]] for name in full if full[name] in values_by_name}
            )
            for name, value in own.values.items():
                if full[name] not in began:
                    began[full[name]] = value
                    if name in own.limits:
                        limits[full[name]] = own.limits[name]
        return StartParameters.of(self.names, began, limits)

    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window at `theta`, or over the whole axes; of several files flat."""
        if self.only is not None:
            return self.only.run(theta, whole=whole)
        return np.asarray(self.executor.run(theta))

    def chisqr_at(self, theta: Array) -> float:
        """chi² at a point; NaN where the model is not defined."""
        return chisqr_of(self.executor, theta, self.fixed)

    def plain_residual(self, theta: Array) -> Array:
        """The residual at `theta`."""
        return np.array(self.executor.residual(theta, self.fixed))

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        if self.only is not None:
            return self.only.explain(theta)
        for index, (file, own) in enumerate(self.files_at(theta)):
            if not np.isfinite(file.run(own)).all():
                return f"file {index}: {file.explain(own)}"
        return self.files[0].explain(theta[self.gathers[0]])


def problem_of(
    compiled: CompiledModel,
    measurement: Measurement,
    backend: str,
    fixed: Mapping[str, float] | None = None,
    checksum: int | None = None,
) -> FitProblem:
    """The problem of one model, with or without free amplitudes. `fixed` holds values of fixed
    parameters that differ from those of the model; `checksum` is that of the data where they were
    fitted before."""
    part = Part(compiled, measurement, fixed)
    return FitProblem([part_of(part, backend, checksum, lays_out=True)])


def make_problem(
    compiled: CompiledModel, measurement: Measurement, backend: str | None
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
        return problem_of(compiled, measurement, backend_name(backend))
    reasons: list[str] = []
    for name in FALLBACK:
        try:
            problem = problem_of(compiled, measurement, name)
        except (PlanError, BackendError) as error:
            reasons.append(f"{name}: {error}")
            continue
        if reasons:
            text = f"{model.name}: fitted on {name!r}, because " + "; ".join(reasons)
            warnings.warn(text, stacklevel=stack_outside())
        return problem
    raise BackendError(f"{model.name}: no backend can run this model; " + "; ".join(reasons))
