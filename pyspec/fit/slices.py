"""Slice by slice: the same model fitted to every spectrum of a series, compiled once."""

from __future__ import annotations

import copy
import itertools
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, ModelError, PyspecError, suggest
from pyspec.executor import CompiledExecutor, InterpretedExecutor, Runner, make_executor, make_plan
from pyspec.fit.methods import NATIVE, fit_stages, refuse_intervals
from pyspec.fit.native import native_tolerance
from pyspec.fit.problem import FitProblem
from pyspec.fit.progress import Silent, Steps, StopFit
from pyspec.fit.result import FitResult
from pyspec.fit.run import check_limits, make_problem, run_fit
from pyspec.fit.sliceresults import SliceFit, SliceResults
from pyspec.model import Measurement, Model
from pyspec.plan import PackedPlan

Array = npt.NDArray[np.float64]

#: Slices that a worker takes at a time: about 50 ms of work.
CHUNK = 32


def row_measurement(series: Measurement, row: int) -> Measurement:
    """One spectrum of a series, with its part of weights and mask."""
    data = series.data
    assert data is not None
    weight = series.weight
    if weight is not None:
        weight = np.broadcast_to(weight, data.shape)[row]
    keep = None if series.keep is None else series.keep[row]
    return replace(series, data=data[row], rows=None, weight=weight, keep=keep)


@dataclass
class Job:
    """What all slices share: the model, lowered once, and the options."""

    model: Model
    series: Measurement
    backend: str
    methods: tuple[str, ...]
    options: dict[str, Any]
    max_nfev: int | None
    max_seconds: float | None
    scale_covar: bool | None
    seeds: Sequence[Mapping[str, float]]
    stop: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._plan: Any = None
        self._packed: PackedPlan | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "stop": None, "_plan": None, "_packed": None}

    def executor(self, measurement: Measurement) -> Runner:
        """An executor of one slice, on the plan that all share."""
        if self.backend not in ("compiled", "interpreted"):
            return make_executor(self.model, measurement, self.backend)
        if self._plan is None:
            self._plan = make_plan(self.model)
        if self.backend == "interpreted":
            return InterpretedExecutor(self._plan, measurement)
        executor = CompiledExecutor(self._plan, measurement, packed=self._packed)
        self._packed = executor.packed
        return executor

    def fit(self, index: int, row: int) -> SliceFit:
        """Fits one slice; a failure becomes its status."""
        assert self.model is not None
        try:
            result = self._result(index, row)
        except (PyspecError, ArithmeticError, np.linalg.LinAlgError) as error:
            return SliceFit(index, row, "failed", str(error), None)
        status = "converged" if result.success else "stopped"
        if result.interrupted:
            status = "interrupted"
        return SliceFit(index, row, status, result.message, result)

    def _result(self, index: int, row: int) -> FitResult:
        measurement = row_measurement(self.series, row)
        executor = self.executor(measurement)
        given = self.seeds[index] if self.seeds else {}
        fixed = {name: value for name, value in given.items() if name in executor.fixed_names}
        free = {name: value for name, value in given.items() if name not in fixed}
        problem = FitProblem(self.model, measurement, self.backend, executor, fixed or None)
        run, moved = run_fit(
            problem,
            self.methods,
            self.options,
            _Stop(self.stop),
            self.max_nfev,
            self.scale_covar,
            free,
            self.max_seconds,
        )
        result = FitResult(problem, run.minimizer, run.outcome, **run.facts(moved))
        result.settings = {"methods": list(self.methods), "scale_covar": run.scale_covar}
        result.settings |= self.options
        result.fit_type = "slice"
        problem.release()
        return result


class _Stop(Silent):
    """Ends a fit in a thread when the others are to end."""

    def __init__(self, event: threading.Event | None) -> None:
        self.event = event

    def update(self, nfev: int, chisqr: float, best: float) -> None:
        if self.event is not None and self.event.is_set():
            raise StopFit("interrupted; the best point is kept")


