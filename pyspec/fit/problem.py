"""What is fitted: one model to one measurement, or several together. Nothing of a run is in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import Executor, Part, PartsExecutor, Problem
from pyspec.executor.protocol import PartsInMemory
from pyspec.executor.team import threads_for
from pyspec.fit.findings.finding import Finding, unique
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.followers import FollowersOfFiles, Spanning, local
from pyspec.fit.parameters import FitParameters
from pyspec.fit.part import FitPart, FreePart, chisqr_of, part_of
from pyspec.fit.solve.methods import checked_classes
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model, Par
from pyspec.model.outline import Outline
from pyspec.passes.eliminate import choose, joined, slopes_of
from pyspec.plan import CompiledModel
from pyspec.plan.following import Followers
from pyspec.plan.places import Places
from pyspec.plan.start import Limits

Array = npt.NDArray[np.float64]


def _by_file(
    found: Sequence[Sequence[Finding]], fulls: Sequence[Mapping[str, str]]
) -> list[Finding]:
    """The findings of each file under the names of the project; those that all files have once."""
    named = [
        [one.renamed(full, index) for one in unique(own)]
        for index, (own, full) in enumerate(zip(found, fulls, strict=True))
    ]
    whole = [replace(one, part=None) for own in named for one in own]
    common = [one for one in unique(whole) if whole.count(one) == len(named)]
    return common + [one for own in named for one in own if replace(one, part=None) not in common]


class FitProblem:
    """One file, or several with parameters in common, which then have the names of a project.

    Attributes
    ----------
    files : each with its model, axes, window, noise and loss
    shared : where several are fitted together the names of all parameters, and where each file
        finds its own; None of one file alone
    names : the free parameters, the order of theta
    only : the file that is fitted by itself; None where several are, under names of a project
    backend : which executors answer
    without : classes of Jacobian columns that are finite differences at every step, for comparison
    others : all starts that a fit of free amplitudes tries beside its optimum; None where these are
        not known
    settled : where files share amplitudes theta of all at the end of the fit
    """

    others: list[Array] | None = None
    settled: Array | None = None
    _executor: Executor | None = None

    def __init__(
        self, files: Sequence[FitPart], shared: Problem | None = None, without: Collection[str] = ()
    ) -> None:
        self.files, self.shared = tuple(files), shared
        self.only = self.files[0] if shared is None else None
        self.backend = self.files[0].backend
        self.without = checked_classes(without) if without else frozenset()
        self.names = self.files[0].names if shared is None else shared.names

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
        if len({file.is_weighted for file in made.files}) > 1:
            raise FitError(
                f"{made.label}: the noise of some files is known and that of others is not, so "
                "their residuals cannot be weighed against each other; call set_noise for all or "
                "none"
            )
        return made

    def __getstate__(self) -> dict[str, Any]:
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

    def of_squares(self) -> FitProblem:
        """The same with residuals that are not those of counts."""
        given = [(file.part, replace(file.measurement, loss="squares")) for file in self.files]
        return self.changed([part._replace(measurement=plain) for part, plain in given])

    def of_any_sign(self) -> FitProblem:
        """The same with free amplitudes that may be negative."""
        return self.changed([file.of_any_sign() for file in self.files])

    # who answers

    @property
    def executor(self) -> Executor:
        """The executor that answers."""
        if self.only is not None:
            return self.only.executor
        if self._executor is None:
            self.make_executors()
            assert self._executor is not None
        return self._executor

    def make_executors(self) -> None:
        """Those of all files, and the one that runs them together."""
        assert self.shared is not None
        executors = [file._executor or file.make_executor() for file in self.files]
        self._executor = made = PartsExecutor(self.shared, executors)
        if made.stack is not None and self.settled is not None:
            made.stack.theta = self.settled

    def use(self, executor: Executor | None) -> None:
        """Takes another executor; None: it is made again when it is needed."""
        if self.shared is None:
            self.files[0].use(executor)
        self._executor = executor

    def rest(self) -> None:
        """Frees what only a running fit needs; it is made again when it is needed."""
        if self._executor is not None:
            self._executor.rest()
        for file in self.files:
            file.rest()

    def give_back(self, measurements: Sequence[Measurement]) -> None:
        """Refers to the data as they came, in place of those that workers hold, or of their
        chunks."""
        for file, measurement in zip(self.files, measurements, strict=True):
            if file.measurement is not measurement:
                file.give_back(measurement)
                self._executor = None
        if self.shared is not None:
            self.shared = replace(self.shared, parts=tuple(file.part for file in self.files))

    def settle(self, theta: Array) -> None:
        """The end of the fit: where files share amplitudes each of them needs theta of all."""
        whole = self.executor
        if isinstance(whole, PartsExecutor) and whole.stack is not None:
            self.settled = whole.stack.theta = np.array(theta, np.float64)

    @property
    def fixed(self) -> Mapping[str, float] | None:
        """Values of fixed parameters in place of those of the model; each of several files has its
        own."""
        return self.files[0].fixed

    @property
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""
        if self.only is not None and self.only.laid is not None:
            return True
        return self.executor.capabilities.in_c and not (self.without and self.switched_off)

    @property
    def in_memory(self) -> bool:
        """Whether the loop in C evaluates by itself."""
        if self.only is not None and self.only.laid is not None:
            return True
        return self.in_c and self.executor.capabilities.in_parts

    @property
    def is_plain(self) -> bool:
        """Whether the native solver is all that a fit calls: one loop in C, on data in memory."""
        file = self.only
        return file is not None and file.laid is not None and not file.compiled.jumps

    @contextmanager
    def in_parts(self) -> Iterator[PartsInMemory]:
        """What C evaluates, inside of the `with` block."""
        laid = None if self.only is None else self.only.laid
        if laid is None:
            with self.executor.parts(self.fixed) as parts:
                yield parts
            return
        layout, arrays = laid
        n_threads, own = threads_for(layout.size), layout.take(arrays)
        try:
            with nullcontext() if n_threads == 1 else layout.shared(own, n_threads):
                yield own
        finally:
            layout.give_back(own)

    # the files

    @property
    def gathers(self) -> Sequence[npt.NDArray[np.int64]]:
        """Of each file, the places of its parameters in theta."""
        if self.shared is None:
            return (np.arange(len(self.names)),)
        return self.shared.gather

    @property
    def full(self) -> Sequence[Mapping[str, str]]:
        """Of each file, name of a parameter there → its name in the result."""
        if self.shared is None:
            return ({name: name for name in self.parameters},)
        return self.shared.full

    @property
    def named_files(self) -> Sequence[tuple[FitPart, Mapping[str, str]]]:
        """The files, each with the names that its parameters have in the result."""
        return list(zip(self.files, self.full, strict=True))

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
    def label(self) -> str:
        """How errors call it."""
        if self.only is not None:
            return self.only.label
        return ", ".join(dict.fromkeys(file.label for file in self.files))

    @property
    def model(self) -> Model:
        """That of the first file."""
        return self.files[0].model

    @property
    def measurement(self) -> Measurement:
        """That of the first file."""
        return self.files[0].measurement

    @property
    def data_checksum(self) -> int:
        """That of the first file."""
        return self.files[0].data_checksum

    @property
    def compiled(self) -> CompiledModel:
        """That of the first file."""
        return self.files[0].compiled

    @property
    def outline(self) -> Outline:
        """That of the first file."""
        return self.files[0].outline

    @property
    def is_trace(self) -> bool:
        """Whether values against time are fitted: then there is no energy axis."""
        return self.files[0].is_trace

    def axis(self, name: str) -> Array | None:
        """(n,) the "energy" or "time" of the fit window; None where the data have none."""
        return self.files[0].axis(name)

    @property
    def is_weighted(self) -> bool:
        """Whether the noise is known: weights, or counting statistics."""
        return self.files[0].is_weighted

    @property
    def is_poisson(self) -> bool:
        """Whether a residual is a Poisson deviance."""
        if self.only is not None:
            return self.only.is_poisson
        return any(file.is_poisson for file in self.files)

    @property
    def n_residuals(self) -> int:
        """Points of the windows, masked ones included."""
        return sum(file.n_residuals for file in self.files)

    @property
    def n_points(self) -> int:
        """Points of the windows that count."""
        if self.only is not None:
            return self.only.n_points
        return sum(file.n_points for file in self.files)

    @property
    def data_square(self) -> float:
        """chi² of a model that is 0 everywhere: what rounding of chi² is measured by."""
        if self.only is not None:
            return self.only.data_square
        return sum(file.data_square for file in self.files)

    @property
    def n_linear(self) -> int:
        """Amplitudes that are solved for beside the parameters; shared ones count once."""
        if self.only is not None:
            return self.only.n_linear
        if self.files[0].shares is None:
            return sum(file.n_linear for file in self.files)
        whole = self.executor
        assert isinstance(whole, PartsExecutor)
        assert whole.stack is not None
        return whole.stack.n_linear

    def n_linear_at(self, theta: Array) -> int:
        """The same, but for those that the data do not determine at `theta`."""
        if self.only is not None:
            return self.only.n_linear_at(theta)
        if self.files[0].shares is not None:
            return self.n_linear
        pairs = zip(self.files, self.gathers, strict=True)
        return sum(file.n_linear_at(theta[gather]) for file, gather in pairs)

    def split(self, values: Array) -> list[Array]:
        """One flat array of all points as one of the shape of its window for each file."""
        parts, begin = [], 0
        for file in self.files:
            end = begin + file.n_residuals
            parts.append(values[begin:end].reshape(file.data.shape))
            begin = end
        return parts

    # the parameters

    @cached_property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters by name, as they are when the fit begins."""
        if self.only is not None:
            return self.only.parameters
        found: dict[str, Par] = {}
        for file, full in self.named_files:
            for name, par in file.parameters.items():
                found.setdefault(full[name], par)
        for name, formula in self.spanning.formulas.items():
            found[name] = Par(name, name, vary=False, formula=formula)
        return found

    @cached_property
    def followers(self) -> Followers:
        """The expression parameters, as they are when the fit begins."""
        if self.only is not None:
            return self.only.followers
        files = [(file.followers, full) for file, full in self.named_files]
        return FollowersOfFiles(files, self.spanning.formulas)

    @cached_property
    def spanning(self) -> Spanning:
        """Quantities that take their values from several files."""
        if self.shared is None:
            return Spanning()
        return Spanning.of(self.shared.models, self.full)

    @cached_property
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each Jacobian column, see :class:`pyspec.passes.Column`: constant where it
        is so in every file that has it."""
        found = ["constant"] * len(self.names)
        for file, gather in zip(self.files, self.gathers, strict=True):
            for place, kind in zip(gather.tolist(), file.column_kinds, strict=True):
                found[place] = kind if found[place] == "constant" else found[place]
        return tuple(found)

    @cached_property
    def switched_off(self) -> list[int]:
        """Columns that are to be finite differences, though they are known."""
        if not self.without:
            return []
        return [k for k, kind in enumerate(self.column_kinds) if kind in self.without]

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """The free parameters in which all files together are linear."""
        if self.only is not None:
            return self.only.compiled.linear
        files = [slopes_of(build_graph(file.model)) for file in self.files]
        return choose(self.names, joined(list(zip(files, self.full, strict=True)))).names

    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        if self.only is not None:
            return self.only.jumps()
        found: dict[str, Places] = {}
        for (file, full), gather in zip(self.named_files, self.gathers, strict=True):
            for name, own in file.jumps().items():
                places = own.of_file(gather.tolist())
                before = found.get(full[name])
                found[full[name]] = places if before is None else before.joined(places)
        return found

    def jump_parameters(self) -> Collection[str]:
        """All free parameters that move a jump, directly or through expressions."""
        files = self.named_files
        return {full[name] for file, full in files for name in file.jump_parameters()}

    def theta_of(self, values: Mapping[str, float]) -> Array:
        """The values of the free parameters, in the order of theta."""
        return np.fromiter(map(values.__getitem__, self.names), np.float64, len(self.names))

    def bounds_of(self, params: FitParameters) -> tuple[Array, Array]:
        """(n_free,) lower and upper bounds, in the order of theta."""
        if params.start is not None:
            return params.start.lower, params.start.upper
        bounds = np.array([params.limits[name][:2] for name in self.names])
        return bounds[:, 0], bounds[:, 1]

    def start(
        self, seeds: Mapping[str, float] | None = None
    ) -> tuple[FitParameters, tuple[str, ...]]:
        """The parameters to start from, and the names moved off a bound."""
        if self.only is not None:
            start, is_shared = self.only.start(seeds)
            known = dict(start.values), start.values, start.limits
            return FitParameters(*known, start if is_shared else None), start.moved
        given = seeds or {}
        began: dict[str, float] = {}
        limits: dict[str, Limits] = {}
        moved: list[str] = []
        for file, full in self.named_files:
            own, _ = file.start({name: given[full[name]] for name in full if full[name] in given})
            moved += [full[name] for name in own.moved]
            for name, value in own.values.items():
                if full[name] not in began:
                    began[full[name]] = value
                    if name in own.limits:
                        limits[full[name]] = own.limits[name]
        return FitParameters(dict(began), began, limits), tuple(dict.fromkeys(moved))

    # at values of the parameters

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

    def beside(self, theta: Array) -> list[Array]:
        """Starts to other optima than that at `theta`: of several files all elsewhere together,
        then each of them alone, whose own parameters are elsewhere, the others as they are."""
        if self.others is not None:
            return self.others
        if self.only is not None:
            return self.only.beside(theta)
        together: list[Array] = []
        single: list[Array] = []
        for file, gather in zip(self.files, self.gathers, strict=True):
            starts = file.beside(theta[gather])
            together = together or [theta.copy() for _ in starts]
            for start, all_files in zip(starts, together, strict=False):
                all_files[gather] = start
            for start in file.beside(theta[gather], alone=True):
                single.append(theta.copy())
                single[-1][gather] = start
        found = {moved.tobytes(): moved for moved in (*together, *single)}
        return list(found.values())

    def cautions(self, values: Mapping[str, float]) -> list[Finding]:
        """What may mislead at these values."""
        if self.only is not None:
            return self.only.cautions(values)
        own = [file.cautions(local(values, self.full[k])) for k, file in enumerate(self.files)]
        return [*self._apart(), *self.spanning.nowhere, *_by_file(own, self.full)]

    def _apart(self) -> list[Finding]:
        """Findings about parameters that some files share and that others have for themselves."""
        shared: dict[str, int] = {}
        for index, file in enumerate(self.files):
            for name, par in file.parameters.items():
                if par.scope == "project":
                    shared.setdefault(name, index)
        found = []
        for index, file in enumerate(self.files):
            for name, par in file.parameters.items():
                if name in shared and par.scope != "project" and par.formula is None:
                    own = "free" if par.vary else "fixed"
                    numbers = {"shared_by": shared[name], "own_of": index, "own": own}
                    found.append(Finding(Kind.SHARED_AND_OWN, (name,), numbers))
        return found

    def doubts(
        self, theta: Array, values: Mapping[str, float], sides: Any, chisqr: float
    ) -> list[Finding]:
        """What to doubt in a finished fit of this `chisqr`; `sides` are the bounds that parameters
        ended at."""
        if self.only is not None:
            return self.only.doubts(theta, values, sides, chisqr)
        found: list[list[Finding]] = []
        for index, (file, at) in enumerate(self.files_at(theta)):
            full = self.full[index]
            found.append(file.doubts(at, local(values, full), local(sides, full)))
        return _by_file(found, self.full)

    def at_the_bound(self, name: str, side: str, limit: float, *gain: float) -> Finding:
        """The finding about a parameter at a bound; `gain` is that in χ², χ², and the variance."""
        for file, full in self.named_files:
            for own, whole in full.items():
                if whole == name:
                    found = file.at_the_bound(own, side, limit, *gain)
                    return replace(found, places=(name,))
        raise FitError(f"{self.label}: no parameter {name!r}")

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
    executor: Executor | None = None,
    fixed: Mapping[str, float] | None = None,
    without: Collection[str] = (),
    checksum: int | None = None,
) -> FitProblem:
    """The problem of one model, with or without free amplitudes. `executor` is one made before;
    `fixed` holds values of fixed parameters that differ from those of the model; `checksum` is that
    of the data where they were fitted before."""
    file = part_of(
        Part(compiled, measurement, fixed), backend, executor, checksum, lays_out=not without
    )
    return FitProblem([file], without=without)
