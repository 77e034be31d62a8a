"""Several files as one problem: shared parameters once, residuals one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.executor import Executor, JointExecutor, make_joint_executor
from pyspec.executor.joint import in_steps_of_the_first, join_names
from pyspec.executor.linear.stacked import StackedExecutor
from pyspec.fit.findings.deep import of_any_sign
from pyspec.fit.findings.finding import Finding, unique
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.joint.followers import FollowersOfFiles, Spanning, local
from pyspec.fit.linear import LinearProblem, problem_of
from pyspec.fit.on_cluster import give_back
from pyspec.fit.parameters import FitParameters
from pyspec.fit.problem import FitProblem
from pyspec.fit.refusals import check_registered
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model, Par
from pyspec.passes.eliminate import choose, joined, slopes_of
from pyspec.plan import compile_model
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


class JointProblem(FitProblem):
    """Several problems as one. Shared parameters occur once, the others as ``file00_name``."""

    #: Where files share amplitudes: theta of all at the end of the fit.
    settled: Array | None = None

    def __init__(
        self, parts: Sequence[tuple[Model, Measurement]], backend: str, label: str
    ) -> None:
        self.parts = in_steps_of_the_first(parts)
        self.shared = join_names([model for model, _ in self.parts])
        self._label = label
        self.backend = backend
        model, measurement = self.parts[0]
        super().__init__(compile_model(model), measurement, backend, self.make_executor())
        assert isinstance(self.executor, JointExecutor)
        self.problems = [
            problem_of(compile_model(model), measurement, backend, executor)
            for (model, measurement), executor in zip(
                self.parts, self.executor.executors, strict=True
            )
        ]
        if isinstance(self.executor, StackedExecutor):
            for index, problem in enumerate(self.problems):
                assert isinstance(problem, LinearProblem)
                problem.of_joint = self, index
        if len({problem.is_weighted for problem in self.problems}) > 1:
            raise FitError(
                f"{label}: the noise of some files is known and that of others is not, so their "
                "residuals cannot be weighed against each other; call set_noise for all or none"
            )

    def of_squares(self) -> FitProblem:
        plain = [(model, replace(measured, loss="squares")) for model, measured in self.parts]
        return JointProblem(plain, self.backend, self._label)

    def of_any_sign(self) -> JointProblem:
        """The same with free amplitudes that may be negative."""
        parts = [(of_any_sign(model), measured) for model, measured in self.parts]
        return JointProblem(parts, self.backend, self._label)

    def make_executor(self) -> Executor:
        for model, _ in self.parts:
            check_registered(model, model.parameters)
        made = make_joint_executor(self.parts, self.backend)
        if isinstance(made, StackedExecutor) and self.settled is not None:
            made.settle(self.settled)
        return made

    def rest(self) -> None:
        super().rest()
        for problem in self.problems:
            problem.rest()

    def run_on(self, other: JointProblem) -> None:
        """Takes the executors of another problem of the same files."""
        for own, one in zip((self, *self.problems), (other, *other.problems), strict=True):
            own.use(one.executor)

    def give_back(self, measurements: Sequence[Measurement]) -> None:
        """Has the files refer to the data as they came, in place of those that workers hold."""
        for problem, measurement in zip(self.problems, measurements, strict=True):
            give_back(problem, measurement)
        if any(own is not one for (_, own), one in zip(self.parts, measurements, strict=True)):
            self.parts = [(m, one) for (m, _), one in zip(self.parts, measurements, strict=True)]
            self.use(None)

    def settle(self, theta: Array) -> None:
        """The end of the fit: where files share amplitudes each of them needs theta of all."""
        self.settled = np.array(theta, np.float64)
        if isinstance(self.executor, StackedExecutor):
            self.executor.settle(theta)

    def _at(self, theta: Array) -> AbstractContextManager[None]:
        """Inside of this block each file knows the theta of the others."""
        if isinstance(self.executor, StackedExecutor):
            return self.executor.settled(theta)
        return nullcontext()

    @property
    def files(self) -> Sequence[FitProblem]:
        return self.problems

    @property
    def named_files(self) -> Sequence[tuple[FitProblem, Mapping[str, str]]]:
        return list(zip(self.problems, self.shared.full, strict=True))

    def files_at(self, theta: Array) -> Iterator[tuple[FitProblem, Array]]:
        with self._at(theta):
            for problem, gather in zip(self.problems, self.shared.gather, strict=True):
                yield problem, theta[gather]

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
    def n_linear(self) -> int:  # type: ignore[override]
        """Amplitudes that are free in any of the files; shared ones count once."""
        if isinstance(self.executor, StackedExecutor):
            return self.executor.stack.n_linear
        return sum(problem.n_linear for problem in self.problems)

    def n_linear_at(self, values: Mapping[str, float]) -> int:
        if not isinstance(self.executor, StackedExecutor):
            for index, problem in enumerate(self.problems):
                problem.n_linear_at(self.local(index, values))
        return self.n_linear

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        """All files elsewhere together, then each of them alone: its own parameters are elsewhere,
        the others as they are."""
        together: list[Array] = []
        single: list[Array] = []
        for problem, gather in zip(self.problems, self.shared.gather, strict=True):
            starts = problem.beside(theta[gather])
            together = together or [theta.copy() for _ in starts]
            for start, all_files in zip(starts, together, strict=False):
                all_files[gather] = start
            for start in problem.beside(theta[gather], alone=True):
                single.append(theta.copy())
                single[-1][gather] = start
        found = {moved.tobytes(): moved for moved in (*together, *single)}
        return list(found.values())

    def split(self, values: Array) -> list[Array]:
        """One flat array of all points as one of the shape of its window for each file."""
        parts, begin = [], 0
        for problem in self.problems:
            measurement, end = problem.measurement, begin + problem.n_residuals
            assert measurement.data is not None
            parts.append(values[begin:end].reshape(measurement.window(measurement.data).shape))
            begin = end
        return parts

    @cached_property
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each column: constant where it is so in every file that has it."""
        found = ["constant"] * len(self.names)
        for problem, gather in zip(self.problems, self.shared.gather, strict=True):
            for place, kind in zip(gather.tolist(), problem.column_kinds, strict=True):
                found[place] = kind if found[place] == "constant" else found[place]
        return tuple(found)

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """The free parameters in which all files together are linear."""
        files = [slopes_of(build_graph(model)) for model, _ in self.parts]
        return choose(self.names, joined(list(zip(files, self.shared.full, strict=True)))).names

    @cached_property
    def parameters(self) -> Mapping[str, Par]:
        found: dict[str, Par] = {}
        for problem, full in self.named_files:
            for name, par in problem.parameters.items():
                found.setdefault(full[name], par)
        for name, formula in self.spanning.formulas.items():
            found[name] = Par(name, name, vary=False, formula=formula)
        return found

    @cached_property
    def data_square(self) -> float:
        return sum(problem.data_square for problem in self.problems)

    def start(
        self, seeds: Mapping[str, float] | None = None
    ) -> tuple[FitParameters, tuple[str, ...]]:
        began: dict[str, float] = {}
        limits: dict[str, Limits] = {}
        moved: list[str] = []
        for problem, full in self.named_files:
            own = {name: (seeds or {})[full[name]] for name in full if full[name] in (seeds or {})}
            local, moved_here = problem.start(own)
            moved += [full[name] for name in moved_here]
            for name, value in local.began.items():
                if full[name] not in began:
                    began[full[name]] = value
                    if name in local.limits:
                        limits[full[name]] = local.limits[name]
        self.sizes = [limits[name].unit for name in self.names]
        return FitParameters(dict(began), began, limits), tuple(dict.fromkeys(moved))

    def local(self, index: int, values: Mapping[str, float]) -> dict[str, float]:
        """The values of one file under its own names."""
        return local(values, self.shared.full[index])

    @cached_property
    def followers(self) -> Followers:
        files = [(problem.followers, full) for problem, full in self.named_files]
        return FollowersOfFiles(files, self.spanning.formulas)

    @cached_property
    def spanning(self) -> Spanning:
        """Quantities that take their values from several files."""
        return Spanning.of([model for model, _ in self.parts], self.shared.full)

    def cautions(self, values: Mapping[str, float]) -> list[Finding]:
        own = [
            problem.cautions(self.local(index, values))
            for index, problem in enumerate(self.problems)
        ]
        return [*self._apart(), *self.spanning.nowhere, *_by_file(own, self.shared.full)]

    def _apart(self) -> list[Finding]:
        """Findings about parameters that some files share and that others have for themselves."""
        shared: dict[str, int] = {}
        for index, problem in enumerate(self.problems):
            for name, par in problem.parameters.items():
                if par.scope == "project":
                    shared.setdefault(name, index)
        found = []
        for index, problem in enumerate(self.problems):
            for name, par in problem.parameters.items():
                if name in shared and par.scope != "project" and par.formula is None:
                    own = "free" if par.vary else "fixed"
                    numbers = {"shared_by": shared[name], "own_of": index, "own": own}
                    found.append(Finding(Kind.SHARED_AND_OWN, (name,), numbers))
        return found

    def doubts(
        self, theta: Array, values: Mapping[str, float], sides: Any, chisqr: float | None = None
    ) -> list[Finding]:
        found: list[list[Finding]] = []
        for index, (problem, at) in enumerate(self.files_at(theta)):
            own, full = self.local(index, values), self.shared.full[index]
            there = {name: sides[full[name]] for name in full if full[name] in sides}
            found.append(problem.doubts(at, own, there))
        return _by_file(found, self.shared.full)

    def at_the_bound(self, name: str, side: str, limit: float, *gain: float) -> Finding:
        for problem, full in self.named_files:
            for own, whole in full.items():
                if whole == name:
                    found = problem.at_the_bound(own, side, limit, *gain)
                    return replace(found, places=(name,))
        return super().at_the_bound(name, side, limit, *gain)

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
        self.evaluations.count += 2 * len(free)
        return np.concatenate(blocks)

    def jumps(self) -> dict[str, Places]:
        found: dict[str, Places] = {}
        for (problem, full), gather in zip(self.named_files, self.shared.gather, strict=True):
            for name, own in problem.jumps().items():
                places = own.of_file(gather.tolist())
                before = found.get(full[name])
                found[full[name]] = places if before is None else before.joined(places)
        return found

    def jump_parameters(self) -> Collection[str]:
        files = self.named_files
        return {full[name] for problem, full in files for name in problem.jump_parameters()}

    def explain(self, theta: Array) -> str:
        for index, (problem, own) in enumerate(self.files_at(theta)):
            if not np.isfinite(problem.run(own)).all():
                return f"file {index}: {problem.explain(own)}"
        return self.problems[0].explain(theta[self.shared.gather[0]])
