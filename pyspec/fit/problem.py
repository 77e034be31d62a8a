"""The residual as an optimizer sees it: one executor call for each evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.executor import Executor, Executors, make_executor, make_plan
from pyspec.executor.laid import Arrays, FitLayout
from pyspec.executor.team import threads_for
from pyspec.fit.columns import Columns
from pyspec.fit.counts import negative
from pyspec.fit.diagnose import explain_nonfinite
from pyspec.fit.doubts.bounds import at_the_bound
from pyspec.fit.doubts.caution import cautions
from pyspec.fit.doubts.finished import doubts
from pyspec.fit.evaluations import OUTSIDE, Evaluations
from pyspec.fit.following import Followers, Following
from pyspec.fit.known import Known, jumps_of
from pyspec.fit.parameters import FitParameters, start_parameters
from pyspec.fit.progress import Silent
from pyspec.fit.refusals import check_registered, refuse_idle
from pyspec.fit.solve.methods import checked_classes
from pyspec.fit.solve.native import NativeSolver, Watch
from pyspec.fit.solve.places import Places
from pyspec.fit.sums import sums_of
from pyspec.ir import build_graph
from pyspec.model import Measurement, Model, Par
from pyspec.model.digest import checksum_and_square, checksum_of, count_kept
from pyspec.model.measurement import square_of
from pyspec.model.outline import Outline, outline_of
from pyspec.model.source import source_of
from pyspec.passes import linear_parameters
from pyspec.plan import ScheduledPlan, lower

Array = npt.NDArray[np.float64]

#: What does not go into a pickle.
_MADE_AGAIN = {
    "_executor", "_executors", "_known", "_layout", "outline", "progress",
    "_params", "_gather", "_kept",
}  # fmt: skip

_UNIT = attrgetter("unit")


class FitProblem(Columns):
    """Model, measurement and backend, callable with lmfit.Parameters.

    `evaluations` counts them and keeps the best point. Values that are not finite are refused by
    naming the parameter. Pickles without its executor, which is made again on first use.

    `executor` is one made before, for many measurements of one model, and `like` a problem of the
    same model, from which this takes what the model alone decides, such as its `parameters`; with
    `known` the model is that of other fits, too;
    `fixed` holds values of fixed parameters that differ from those of the model; `without` names
    classes of Jacobian columns that are switched off, for comparison: nothing is made of what is
    known of them, they are finite differences at every step.
    """

    def __init__(
        self,
        model: Model,
        measurement: Measurement,
        backend: str,
        executor: Executor | None = None,
        fixed: Mapping[str, float] | None = None,
        without: Collection[str] = (),
        like: FitProblem | Known | None = None,
        outline: Outline | None = None,
        known: Known | None = None,
    ) -> None:
        self.without = checked_classes(without) if without else frozenset()
        self._known = known
        if known is not None:
            self.outline = known.outline
            self._executors = known.executors
            self._layout = None if self.without else known.layout_of(measurement)
            like = known
        if outline is not None:
            self.outline = outline
        if like is not None:
            self.parameters, self.followers = like.parameters, like.followers
            if known is None and isinstance(like, FitProblem) and "linear_names" in vars(like):
                self.linear_names = like.linear_names
        self.model = model
        self.measurement = measurement
        self.backend = backend
        self.fixed = None if fixed is None else dict(fixed)
        self._executor: Executor | None = executor
        if known is not None and self._layout is not None:
            self.names: tuple[str, ...] = known.names
        else:
            self.names = tuple(self.executor.opt_param_names)
        #: Of the data as they are now: what is saved later must be what was fitted. The executor
        #: has refused other shapes by now, before the data are read.
        if self._layout is not None:  # an array
            self.data_checksum, self.data_square = checksum_and_square(measurement)
        else:
            self.data_checksum = checksum_of(measurement)
        self.evaluations = Evaluations(len(self.names))
        self.sizes = [1.0] * len(self.names)

    def make_executor(self) -> Executor:
        """The executor of this problem."""
        if self._known is not None:
            return self._known.executor(self.measurement)
        if self._executors is not None:
            return self._executors(self.measurement)
        if self.outline.calls_python:
            check_registered(self.model, self.parameters)
        return Executors(self.model, self.backend, self.parameters, self.outline)(self.measurement)

    progress: Silent = Silent()
    _params: Any = None
    _gather: Sequence[Any] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._executor, self._known = None, None
        self.__dict__.update(state)

    # what is fitted

    #: What makes executors of a model that other fits have too.
    _executors: Executors | None = None

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
    def parameters(self) -> dict[str, Par]:
        """All parameters by name, as they are when the fit begins."""
        return self.model.parameters

    @cached_property
    def outline(self) -> Outline:
        """What the model has in common with others of its structure, while a fit runs."""
        return outline_of(self.model)

    @cached_property
    def followers(self) -> Followers:
        """The expression parameters, as they are when the fit begins."""
        return Following.of(self.parameters, self.outline.followers)

    @property
    def is_plain(self) -> bool:
        """Whether the native solver is all that a fit calls: one loop in C, on data in memory."""
        return self._layout is not None and self._known is not None and not self._known.jumps

    rivals: list[Array] | None = None  # starts to other optima nearly as good; None: not looked for

    def beside(self, theta: Array, *, alone: bool = False) -> list[Array]:
        """Starts to other optima than that at `theta`; fewer of a file that moves `alone`."""
        return []

    def rest(self) -> None:
        """Frees what only a running fit needs; it is made again when it is needed."""
        self._known = self._layout = None
        self._kept = {}
        self.__dict__.pop("outline", None)
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
    def n_residuals(self) -> int:
        """Points of the window, masked ones included."""
        data = self.measurement.data
        assert data is not None
        return int(self.measurement.window(data).size)

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
            refuse_idle(self.model, self.parameters)
        given = {**(self.fixed or {}), **(seeds or {})}
        if self._known is not None and not given:
            params, moved, self.sizes = self._known.start(self.measurement.glimpse)
        else:
            known = self.model, self.parameters, given
            params, moved = start_parameters(*known, self.measurement.glimpse)
            self.sizes = list(map(_UNIT, map(params.limits.__getitem__, self.names)))
        return params, moved

    def expressions(self, names: Iterable[str]) -> dict[str, str]:
        """The texts of expression parameters."""
        return {n: one.text for n in names if (one := self.parameters[n].formula) is not None}

    def cautions(self, values: Mapping[str, float]) -> list[str]:
        """What may mislead at these values."""
        return cautions(self.model, self.outline, self.parameters, values, self.measurement)

    def doubts(
        self, theta: Array, values: Mapping[str, float], sides: Any, chisqr: float | None = None
    ) -> list[str]:
        """What to doubt in a finished fit; `sides` are the bounds that parameters ended at,
        `chisqr` that of the fit, if it is known."""
        found = self.chisqr_at if chisqr is None else lambda at: chisqr
        known = self.model, self.outline, self.parameters
        said = doubts(*known, values, self.measurement, lambda: found(theta), sides)
        return said + negative(self, theta)

    def said_of(
        self, values: Mapping[str, float], chisqr: float
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Both of a fit that ended within all bounds; and what may mislead alone."""
        outline, warned = self.outline, []
        if outline.sampled or outline.is_time_model:
            warned = self.cautions(values)
        known = self.model, outline, self.parameters
        found = doubts(*known, values, self.measurement, lambda: chisqr, {})
        return (*found, *warned), (*warned,)

    def at_the_bound(self, name: str, side: str, limit: float, *gain: float) -> str:
        """A sentence about a parameter that ended at a bound; `gain` in χ², of χ², in units of the
        variance of a point."""
        return at_the_bound(name, self.model, side, limit, *gain)

    # what an optimizer calls

    def theta_of(self, values: Mapping[str, float]) -> Array:
        """The values of the free parameters, in the order of the plan."""
        return np.fromiter(map(values.__getitem__, self.names), np.float64, len(self.names))

    def bounds_of(self, params: FitParameters) -> tuple[Array, Array]:
        """(n_free,) lower and upper bounds, in the order of the plan."""
        if self._known is not None:
            return self._known.bounds
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
        executor = make_executor(self.model, None, self.backend) if whole else self.executor
        return np.asarray(executor.run(theta, self.fixed))

    @property
    def in_c(self) -> bool:
        """Whether all derivatives come from one C call."""
        if self._layout is not None:
            return True
        return self.executor.capabilities.in_c and not (self.without and self._switched_off)

    def chisqr_at(self, theta: Array) -> float:
        """chi² at a point; NaN where the model is not defined."""
        with np.errstate(all="ignore"):
            if not self.executor.capabilities.in_parts:
                return float(self.executor.normal(theta, self.fixed, "value")[0])
            residual = self.plain_residual(theta)
            return float(np.einsum("i,i", residual, residual))

    def jumps(self) -> Mapping[str, Places]:
        """Free parameters that move a jump over the samples → the values where they do."""
        if self._known is not None:
            return self._known.jumps
        return jumps_of(self.plan, self.model, self.outline, self.fixed)

    def jump_parameters(self) -> Collection[str]:
        """All free parameters that move a jump, directly or through expressions."""
        return lower(self.model, outline=self.outline).jump_parameters(self.model)

    @property
    def plan(self) -> ScheduledPlan:
        """The plan of the model."""
        plan = self.executor.plan
        return make_plan(self.model) if plan is None else plan

    def solve(self, solver: NativeSolver, watch: Watch, each: bool = False) -> None:
        """Runs the solver of C: all of it there, or with evaluations from here where these need
        Python. `each` says whether every evaluation is watched, or one now and then."""
        each = each or self.progress.each or self.evaluations.max_seconds is not None
        if self._layout is not None:
            layout, arrays = self._layout
            n_threads, laid = threads_for(layout.size), layout.take(arrays)
            try:
                if n_threads == 1:
                    solver.run_parts(laid, watch, each)
                    return
                with layout.shared(laid, n_threads):
                    solver.run_parts(laid, watch, each)
            finally:
                layout.give_back(laid)
            return
        if self.in_c and self.executor.capabilities.in_parts:
            with self.executor.parts(self.fixed) as parts:
                solver.run_parts(parts, watch, each)
            return
        with sums_of(self, solver.bounds) as evaluate:
            solver.run(evaluate, watch)

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """The free parameters that the model is linear in together."""
        return linear_parameters(build_graph(self.model)).names

    def of_squares(self) -> FitProblem:
        """The same with residuals that are not those of counts."""
        plain = replace(self.measurement, loss="squares")
        return FitProblem(self.model, plain, self.backend, fixed=self.fixed)

    def explain(self, theta: Array) -> str:
        """One sentence on what is not finite at `theta`."""
        return explain_nonfinite(self.model, theta)
