"""The compiled executor: one C call an evaluation.

Addresses are filled once. Every call takes a frame (theta, fixed values, work memory, the
two structs that point to them) from a pool, so one executor may serve several threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, DTYPES, ISA, LIBRARY, raise_status
from pyspec.errors import DataError, PlanError
from pyspec.executor.base import Array, Executor, Values
from pyspec.executor.interpreted import InterpretedExecutor
from pyspec.executor.normal import FORMS, Parts, fit_parts, sum_rows
from pyspec.functions.losses import deviance_slope
from pyspec.model import Measurement
from pyspec.plan import PackedPlan, ScheduledPlan, check, pack
from pyspec.plan.columns import external_parameters

_TYPES = {
    np.dtype(np.float64): CONSTANTS["TYPE_F64"],
    np.dtype(np.float32): CONSTANTS["TYPE_F32"],
    np.dtype(np.uint16): CONSTANTS["TYPE_U16"],
}


def _aligned(n_bytes: int) -> Array:
    """Doubles that start on a 64-byte boundary."""
    raw = np.zeros(n_bytes // 8 + 8)
    skip = -raw.ctypes.data % 64 // 8
    return raw[skip : skip + n_bytes // 8]


class _Frame:
    """The memory of one call."""

    def __init__(self, executor: CompiledExecutor) -> None:
        plan = executor.plan
        self.theta = np.array(plan.theta)
        self.fixed = np.array(plan.fixed)
        self.problem = executor.problem.copy()
        self.external: tuple[Array, Array] | None = None
        if executor.helper is not None:
            traces, spectra = executor.helper.external(plan.theta)
            self.external = np.ascontiguousarray(traces), np.ascontiguousarray(spectra)
            self.problem["external"] = self.external[0].ctypes.data
            self.problem["spectra"] = self.external[1].ctypes.data
            self.problem["n_external"] = len(traces) + len(spectra)
        self.problem["fixed"] = self.fixed.ctypes.data
        problem = self.problem.ctypes.data
        check(executor.packed, plan.name, problem)
        size = LIBRARY.pyspec_work_size(executor.packed.address, problem)
        self.work = _aligned(size)
        self.call = np.zeros(1, DTYPES["pyspec_call"])
        self.call["plan"] = executor.packed.address
        self.call["problem"] = problem
        self.call["theta"] = self.theta.ctypes.data
        self.call["work"] = self.work.ctypes.data
        self.call["work_size"] = size
        self.call["isa"] = CONSTANTS[f"ISA_{ISA}"]
        self.address = int(self.call.ctypes.data)
        self._derivative_work: Array | None = None
        self._words = self.call.view(np.int64)
        names = list(DTYPES["pyspec_call"].names or ())
        self._out, self._n_out = names.index("out"), names.index("n_out")
        self._target: Array | None = None

    def send_to(self, out: Array) -> None:
        """Makes `out` the output of the next call."""
        if out is not self._target:
            self._words[self._out] = out.ctypes.data
            self._words[self._n_out] = out.size
            self._target = out

    def fill_external(self, traces: Array, spectra: Array) -> None:
        """Hands over what registered functions gave."""
        assert self.external is not None
        self.external[0][...] = traces
        self.external[1][...] = spectra

    def make_room_for_derivatives(self, executor: CompiledExecutor) -> None:
        """Enlarges the work memory once, before the first Jacobian."""
        if self._derivative_work is None:
            size = LIBRARY.pyspec_jacobian_work_size(
                executor.packed.address, self.problem.ctypes.data
            )
            self.work = self._derivative_work = _aligned(size)
            self.call["work"] = self.work.ctypes.data
            self.call["work_size"] = size

    def forget(self) -> None:
        """Lets go of an output that the caller owns."""
        self._target = None


class CompiledExecutor(Executor):
    """C evaluation of a plan (``fit_model_c``).

    `packed` is the plan in the form of C, from another executor of it: packing takes longer than
    the fit of one spectrum.
    """

    name: ClassVar[str] = "compiled"

    def __init__(
        self,
        plan: ScheduledPlan,
        measurement: Measurement | None = None,
        *,
        lines: bool = True,
        packed: PackedPlan | None = None,
    ) -> None:
        super().__init__(plan, measurement)
        self.lines = lines
        self.packed: PackedPlan = packed or pack(plan, lines=lines)
        self._keep_alive: list[npt.NDArray[Any]] = []
        self.problem = self._describe_problem()
        # Registered functions are called by Python, before the C call of an evaluation.
        self.helper = InterpretedExecutor(plan) if plan.external_names else None
        self._size = int(np.prod(self.window.shape))
        self._frames: list[_Frame] = [_Frame(self)]

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(CompiledExecutor, lines=self.lines)
        return again, (self.plan, self.measurement)

    def _describe_problem(self) -> npt.NDArray[np.void]:
        plan, window = self.plan, self.window
        problem = np.zeros(1, DTYPES["pyspec_problem"])
        fields: dict[str, Any] = {
            "x": self._pin(np.ascontiguousarray(plan.energy)),
            "time": 0 if plan.time is None else self._pin(np.ascontiguousarray(plan.time)),
            "n_x": plan.energy.size,
            "n_rows": plan.n_time,
            "n_fixed": len(plan.fixed_names),
            "row_begin": window.row_begin,
            "row_end": window.row_end,
            "x_begin": window.x_begin,
            "x_end": window.x_end,
            "n_axes": len(plan.dyn_time_axes),
            "n_masks": len(plan.dyn_masks),
            "axes": self._pin(np.ascontiguousarray(plan.dyn_time_axes)),
            "masks": self._pin(np.ascontiguousarray(plan.dyn_masks, dtype=np.uint8)),
            "n_aux": plan.n_aux,
        }
        if plan.aux is not None and plan.aux_weights is not None:
            fields["aux"] = self._pin(np.ascontiguousarray(plan.aux))
            fields["aux_weight"] = self._pin(np.ascontiguousarray(plan.aux_weights))
        fields["loss"] = CONSTANTS[f"LOSS_{self.measurement.loss.upper()}"]
        fields["loss_scale"] = self.measurement.loss_scale
        data = self.measurement.data
        if data is not None:
            if data.dtype not in _TYPES or not data.dtype.isnative:
                data = np.asarray(data, dtype=np.float64)
            fields["data_type"] = _TYPES[data.dtype]
            fields |= self._strided("data", data)
        if window.weight is not None:
            fields |= self._strided("weight", window.weight)
        if self.measurement.keep is not None:
            fields |= self._strided("keep", np.asarray(self.measurement.keep, dtype=np.uint8))
        for name, value in fields.items():
            problem[name] = value
        return problem

    def _pin(self, array: npt.NDArray[Any]) -> int:
        """Address of an array that lives as long as the executor."""
        self._keep_alive.append(array)
        return int(array.ctypes.data)

    def _strided(self, name: str, array: npt.NDArray[Any]) -> dict[str, int]:
        row = array.strides[0] if array.ndim == 2 or self.plan.is_trace else 0
        step = 0 if self.plan.is_trace else array.strides[-1]
        return {name: self._pin(array), f"{name}_row": row, f"{name}_x": step}

    def take_frame(self) -> _Frame:
        """A frame of its own for one call; :meth:`return_frame` gives it back."""
        try:
            return self._frames.pop()
        except IndexError:
            return _Frame(self)

    def return_frame(self, frame: _Frame) -> None:
        """Gives a frame back to the pool."""
        self._frames.append(frame)

    def _call(self, entry: Any, theta: Values, fixed: Values, out: Array) -> Array:
        plan = self.plan
        frame = self.take_frame()
        frame.theta[:] = plan.values(theta, plan.opt_param_names, plan.theta, "free")
        if fixed is not None:
            frame.fixed[:] = plan.values(fixed, plan.fixed_names, plan.fixed, "fixed")
        if self.helper is not None:
            frame.fill_external(*self.helper.external(frame.theta, fixed))
        frame.send_to(out)
        status = entry(frame.address)
        if fixed is not None:
            frame.fixed[:] = plan.fixed
        self.return_frame(frame)
        raise_status(status, plan.name)
        return out

    def run(self, theta: Values, fixed: Values = None) -> Array:
        out = np.empty(self._size)
        return self._call(LIBRARY.pyspec_evaluate, theta, fixed, out).reshape(self.window.shape)

    def residual(self, theta: Values, fixed: Values = None, out: Array | None = None) -> Array:
        if self.measurement.data is None:
            raise DataError("a residual needs data; give the measurement some")
        if out is None:
            out = np.empty(self._size)
        elif out.dtype != np.float64 or out.shape != (self._size,) or not out.flags.c_contiguous:
            raise PlanError(f"out must be a contiguous float64 array of shape ({self._size},)")
        return self._call(LIBRARY.pyspec_residual, theta, fixed, out)

    @property
    def has_jacobian(self) -> bool:
        """Whether the derivative by every free parameter is known in closed form."""
        return not self.plan.external_names

    def jacobian(self, theta: Values, fixed: Values = None) -> Array:
        """Derivatives of the residual: (n_free, n) for the n values of :meth:`residual`.

        Exact, in one C call; at a jump or kink one-sided or 0. Raises :class:`PlanError` where
        the model calls registered functions, which have no known derivative.
        """
        if not self.has_jacobian:
            raise PlanError(
                f"{self.plan.name}: the registered function {self.plan.external_names[0]!r} has no "
                "known derivative; use finite differences"
            )
        return self.known_jacobian(theta, fixed)

    @property
    def unknown_columns(self) -> tuple[int, ...]:
        """The free parameters, by place, whose derivatives pass through registered functions."""
        return external_parameters(self.plan)

    def known_jacobian(self, theta: Values, fixed: Values = None) -> Array:
        """As :meth:`jacobian`, with registered functions taken to be constant: the columns of
        :attr:`unknown_columns` lack what passes through them."""
        frame = self.take_frame()
        frame.make_room_for_derivatives(self)
        self.return_frame(frame)
        n_free = len(self.plan.opt_param_names)
        out = np.empty(n_free * self._size)
        self._call(LIBRARY.pyspec_jacobian, theta, fixed, out)
        columns = out.reshape(n_free, self._size)
        columns *= self._residual_slope(theta, fixed)
        if self.measurement.keep is not None:  # selected, not multiplied: 0 times NaN is NaN
            columns[:, ~self.window.crop(self.measurement.keep).ravel().astype(bool)] = 0.0
        return columns

    def normal(
        self,
        theta: Values,
        fixed: Values = None,
        form: str = "gram",
        *,
        chunks: Sequence[tuple[int, int]] | None = None,
        threads: int = 1,
    ) -> Array:
        """chi², Jᵀr and JᵀJ at `theta`, summed in C without storing J: a packed triangle.

        Parameters
        ----------
        form : "gram" for the Gram matrix of ``[J r]``, J being minus the derivative of the
            residual; "factor" for its Cholesky factor, by orthogonal transformations; "fisher"
            for the Gram matrix with the expected curvature of the loss; "value" for chi² alone
        chunks : ranges of rows that follow each other and make up the window
        threads : threads that share the chunks; the bits depend neither on them nor on the chunks

        Returns the rows of an upper triangle of order n_free + 1 (see
        :func:`pyspec.executor.normal.unpack`), or chi² alone, (1,), for "value".
        """
        if self.measurement.data is None:
            raise DataError("sums of residuals need data; give the measurement some")
        if form not in FORMS:
            raise PlanError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
        window = self.window
        given = self.plan.values(theta, self.opt_param_names, self.plan.theta, "free")
        if chunks is None:
            edges = np.linspace(window.row_begin, window.row_end, max(threads, 1) + 1).astype(int)
            chunks = [(a, b) for a, b in itertools.pairwise(edges) if a < b]
        return sum_rows(self, given, fixed, form, list(chunks), threads)

    def fit_parts(self, fixed: Values = None) -> AbstractContextManager[Parts]:
        """This executor as the C loop of a fit uses it."""
        n_free = len(self.opt_param_names)
        return fit_parts([self], [np.arange(n_free)], n_free, fixed)

    def _residual_slope(self, theta: Values, fixed: Values) -> Array:
        """d residual / d model: -weight; of counts, that of the deviance."""
        measurement, window = self.measurement, self.window
        slope: Array = np.full(self._size, -1.0)
        if measurement.loss == "poisson" and measurement.data is not None:
            data = window.crop(measurement.data).ravel()
            slope = deviance_slope(data, self.run(theta, fixed).ravel(), measurement.loss_scale)
        if window.weight is not None:
            slope = slope * window.crop(window.weight).ravel()
        return slope

    def traces(self, theta: Values, fixed: Values = None) -> Array:
        """Every parameter resolved over time: (n_params, n_time)."""
        out = np.empty(self.plan.n_params * self.plan.n_time)
        self._call(LIBRARY.pyspec_traces, theta, fixed, out)
        return out.reshape(self.plan.n_params, self.plan.n_time)
