"""The executor of a model with free amplitudes: the residual that remains once they are solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError
from pyspec.executor.amplitudes.design import Design, Designer
from pyspec.executor.amplitudes.projection import Solved
from pyspec.executor.amplitudes.stacked import Stack
from pyspec.executor.problem import Problem
from pyspec.executor.protocol import Array, Executor, Values
from pyspec.model import Measurement, Model
from pyspec.model.build.free import free_parameters
from pyspec.plan import CompiledModel, compile_model
from pyspec.plan.basis import is_pointwise


class AmplitudesExecutor(Stack):
    """Evaluates a model whose amplitudes are free at each energy, or at each time.

    Without data each is 1.

    Parameters
    ----------
    compiled : a model with both axes set
    measurement : window, data, weights and mask
    backend : "compiled", "interpreted" or "tree"
    """

    #: What solves for the amplitudes of all files, and the number of this file, if files share
    #: amplitudes.
    of_stack: tuple[Stack, int] | None = None

    def __init__(
        self, compiled: CompiledModel, measurement: Measurement | None, backend: str
    ) -> None:
        model, measured = compiled.model, measurement if measurement is not None else Measurement()
        model.check()
        designer = self.designer = Designer(compiled, measured, backend)
        assert model.energy is not None
        assert model.time is not None
        measured.check_axes((model.time.size, model.energy.size), model.name)
        places = np.arange(len(designer.names), dtype=np.int64)
        super().__init__([(designer, measured)], designer.names, model.theta(), [places])
        self.fixed_names = tuple(n for n in model.fixed_names if n not in designer.free)
        self._held = np.array([model.parameters[name].value for name in self.fixed_names])

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a linear executor is made again, not pickled")

    def undetermined(self, theta: Values, fixed: Values = None) -> dict[str, int]:
        """Amplitudes that are combinations of others → number of energies, or times, with data.
        Amplitudes held at 0, by a range or a bound, are left out."""
        solved = self.solve(theta, fixed)
        lost = ~solved.determined & self.solvable & ~self.designer.positive
        counts = np.count_nonzero(lost, axis=0)
        return {name: int(n) for name, n in zip(self.designer.free, counts, strict=True) if n}

    @property
    def gather(self) -> npt.NDArray[np.int64]:
        """Places of theta in the parameters of what solves for the amplitudes: this executor, or
        that of all files that share amplitudes."""
        if self.of_stack is None:
            return self.gathers[0]
        stack, index = self.of_stack
        return stack.gathers[index]

    def solve(
        self, theta: Values, fixed: Values = None, form: str = "gram", full: bool = False
    ) -> Solved:
        """As of :meth:`Stack.solve`; with the data of all files that share amplitudes."""
        if self.of_stack is None:
            return super().solve(theta, fixed, form, full)
        stack, index = self.of_stack
        with self.lock:
            return stack.solve_file(index, self._theta(theta), form, full)

    def follow(
        self, theta: Values, fixed: Values = None
    ) -> tuple[npt.NDArray[np.bool_], Array, Array]:
        """As of :meth:`Stack.follow`; with the data of all files that share amplitudes."""
        if self.of_stack is None:
            return super().follow(theta, fixed)
        stack, index = self.of_stack
        with self.lock:
            on, inverse, slopes = stack.follow(self.solve(theta, fixed).theta)
        own = stack.sources[index].places
        return on[:, own], inverse[:, own[:, np.newaxis], own], slopes[:, own]

    def elsewhere(self, theta: Values, fixed: Values, x: npt.ArrayLike) -> tuple[Design, Array]:
        """The basis functions at other times (spectra are free) or energies (traces are), and that
        axis. Raises :class:`DataError` where a part of the model needs the samples of the data."""
        compiled = self.designer.compiled
        if not is_pointwise(compiled.graph):
            raise DataError(
                f"{self.model.name}: reads the samples of the data, or moves in time, and is known "
                "on their axes alone; leave the axis out"
            )
        moved = self.model.copy()
        if self.by_energy:
            moved.set_axes(time=x)
            window = Measurement(columns=self.measurement.columns)
        else:
            moved.set_axes(energy=x)
            window = Measurement(rows=self.measurement.rows)
        other = AmplitudesExecutor(compile_model(moved), window, self.designer.backend)
        design = other.at(self._theta(theta), self._fixed(fixed))
        return replace(design, entry_theta=self.gather[design.entry_theta]), other.designer.x

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window, (n_rows, n_columns)."""
        x, along = self.designer.x, self.along
        shape = (x.size, along.size) if self.by_energy else (along.size, x.size)
        return super().run(theta, fixed).reshape(shape)

    def components(self, theta: Values, fixed: Values = None) -> dict[str, Array]:
        """Name → (n_rows, n_columns) of every component over the window, in file order. Each is
        convolved with the instruments above it. Free amplitudes are multiplied in; components
        without free amplitudes are included."""
        with self.lock:
            solved = self.solve(theta, fixed)
            rest = self.designer.rest_at(self._theta(theta), self._fixed(fixed))
            pairs = zip(solved.amplitudes.T[:, :, np.newaxis], solved.design.basis, strict=True)
            free = dict(zip(self.designer.free, pairs, strict=True))
            curves: dict[str, Array] = {}
            for component in self.model.components:
                own = [free[par.name] for par in component.parameters if par.name in free]
                parts = [rest[component.name]] if component.name in rest else []
                parts += [amplitudes * basis for amplitudes, basis in own]
                if parts:
                    total = sum(parts, np.zeros((self.along.size, self.designer.x.size)))
                    curves[component.name] = self.groups_of(total)
            return curves


def stack_of(executors: Sequence[Executor], problem: Problem) -> Stack | None:
    """What solves for the amplitudes of all parts of a problem together; None where these share
    none. Each of the executors asks it from here on.

    Raises :class:`ModelError` where one has no free amplitudes.
    """
    free = [par for model in problem.models for par in free_parameters(model.parameters).values()]
    shared = [par.name for par in free if par.free is not None and par.free.shared]
    if len(set(shared)) == len(shared):
        return None
    members = [executor for executor in executors if isinstance(executor, AmplitudesExecutor)]
    if len(members) < len(executors):
        none = [
            k
            for k, executor in enumerate(executors)
            if not isinstance(executor, AmplitudesExecutor)
        ]
        which = ", ".join(f"file {k}" for k in none)
        raise ModelError(
            f"some files share amplitudes that are free, others have none ({which}); fit these "
            "apart"
        )
    files = [(executor.designer, executor.measurement) for executor in members]
    stack = Stack(files, problem.names, problem.start, problem.gather)
    for index, member in enumerate(members):
        member.of_stack, member.lock = (stack, index), stack.lock
    return stack


def check_backend(model: Model, backend: str) -> None:
    """Raises :class:`ModelError` for a backend that cannot solve for amplitudes."""
    if backend == "compare":
        raise ModelError(
            f"{model.name}: has free amplitudes, which executors do not compare; choose one of "
            "compiled, interpreted, tree"
        )
