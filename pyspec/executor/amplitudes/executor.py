"""The executor of a model with free amplitudes: the residual that remains once they are solved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library.memory import WORDS, address, fill
from pyspec.errors import DataError, ModelError, PlanError
from pyspec.executor.amplitudes.design import Design, Designer
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
from pyspec.model import Measurement, Model
from pyspec.model.theta import values_of
from pyspec.plan import CompiledModel, compile_model
from pyspec.plan.basis import is_pointwise

if TYPE_CHECKING:
    from pyspec.executor.amplitudes.stacked import Stack


class AmplitudesExecutor:
    """Evaluates a model whose amplitudes are free at each energy, or at each time.

    They are not part of theta: every evaluation solves for them (variable projection). Without
    data each is 1.

    Parameters
    ----------
    compiled : a model with both axes set
    measurement : window, data, weights and mask
    backend : "compiled", "interpreted" or "tree"
    """

    name: ClassVar[str] = "amplitudes"
    plan: ClassVar[None] = None
    #: Fits in C that are under way, which use the arrays of the design.
    _n_open = 0

    def __init__(
        self, compiled: CompiledModel, measurement: Measurement | None, backend: str
    ) -> None:
        model = self.model = compiled.model
        model.check()
        self.measurement = measurement if measurement is not None else Measurement()
        self.designer = Designer(compiled, self.measurement, backend)
        self.opt_param_names = self.designer.names
        self.fixed_names = tuple(n for n in model.fixed_names if n not in self.designer.free)
        held = [model.parameters[name].value for name in self.fixed_names]
        self._start, self._held = model.theta(), np.array(held, np.float64)
        self.by_energy = self.designer.axis == "energy"
        assert model.energy is not None
        assert model.time is not None
        self.measurement.check_axes((model.time.size, model.energy.size), model.name)
        #: (n_groups, n_x) data, and weights of the window, 0 where masked; None where all are 1.
        self.data, self.weight = self._weighted()
        self._projection = self._make_projection()
        #: Held while the arrays of the design are in use: all evaluations share them.
        self.lock = RLock()
        #: What the last call of `solve` was for, and its answer.
        self._last: tuple[object, Solved] | None = None
        #: The solver for the amplitudes of all files, and the number of this file, if files share
        #: amplitudes.
        self.of_stack: tuple[Stack, int] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a linear executor is made again, not pickled")

    @property
    def capabilities(self) -> Capabilities:
        """What it can do: all of a fit, where C evaluates everything."""
        return Capabilities(jacobian=True, in_c=True, in_parts=self.designer.in_c is not None)

    # what is fitted

    def groups_of(self, values: npt.NDArray[Any]) -> Array:
        """(n_groups, n_x) of (n_rows, n_columns), or back; a view."""
        return np.asarray(values.T if self.by_energy else values)

    def _weighted(self) -> tuple[Array | None, Array | None]:
        """(n_groups, n_x) data and weights of the window; masked points have neither."""
        measured = self.measurement
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

    def _make_projection(self) -> Projection | None:
        if self.data is None:
            return None
        designer, weight, measured = self.designer, self.weight, self.measurement
        scale = measured.loss_scale if measured.loss == "poisson" else 0.0
        data = self.data if weight is None or scale else self.data * weight
        return Projection(data, weight, designer.allowed, designer.positive, scale)

    @property
    def n_amplitudes(self) -> int:
        """Amplitudes that are solved for: those of points that count, and not held at 0."""
        return int(np.count_nonzero(self._solvable()))

    def _solvable(self) -> npt.NDArray[np.bool_]:
        """(n_groups, n_basis) where there are data, and an amplitude is not held at 0."""
        n_groups, n_basis = self.designer.along.size, len(self.designer.free)
        allowed = self.designer.allowed
        kept = np.ones((n_groups, n_basis), bool) if allowed is None else allowed
        if self.weight is not None:
            kept = kept & np.any(self.weight > 0, axis=1, keepdims=True)
        return kept

    def undetermined(self, theta: Values, fixed: Values = None) -> dict[str, int]:
        """Amplitudes that are combinations of others → number of energies, or times, with data.
        Amplitudes held at 0, by a range or a bound, are left out."""
        solved = self.solve(theta, fixed)
        lost = ~solved.determined & self._solvable()
        if self.designer.positive is not None:
            lost &= ~self.designer.positive
        counts = np.count_nonzero(lost, axis=0)
        return {name: int(n) for name, n in zip(self.designer.free, counts, strict=True) if n}

    def held(self, theta: Values, fixed: Values = None) -> tuple[int, int]:
        """How many amplitudes their bound, min 0, holds at 0, and how many have it."""
        positive = self.designer.positive
        if positive is None:
            return 0, 0
        bounded = self._solvable() & positive
        at_zero = bounded & (self.solve(theta, fixed).amplitudes == 0.0)
        return int(np.count_nonzero(at_zero)), int(np.count_nonzero(bounded))

    @property
    def gather(self) -> npt.NDArray[np.int64]:
        """Places of theta in the parameters of the solver for the amplitudes. This is the executor
        itself, or the solver for all files that share amplitudes."""
        if self.of_stack is None:
            return np.arange(len(self.opt_param_names))
        stack, index = self.of_stack
        return stack.designer.gather[index]

    # at theta

    def solve(
        self, theta: Values, fixed: Values = None, what: str = "gram", full: bool = False
    ) -> Solved:
        """The amplitudes at theta, with the triangle of [J r] or, ``what="rows"``, residual and
        derivatives too. A reader of the design takes :attr:`lock`: while it is held, the design
        belongs to this call. Raises :class:`DataError` without data."""
        if self._projection is None:
            raise DataError("free amplitudes need data; give the measurement some")
        with self.lock:
            given, values = self._theta(theta), self._fixed(fixed)
            if self.of_stack is not None:
                stack, index = self.of_stack
                return stack.of_member(index, given, what, full)
            question = (given.tobytes(), tuple(values.items()), what, full)
            if self._last is not None and self._last[0] == question:
                return self._last[1]
            self._last = None  # its arrays are those of the next design
            solved = self._projection.at(given, self.designer.at(given, values), what, full)
            if what == "gram" and not self._n_open:
                self._last = question, solved
            return solved

    def follow(
        self, theta: Values, fixed: Values = None
    ) -> tuple[npt.NDArray[np.bool_], Array, Array]:
        """How amplitudes follow theta, see :meth:`Projection.follow`."""
        with self.lock:
            solved = self.solve(theta, fixed)
            if self.of_stack is not None:
                stack, index = self.of_stack
                on, inverse, slopes = stack.follow(solved.theta)
                own = stack.designer.places[index]
                return on[:, own], inverse[:, own[:, np.newaxis], own], slopes[:, own]
            assert self._projection is not None
            return self._projection.follow(solved.design, solved.theta.size)

    def elsewhere(self, theta: Values, fixed: Values, x: npt.ArrayLike) -> tuple[Design, Array]:
        """The basis functions at other times (spectra are free) or energies (traces are), and that
        axis. Raises :class:`DataError` where a part of the model needs the samples of the data."""
        designer = self.designer
        if not is_pointwise(designer.compiled.graph):
            raise DataError(
                f"{self.model.name}: reads the samples of the data, or moves in time, and is known "
                "on their axes alone; leave the axis out"
            )
        moved = self.model.copy()
        if self.by_energy:
            moved.set_axes(time=x)
            window = Measurement(columns=self.measurement.columns)
            axis = moved.time
        else:
            moved.set_axes(energy=x)
            window = Measurement(rows=self.measurement.rows)
            axis = moved.energy
        assert axis is not None
        other = Designer(compile_model(moved), window, designer.backend)
        design = other.at(self._theta(theta), self._fixed(fixed))
        return replace(design, entry_theta=self.gather[design.entry_theta]), axis

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window, (n_rows, n_columns)."""
        with self.lock:
            if self._projection is not None:
                return self.groups_of(self.solve(theta, fixed).model)
            design = self.designer.at(self._theta(theta), self._fixed(fixed))
            ones = np.ones((self.designer.along.size, len(design.basis)))
            if self.designer.allowed is not None:
                ones *= self.designer.allowed
            return self.groups_of(design.model(ones))

    def residual(self, theta: Values, fixed: Values = None, out: Array | None = None) -> Array:
        """(data - model) * weight over the window, flattened; 0 where masked."""
        found = self.solve(theta, fixed, "rows").residual
        assert found is not None
        flat = self.groups_of(found).ravel()
        if out is None:
            return flat
        out[:] = flat
        return out

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """(n_free, n) derivatives of the residual; the amplitudes follow."""
        found = self.solve(theta, fixed, "rows", full=True).jacobian
        assert found is not None
        return np.array([self.groups_of(column).ravel() for column in found])

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """chi², Jᵀr and JᵀJ of the projected residual as a packed triangle, with J of Kaufman: its
        inverse is the covariance of theta with free amplitudes. Forms as of
        :meth:`pyspec.executor.CompiledExecutor.normal`."""
        if form == "value":
            return self.solve(theta, fixed).triangle[-1:]
        return self.solve(theta, fixed, form).triangle

    @property
    def shared_size(self) -> int:
        """Points that threads share in an evaluation."""
        return sum(one.size for one in self.designer.in_c or ())

    @property
    def derivative_work_size(self) -> int:
        """Bytes of scratch that a thread needs."""
        return max((one.work_size for one in self.designer.in_c or ()), default=0)

    @property
    def n_rows(self) -> int:
        """Rows that are summed."""
        return 1

    @contextmanager
    def open_part(self, fixed: Values, n_total: int, n_threads: int) -> Iterator[OpenPart]:
        """A part of a fit in C: each basis function with its slopes, and the projection."""
        bases, projection = self.designer.in_c, self._projection
        if bases is None or projection is None:
            raise PlanError(f"{self.model.name}: Python solves for the free amplitudes")
        n_theta, given, kept = len(self.opt_param_names), self._fixed(fixed), ExitStack()
        with self.lock, kept:
            self._n_open += 1
            kept.callback(self._close_part)
            self._last = None  # its arrays are those of the fit now
            sums, theta = Sums(n_theta, n_total), np.empty(n_theta + 1)
            gathers = [one.gather for one in self.designer.sources for _ in one.bases]
            words = np.zeros(len(bases) * WORDS["pyspec_part"], np.int64)
            for k, (basis, gather) in enumerate(zip(bases, gathers, strict=True)):
                fields = kept.enter_context(basis.as_part(given, n_threads))
                fields["gather"] = address(gather) if gather.size else 0
                fill("pyspec_part", fields, words, k * WORDS["pyspec_part"])
            linear, *written = projection.describe(
                self.designer.design, n_theta, {"triangle": sums.address}
            )
            places = {"linear": address(linear), "bases": address(words), "n_bases": len(bases)}
            places |= {"theta": address(theta), "normal": sums.address, "n_theta": n_theta}
            size = self.shared_size + self.designer.along.size * self.designer.x.size * (
                n_theta + 1
            )
            yield OpenPart(
                places,
                theta[:n_theta],
                sums,
                size,
                (linear, words, written, gathers, projection.work),
            )

    def _close_part(self) -> None:
        self._n_open -= 1

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """This executor as the C loop of a fit uses it."""
        return fit_parts(
            [self], [np.arange(len(self.opt_param_names))], len(self.opt_param_names), fixed
        )

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
        return values_of(theta, self.opt_param_names, self._start, "free", self.model.name)

    def _fixed(self, fixed: Values) -> dict[str, float]:
        if fixed is None:
            return {}
        names = self.fixed_names
        given = values_of(fixed, names, self._held, "fixed", self.model.name)
        return dict(zip(names, given.tolist(), strict=True))


def check_backend(model: Model, backend: str) -> None:
    """Raises :class:`ModelError` for a backend that cannot solve for amplitudes."""
    if backend == "compare":
        raise ModelError(
            f"{model.name}: has free amplitudes, which executors do not compare; choose one of "
            "compiled, interpreted, tree"
        )