def fit_slices(
    model: Model,
    series: Measurement,
    backend: str | None = "compiled",
    method: str | None = None,
    progress: bool | Callable[[int, int], object] | None = None,
    max_nfev: int | None = None,
    *,
    stages: int = 1,
    fit_alg_1: str | None = None,
    fit_alg_2: str | None = None,
    scale_covar: bool | None = None,
    seeds: Sequence[Mapping[str, float]] = (),
    n_workers: int | None = None,
    workers: str = "processes",
    times: npt.ArrayLike | None = None,
    max_seconds: float | None = None,
    **options: Any,
) -> SliceResults:
    """Fits a model of one spectrum to every spectrum of the window of a series.

    Parameters
    ----------
    model : with its energy axis alone; it is lowered once for all slices
    series : data (n_time, n_energy), window, weights, mask
    seeds : for each row of the window, values by name that replace those of the model: starts
        of free parameters, values of fixed ones
    n_workers : None or 1 runs one slice after the other, which takes 2 to 5 ms each
    workers : "processes" (started afresh, so a script needs ``if __name__ == "__main__":``) or
        "threads"
    times : (n_rows,) the times of the window, for the results
    max_nfev, max_seconds : limits of each slice
    others : as of :func:`pyspec.fit.fit_model`; `progress` may be a function (done, total)

    A slice that fails has the status "failed" and its message; Ctrl-C keeps the slices that are
    done, the others have the status "not run".
    """
    refuse_intervals(options)
    if series.data is None or series.data.ndim != 2:
        raise FitError(f"{model.name}: slices need data of shape (time, energy)")
    if model.is_time_model or model.dimension != 1:
        raise FitError(f"{model.name}: a slice is one spectrum; give the model no time axis")
    if workers not in ("processes", "threads"):
        hint = suggest(str(workers), ["processes", "threads"])
        raise FitError(f"workers must be 'processes' or 'threads', not {workers!r}{hint}")
    if n_workers is not None and (n_workers != int(n_workers) or n_workers < 1):
        raise FitError(f"n_workers must be a whole number from 1 on, or None, not {n_workers!r}")
    rows = list(range(*(series.rows or (0, series.data.shape[0]))))
    _check_seeds(model, seeds, len(rows))
    check_limits(max_nfev, max_seconds)
    methods = fit_stages(method, stages, fit_alg_1, fit_alg_2)
    if methods[-1] == NATIVE:
        native_tolerance(model.name, options)  # once, not for every slice
    model = copy.deepcopy(model)
    first = make_problem(model, row_measurement(series, rows[0]), backend)
    first.start()  # what is wrong with the model is wrong in every slice
    settings = (first.backend, methods, options, max_nfev, max_seconds, scale_covar)
    job = Job(model, series, *settings, seeds=[dict(seed) for seed in seeds])
    steps = Steps(progress, f"{model.name}, slices")
    begin = time.perf_counter()
    done: dict[int, SliceFit] = {}
    interrupted = False
    try:
        for fit in _run(job, rows, n_workers or 1, workers):
            done[fit.index] = fit
            interrupted |= fit.status == "interrupted"
            steps.update(len(done), len(rows))
    except KeyboardInterrupt:
        interrupted = True
    except _Interrupted as stop:
        interrupted = True
        done.update({fit.index: fit for fit in stop.fits})
    finally:
        steps.close()
    fits = [
        done.get(index) or SliceFit(index, row, "not run", "interrupted before it began", None)
        for index, row in enumerate(rows)
    ]
    axis = np.arange(len(rows), dtype=np.float64) if times is None else np.asarray(times, float)
    seconds = time.perf_counter() - begin
    return SliceResults(fits, model, series, axis, first.backend, seconds, interrupted)


def _check_seeds(model: Model, seeds: Sequence[Mapping[str, float]], n_rows: int) -> None:
    if len(seeds) not in (0, n_rows):
        raise FitError(
            f"{model.name}: {len(seeds)} sets of seed values for {n_rows} slices; give one a slice"
        )
    known = [par.name for par in model.parameters.values() if par.formula is None]
    for name in dict.fromkeys(name for seed in seeds for name in seed):
        if name not in known:
            raise ModelError(
                f"{model.name}: seed values for {name!r}, which is no free or fixed parameter"
                f"{suggest(name, known)}; there are {', '.join(known)}"
            )


