"""What an optimizer calls: χ², its residual and their derivatives, and the account of the calls.

Derivatives are exact where the executor knows them, differences elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.executor.normal import pack_triangle, unpack
from pyspec.executor.protocol import each_by_itself
from pyspec.fit.diagnose import explain_slopes, refusal
from pyspec.fit.ending import Ending
from pyspec.fit.evaluations import OUTSIDE, Evaluations
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent
from pyspec.fit.solve.covariance import fisher_weight, jacobian, root_of
from pyspec.fit.solve.native import NativeSolver, Watch
from pyspec.fit.solve.search import Search

if TYPE_CHECKING:
    import lmfit

Array = npt.NDArray[np.float64]
Bounds = Sequence[tuple[float, float]]

#: What does not go into a pickle.
_OF_A_RUN = ("progress", "_params", "_gather", "_kept")


class Objective:
    """One run of a fit of `problem`: callable with lmfit.Parameters.

    Attributes
    ----------
    evaluations : counts them and keeps the best point
    progress : is told of each
    sizes : (n,) the units of the parameters, by which differences and steps are counted
    """

    progress: Silent = Silent()
    _params: lmfit.Parameters = None
    _gather: Sequence[lmfit.Parameter] = ()
    #: Columns that stay the same.
    _kept: Mapping[int, Array] = MappingProxyType({})

    def __init__(self, problem: FitProblem, sizes: Sequence[float] = ()) -> None:
        self.problem = problem
        self.evaluations = Evaluations(len(problem.names))
        self.sizes = sizes or [1.0] * len(problem.names)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in _OF_A_RUN}

    def __call__(self, params: lmfit.Parameters) -> Array:
        """The residual (data - model) * weight over the window, flat; for lmfit."""
        if params is not self._params:
            self._params = params
            self._gather = [params[name] for name in self.problem.names]
        return self.residual(np.array([par.value for par in self._gather], dtype=np.float64))

    def residual(self, theta: Array) -> Array:
        """The residual at `theta`; keeps the best point. What is not finite is refused, or bad."""
        evaluations = self.evaluations
        evaluations.left()
        evaluations.check_end()
        residual: Array = self.problem.executor.residual(theta, self.problem.fixed)
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

    def solve(self, solver: NativeSolver | Search, watch: Watch) -> None:
        """Runs the solver of C: all of it there, or with evaluations from here where these need
        Python. Every evaluation is watched where that is asked for, else one now and then."""
        each = self.progress.each or self.evaluations.max_seconds is not None
        if self.problem.in_memory:
            with self.problem.in_parts() as parts:
                solver.run_parts(parts, watch, each)
            return
        with self.sums(solver.bounds) as evaluate:
            solver.run(evaluate, watch)

    def judge(self, solver: NativeSolver) -> Ending:
        """What C says of the ending of a solver that has settled, after a closer look."""
        with self.problem.in_parts() as parts:
            return solver.judge(parts, np.array(self.sizes, dtype=np.float64))

    @contextmanager
    def sums(
        self, bounds: Bounds, *, each: bool = False
    ) -> Iterator[Callable[[Array, str], Array]]:
        """Yields a function of (theta, form) that returns the triangle of [J r], or chi² alone. It
        is valid inside of the `with` block. If chi² is not finite, it may be all that is returned.
        With `each` the result depends on this point alone, not on earlier points. It then has the
        same bits for data in memory, by reference and on a cluster."""
        executor, fixed = self.problem.executor, self.problem.fixed
        if not self.problem.in_c:
            yield lambda theta, form: self._by_differences(bounds, theta, form)
        elif executor.capabilities.in_parts:
            with executor.parts(fixed) as parts:
                yield parts.sum
        else:
            with each_by_itself(executor, fixed) if each else executor.sums(fixed) as sums:
                yield sums

    def _by_differences(self, bounds: Bounds, theta: Array, form: str) -> Array:
        residual = self.problem.plain_residual(theta)
        chisqr = np.array([np.einsum("i,i", residual, residual)])
        if form == "value" or not np.isfinite(chisqr[0]):
            return chisqr
        columns = np.vstack([-self.derivatives(theta, bounds), residual])
        if form == "factor":
            return pack_triangle(np.asarray(np.linalg.qr(columns.T, mode="r")))
        return pack_triangle(columns @ columns.T)

    def slopes(self, theta: Array, bounds: Bounds, free: list[int]) -> Array:
        """(m, n_free) matrix whose Gram matrix is the information: derivatives of the residual, or
        with counting statistics of the model over sqrt(variance); or a factor of these."""
        problem = self.problem
        if problem.in_c and problem.is_poisson:
            return root_of(unpack(problem.executor.normal(theta, problem.fixed, "fisher")))[:, free]
        if problem.in_c:
            return self.information(theta, bounds)[0][:, free]
        if not problem.is_poisson:
            return self.derivatives(theta, bounds)[free].T
        self.evaluations.count += 2 * len(free)
        slopes = jacobian(lambda at: problem.run(at).ravel(), theta, bounds, free, self.sizes)
        weights = [
            fisher_weight(file.measurement, file.run(own)).ravel()
            for file, own in problem.files_at(theta)
        ]
        return np.asarray(slopes * np.concatenate(weights)[:, np.newaxis])

    def information(self, theta: Array, bounds: Bounds) -> tuple[Array, Array | None]:
        """(n_free + 1, n_free + 1) triangular R with RᵀR = [J r]ᵀ[J r], and of counts the root of
        the information, which is another than that of J."""
        problem = self.problem
        free = list(range(len(problem.names)))
        if problem.in_c:
            triangle = problem.executor.normal(theta, problem.fixed, "factor")
            factor = unpack(triangle, symmetric=False)
        else:
            rows = (*-self.derivatives(theta, bounds), problem.plain_residual(theta))
            factor = np.zeros((len(rows), len(rows)))
            rows_factor = np.linalg.qr(np.stack(rows, axis=1), mode="r")
            factor[: len(rows_factor)] = rows_factor
        return factor, self.slopes(theta, bounds, free) if problem.is_poisson else None

    def derivatives(self, theta: Array, bounds: Bounds) -> Array:
        """(n_free, n_residuals) derivatives of the residual: exact where the executor knows them,
        by central differences elsewhere; constant ones of these are computed once."""
        problem = self.problem
        can = problem.executor.capabilities
        columns, exact = list(range(len(problem.names))), None
        if can.jacobian:
            columns = list(can.unknown_columns)
            exact = problem.executor.jacobian(theta, problem.fixed, known_only=True)
            if not columns:
                return exact
        differences = self._differences(theta, bounds, columns)
        if exact is None:
            return differences
        exact[columns] = differences
        return exact

    def _differences(self, theta: Array, bounds: Bounds, columns: list[int]) -> Array:
        """Central differences of some columns. Constant ones are kept from the first step on."""
        new = [k for k in columns if k not in self._kept]
        by_place = dict(self._kept)
        if new:
            slopes = jacobian(self.problem.plain_residual, theta, bounds, new, self.sizes).T
            self.evaluations.count += 2 * len(new)
            by_place.update(zip(new, slopes, strict=True))
            # Counting statistics scale columns by what depends on the model, and none stays.
            kinds = () if self.problem.is_poisson else self.problem.column_kinds
            constant = {k for k, kind in enumerate(kinds) if kind == "constant"}
            stay = [k for k in new if k in constant and np.isfinite(by_place[k]).all()]
            self._kept = {**self._kept, **{k: by_place[k] for k in stay}}
        return np.stack([by_place[k] for k in columns])

    def refuse(self, theta: Array) -> NoReturn:
        """Raises :class:`FitError`: the residual is not finite at `theta`, or a derivative of it is
        not, and why."""
        problem, steep = self.problem, ""
        bounds = [(-np.inf, np.inf)] * len(problem.names)
        with np.errstate(all="ignore"), suppress(PyspecError):
            if (
                type(problem.measurement.data) is np.ndarray
                and np.isfinite(theta).all()
                and np.isfinite(problem.plain_residual(theta)).all()
            ):
                steep = explain_slopes(problem.names, self.derivatives(theta, bounds))
        why = ("a derivative", steep) if steep else ("the residual", problem.explain(theta))
        count = self.evaluations.count
        raise refusal(problem.label, count, why, problem.names, theta.tolist())
