"""What the executors of a plan share: its inputs, and the window of the measurement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.executor.protocol import Array, Scalar, Values
from pyspec.model import Measurement
from pyspec.plan import ScheduledPlan


class PlanExecutor(ABC):
    """Runs one plan on one measurement. Fixed values are inputs, not part of the plan."""

    name: ClassVar[str]

    def __init__(self, plan: ScheduledPlan, measurement: Measurement | None = None) -> None:
        self.plan = plan
        self.measurement = measurement if measurement is not None else Measurement()
        self.window = Window(plan, self.measurement)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.plan!r}, {self.measurement!r}>"

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The order of theta."""
        return self.plan.opt_param_names

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The order of `fixed`."""
        return self.plan.fixed_names

    @abstractmethod
    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window: (n_rows, n_columns), or (n_columns,) in 1D."""

    @abstractmethod
    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """(data - model) * weight over the window, flattened; 0 where `keep` is False.

        Raises :class:`DataError` if the measurement has no data.
        """


class Window:
    """Rows and columns of a measurement's window, checked against a plan's axes."""

    def __init__(self, plan: ScheduledPlan, measurement: Measurement) -> None:
        self.dimension = plan.dimension
        self.is_trace = is_trace = plan.is_trace
        measurement.check_axes(plan.shape, plan.name or "the model")
        rows, columns = measurement.rows, measurement.columns
        if is_trace:  # the one axis of its data is time
            rows, columns = columns, None
        self.row_begin, self.row_end = rows or (0, plan.n_time)
        self.x_begin, self.x_end = columns or (0, plan.energy.size)
        #: The points between which a StaticShirley stands.
        self.ends = (not is_trace and measurement.ends) or (self.x_begin, self.x_end)
        #: Shape of the model over the window.
        self.shape: tuple[int, ...] = (self.row_end - self.row_begin,)
        if not is_trace:
            n_columns = self.x_end - self.x_begin
            self.shape = (*self.shape, n_columns) if plan.dimension == 2 else (n_columns,)
        self.weight = None
        if measurement.weight is not None:
            weight = np.asarray(measurement.weight, np.float64)
            self.weight = np.broadcast_to(weight, plan.shape)

    def crop(self, array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """The window of an array over the full axes."""
        if self.is_trace:
            return array[self.row_begin : self.row_end]
        columns = array[..., self.x_begin : self.x_end]
        return columns[self.row_begin : self.row_end] if self.dimension == 2 else columns
