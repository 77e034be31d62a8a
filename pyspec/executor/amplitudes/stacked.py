"""Several files with amplitudes in common: one spectrum, or one trace, for all of them.

A shared amplitude is solved for from the data of all its files. At each energy (or time) the basis
functions of the files are stacked below each other. With the points of file f in the rows f,

    [y_1]   [Phi_1  own_1    0  ]
    [y_2] ~ [Phi_2    0    own_2] [c_shared; c_1; c_2],

which is variable projection of a longer column; amplitudes that are not shared have zeros in the
rows of other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError
from pyspec.executor.amplitudes.design import MOST, Design, Designer, Source
from pyspec.executor.amplitudes.executor import AmplitudesExecutor
from pyspec.executor.amplitudes.projection import Solved
from pyspec.executor.problem import Problem
from pyspec.executor.protocol import Array, Executor, Values
from pyspec.model import Model, Par
from pyspec.model.build.free import free_parameters
from pyspec.model.data.windows import apart

Ints = npt.NDArray[np.int64]


def shares_amplitudes(models: Sequence[Model]) -> bool:
    """Whether an amplitude is one for several of these files."""
    names = [
        name
        for model in models
        for name, par in free_parameters(model.parameters).items()
        if par.free is not None and par.free.shared
    ]
    return len(set(names)) < len(names)


class StackedDesigner(Designer):
    """The basis functions of several files, one below the other."""

    def __init__(self, designers: Sequence[Designer], problem: Problem) -> None:
        self.designers, self.gather = list(designers), problem.gather
        self.names = problem.names
        first = self.designers[0]
        self.model, self.axis, self.along = first.model, first.axis, first.along
        self.free: dict[str, Par] = {}
        sources: list[Source] = []
        end = 0
        for index, designer in enumerate(self.designers):
            self._check(designer, index)
            known = [self._joint_name(index, par) for par in designer.free.values()]
            for name, par in zip(known, designer.free.values(), strict=True):
                self._take(name, par)
            order = list(self.free)
            places = np.array([order.index(name) for name in known], np.int64)
            sources.append(designer.source(self.gather[index], places, end))
            end += designer.x.size
        #: Of each file: which of all basis functions its own are, and where its points stand.
        self.places = [one.places for one in sources]
        self.rows = [one.points for one in sources]
        if len(self.free) > MOST:
            raise ModelError(
                f"{self.model.name}: these files have {len(self.free)} free amplitudes; {MOST} at "
                f"most can be solved for at each {self.axis}"
            )
        self.x = np.concatenate([designer.x for designer in self.designers])
        self._join_limits()
        self._make_room(sources)

    def _check(self, designer: Designer, index: int) -> None:
        if designer.axis != self.axis:
            raise ModelError(
                f"{designer.model.name}: leaves amplitudes free along {designer.axis}, the first "
                f"file along {self.axis}; files that share amplitudes have them along one axis"
            )
        if distance := apart(designer.along, self.along):
            points = {"energy": "energies", "time": "times"}[self.axis]
            raise DataError(
                f"{designer.model.name}: file {index} shares amplitudes with file 0, but has other "
                f"{points} in its window, {distance}; bring both onto one axis, or leave out "
                "'vary: project'"
            )

    @staticmethod
    def _joint_name(index: int, par: Par) -> str:
        shared = par.free is not None and par.free.shared
        return par.name if shared else f"file{index:02d}_{par.name}"

    def _take(self, name: str, par: Par) -> None:
        if self.free.setdefault(name, par).free != par.free:
            raise ModelError(
                f"{par.place}: {name} is shared by the project, but files give it other ranges or "
                "bounds; write the same entry in all models"
            )

    def _join_limits(self) -> None:
        """Ranges and bounds of all amplitudes."""
        kept = np.ones((self.along.size, len(self.free)), bool)
        positive = np.zeros(len(self.free), bool)
        for designer, places in zip(self.designers, self.places, strict=True):
            if designer.allowed is not None:
                kept[:, places] = designer.allowed
            if designer.positive is not None:
                positive[places] = designer.positive
        self.allowed = None if kept.all() else kept
        self.positive = positive if positive.any() else None

    def of_file(self, index: int) -> Design:
        """The design of one file, with places in the theta of all."""
        whole, (_, _, places, points) = self.design, self.sources[index]
        ends = np.cumsum([0, *(sum(len(b.slopes) for b in one.bases) for one in self.sources)])
        own = slice(ends[index], ends[index + 1])
        entries = (whole.entry_slope >= own.start) & (whole.entry_slope < own.stop)
        kinds = whole.slope_basis[own]
        return Design(
            whole.basis[places][..., points],
            whole.slopes[own][..., points],
            np.where(kinds < 0, -1, np.argmax(kinds[:, None] == places, axis=1)),
            whole.entry_slope[entries] - own.start,
            whole.entry_theta[entries],
            whole.factors[:, entries],
            whole.rest[..., points],
        )


class Stack(AmplitudesExecutor):
    """Solves for the amplitudes of several files together. Each member asks it for the amplitudes
    of its own file. It solves at the member's theta and at the last theta of the other files."""

    def __init__(self, members: Sequence[AmplitudesExecutor], problem: Problem) -> None:
        self.members = list(members)
        self.model, self.measurement = members[0].model, members[0].measurement
        for member in members:
            if (member.measurement.loss, member.measurement.loss_scale) != (
                self.measurement.loss,
                self.measurement.loss_scale,
            ):
                raise DataError(
                    f"{member.model.name}: files that share amplitudes have the same noise; one "
                    "counts otherwise than the first"
                )
        self.designer: StackedDesigner = StackedDesigner([m.designer for m in members], problem)
        self.opt_param_names, self.fixed_names = problem.names, ()
        self.by_energy = members[0].by_energy
        self.theta = problem.start
        self.data, self.weight = self._join()
        self._projection = self._make_projection()
        self._last, self.of_stack = None, None
        self.lock = RLock()
        for index, member in enumerate(members):
            member.of_stack, member.lock = (self, index), self.lock

    @classmethod
    def of(cls, executors: Sequence[Executor], problem: Problem) -> Stack:
        """That of all parts of a problem. Raises :class:`ModelError` where one has no free
        amplitudes."""
        members = [one for one in executors if isinstance(one, AmplitudesExecutor)]
        if len(members) < len(executors):
            none = [k for k, one in enumerate(executors) if not isinstance(one, AmplitudesExecutor)]
            which = ", ".join(f"file {k}" for k in none)
            raise ModelError(
                f"some files share amplitudes that are free, others have none ({which}); fit these "
                "apart"
            )
        return cls(members, problem)

    @contextmanager
    def settled(self, theta: Array) -> Iterator[None]:
        """Inside of this block what a file does not know of the others is as at this theta."""
        with self.lock:
            before = self.theta
            self.theta = np.array(theta, np.float64)
            try:
                yield
            finally:
                self.theta = before

    def _join(self) -> tuple[Array | None, Array | None]:
        """(n_groups, n_x) data and weights of all files."""
        data = [member.data for member in self.members]
        known = [one for one in data if one is not None]
        if len(known) < len(data):
            return None, None
        weights = [member.weight for member in self.members]
        if all(weight is None for weight in weights):
            return np.concatenate(known, axis=1), None
        given = [
            np.ones(own.shape) if weight is None else weight
            for own, weight in zip(known, weights, strict=True)
        ]
        return np.concatenate(known, axis=1), np.concatenate(given, axis=1)

    def _solvable(self) -> npt.NDArray[np.bool_]:
        kept = np.zeros((self.designer.along.size, len(self.designer.free)), bool)
        for member, places in zip(self.members, self.designer.places, strict=True):
            kept[:, places] |= member._solvable()
        return kept

    def groups_of(self, values: npt.NDArray[np.float64]) -> Array:
        """(n,) of (n_groups, n_x), file after file."""
        return np.concatenate(
            [
                member.groups_of(values[:, rows]).ravel()
                for member, rows in zip(self.members, self.designer.rows, strict=True)
            ]
        )

    def _theta(self, theta: Values) -> Array:
        return self.theta if theta is None else np.asarray(theta, np.float64)

    def of_member(self, index: int, theta: Array, what: str, full: bool) -> Solved:
        """What is known of one file at its theta. Its derivatives are by the theta of all."""
        designer = self.designer
        whole = self.theta.copy()
        whole[designer.gather[index]] = theta
        solved = self.solve(whole, None, what, full)
        places, rows = designer.places[index], designer.rows[index]
        return Solved(
            whole,
            designer.of_file(index),
            solved.amplitudes[:, places],
            solved.determined[:, places],
            solved.triangle,
            None if solved.residual is None else solved.residual[:, rows],
            None if solved.jacobian is None else solved.jacobian[:, :, rows],
        )
