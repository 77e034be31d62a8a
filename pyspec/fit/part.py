"""One model and its measurement as a fit sees them: alone, or as one file of several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pyspec.executor import Executor, Part, executor_of
from pyspec.executor.laid import Arrays, FitLayout, lay_out, layout_of
from pyspec.executor.protocol import Stored
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.refusals import check_registered
from pyspec.model import Measurement, Par
from pyspec.model.build.check import refuse_idle
from pyspec.model.data.digest import checksum_and_square, checksum_of, count_kept
from pyspec.model.data.source import source_of
from pyspec.model.data.windows import slice_of
from pyspec.model.facts import Outline
from pyspec.plan import CompiledModel
from pyspec.plan.following import Followers
from pyspec.plan.places import Places
from pyspec.plan.start import StartParameters, start_parameters

Array = npt.NDArray[np.float64]

#: What does not go into a pickle.
_MADE_AGAIN = ("_executor", "laid", "outline")


class Together(Protocol):
    """Several files that are fitted together, as one of them knows the others."""

    @property
    def files(self) -> Sequence[FitPart]:
        """All of them."""

    @property
    def executor(self) -> Executor:
        """The executor that runs them together; it is made, and those of all files."""


class FitPart:
    """A compiled model, a measurement and a backend. Pickles without its executor, which is made
    again on first use.

    Attributes
    ----------
    compiled, measurement, fixed : as of :class:`pyspec.executor.Part`
    model : that which was compiled; nobody changes it
    outline : what the model has in common with others of its structure
    is_poisson : whether the residual is a Poisson deviance
    is_weighted : whether the noise is known: weights, or counting statistics
    names : the free parameters, the order of theta
    data_checksum : of the data as they were when this was made: what is saved later must be what
        was fitted
    laid : the layout of the structures of C, if an earlier fit has determined it, and the arrays
        that they point to. The loop then needs no executor. Files that are fitted together have
        none
    lays_out : whether this fit looks for such a layout, and leaves its own to the next fit of
        similar data
    shares : the problem of all files, where this one shares free amplitudes with others
    """

    laid: tuple[FitLayout, Arrays] | None = None
    shares: Together | None = None
    _executor: Executor | None = None

    def __init__(
        self,
        part: Part,
        backend: str,
        checksum: int | None = None,
        *,
        lays_out: bool = False,
    ) -> None:
        self.compiled, measurement, self.fixed = part
        self.model, self.outline = self.compiled.model, _outline(self.compiled)
        self.measurement, self.is_poisson = measurement, measurement.loss == "poisson"
        self.is_weighted = measurement.weight is not None or self.is_poisson
        self.backend = backend
        self.lays_out = lays_out and backend == "compiled" and self.fixed is None
        if self.lays_out:
            self.laid = layout_of(self.compiled, measurement)
        laid = self.laid is not None
        self.names: tuple[str, ...] = self.compiled.names if laid else self.executor.opt_param_names
        # The executor has refused other shapes by now, before the data are read.
        if checksum is not None:
            self.data_checksum = checksum
        elif laid:  # an array
            self.data_checksum, self.data_square = checksum_and_square(measurement)
        else:
            self.data_checksum = checksum_of(measurement)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.outline = _outline(self.compiled)

    @property
    def part(self) -> Part:
        """What is fitted, as executors know it."""
        return Part(self.compiled, self.measurement, self.fixed)

    @property
    def files(self) -> Sequence[FitPart]:
        """This one, as problems have several."""
        return (self,)

    # who answers

    @property
    def executor(self) -> Executor:
        """What evaluates this part. If files share amplitudes, it asks for those of all files."""
        if self._executor is None:
            if self.shares is None:
                return self.make_executor()
            assert self.shares.executor is not None
            assert self._executor is not None
        return self._executor

    def make_executor(self) -> Executor:
        """An executor of this file by itself, which answers from now on."""
        if self.outline.calls_python:
            check_registered(self.model, self.parameters)
        self._executor = executor = executor_of(self.compiled, self.measurement, self.backend)
        if self.lays_out:
            lay_out(self.compiled, executor)
        return executor

    def forget(self) -> None:
        """Forgets the executor, which is made again when it is needed."""
        self._executor = self.laid = None

    def rest(self) -> None:
        """Frees what only a running fit needs; it is made again when it is needed."""
        self.laid = None
        if self._executor is not None:
            self._executor.rest()

    def with_measurement(self, measurement: Measurement) -> FitPart:
        """The same of the data as they came, in place of those that workers hold, or of their
        chunks."""
        if measurement is self.measurement:
            return self
        checksum = self.data_checksum
        if source_of(measurement.data) is None:
            checksum = checksum_of(measurement)
        else:  # what was seen while they were read is not looked for again
            measurement.__dict__["survey"] = self.measurement.survey
            measurement.seen.update(self.measurement.seen)
        return type(self)(
            self.part._replace(measurement=measurement), self.backend, checksum=checksum
        )

    # the model

    @property
    def label(self) -> str:
        """How errors call it."""
        return self.model.name

    @property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters by name, as they are when the fit begins."""
        return self.compiled.parameters

    @property
    def followers(self) -> Followers:
        """The expression parameters, as they are when the fit begins."""
        return self.compiled.followers

    @property
    def column_kinds(self) -> tuple[str, ...]:
        """The class of each Jacobian column, see :class:`pyspec.passes.Column`."""
        return self.compiled.column_kinds

    @property
    def n_amplitudes(self) -> int:
        """Amplitudes that are solved for beside theta, see :mod:`pyspec.fit.amplitudes`."""
        return 0

    def n_amplitudes_at(self, theta: Array) -> int:
        """The number of those that the data determine at `theta`; the others are held at 0."""
        return 0

    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        return self.compiled.jumps if self.fixed is None else self.compiled.jumps_at(self.fixed)

    def jump_parameters(self) -> Collection[str]:
        """All free parameters that move a jump, directly or through expressions."""
        return self.compiled.jump_parameters

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        """Starts to other optima than that at `theta`; fewer of a file that moves `alone`."""
        return []

    # the measurement

    @property
    def is_trace(self) -> bool:
        """Whether values against time are fitted: then there is no energy axis."""
        return self.model.is_time_model

    def axis(self, name: str) -> Array | None:
        """(n,) the "energy" or "time" of the fit window; None where the data have none."""
        is_energy = name == "energy"
        values = self.model.energy if is_energy else self.model.time
        if values is None or (is_energy and self.is_trace):
            return None
        measurement = self.measurement
        return values[
            slice_of(measurement.columns if is_energy or self.is_trace else measurement.rows)
        ]

    @property
    def data(self) -> Stored:
        """Those of the window, as given."""
        assert self.measurement.data is not None
        return self.measurement.window(self.measurement.data)

    @property
    def n_residuals(self) -> int:
        """Points of the window, masked ones included."""
        return int(self.data.size)

    @property
    def n_points(self) -> int:
        """Points of the window that count."""
        measurement = self.measurement
        if measurement.keep is None and self.laid is not None:
            return self.laid[0].n_points
        if measurement.keep is not None or source_of(measurement.weight) is not None:
            return count_kept(measurement)
        return self.n_residuals

    @cached_property
    def data_square(self) -> float:
        """chi² of a model that is 0 everywhere: what rounding of chi² is measured by."""
        return self.measurement.square()

    # at values of the parameters

    def start(self, seeds: Mapping[str, float] | None) -> StartParameters:
        """Where it starts."""
        if self.outline.is_idle:
            laws = [par.dynamics.components for par in self.parameters.values() if par.dynamics]
            refuse_idle(self.model.components, *laws)
        values = {**(self.fixed or {}), **(seeds or {})}
        shared = None if values else self.compiled.start
        if shared is not None:
            return shared
        facts = self.model, self.parameters, self.names, values
        return start_parameters(*facts, self.measurement.glimpse)

    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window at `theta`, or over the whole axes."""
        executor = executor_of(self.compiled, None, self.backend) if whole else self.executor
        return np.asarray(executor.run(theta, self.fixed))

    def chisqr_at(self, theta: Array) -> float:
        """chi² at a point; NaN where the model is not defined."""
        return chisqr_of(self.executor, theta, self.fixed)

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        return explain_nonfinite(self.model, theta)


def _outline(compiled: CompiledModel) -> Outline:
    outline = compiled.outline
    assert outline is not None
    return outline


def chisqr_of(executor: Executor, theta: Array, fixed: Mapping[str, float] | None) -> float:
    """chi² at a point; NaN where the model is not defined."""
    with np.errstate(all="ignore"):
        if not executor.capabilities.in_parts:
            return float(executor.normal(theta, fixed, "value")[0])
        residual = np.array(executor.residual(theta, fixed))
        return float(np.einsum("i,i", residual, residual))
