"""The compiled executor: one C call an evaluation.

Addresses are filled once. Every call takes a frame of memory from a pool, so that one executor may
serve several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, LIBRARY, raise_status
from pyspec._library.memory import address, aligned_at, doubles, record
from pyspec.errors import DataError, PlanError
from pyspec.executor.base import PlanExecutor
from pyspec.executor.frame import Frame
from pyspec.executor.interpreted import InterpretedExecutor
from pyspec.executor.normal import FORMS, OpenPart, Parts, Sums, fit_parts
from pyspec.executor.protocol import (
    Array,
    Capabilities,
    Scalar,
    Stored,
    SumsOfFit,
    SumsOfRows,
    Values,
    each_by_itself,
)
from pyspec.executor.team import team_of
from pyspec.functions.losses import deviance_slope
from pyspec.model import Measurement
from pyspec.plan import PackedPlan, ScheduledPlan, pack
from pyspec.plan.columns import external_parameters
from pyspec.plan.pinned import PinnedAxes, pin_axes, shares_of

#: Types of data that C reads, by the letters that NumPy has for them.
TYPES = {"d": CONSTANTS["TYPE_F64"], "f": CONSTANTS["TYPE_F32"], "H": CONSTANTS["TYPE_U16"]}

#: What a model can do that calls no functions in Python.
_ALL_IN_C = Capabilities(jacobian=True, in_c=True)
_SUMS_ELSEWHERE = Capabilities(jacobian=True, in_c=True, in_parts=False)


def as_read(data: Stored) -> tuple[Stored, int]:
    """Data of a type that C reads, float64 in place of others, and the number of the type."""
    if data.dtype.char not in TYPES or not data.dtype.isnative:
        data = np.asarray(data, dtype=np.float64)
    return data, TYPES[data.dtype.char]


def along_one_axis(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The same values, with a stride of 0 along an axis along which they do not differ: of such
    weights and masks C takes one line (csrc/separable/separable.c)."""
    if array.ndim != 2 or 0 in array.strides:
        return array
    for line, last in ((array[:1], array[-1:]), (array[:, :1], array[:, -1:])):
        equal = np.array_equal(line, last)  # which most that differ do not pass
        if equal and np.array_equal(array, np.broadcast_to(line, array.shape)):
            return np.broadcast_to(line, array.shape)
    return array


