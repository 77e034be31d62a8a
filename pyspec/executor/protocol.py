"""The protocol of an executor: its calls, and its capabilities as data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, PlanError
from pyspec.functions.losses import deviance

if TYPE_CHECKING:
    from pyspec.model import Measurement
    from pyspec.plan import ScheduledPlan

Array = npt.NDArray[np.float64]

#: The type of the numbers of an array.
Scalar = TypeVar("Scalar", bound=np.generic)

#: Measured values of any type.
Stored: TypeAlias = npt.NDArray[np.generic]

#: (first row, rows) of a measurement.
Blocks: TypeAlias = Iterator[tuple[int, Stored]]

#: Values of parameters: by name, in order, or None for those of the model.
Values: TypeAlias = Mapping[str, float] | Sequence[float] | Array | None


@dataclass(frozen=True)
class Capabilities:
    """What an executor can do beyond values and residuals.

    Attributes
    ----------
    jacobian : whether :meth:`Executor.jacobian` answers
    unknown_columns : the free parameters, by place in theta, whose derivatives are not known in
        closed form although those of others are
    in_c : whether :meth:`Executor.normal` answers: values, derivatives and sums all come from C, so
        that with parts a whole fit can run there
    in_parts : whether :meth:`Executor.parts` answers; data by reference have sums alone
    """

    jacobian: bool = False
    unknown_columns: tuple[int, ...] = ()
    in_c: bool = False
    in_parts: bool = True


class PartsInMemory(Protocol):
    """An array of ``pyspec_part`` in memory, as the C loop of a fit takes it."""

    @property
    def address(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def team(self) -> int | None: ...
    @property
    def size(self) -> int: ...


class PartsOfFit(PartsInMemory, Protocol):
    """The same, for loops in Python, too."""

    def sum(self, theta: Array, form: str) -> Array: ...


#: (theta, form) → triangle.
SumsOfFit: TypeAlias = Callable[[Array, str], Array]


class SumsOfRows(Protocol):
    """The sums over rows that lie elsewhere: with a source, or with the workers of a cluster."""

    def at(self, theta: Array, fixed: Values, form: str) -> Array:
        """The triangle at theta."""

    def of_fit(self, fixed: Values) -> AbstractContextManager[SumsOfFit]:
        """The sums of one fit, valid inside of the `with` block."""


class Executor(Protocol):
    """Evaluates one model on one measurement, or several of them together.

    Everything that evaluates, compares or solves knows this protocol only. What an executor can
    do beyond `run` and `residual` stands in `capabilities`; the other calls raise
    :class:`PlanError`.
    """

    name: ClassVar[str]

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The free parameters: the order of theta."""

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The order of `fixed`."""

    @property
    def plan(self) -> ScheduledPlan | None:
        """The plan it runs; None where there is none, or more than one."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window: (n_rows, n_columns), or (n_columns,) in 1D."""

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """(data - model) * weight over the window, flattened; 0 where `keep` is False.

        Raises :class:`DataError` if the measurement has no data.
        """

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """(n_free, n) derivatives of the residual.

        `known_only` leaves the columns of ``capabilities.unknown_columns`` incomplete instead of
        raising :class:`PlanError` for them.
        """

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """chi², Jᵀr and JᵀJ as a packed triangle; see
        :meth:`pyspec.executor.CompiledExecutor.normal` for the forms."""

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """The parts of a fit for the solver in C, valid inside the `with` block."""

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """The sums of one fit whose loop runs in Python, for executors without parts. Valid inside
        the `with` block."""

    def rest(self) -> None:
        """Frees work memory, which the next call makes again; for executors that are kept."""


def each_by_itself(executor: Executor, fixed: Values) -> AbstractContextManager[SumsOfFit]:
    """The sums of a fit that keeps nothing from one evaluation to the next."""
    return nullcontext(lambda theta, form: executor.normal(theta, fixed, form))


class ValuesOnly:
    """For executors that give values and residuals alone: derivatives are finite differences."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities] = Capabilities()
    measurement: Measurement

    @abstractmethod
    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window: (n_rows, n_columns), or (n_columns,) in 1D."""

    def residual(self, theta: Values, fixed: Values = None) -> Array:
        """(data - model) * weight over the window, flattened; 0 where `keep` is False.

        Raises :class:`DataError` if the measurement has no data.
        """
        measurement = self.measurement
        if measurement.data is None:
            raise DataError("a residual needs data; give the measurement some")
        data, model = measurement.window(measurement.data), self.run(theta, fixed)
        if measurement.loss == "poisson":
            residual = deviance(data, model, measurement.loss_scale)
        else:
            residual = np.subtract(data, model)
        if measurement.weight is not None:
            residual = residual * measurement.of_points(measurement.weight)
        if measurement.keep is not None:
            residual = np.where(measurement.window(measurement.keep), residual, 0.0)
        return residual.ravel()

    def jacobian(self, theta: Values, fixed: Values = None, *, known_only: bool = False) -> Array:
        """Raises :class:`PlanError`."""
        raise self._no_derivatives()

    def normal(self, theta: Values, fixed: Values = None, form: str = "gram") -> Array:
        """Raises :class:`PlanError`."""
        raise self._no_derivatives()

    def parts(self, fixed: Values = None) -> AbstractContextManager[PartsOfFit]:
        """Raises :class:`PlanError`."""
        raise self._no_derivatives()

    def sums(self, fixed: Values = None) -> AbstractContextManager[SumsOfFit]:
        """Raises :class:`PlanError`."""
        raise self._no_derivatives()

    def rest(self) -> None:
        """There is no work memory."""

    def _no_derivatives(self) -> PlanError:
        return PlanError(
            f"the {self.name} executor has no derivatives; use compiled, or finite differences"
        )
