"""fit_model: one model fitted to one measurement. fit_trace: values against time, without an energy
axis, such as data of one channel or the trace of a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import CallError, DataError, FitError
from pyspec.fit.batch.from_starts import best_from_starts
from pyspec.fit.findings.finding import warn
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.on_cluster import on_workers, refuse_shared, shared
from pyspec.fit.options import FitOptions, MethodOptions, need_pair
from pyspec.fit.problem import make_problem
from pyspec.fit.progress import Callback, Silent, make_progress
from pyspec.fit.results.result import FitResult
from pyspec.fit.solve.conclude import result_of
from pyspec.fit.solve.methods import NATIVE, checked_how
from pyspec.fit.solve.stages import run_fit
from pyspec.fit.starts import check_seeds, check_starts, with_fixed
from pyspec.ir import GraphIR, model_of
from pyspec.model import Measurement, Model, load_time_model
from pyspec.model.data.measurement_checks import check_sigma
from pyspec.model.data.row_ranges import in_chunks
from pyspec.model.data.source import source_of
from pyspec.model.data.windows import index_range
from pyspec.plan import CompiledModel, compile_model

if TYPE_CHECKING:
    from typing_extensions import Unpack


@answered
@held
def fit_model(
    model: Model | CompiledModel | GraphIR,
    measurement: Measurement,
    backend: str | None = "compiled",
    method: str | Sequence[str] | None = None,
    progress: bool | Callback | None = None,
    max_nfev: int | None = None,
    *,
    scale_covar: bool | None = None,
    seeds: Mapping[str, float] | None = None,
    max_seconds: float | None = None,
    n_starts: int = 1,
    seed: int = 0,
    client: object = None,
    chunks: int | None = None,
    **options: Unpack[MethodOptions],
) -> FitResult:
    """Fits the free parameters of `model` to `measurement`: the sum of
    ``((data - model) * weight)**2`` becomes smallest, for counts the deviance.

    Parameters
    ----------
    model : with its axes set; it is not changed. Or one that was compiled before, by
        ``pyspec.plan.compile_model(model)``, or a graph, by way of :func:`pyspec.ir.model_of`
    measurement : data, window, weights
    backend : "compiled", "interpreted", "tree" or "compare"; None tries the first three in that
        order and warns why it fell back
    method : "native" is the default: Levenberg-Marquardt in C, with exact derivatives and bounds as
        an active set. Or any method of lmfit, such as "leastsq". Or several in turn, such as
        ("nelder", "native"): each begins where the one before has ended
    progress : True for a bar or line on stderr, or a function (nfev, chisqr, best). An object with
        a method ``rows(done, total)`` is also told of each chunk, for data that come in chunks
    max_nfev, max_seconds : stop after so many residual evaluations, or so long, keeping the best
        point
    scale_covar : whether standard errors are scaled by sqrt(redchi); by default they are, except
        with counting statistics
    seeds : values by name in place of those of the model: starts of free parameters, and the values
        that fixed ones have in this fit
    n_starts : number of starts, the given one and random ones; the best fit is returned.
        `result.starts` lists them, and `result.findings` say where they disagree. Limits are those
        of each fit
    seed : of the random starts, and of methods that draw random numbers (differential_evolution,
        basinhopping, dual_annealing, ampgo): the same one gives the same fit
    client : a ``dask.distributed.Client`` whose workers share the rows of a series; see
        docs/howto/cluster.md. Their sums have the bits of those in one process
    chunks : rows of a series that are evaluated at a time, with the same bits; besides the data
        only a few chunks are held in memory. Data by reference are read in blocks of 4 MiB by
        default. Such fits do not begin on a part of the rows (docs/solver.md)
    options : passed on to the (last) method. "native" takes `tolerance`, in standard errors, and
        ``linear="eliminate"``: heights, offsets and slopes are solved for at each point, and their
        start values do not matter. The result is that of any fit

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
    if isinstance(model, GraphIR):
        model = model_of(model)
    own = model.model if isinstance(model, CompiledModel) else model
    if type(own) is not Model or type(measurement) is not Measurement:
        need_pair("fit_model", own, measurement)
    if type(n_starts) is not int or n_starts != 1:
        n_starts, seed = check_starts(n_starts, seed)
    limits = max_nfev, max_seconds, scale_covar
    how = checked_how(own.name, method, options, *limits, (measurement,), seed)
    if seeds:
        check_seeds(own, seeds)
    given_data = measurement
    if chunks is not None:
        refuse_shared(own.name, client)
        measurement = in_chunks(measurement, chunks)
    others = [name for name in how.methods if name != NATIVE]
    if others and source_of(measurement.data) is not None:  # larger than memory
        raise FitError(
            f"{own.name}: {others[0]} needs all residuals at once, the data are by reference; "
            f"use {NATIVE}, the default, or give np.asarray(data)"
        )
    if client is not None:
        measurement = on_workers(client, own, measurement)
    compiled = model if isinstance(model, CompiledModel) else compile_model(own)
    if seeds:
        compiled = with_fixed(compiled, seeds)
    problem = make_problem(compiled, measurement, backend)

    with Hold() as hold, shared(problem, client, how.methods) as spent:
        if n_starts == 1:
            reporter = Silent() if progress is None else make_progress(progress, own.name)
            result = result_of(run_fit(problem, how, reporter, seeds))
        else:
            result = best_from_starts(problem, how, seeds, n_starts, seed, progress=progress)
        if result._warned:
            warn(problem.label, result._warned)
        ended = result._problem.made()
        if measurement is not given_data:
            result._problem = ended.ended([given_data], result.theta)
        ended.rest()
        result.spent = spent
        return hold.mark(result)


