"""fit_model: one model fitted to one measurement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyspec.calls import answered
from pyspec.errors import FitError
from pyspec.fit.backend import make_problem
from pyspec.fit.batch.from_starts import FromStarts, best_from_starts
from pyspec.fit.batch.pools import check_workers, make_pool, refuse_shared
from pyspec.fit.doubts.caution import warn
from pyspec.fit.evaluations import check_limits
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.known import known_of
from pyspec.fit.linear import problem_of
from pyspec.fit.on_cluster import give_back, on_workers, shared
from pyspec.fit.options import MethodOptions, check_options, check_scale, need_pair
from pyspec.fit.plain import judged
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Callback, Silent, make_progress
from pyspec.fit.result import FitResult
from pyspec.fit.solve.methods import NATIVE, RANDOM, How, fit_stages, without_intervals
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import check_seeds, check_starts, with_fixed
from pyspec.model import Measurement, Model
from pyspec.model.cut import in_chunks
from pyspec.model.source import source_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


@answered
@held
def fit_model(
    model: Model,
    measurement: Measurement,
    backend: str | None = "compiled",
    method: str | None = None,
    progress: bool | Callback | None = None,
    max_nfev: int | None = None,
    *,
    stages: int = 1,
    fit_alg_1: str | None = None,
    fit_alg_2: str | None = None,
    scale_covar: bool | None = None,
    seeds: Mapping[str, float] | None = None,
    max_seconds: float | None = None,
    jacobian_without: Collection[str] = (),
    n_starts: int = 1,
    seed: int = 0,
    client: Any = None,
    n_workers: int | None = None,
    chunks: int | None = None,
    **options: Unpack[MethodOptions],
) -> FitResult:
    """Fits the free parameters of `model` to `measurement`: the sum of
    ``((data - model) * weight)**2`` becomes smallest, for counts the deviance.

    Parameters
    ----------
    model : with its axes set; it is not changed
    measurement : data, window, weights
    backend : "compiled", "interpreted", "tree" or "compare" (or a name of trspecfit such as
        "fit_model_gir"); None tries the first three in that order and warns why it fell back
    method : "native" (the default: Levenberg-Marquardt in C, with exact derivatives and bounds
        as an active set) or any method of lmfit, such as "leastsq"; `fit_alg_1` is another name
        for it
    progress : True for a bar or line on stderr, or a function (nfev, chisqr, best); an object that
        has a method ``rows(done, total)``, too, is told of each chunk of data that come in chunks
    max_nfev, max_seconds : stop after so many residual evaluations, or so long, keeping the best
        point
    stages : 1, or 2 for `fit_alg_1` ("nelder", with method "native" too) followed by `fit_alg_2`
        ("native")
    scale_covar : whether standard errors are scaled by sqrt(redchi); by default they are, except
        with counting statistics
    seeds : values by name in place of those of the model: starts of free parameters, and the values
        that fixed ones have in this fit
    jacobian_without : classes of Jacobian columns to switch off, for comparison: "constant",
        "structured" or both; columns of these classes are finite differences at every step
        (see ``pyspec explain --jacobian``)
    n_starts : number of starts, the given one and random ones; the best fit is returned.
        `result.starts` lists them, and `result.cautions` says where they disagree. Limits are those
        of each fit
    seed : of the random starts, and of methods that draw random numbers (differential_evolution,
        basinhopping, dual_annealing, ampgo, emcee): the same one gives the same fit
    client : a ``dask.distributed.Client`` whose workers share the rows of a series or, with
        `n_starts` and data in memory, the fits; see docs/howto/cluster.md. Sums over shared rows
        have the bits of those in one process
    n_workers : number of processes on this machine that share the fits of `n_starts`; a script then
        needs ``if __name__ == "__main__":``
    chunks : rows of a series that are evaluated at a time, with the same bits; besides the data
        only a few chunks are held in memory. Data by reference are read in blocks of 4 MiB by
        default. Such fits do not begin on a part of the rows (docs/solver.md)
    options : passed on to the (last) method; "native" takes `tolerance`, in standard errors, and
        ``linear="eliminate"``: the fit searches the other parameters alone and solves for those
        that the model is linear in (heights, offsets, slopes), whose start values then do not
        matter; the result is that of any fit

    Returns
    -------
    FitResult
        values, standard errors, statistics, curves, and how it ended

    Raises
    ------
    FitError
        nothing to fit, an unknown method, fewer points than parameters, or a residual that is
        not finite; the message names the parameter
    """
    if type(model) is not Model or type(measurement) is not Measurement:
        need_pair("fit_model", model, measurement)
    if options:
        check_options(model.name, options)
    if scale_covar is not None:
        check_scale(scale_covar)
    if max_nfev is not None or max_seconds is not None:
        check_limits(max_nfev, max_seconds)
    methods: tuple[str, ...] = (NATIVE,)
    if method not in (None, NATIVE) or (fit_alg_1, fit_alg_2, stages) != (None, None, 1):
        methods = fit_stages(method, stages, fit_alg_1, fit_alg_2)
    given: dict[str, Any] = without_intervals(options) if options else {}
    if type(n_starts) is not int or n_starts != 1:
        n_starts, seed = check_starts(n_starts, seed)
    if n_workers is not None:
        check_workers(model.name, client, n_workers)
    if seeds:
        check_seeds(model, seeds)
        model = with_fixed(model, seeds)
    if not RANDOM.isdisjoint(methods):
        given = {"seed": seed, **given}
    how = How(methods, given, max_nfev, max_seconds, scale_covar)
    given_data = measurement
    if chunks is not None:
        refuse_shared(model.name, client, n_workers)
        measurement = in_chunks(measurement, chunks)
    if type(measurement.data) is not np.ndarray:
        _check_source(model, measurement, methods)
    apart = n_starts > 1 and source_of(measurement.data) is None
    rows_on = None if apart else client  # whole fits are tasks, where the data are at hand
    if rows_on is not None:
        measurement = on_workers(rows_on, model, measurement)
    known = known_of(model) if backend == "compiled" and n_starts == 1 else None
    own = model.copy() if known is None else known.model
    if known is None or measurement.data is None:
        problem = make_problem(own, measurement, backend, jacobian_without)
    else:
        problem = FitProblem(own, measurement, "compiled", without=jacobian_without, known=known)

    def whole() -> FitResult:
        """The fit, or the best of several."""
        if n_starts == 1:
            reporter = Silent() if progress is None else make_progress(progress, model.name)
            result = judged(run_fit(problem, how, reporter, seeds))
        else:
            fits = _Fits(how, own, measurement, backend, jacobian_without)
            fits.problem = problem
            pool = make_pool(model.name, client, n_workers) if apart else None
            result = best_from_starts(fits, seeds, n_starts, seed, pool, hold, progress)
        if result._warned:
            warn(problem.label, result._warned)
        if result.problem.measurement is not given_data:
            give_back(result.problem, given_data)
        result.problem.rest()
        return result

    with Hold() as hold:
        spent = None
        if rows_on is None:
            result = whole()
        else:
            with shared(problem, rows_on, methods) as spent:
                result = whole()
        result.spent = spent
        return hold.mark(result)


@dataclass
class _Fits(FromStarts):
    """Fits of one model to one measurement."""

    model: Model
    measurement: Measurement
    backend: str | None
    without: Collection[str]

    def first_problem(self) -> FitProblem:
        return make_problem(self.model, self.measurement, self.backend, self.without)

    def next_problem(self) -> FitProblem:
        first = self.problem
        known = first.model, self.measurement, first.backend, first.executor
        return problem_of(*known, without=self.without)


def _check_source(model: Model, measurement: Measurement, methods: Sequence[str]) -> None:
    """Methods of lmfit want an array of all residuals, which is larger than memory."""
    if source_of(measurement.data) is None:
        return
    others = [method for method in methods if method != NATIVE]
    if others:
        raise FitError(
            f"{model.name}: {others[0]} needs all residuals at once, the data are by reference; "
            f"use {NATIVE}, the default, or give np.asarray(data)"
        )