class _Interrupted(Exception):  # noqa: N818  (carries what is done)
    def __init__(self, fits: list[SliceFit]) -> None:
        self.fits = fits


def _run(job: Job, rows: list[int], n_workers: int, workers: str) -> Iterator[SliceFit]:
    if n_workers == 1:
        yield from _one_by_one(job, list(enumerate(rows)))
        return
    places = list(enumerate(rows))
    size = max(1, min(CHUNK, -(-len(places) // (4 * n_workers))))
    chunks = [places[k : k + size] for k in range(0, len(places), size)]
    pool: ThreadPoolExecutor | ProcessPoolExecutor
    if workers == "threads":
        job.stop = threading.Event()
        job.executor(row_measurement(job.series, rows[0]))  # the plan, before threads share it
        pool = ThreadPoolExecutor(n_workers)
        futures = [pool.submit(_chunk, job, chunk) for chunk in chunks]
    else:
        context = get_context("spawn")
        # The workers get nothing large when they start: one that dies then would block us.
        pool = ProcessPoolExecutor(n_workers, context, _start_worker)
        key = (os.getpid(), next(_KEYS))
        futures = [pool.submit(_chunk_of_worker, key, *_part(job, chunk)) for chunk in chunks]
    left: list[tuple[int, int]] = []
    try:
        for future in as_completed(futures):
            try:
                yield from future.result()
            except BrokenProcessPool:
                left += chunks[futures.index(future)]
    except KeyboardInterrupt:
        if job.stop is not None:
            job.stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        raise _Interrupted([fit for future in futures for fit in _finished(future)]) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        job.stop = None
    if left:
        warnings.warn(
            f"{job.model.name}: worker processes ended early, {len(left)} slices are fitted here; "
            "a script that starts workers must do so under 'if __name__ == \"__main__\":'",
            stacklevel=4,
        )
        yield from _one_by_one(job, sorted(left))


def _finished(future: Future[list[SliceFit]]) -> list[SliceFit]:
    if future.cancelled() or not future.done() or future.exception() is not None:
        return []
    return future.result()


def _one_by_one(job: Job, places: list[tuple[int, int]]) -> Iterator[SliceFit]:
    for index, row in places:
        fit = job.fit(index, row)
        yield fit
        if fit.status == "interrupted":
            return


def _chunk(job: Job, places: list[tuple[int, int]]) -> list[SliceFit]:
    fits = []
    for index, row in places:
        if job.stop is not None and job.stop.is_set():
            break
        fits.append(job.fit(index, row))
    return fits


def _part(job: Job, places: list[tuple[int, int]]) -> tuple[Job, list[tuple[int, int]]]:
    """The job of one chunk, with its rows of the data alone: (job, its rows)."""
    series = job.series
    assert series.data is not None
    begin, end = places[0][1], places[-1][1] + 1
    weight = series.weight
    if weight is not None:
        weight = np.broadcast_to(weight, series.data.shape)[begin:end]
    keep = None if series.keep is None else series.keep[begin:end]
    data = series.data[begin:end]
    series = replace(series, data=data, rows=None, weight=weight, keep=keep)
    first = places[0][0]
    seeds = job.seeds[first : first + len(places)]
    return replace(job, series=series, seeds=seeds), places


_KEYS = itertools.count()
_PLANS: dict[tuple[int, int], tuple[Any, PackedPlan | None]] = {}


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C, and says when to end


def _chunk_of_worker(
    key: tuple[int, int], job: Job, places: list[tuple[int, int]]
) -> list[SliceFit]:
    """Runs in a worker: fits a chunk on the plan of the chunks before it."""
    job._plan, job._packed = _PLANS.get(key, (None, None))
    fits = [job.fit(k, k) for k in range(len(places))]
    _PLANS[key] = job._plan, job._packed
    pairs = zip(fits, places, strict=True)
    return [replace(fit, index=index, row=row) for fit, (index, row) in pairs]