@answered
@held
def fit_trace(
    model_yaml: str | Path | Model,
    model: str | Sequence[str] | None,
    time: npt.ArrayLike,
    values: npt.ArrayLike,
    sigma: npt.ArrayLike | None = None,
    *,
    target: str = "",
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    time_limits: Sequence[float | None] | None = None,
    measurement: Measurement | None = None,
    **options: Unpack[FitOptions],
) -> FitResult:
    """Fits a model of time laws to values against time.

    Parameters
    ----------
    model_yaml, model : a model file (or YAML text) and the name of a model of time laws in it;
        or a Model made of time laws, and None
    time : (n,), rising
    values : (n,)
    sigma : one standard error of the values, a number or (n,); the errors of the parameters are
        then not scaled by the reduced chi² (``scale_covar=True`` scales them)
    target : what the values are, for tables and pictures
    inputs : further arrays (n,) that laws by formula read, by name
    time_limits : (low, high), fit only these times, both ends included; None leaves a side open
    measurement : mask, window, and weights or counts in place of sigma; its data are `values`
    options : as of :func:`pyspec.fit.fit_model`

    Returns a :class:`FitResult` with `fit_type` "trace".
    """
    chosen = time_model(model_yaml, model).copy()
    if _rises(values) and not (_rises(time) or _rises(np.asarray(time)[::-1])):
        raise DataError(
            "the values rise all the way, as times do, and the times do not: exchange them, "
            "fit_trace(file, model, time, values)"
        )
    chosen.set_axes(time=time, inputs=inputs)
    if chosen.time is None:
        raise DataError("a trace needs its times; give time=, one value for each of `values`")
    data = np.asarray(values)
    if data.shape != chosen.time.shape:
        raise DataError(f"values have shape {data.shape}, the time axis {chosen.time.shape}")
    own = measurement or Measurement()
    if sigma is not None and (own.weight is not None or own.loss != "squares"):
        raise CallError(
            "fit_trace: sigma= and the measurement both say what the noise is; give one of them"
        )
    measurement = replace(own, data=data)
    if sigma is not None:
        noise = np.asarray(check_sigma(sigma, data.shape, own.keep))
        measurement = replace(measurement, weight=1.0 / noise)
    if time_limits is not None:
        window = index_range(chosen.time, time_limits, "time")
        measurement = replace(measurement, columns=window)
    all_options: FitOptions = {"scale_covar": None if sigma is None else False, **options}
    with Hold() as hold:
        result = hold.mark(fit_model(chosen, measurement, **all_options))
        result.fit_type, result.target = "trace", target
        return result


def _rises(axis: npt.ArrayLike) -> bool:
    """Whether this can be an axis of times."""
    array = np.asarray(axis)
    if array.ndim != 1 or array.size < 2 or array.dtype.kind not in "fiu":
        return False
    return bool((np.diff(array) > 0).all())


def time_model(source: str | Path | Model, name: str | Sequence[str] | None) -> Model:
    """The model of time laws that a call names. Raises :class:`FitError` for another."""
    if isinstance(source, Model):
        if not source.is_time_model:
            raise FitError(f"{source.name} is a model of energies; a trace needs time laws alone")
        return source
    names = [name] if isinstance(name, str) or name is None else list(name)
    if len(names) != 1 or names[0] is None:
        raise FitError(f"name one model of time laws in the file, not {name!r}")
    return load_time_model(source, names[0])