class CompiledExecutor(PlanExecutor):
    """C evaluation of a plan (``fit_model_c``).

    `packed` and `pinned` are the plan and its axes in the form of C, from another executor of it:
    packing takes longer than the fit of one spectrum.
    """

    name: ClassVar[str] = "compiled"
    #: What sums in place of this process, where the rows lie elsewhere.
    rows: SumsOfRows | None = None

    def __init__(
        self,
        plan: ScheduledPlan,
        measurement: Measurement | None = None,
        *,
        packed: PackedPlan | None = None,
        pinned: PinnedAxes | None = None,
    ) -> None:
        super().__init__(plan, measurement)
        self.packed: PackedPlan = packed or pack(plan)
        self.pinned: PinnedAxes = pinned or pin_axes(plan)
        self._keep_alive: list[Stored] = []
        weight, keep = self.window.weight, self.measurement.keep
        self.weight = None if weight is None else along_one_axis(weight)
        self.keep = None if keep is None else along_one_axis(keep)
        step = self.measurement.energy_step
        #: The weights of the energies in a Shirley, if they do not follow from the axis alone.
        self.shares = None if step is None else shares_of(plan, step)
        self.problem = self._describe_problem()
        # Registered functions are called by Python, before the C call of an evaluation.
        self.helper = InterpretedExecutor(plan) if plan.external_names else None
        self._can = _ALL_IN_C
        if self.helper is not None:
            self._can = Capabilities(jacobian=True, unknown_columns=external_parameters(plan))
        self._size = prod(self.window.shape)
        self._frames = [self._frame()]

    def __reduce__(self) -> tuple[object, ...]:
        return CompiledExecutor, (self.plan, self.measurement)

    def _describe_problem(self) -> npt.NDArray[np.void]:
        window = self.window
        fields: dict[str, float] = {
            **self.pinned.fields,
            "row_begin": window.row_begin,
            "row_end": window.row_end,
            "x_begin": window.x_begin,
            "x_end": window.x_end,
            "ends_begin": window.ends[0],
            "ends_end": window.ends[1],
            "loss": CONSTANTS[f"LOSS_{self.measurement.loss.upper()}"],
            "loss_scale": self.measurement.loss_scale,
        }
        if self.shares is not None:
            fields["shares"] = address(self.shares)
        data = self.measurement.data
        if data is not None:
            read, fields["data_type"] = as_read(data)
            fields |= self._strided("data", read)
        if self.weight is not None:
            fields |= self._strided("weight", self.weight)
        if self.keep is not None:
            fields |= self._strided("keep", self.keep.view(np.uint8))
        return record("pyspec_problem", fields)

    def _strided(self, name: str, array: Stored) -> dict[str, int]:
        is_trace = self.window.is_trace
        row = array.strides[0] if array.ndim == 2 or is_trace else 0
        step = 0 if is_trace else array.strides[-1]
        self._keep_alive.append(array)
        return {name: address(array) if array.size else 0, f"{name}_row": row, f"{name}_x": step}

    @property
    def derivative_work_size(self) -> int:
        """Bytes of scratch that a thread needs for derivatives."""
        problem = address(self.problem)
        return int(LIBRARY.pyspec_jacobian_work_size(self.packed.address, problem))

    def take_frame(self, slopes: bool = False) -> Frame:
        """A frame of its own for one call, with or without slopes; :meth:`return_frame` gives it
        back."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._frame()
        frame.make_room(slopes)
        return frame

    def _frame(self) -> Frame:
        helper = self.helper
        external = None if helper is None else helper.external(self.plan.theta)
        return Frame(self.plan, self.packed, self.problem, external)

    @contextmanager
    def prepared(self, fixed: Values) -> Iterator[Frame]:
        """A frame with room for derivatives and with these fixed values, inside of the `with`
        block."""
        plan, frame = self.plan, self.take_frame(slopes=True)
        try:
            if fixed is not None:
                frame.fixed[:] = plan.values(fixed, "fixed")
            yield frame
        finally:
            frame.fixed[:] = plan.fixed
            self.return_frame(frame)

    def rest(self) -> None:
        """Frees the work memory; the next call makes it again."""
        self._frames.clear()

    def return_frame(self, frame: Frame) -> None:
        """Gives a frame back to the pool."""
        self._frames.append(frame)

    def _call(
        self,
        entry: Callable[[int], int],
        theta: Values,
        fixed: Values,
        out: Array,
    ) -> Array:
        """One call into C."""
        plan = self.plan
        frame = self.take_frame()
        frame.theta[:] = plan.values(theta, "free")
        if fixed is not None:
            frame.fixed[:] = plan.values(fixed, "fixed")
        if self.helper is not None:
            frame.fill_external(*self.helper.external(frame.theta, fixed))
        frame.send_to(out)
        status = entry(frame.address)
        if fixed is not None:
            frame.fixed[:] = plan.fixed
        self.return_frame(frame)
        raise_status(status, plan.name)
        return out

    def _points(self) -> str:
        """What an array over the window holds."""
        return f"{self.plan.name}: {' × '.join(f'{n:,}' for n in self.window.shape)} points"

    def _room(self) -> Array:
        """Memory for an array over the window."""
        return doubles(self._size, self._points)

    def run(self, theta: Values, fixed: Values = None) -> Array:
        model = self._call(LIBRARY.pyspec_evaluate, theta, fixed, self._room())
        return model.reshape(self.window.shape)

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        if self.measurement.data is None:
            raise DataError("a residual needs data; give the measurement some")
        return self._call(LIBRARY.pyspec_residual, theta, fixed, self._room())

    @property
    def capabilities(self) -> Capabilities:
        """Derivatives are known in closed form, except through registered functions and sums over
        the energies. With these Python has to run between two evaluations."""
        return self._can if self.rows is None else _SUMS_ELSEWHERE

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """Derivatives of the residual: (n_free, n) for the n values of :meth:`residual`.

        Exact, in one C call; at a jump or kink one-sided or 0. Raises :class:`PlanError` if the
        model calls registered functions, or formulas that sum over the energies, which have no
        known derivative. With `known_only` these are taken to be constant. The columns of
        ``capabilities.unknown_columns`` then lack the part that passes through them.
        """
        measurement, window = self.measurement, self.window
        columns = self.slopes(theta, fixed, known_only=known_only)
        # d residual / d model: -weight; of counts, that of the deviance.
        slope: Array = np.full(self._size, -1.0)
        if measurement.loss == "poisson" and measurement.data is not None:
            data = window.crop(measurement.data).ravel()
            slope = deviance_slope(data, self.run(theta, fixed).ravel(), measurement.loss_scale)
        if window.weight is not None:
            slope = slope * window.crop(window.weight).ravel()
        columns *= slope
        if measurement.keep is not None:  # selected, not multiplied: 0 times NaN is NaN
            columns[:, ~window.crop(measurement.keep).ravel().astype(bool)] = 0.0
        return columns

    def slopes(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """(n_free, n) derivatives of the model, where :meth:`jacobian` has those of the
        residual."""
        if self.capabilities.unknown_columns and not known_only:
            raise PlanError(
                f"{self.plan.name}: {self.plan.in_python} has no "
                "known derivative; use finite differences"
            )
        self.return_frame(self.take_frame(slopes=True))
        n_free = len(self.plan.opt_param_names)
        size = n_free * self._size
        out = doubles(size, lambda: f"{self._points()}, times {n_free} derivatives,")
        return self._call(LIBRARY.pyspec_jacobian, theta, fixed, out).reshape(n_free, self._size)

    def normal(
        self,
        theta: Values,
        fixed: Values = None,
        form: str = "gram",
        *,
        threads: int = 1,
        in_strips: bool = False,
    ) -> Array:
        """chi², Jᵀr and JᵀJ at `theta`, summed in C without storing J: a packed triangle.

        Parameters
        ----------
        form : "gram" for the Gram matrix of ``[J r]``, J being minus the derivative of the
            residual; "factor" for its Cholesky factor, by orthogonal transformations; "fisher"
            for the Gram matrix with the expected curvature of the loss; "value" for chi² alone
        threads : threads that share the rows; no bit depends on how many
        in_strips : whether to sum in ways that whole strips of rows allow, as fits do; the last
            digits differ from those of the general walk

        Returns the rows of an upper triangle of order n_free + 1 (see
        :func:`pyspec.executor.normal.unpack`), or chi² alone, (1,), for "value".
        """
        if self.rows is not None:
            return self.rows.at(self.plan.values(theta, "free"), fixed, form)
        if self.measurement.data is None:
            raise DataError("sums of residuals need data; give the measurement some")
        if form not in FORMS:
            raise PlanError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
        n_free, helper = len(self.opt_param_names), self.helper
        free = self.plan.values(theta, "free")
        with self.prepared(fixed) as frame, team_of([self], threads) as team:
            if helper is not None:
                frame.fill_external(*helper.external(free, fixed))
            part = self._part(frame, n_free, in_strips)
            return Parts([part], [np.arange(n_free)], n_free, team, self.plan.name).sum(free, form)

    def is_apart(self, form: str) -> bool:
        """Whether a fit in memory sums over shapes and times apart."""
        along = [a is None or 0 in a.strides for a in (self.weight, self.keep)]
        is_plain = self.measurement.loss == "squares" and form != "factor"
        return int(self.packed.header["separable"]) >= 0 and is_plain and all(along)

    def in_strips(self, form: str) -> bool:
        """Whether a fit in memory may sum whole strips of rows. It may if shapes and times are
        summed apart. It also may if rows are summed first, for columns of J that are the same in
        every row (csrc/separable/still.c)."""
        is_plain = self.weight is None and self.keep is None and self.measurement.loss == "squares"
        walks = int(self.packed.header["separable"]) < 0
        return self.is_apart(form) or (form == "gram" and walks and is_plain)

    @property
    def shared_size(self) -> int:
        """Points times columns of an evaluation with derivatives; where it is summed over energies
        and times apart, a point costs no more than one column does."""
        return self._size * (1 if self.packed.apart else len(self.opt_param_names) + 1)

    @property
    def n_rows(self) -> int:
        """Rows of the measurement."""
        return self.plan.n_time

    @contextmanager
    def open_part(self, fixed: Values, n_total: int, n_threads: int) -> Iterator[OpenPart]:
        """A part of a fit in C, which holds a frame until it is closed."""
        with self.prepared(fixed) as frame:
            yield self._part(frame, n_total, in_strips=True)

    def _part(self, frame: Frame, n_total: int, in_strips: bool) -> OpenPart:
        """The part of one of its frames. In strips it has memory by which a fit need not read the
        data in every evaluation (csrc/separable/span.c)."""
        n_theta, kept = frame.theta.size, None
        sums = Sums(n_theta, n_total, in_strips=in_strips)
        fields = {"call": frame.address, "theta": frame.theta_address, "normal": sums.address}
        fields["n_theta"] = n_theta
        if in_strips:
            size = LIBRARY.pyspec_span_size(self.packed.address, address(frame.problem))
            if size:
                kept, fields["span"] = aligned_at(size)
                fields["span_size"] = size
        return OpenPart(fields, frame.theta, sums, self.shared_size, kept)

    def parts(self, fixed: Values = None) -> AbstractContextManager[Parts]:
        """This executor as the C loop of a fit uses it. Raises :class:`PlanError` where Python has
        a part in evaluations."""
        if not self.capabilities.in_c:
            raise PlanError(f"{self.plan.name}: registered functions need Python between steps")
        n_free = len(self.opt_param_names)
        return fit_parts([self], [np.arange(n_free)], n_free, fixed)

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of a fit whose loop runs in Python."""
        return each_by_itself(self, fixed) if self.rows is None else self.rows.of_fit(fixed)

    def traces(self, theta: Values, fixed: Values = None) -> Array:
        """Every parameter resolved over time: (n_params, n_time)."""
        plan = self.plan
        out = doubles(
            plan.n_params * plan.n_time,
            lambda: f"{plan.name}: {plan.n_params} parameters at {plan.n_time:,} times",
        )
        self._call(LIBRARY.pyspec_traces, theta, fixed, out)
        return out.reshape(plan.n_params, plan.n_time)
