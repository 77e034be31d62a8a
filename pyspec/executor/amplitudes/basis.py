"""Basis functions at theta with their slopes: the results of a plan, or those of the tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY, raise_status
from pyspec._library.memory import address, aligned, record
from pyspec.errors import ModelError
from pyspec.executor.compiled import CompiledExecutor
from pyspec.executor.frame import Frame
from pyspec.executor.interpreted import InterpretedExecutor
from pyspec.executor.tree import TreeExecutor
from pyspec.model import Measurement, Model
from pyspec.model.build.check import PROFILE, movers
from pyspec.model.build.free import dispersed, free_parameters
from pyspec.model.sizes import Sizes
from pyspec.plan import CompiledModel
from pyspec.plan.basis import REST, BasisPlan, Slope, slopes_by_theta, slopes_of

Array = npt.NDArray[np.float64]

#: Relative step of differences, where a backend has no derivatives.
STEP = float(np.finfo(float).eps ** (1 / 3))


def bases_of(compiled: CompiledModel, measurement: Measurement, backend: str) -> list[Basis]:
    """The basis functions of a model, and what is beside them."""
    if backend == "tree":
        return [of_tree(compiled.model, measurement)]
    return in_plans(compiled.basis, compiled.model, measurement, backend)


def in_plans(
    plans: Sequence[BasisPlan], model: Model, measurement: Measurement, backend: str
) -> list[Basis]:
    """The results of plans."""
    rows, columns = measurement.rows, measurement.columns
    bases: list[Basis] = []
    for basis_plan in plans:
        if basis_plan.along == "energy":
            window = Measurement(rows=columns, columns=rows)
        elif basis_plan.plan.is_trace:
            window = Measurement(columns=rows)
        else:
            window = measurement.without_data(rows if basis_plan.along else None, columns)
        if backend == "compiled" and not basis_plan.plan.external_names:
            bases.append(InC(basis_plan, window))
        else:
            bases.append(interpreted(basis_plan, model, window))
    return bases


class InC:
    """All results of a plan, with slopes, in one call of C.

    Several functions, each (n_rows, n_x); `of` says which each is. They are given room once and
    fill it for each theta; one row fills all rows of its room. Factors, (n_rows or 1, n), are what
    slopes are multiplied with by the parts of `slopes`, in their order.
    """

    def __init__(self, plan: BasisPlan, window: Measurement) -> None:
        self.of = plan.of
        self._plan = plan.plan
        executor = CompiledExecutor(plan.plan, window, packed=plan.packed, pinned=plan.pinned)
        self._executor = executor
        self.n_rows = executor.window.shape[0] if plan.along else 1
        self.slopes = slopes_of(plan.plan)
        self._parts = [part for slope in self.slopes for part in slope.parts]
        moves = any(row >= 0 and plan.plan.row_moves[row] for row, _ in self._parts)
        self.factor_rows = self.n_rows if moves else 1
        #: Bytes that a thread keeps schemes in.
        self._kept_size = int(LIBRARY.pyspec_results_size(plan.packed.address))

    @property
    def size(self) -> int:
        """Points of all that is computed for each row."""
        each = (len(self.of) + len(self.slopes)) * self.n_rows
        return each * self._executor.window.shape[-1] if self.n_rows > 1 else 0

    @property
    def work_size(self) -> int:
        """Bytes of scratch that a thread needs."""
        return self._executor.derivative_work_size

    def _keep_schemes(self, n_threads: int) -> None:
        """Memory for schemes of so many threads; it changes no bit."""
        size = self._kept_size * n_threads
        self._schemes = aligned(size)
        if size:
            self._struct["kept"], self._struct["kept_size"] = address(self._schemes), size

    def take_room(self, values: Sequence[Array], slopes: Sequence[Array], factors: Array) -> None:
        results, parts = self._plan.results, self._parts
        self._arrays = {
            "values": np.array([address(value) for value in values], np.uintp),
            "value_at": results,
            "slopes": np.array([address(slope) for slope in slopes], np.uintp),
            "slope_at": results[[slope.result for slope in self.slopes]],
            "slope_by": np.array([slope.by for slope in self.slopes], np.int64),
            "entry_row": np.array([row for row, _ in parts], np.int64),
            "entry_theta": np.array([theta for _, theta in parts], np.int64),
            "factors": factors,
        }
        self._room = values, slopes
        sizes = {"n_values": len(values), "n_slopes": len(slopes), "n_entries": len(parts)}
        sizes |= {"row": values[0].strides[0] // 8, "copies": len(values[0]) // self.n_rows}
        addresses = {name: address(array) for name, array in self._arrays.items() if array.size}
        step = factors.strides[0] // 8 if len(factors) > 1 else 0
        self._struct = record("pyspec_results", {**sizes, **addresses, "factors_row": step})
        self._keep_schemes(1)

    def fill(self, theta: Array, fixed: Mapping[str, float]) -> None:
        frame = self._take_frame(fixed)
        frame.theta[:] = theta
        status = LIBRARY.pyspec_run_results(frame.address, address(self._struct), None)
        self._return_frame(frame)
        raise_status(status, self._plan.name)

    def _take_frame(self, fixed: Mapping[str, float]) -> Frame:
        plan, frame = self._plan, self._executor.take_frame(slopes=True)
        for place, name in enumerate(plan.fixed_names if fixed else ()):
            frame.fixed[place] = fixed.get(name, plan.fixed[place])
        return frame

    def _return_frame(self, frame: Frame) -> None:
        frame.fixed[:] = self._plan.fixed
        self._executor.return_frame(frame)

    @contextmanager
    def as_part(self, fixed: Mapping[str, float], n_threads: int) -> Iterator[dict[str, int]]:
        """The fields of a ``pyspec_part`` that writes these functions, inside of the `with` block,
        for a team of so many threads."""
        frame = self._take_frame(fixed)
        self._keep_schemes(n_threads)
        try:
            yield {
                "call": frame.address,
                "theta": frame.theta_address,
                "n_theta": frame.theta.size,
                "results": address(self._struct),
            }
        finally:
            self._keep_schemes(1)
            self._return_frame(frame)


@dataclass
class Differences:
    """The same where Python has a part in the results; slopes are differences.

    `results` gives all functions at theta and fixed values, `sizes` are the natural ones of theta.
    """

    of: tuple[int, ...]
    n_rows: int
    slopes: Sequence[Slope]
    sizes: Sequence[float]
    results: Callable[[Array, Mapping[str, float]], list[Array]]

    factor_rows: ClassVar[int] = 1

    def take_room(self, values: Sequence[Array], slopes: Sequence[Array], factors: Array) -> None:
        self._values, self._room = values, slopes
        factors[:] = 1.0

    def fill(self, theta: Array, fixed: Mapping[str, float]) -> None:
        for room, value in zip(self._values, self.results(theta, fixed), strict=True):
            room[:] = value
        for place in {slope.by for slope in self.slopes}:
            rises = self._rises(theta, fixed, place)
            for room, slope in zip(self._room, self.slopes, strict=True):
                if slope.by == place:
                    room[:] = rises[slope.result]

    def _rises(self, theta: Array, fixed: Mapping[str, float], place: int) -> list[Array]:
        """The differences of all results by one parameter."""
        high, low = theta.copy(), theta.copy()
        step = STEP * max(abs(theta[place]), 1e-3 * self.sizes[place])
        high[place] += step
        low[place] -= step
        ends = self.results(high, fixed), self.results(low, fixed)
        return [(a - b) / (high[place] - low[place]) for a, b in zip(*ends, strict=True)]


def _sizes_of(model: Model, names: Sequence[str]) -> list[float]:
    sizes = Sizes(model)
    return [sizes.of(model.parameters[name]) for name in names]


def interpreted(plan: BasisPlan, model: Model, window: Measurement) -> Differences:
    """All results of a plan in NumPy."""
    own, executor = plan.plan, InterpretedExecutor(plan.plan, window)

    def results(theta: Array, fixed: Mapping[str, float]) -> list[Array]:
        own_fixed = {name: fixed[name] for name in own.fixed_names if name in fixed}
        return executor.results(theta, own_fixed or None)

    n_rows = executor.window.shape[0] if plan.along else 1
    sizes = _sizes_of(model, own.opt_param_names)
    return Differences(plan.of, n_rows, slopes_by_theta(own), sizes, results)


def of_tree(model: Model, measurement: Measurement) -> Differences:
    """What the tree makes of amplitudes of 1 and 0."""
    if many := dispersed(model.parameters):
        raise ModelError(
            f"{model.name}: {min(many)} depends on the energy, which the tree does not know; "
            "choose the compiled backend, or the interpreted one"
        )
    plain, free = model.copy(), tuple(free_parameters(model.parameters))
    for name in free:
        par = plain.parameters[name]
        par.free, par.vary, par.value = None, False, 0.0
    rows, columns = measurement.rows, measurement.columns
    window = measurement.without_data(rows, columns)
    parameters = plain.parameters
    if plain.is_time_model:
        plain.set_axes(energy=None)
        window = Measurement(columns=rows)
    elif not any(movers(n, parameters) or movers(n, parameters, PROFILE) for n in parameters):
        plain.set_axes(time=None)
        window = measurement.without_data(None, columns)
    executor = TreeExecutor(plain, window)

    def results(theta: Array, fixed: Mapping[str, float]) -> list[Array]:
        rest = executor.run(theta, dict(fixed))
        ones = [executor.run(theta, {**fixed, name: 1.0}) - rest for name in free]
        return [*ones, rest]

    of, names = (*range(len(free)), REST), plain.opt_param_names
    pairs = itertools.product(range(len(of)), range(len(names)))
    slopes = [Slope(k, place, ((-1, place),)) for k, place in pairs]
    n_rows = len(np.atleast_2d(executor.run(None)))
    return Differences(of, n_rows, slopes, _sizes_of(model, names), results)


#: Several functions with their slopes.
Basis: TypeAlias = InC | Differences
