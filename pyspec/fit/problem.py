"""The residual as an optimizer sees it: one executor call for each evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.executor import Executor, executor_of
from pyspec.executor.laid import Arrays, FitLayout, lay_out, layout_of
from pyspec.executor.protocol import PartsInMemory
from pyspec.executor.team import threads_for
from pyspec.fit.columns import Columns
from pyspec.fit.counts import negative
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.evaluations import OUTSIDE, Evaluations
from pyspec.fit.findings.bounds import at_the_bound
from pyspec.fit.findings.caution import cautions
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.finished import doubts
from pyspec.fit.parameters import FitParameters
from pyspec.fit.progress import Silent
from pyspec.fit.refusals import check_registered
from pyspec.fit.solve.methods import checked_classes
from pyspec.fit.solve.native import NativeSolver, Watch
from pyspec.fit.solve.search import Search
from pyspec.fit.solve.settled import Settled
from pyspec.fit.sums import sums_of
from pyspec.model import Measurement, Par
from pyspec.model.check import refuse_idle
from pyspec.model.digest import checksum_and_square, checksum_of, count_kept
from pyspec.model.measurement import square_of
from pyspec.model.outline import Outline
from pyspec.model.source import source_of
from pyspec.model.windows import slice_of
from pyspec.plan import CompiledModel, compile_model
from pyspec.plan.following import Followers
from pyspec.plan.places import Places
from pyspec.plan.start import start_parameters

Array = npt.NDArray[np.float64]

#: What does not go into a pickle.
_MADE_AGAIN = ("_executor", "compiled", "_layout", "progress", "_params", "_gather", "_kept")

_UNIT = attrgetter("unit")


class FitProblem(Columns):
    """A compiled model, a measurement and a backend, callable with lmfit.Parameters.

    `evaluations` counts them and keeps the best point. Values that are not finite are refused by
    naming the parameter. Pickles with its model, but without its executor and without the compiled
    model, which are made again on first use.

    `executor` is one made before; `fixed` holds values of fixed parameters that differ from those
    of the model; `without` names classes of Jacobian columns that are finite differences at every
    step, for comparison; `checksum` is that of the data where they were fitted before.
    """

    def __init__(
        self,
        compiled: CompiledModel,
        measurement: Measurement,
        backend: str,
        executor: Executor | None = None,
        fixed: Mapping[str, float] | None = None,
        without: Collection[str] = (),
        checksum: int | None = None,
    ) -> None:
        self.without = checked_classes(without) if without else frozenset()
        self.compiled = compiled
        self.model = compiled.model
        self.measurement = measurement
        self.backend = backend
        self.fixed = None if fixed is None else dict(fixed)
        self._executor: Executor | None = executor
        if executor is None and backend == "compiled" and not self.without and fixed is None:
            self._layout = layout_of(compiled, measurement)
        laid = self._layout is not None
        self.names: tuple[str, ...] = compiled.names if laid else self.executor.opt_param_names
        #: Of the data as they are now: what is saved later must be what was fitted. The executor
        #: has refused other shapes by now, before the data are read.
        if checksum is not None:
            self.data_checksum = checksum
        elif self._layout is not None:  # an array
            self.data_checksum, self.data_square = checksum_and_square(measurement)
        else:
            self.data_checksum = checksum_of(measurement)
        self.evaluations = Evaluations(len(self.names))
        self.sizes = [1.0] * len(self.names)

    def make_executor(self) -> Executor:
        """The executor of this problem."""
        if self.outline.calls_python:
            check_registered(self.model, self.parameters)
        executor = executor_of(self.compiled, self.measurement, self.backend)
        if self.fixed is None:
            lay_out(self.compiled, executor)
        return executor

    progress: Silent = Silent()
    _params: Any = None
    _gather: Sequence[Any] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._executor = None
        self.__dict__.update(state)

    # what is fitted

    #: How the structures of C are laid out, where an earlier fit has shown that, and the arrays
    #: that they lead to: the loop then needs no executor.
    _layout: tuple[FitLayout, Arrays] | None = None

    @property
    def label(self) -> str:
        """How errors call it."""
        return self.model.name

    @property
    def executor(self) -> Executor:
        """The executor that answers."""
        if self._executor is None:
            self._executor = self.make_executor()
        return self._executor

    @cached_property
    def compiled(self) -> CompiledModel:
        """All that a fit needs of the model."""
        return compile_model(self.model)

    @property
    def parameters(self) -> Mapping[str, Par]:
        """All parameters by name, as they are when the fit begins."""
        return self.compiled.parameters

    @property
    def outline(self) -> Outline:
        """What the model has in common with others of its structure."""
        outline = self.compiled.outline
        assert outline is not None
        return outline

    @property
    def followers(self) -> Followers:
        """The expression parameters, as they are when the fit begins."""
        return self.compiled.followers

    @property
    def is_plain(self) -> bool:
        """Whether the native solver is all that a fit calls: one loop in C, on data in memory."""
        return self._layout is not None and not self.compiled.jumps

    rivals: list[Array] | None = None  # starts to other optima nearly as good; None: not looked for

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        """Starts to other optima than that at `theta`; fewer of a file that moves `alone`."""
        return []

    def rest(self) -> None:
        """Frees what only a running fit needs; it is made again when it is needed."""
        self._layout = None
        self._kept = {}
        if self._executor is not None:
            self._executor.rest()

    def use(self, executor: Executor | None) -> None:
        """Takes another executor; None: it is made again when it is needed."""
        self._executor, self._layout = executor, None

    @property
    def files(self) -> Sequence[FitProblem]:
        """The problems of the files of a joint fit; else this one."""
        return (self,)

    @property
    def named_files(self) -> Sequence[tuple[FitProblem, Mapping[str, str]]]:
        """These, each with the names that its parameters have in the result."""
        return [(self, {name: name for name in self.parameters})]

    def files_at(self, theta: Array) -> Iterator[tuple[FitProblem, Array]]:
        """These, each with its part of theta; meanwhile each knows the theta of the others."""
        yield self, theta

    @property
    def is_weighted(self) -> bool:
        """Whether the noise is known: weights, or counting statistics."""
        return self.measurement.weight is not None or self.is_poisson

    @property
    def is_poisson(self) -> bool:
        """Whether the residual is a Poisson deviance."""
        return self.measurement.loss == "poisson"

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
        given = self.measurement
        return values[slice_of(given.columns if is_energy or self.is_trace else given.rows)]

    @property
    def n_residuals(self) -> int:
        """Points of the window, masked ones included."""
        assert self.measurement.data is not None
        return int(self.measurement.window(self.measurement.data).size)

    @cached_property
    def data_square(self) -> float:
        """chi² of a model that is 0 everywhere: what rounding of chi² is measured by."""
        return square_of(self.measurement)

    @property
    def n_points(self) -> int:
        """Points of the window that count."""
        given = self.measurement
        if given.keep is not None or source_of(given.weight) is not None:
            return count_kept(given)
        return self.n_residuals if self._layout is None else self._layout[0].n_points

    #: Amplitudes that are solved for beside the parameters, see :mod:`pyspec.fit.linear`.
    n_linear: int = 0

    def n_linear_at(self, values: Mapping[str, float]) -> int:
        """The same at the end of a fit, which from there on is `n_linear`."""
        return self.n_linear

    def start(
        self, seeds: Mapping[str, float] | None = None
    ) -> tuple[FitParameters, tuple[str, ...]]:
        """The parameters to start from, and the names moved off a bound."""
        if self.outline.is_idle:
            laws = [par.dynamics.components for par in self.parameters.values() if par.dynamics]
            refuse_idle(self.model.components, *laws)
        given = {**(self.fixed or {}), **(seeds or {})}
        shared = None if given else self.compiled.start
        start = shared
        if start is None:
            known = self.model, self.parameters, given
            start = start_parameters(*known, self.measurement.glimpse)
            self.sizes = list(map(_UNIT, map(start.limits.__getitem__, self.names)))
        else:
            self.sizes = start.units
        params = FitParameters(dict(start.values), start.values, start.limits, shared)
        return params, start.moved

    def cautions(self, values: Mapping[str, float]) -> list[Finding]:
        """What may mislead at these values."""
        return cautions(self, values)

    def doubts(
        self, theta: Array, values: Mapping[str, float], sides: Any, chisqr: float | None = None
    ) -> list[Finding]:
        """What to doubt in a finished fit; `sides` are the bounds that parameters ended at,
        `chisqr` that of the fit, if it is known."""
        return doubts(self, theta, values, sides, chisqr) + negative(self, theta)

    def at_the_bound(self, name: str, side: str, limit: float, *gain: float) -> Finding:
        """The finding about a parameter at a bound; `gain` is that in χ², χ², and the variance."""
        return at_the_bound(name, self.model, side, limit, *gain)

    # what an optimizer calls

    def theta_of(self, values: Mapping[str, float]) -> Array:
        """The values of the free parameters, in the order of the plan."""
        return np.fromiter(map(values.__getitem__, self.names), np.float64, len(self.names))

    def bounds_of(self, params: FitParameters) -> tuple[Array, Array]:
        """(n_free,) lower and upper bounds, in the order of the plan."""
        if params.start is not None:
            return params.start.lower, params.start.upper
        bounds = np.array([params.limits[name][:2] for name in self.names])
        return bounds[:, 0], bounds[:, 1]

    def __call__(self, params: Any) -> Array:
        """The residual (data - model) * weight over the window, flat; for lmfit."""
        if params is not self._params:
            self._params = params
            self._gather = [params[name] for name in self.names]
        return self.residual(np.array([par.value for par in self._gather], dtype=np.float64))

    def residual(self, theta: Array) -> Array:
        """The residual at `theta`; keeps the best point. What is not finite is refused, or bad."""
        evaluations = self.evaluations
        evaluations.left()
        evaluations.check_end()
        residual: Array = self.executor.residual(theta, self.fixed)
        evaluations.count += 1
        # One pass: chi², and a look for NaN and inf. BLAS would start threads that idle after it.
        chisqr = float(np.einsum("i,i", residual, residual))
        is_best = evaluations.keep(chisqr, theta)
        if not is_best and not np.isfinite(chisqr) and not np.isfinite(residual).all():
            if not evaluations.may_leave:
                self.refuse(theta)
            residual.fill(OUTSIDE)
        self.progress.update(evaluations.count, chisqr, evaluations.best)
        return residual

    def run(self, theta: Array, *, whole: bool = False) -> Array:
        """The model over the window at `theta`, or over the whole axes."""
        executor = executor_of(self.compiled, None, self.backend) if whole else self.executor
        return np.asarray(executor.run(theta, self.fixed))

    @property
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""
        if self._layout is not None:
            return True
        return self.executor.capabilities.in_c and not (self.without and self._switched_off)

    @property
    def in_memory(self) -> bool:
        """Whether the loop in C evaluates by itself."""
        return self._layout is not None or (self.in_c and self.executor.capabilities.in_parts)

    def chisqr_at(self, theta: Array) -> float:
        """chi² at a point; NaN where the model is not defined."""
        with np.errstate(all="ignore"):
            if not self.executor.capabilities.in_parts:
                return float(self.executor.normal(theta, self.fixed, "value")[0])
            residual = self.plain_residual(theta)
            return float(np.einsum("i,i", residual, residual))

    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        return self.compiled.jumps if self.fixed is None else self.compiled.jumps_at(self.fixed)

    def jump_parameters(self) -> Collection[str]:
        """All free parameters that move a jump, directly or through expressions."""
        return self.compiled.jump_parameters

    def solve(self, solver: NativeSolver | Search, watch: Watch) -> None:
        """Runs the solver of C: all of it there, or with evaluations from here where these need
        Python. Every evaluation is watched where that is asked for, else one now and then."""
        each = self.progress.each or self.evaluations.max_seconds is not None
        if self.in_memory:
            with self._parts() as parts:
                solver.run_parts(parts, watch, each)
            return
        with sums_of(self, solver.bounds) as evaluate:
            solver.run(evaluate, watch)

    def judge(self, solver: NativeSolver) -> Settled:
        """What C says of the ending of a solver that has settled, after a closer look."""
        with self._parts() as parts:
            return solver.judge(parts, np.array(self.sizes, dtype=np.float64))

    @contextmanager
    def _parts(self) -> Iterator[PartsInMemory]:
        """What C evaluates, inside of the `with` block."""
        if self._layout is None:
            with self.executor.parts(self.fixed) as parts:
                yield parts
            return
        layout, arrays = self._layout
        n_threads, laid = threads_for(layout.size), layout.take(arrays)
        try:
            with nullcontext() if n_threads == 1 else layout.shared(laid, n_threads):
                yield laid
        finally:
            layout.give_back(laid)

    @property
    def column_kinds(self) -> tuple[str, ...]:
        return self.compiled.column_kinds

    @property
    def linear_names(self) -> tuple[str, ...]:
        """The free parameters that the model is linear in together."""
        return self.compiled.linear

    def of_squares(self) -> FitProblem:
        """The same with residuals that are not those of counts."""
        plain = replace(self.measurement, loss="squares")
        return FitProblem(self.compiled, plain, self.backend, fixed=self.fixed)

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        return explain_nonfinite(self.model, theta)
