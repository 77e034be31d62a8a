"""Solves for the free amplitudes of one file, or of several files that share a spectrum or a trace.

A shared amplitude is solved for from the data of all its files. At each energy (or time) the basis
functions of the files are stacked below each other. With the points of file f in the rows f,

    [y_1]   [Phi_1  own_1    0  ]
    [y_2] ~ [Phi_2    0    own_2] [c_shared; c_1; c_2],

which is variable projection of a longer column; amplitudes that are not shared have zeros in the
rows of other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import RLock
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS
from pyspec._library.memory import WORDS, address, fill
from pyspec.errors import DataError, ModelError, PlanError
from pyspec.executor.amplitudes.basis import InC
from pyspec.executor.amplitudes.design import Design, Designer, Source, design_of
from pyspec.executor.amplitudes.projection import Projection, Solved
from pyspec.executor.normal import OpenPart, Sums, fit_parts
from pyspec.executor.protocol import (
    Array,
    Capabilities,
    PartsOfFit,
    SumsOfFit,
    Values,
    each_by_itself,
)
from pyspec.model import Measurement, Par
from pyspec.model.data.windows import apart
from pyspec.model.theta import values_of

Ints = npt.NDArray[np.int64]

#: Basis functions that files may have together.
MOST = int(CONSTANTS["LINEAR_MOST"])


class Stack:
    """Files whose amplitudes are solved for together: one file mostly.

    Amplitudes are not part of theta: every evaluation solves for them (variable projection).

    Attributes
    ----------
    theta : of all files, what a call without one takes; each file asks for its amplitudes at its
        own parameters and at these of the others
    gathers : of each file, the places of its parameters in theta
    has_data : (n_groups, n_files) where a file has points that count
    lock : held while the arrays of the design are in use, which all evaluations share
    """

    name: ClassVar[str] = "amplitudes"
    plan: ClassVar[None] = None
    fixed_names: tuple[str, ...] = ()
    #: Values of these.
    _held = np.zeros(0)
    #: Fits in C that are under way, which use the arrays of the design.
    _n_open = 0

    def __init__(
        self,
        files: Sequence[tuple[Designer, Measurement]],
        names: tuple[str, ...],
        theta: Array,
        gathers: Sequence[Ints],
    ) -> None:
        first, self.measurement = files[0]
        self.model, self.axis, self.along = first.model, first.axis, first.along
        self.by_energy = self.axis == "energy"
        self.opt_param_names, self.theta, self.gathers = names, theta, gathers
        self.free: dict[str, Par] = {}
        for index, (designer, measurement) in enumerate(files):
            self._check(index, designer, measurement)
            for name, par in _joint_names(index, designer).items():
                if self.free.setdefault(name, par).free != par.free:
                    raise ModelError(
                        f"{par.place}: {name} is shared by the project, but files give it other "
                        "ranges or bounds; write the same entry in all models"
                    )
        if len(self.free) > MOST:
            whose = "has" if len(files) == 1 else "these files have"
            raise ModelError(
                f"{self.model.name}: {whose} {len(self.free)} free amplitudes; {MOST} at most can "
                f"be solved for at each {self.axis}"
            )
        order, end = list(self.free), 0
        self.sources: list[Source] = []
        for index, (designer, _) in enumerate(files):
            amplitudes = _joint_names(index, designer)
            places = np.array([order.index(name) for name in amplitudes], np.int64)
            points = slice(end, end := end + designer.x.size)
            self.sources.append(Source(designer.bases(), gathers[index], places, points))
        self.design = design_of(self.sources, len(order), end)
        self._join(files)
        self.lock = RLock()
        #: What the last call of `solve` was for, and its answer.
        self._last: tuple[object, Solved] | None = None

    def _check(self, index: int, designer: Designer, measurement: Measurement) -> None:
        """Raises an error where a file cannot stand below the first one."""
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
        loss = self.measurement.loss, self.measurement.loss_scale
        if (measurement.loss, measurement.loss_scale) != loss:
            raise DataError(
                f"{designer.model.name}: files that share amplitudes have the same noise; one "
                "counts otherwise than the first"
            )

    def _join(self, files: Sequence[tuple[Designer, Measurement]]) -> None:
        """The data, the ranges and the bounds of all files."""
        shape, measured = (self.along.size, len(self.free)), self.measurement
        pairs = [self._weighted(measurement) for _, measurement in files]
        counts = [np.ones(shape[0], bool) if w is None else np.any(w > 0, axis=1) for _, w in pairs]
        self.has_data = np.stack(counts, axis=1)
        allowed = self._allowed = np.ones(shape, bool)
        positive = np.zeros(shape[1], bool)
        #: (n_groups, n_basis) where there are data, and an amplitude is not held at 0.
        self.solvable = np.zeros(shape, bool)
        for index, (designer, _) in enumerate(files):
            places = self.sources[index].places
            allowed[:, places], positive[places] = designer.allowed, designer.positive
            self.solvable[:, places] |= designer.allowed & self.has_data[:, [index]]
        self._projection: Projection | None = None
        weighted = [(data, weight) for data, weight in pairs if data is not None]
        if len(weighted) == len(files):
            weight, data = None, _beside([data for data, _ in weighted])
            if any(weight is not None for _, weight in weighted):
                filled = [
                    np.ones(data.shape) if weight is None else weight for data, weight in weighted
                ]
                weight = _beside(filled)
            scale = measured.loss_scale if measured.loss == "poisson" else 0.0
            self._projection = Projection(
                data if weight is None or scale else data * weight,
                weight,
                None if allowed.all() else allowed,
                positive if positive.any() else None,
                scale,
            )

    def _weighted(self, measured: Measurement) -> tuple[Array | None, Array | None]:
        """(n_groups, n_x) data of a file and weights of its window; masked points have neither."""
        if measured.data is None:
            return None, None
        data = np.asarray(measured.window(measured.data), np.float64)
        weight: Array | None = None
        if measured.weight is not None:
            weight = np.array(measured.of_points(measured.weight))
        if measured.keep is not None:
            kept = measured.window(measured.keep)
            weight = np.where(kept, 1.0 if weight is None else weight, 0.0)
            data = np.where(kept, data, 0.0)
        return self.groups_of(data), None if weight is None else self.groups_of(weight)

    def groups_of(self, values: Array) -> Array:
        """(n_groups, n_x) of (n_rows, n_columns), or back; a view."""
        return values.T if self.by_energy else values

    def _flat(self, values: Array) -> Array:
        """(n,) of (n_groups, n_x), file after file."""
        own = (values[:, source.points] for source in self.sources)
        return np.concatenate([self.groups_of(block).ravel() for block in own])

    # what it can do

    @property
    def _in_c(self) -> list[InC] | None:
        """The bases where all of them are filled by C; else None."""
        bases = [basis for source in self.sources for basis in source.bases]
        filled_by_c = [basis for basis in bases if isinstance(basis, InC)]
        return filled_by_c if len(filled_by_c) == len(bases) else None

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: all of a fit, where C evaluates everything."""
        return Capabilities(jacobian=True, in_c=True, in_parts=self._in_c is not None)

    @property
    def n_amplitudes(self) -> int:
        """Amplitudes that are solved for: those of points that count, and not held at 0."""
        return int(np.count_nonzero(self.solvable))

    # at theta

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

    def at(self, theta: Array, fixed: Mapping[str, float]) -> Design:
        """The design at theta. Its arrays are those of the next one too."""
        for source in self.sources:
            own = theta[source.gather]
            for basis in source.bases:
                basis.fill(own, fixed)
        return self.design

    def solve(
        self, theta: Values, fixed: Values = None, form: str = "gram", full: bool = False
    ) -> Solved:
        """The amplitudes at theta, with the triangle of [J r] or, ``form="rows"``, residual and
        derivatives too. A reader of the design takes :attr:`lock`: while it is held, the design
        belongs to this call. Raises :class:`DataError` without data."""
        if self._projection is None:
            raise DataError("free amplitudes need data; give the measurement some")
        with self.lock:
            free, values = self._theta(theta), self._fixed(fixed)
            question = (free.tobytes(), tuple(values.items()), form, full)
            if self._last is not None and self._last[0] == question:
                return self._last[1]
            self._last = None  # its arrays are those of the next design
            solved = self._projection.at(free, self.at(free, values), form, full)
            if form == "gram" and not self._n_open:
                self._last = question, solved
            return solved

    def follow(
        self, theta: Values, fixed: Values = None
    ) -> tuple[npt.NDArray[np.bool_], Array, Array]:
        """How amplitudes follow theta, see :meth:`Projection.follow`."""
        with self.lock:
            solved = self.solve(theta, fixed)
            assert self._projection is not None
            return self._projection.follow(solved.design, solved.theta.size)

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The models of all files over their windows, flattened, one after the other."""
        with self.lock:
            if self._projection is not None:
                return self._flat(self.solve(theta, fixed).model)
            design = self.at(self._theta(theta), self._fixed(fixed))
            return self._flat(design.model(self._allowed.astype(np.float64)))

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """(data - model) * weight over the window, flattened; 0 where masked."""
        residuals = self.solve(theta, fixed, "rows").residual
        assert residuals is not None
        return self._flat(residuals)

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """(n_free, n) derivatives of the residual; the amplitudes follow."""
        derivatives = self.solve(theta, fixed, "rows", full=True).jacobian
        assert derivatives is not None
        return np.array([self._flat(column) for column in derivatives])

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """chi², Jᵀr and JᵀJ of the projected residual as a packed triangle, with J of Kaufman: its
        inverse is the covariance of theta with free amplitudes. Forms as of
        :meth:`pyspec.executor.CompiledExecutor.normal`."""
        if form == "value":
            return self.solve(theta, fixed).triangle[-1:]
        return self.solve(theta, fixed, form).triangle

    # of one of several files

    def solve_file(self, index: int, theta: Array, form: str, full: bool) -> Solved:
        """What is known of one file at its theta. Its derivatives are by the theta of all."""
        _, gather, places, points = self.sources[index]
        whole = self.theta.copy()
        whole[gather] = theta
        solved, design = self.solve(whole, None, form, full), self.design
        ends = np.cumsum([0, *(source.n_slopes for source in self.sources)])
        own = slice(ends[index], ends[index + 1])
        entries = (design.entry_slope >= own.start) & (design.entry_slope < own.stop)
        kinds = design.slope_basis[own]
        of_file = Design(
            design.basis[places][..., points],
            design.slopes[own][..., points],
            np.where(kinds < 0, -1, np.argmax(kinds[:, None] == places, axis=1)),
            design.entry_slope[entries] - own.start,
            design.entry_theta[entries],
            design.factors[:, entries],
            design.rest[..., points],
        )
        return Solved(
            whole,
            of_file,
            solved.amplitudes[:, places],
            solved.determined[:, places],
            solved.triangle,
            None if solved.residual is None else solved.residual[:, points],
            None if solved.jacobian is None else solved.jacobian[:, :, points],
        )

    # as a part of a fit

    @property
    def shared_size(self) -> int:
        """Points that threads share in an evaluation."""
        return sum(basis.size for basis in self._in_c or ())

    @property
    def derivative_work_size(self) -> int:
        """Bytes of scratch that a thread needs."""
        return max((basis.work_size for basis in self._in_c or ()), default=0)

    @property
    def n_rows(self) -> int:
        """Rows that are summed."""
        return 1

    @contextmanager
    def open_part(self, fixed: Values, n_total: int, n_threads: int) -> Iterator[OpenPart]:
        """A part of a fit in C: each basis function with its slopes, and the projection."""
        bases, projection = self._in_c, self._projection
        if bases is None or projection is None:
            raise PlanError(f"{self.model.name}: Python solves for the free amplitudes")
        n_theta, fixed_values, kept = len(self.opt_param_names), self._fixed(fixed), ExitStack()
        with self.lock, kept:
            self._n_open += 1
            kept.callback(self._close_part)
            self._last = None  # its arrays are those of the fit now
            sums, theta = Sums(n_theta, n_total), np.empty(n_theta + 1)
            gathers = [source.gather for source in self.sources for _ in source.bases]
            words = np.zeros(len(bases) * WORDS["pyspec_part"], np.int64)
            for k, (basis, gather) in enumerate(zip(bases, gathers, strict=True)):
                fields = kept.enter_context(basis.as_part(fixed_values, n_threads))
                fields["gather"] = address(gather) if gather.size else 0
                fill("pyspec_part", fields, words, k * WORDS["pyspec_part"])
            linear, *written = projection.describe(self.design, n_theta, {"triangle": sums.address})
            places = {"linear": address(linear), "bases": address(words), "n_bases": len(bases)}
            places |= {"theta": address(theta), "normal": sums.address, "n_theta": n_theta}
            size = self.shared_size + projection.n_groups * projection.n_x * (n_theta + 1)
            memory = (linear, words, written, gathers, projection.work)
            yield OpenPart(places, theta[:n_theta], sums, size, memory)

    def _close_part(self) -> None:
        self._n_open -= 1

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """This executor as the C loop of a fit uses it."""
        n_theta = len(self.opt_param_names)
        return fit_parts([self], [np.arange(n_theta)], n_theta, fixed)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit whose loop runs in Python."""
        return each_by_itself(self, fixed)

    def rest(self) -> None:
        """Frees work memory."""
        with self.lock:
            self._last = None
            if self._projection is not None:
                self._projection.rest()

    def _theta(self, theta: Values) -> Array:
        return values_of(theta, self.opt_param_names, self.theta, "free", self.model.name)

    def _fixed(self, fixed: Values) -> dict[str, float]:
        if fixed is None:
            return {}
        names = self.fixed_names
        values = values_of(fixed, names, self._held, "fixed", self.model.name)
        return dict(zip(names, values.tolist(), strict=True))


def _beside(arrays: Sequence[Array]) -> Array:
    """(n_groups, n_x) of all files; that of one is no copy."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=1)


def _joint_names(index: int, designer: Designer) -> dict[str, Par]:
    """The free amplitudes of a file by their names among those of all files."""
    amplitudes = {}
    for name, par in designer.free.items():
        shared = par.free is not None and par.free.shared
        amplitudes[name if shared else f"file{index:02d}_{name}"] = par
    return amplitudes
