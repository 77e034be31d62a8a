"""``pyspec fit JOB.yaml``: read, fit, print, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.cli.facts import Facts, data_facts, model_facts, said
from pyspec.cli.fields import FlagError
from pyspec.cli.folder import check_folder, left_of_earlier
from pyspec.cli.job import FIT_TYPES, Job, read_job
from pyspec.cli.prepare import (
    Windows,
    load_data,
    load_the_model,
    mean_spectrum,
    series,
    windows,
)
from pyspec.cli.sharing import client_of
from pyspec.cli.spoken import cautions_of_a_job, for_fields
from pyspec.errors import DataError, PyspecError, suggest
from pyspec.executor import backend_name
from pyspec.fit import FitResult, SliceResults, canonical_method, fit_model, fit_slices
from pyspec.fit.backend import make_problem
from pyspec.fit.interrupts import Hold
from pyspec.fit.solve.methods import checked_linear
from pyspec.io import Dataset, save_fit, write_parameters, write_text
from pyspec.io.parameters import columns_csv, plain_result, result_json, slices_csv
from pyspec.model import Measurement, Model
from pyspec.model.measurement import row_of
from pyspec.model.windows import forward_range, nearest_row, row_range
from pyspec.plot import PlotError, plot_fit, report
from pyspec.workflow.export import amplitude_tables
from pyspec.workflow.seeds import BASELINE

#: Exit codes beside 0: the fit did not converge, Ctrl-C. A signal ends with 128 and its number.
NOT_CONVERGED, INTERRUPTED = 3, 130


@dataclass
class Overrides:
    """What the command line says in place of the job."""

    output: Path | None = None
    method: str | None = None
    linear: str | None = None
    backend: str | None = None
    type: str | None = None
    quiet: bool = False
    check: bool = False
    scheduler: str | None = None
    workers: int | None = None


def run_fit(path: Path, given: Overrides, facts: Facts) -> int:
    """Runs one job; returns the exit code."""
    job = read_job(path)
    if given.output is not None:
        job.folder = given.output
    _override(job, given)
    check_folder(job.folder)
    say: Callable[[str], None] = (lambda text: None) if given.quiet else said
    dataset = load_data(job)
    say(for_fields(dataset.describe()))
    kind = _kind(job, dataset)
    where = windows(job, dataset)
    if given.check:
        model = load_the_model(job, dataset, kind == "2d")
        model.check()
        _try(job, dataset, where, kind, model)
        facts.update(data=data_facts(dataset, for_fields), type=kind, **model_facts(model))
        said(f"\n{model.describe()}\n\n{path}: all is well; without --check this is fitted")
        return 0
    say(f"\nFitting {_TITLES[kind]} ...")
    _check_sharing(job, given, kind)
    shares = (given.scheduler, given.workers) if kind == "2d" else (None, None)
    # What was fitted is written, whenever a signal comes.
    with client_of(*shares) as client, Hold() as hold:
        results = _fits(job, dataset, where, kind, hold, client)
        last = results[-1]
        said(f"\n{for_fields(str(last))}\n")
        written = write_results(job, dataset, results, say)
        said(f"Written to {job.folder}: {', '.join(written)}")
        older = left_of_earlier(job.folder, written)
        if older:
            said(f"Of an earlier fit, not of this one: {', '.join(older)}; remove what is old")
        if last.interrupted:
            said("Interrupted: this is the best point so far, and marked as such in these files.")
            if last.fit_type == "baseline" != kind:
                said(f"Not begun: the fit of {_TITLES[kind]}.")
        facts.update(folder=job.folder, written=written, older=older)
        with cautions_of_a_job(results):
            facts["results"] = [plain_result(result) for result in results]
        code = _exit_code(results, say)
    return hold.exit_code or code


def _override(job: Job, given: Overrides) -> None:
    """What the command line says, in place of the job's, refused before data are read."""
    kinds: dict[str, Callable[[str], str]] = {
        "method": canonical_method,
        "backend": backend_name,
        "linear": checked_linear,
    }
    for name, check in kinds.items():
        value = getattr(given, name)
        if value is not None:
            try:
                job.fit.options[name] = check(value)
            except PyspecError as error:
                raise FlagError(f"--{name}: {error}") from error
    if given.type is not None:
        if given.type not in FIT_TYPES:
            known = ", ".join(FIT_TYPES)
            hint = suggest(given.type, list(FIT_TYPES))
            raise FlagError(f"--type must be one of {known}, not {given.type!r}{hint}")
        job.fit.type = given.type
        job.fit.spectrum = job.fit.spectrum if given.type == "spectrum" else None
    job.fit.progress &= not given.quiet


_TITLES = {
    "2d": "all spectra together",
    "spectrum": "one spectrum",
    "baseline": "the baseline",
    "slices": "each spectrum by itself",
}


def _kind(job: Job, dataset: Dataset) -> str:
    """What is fitted, where the job does not say it."""
    one = dataset.time is None
    kind = job.fit.type or ("spectrum" if one or job.fit.spectrum is not None else "2d")
    if one and kind != "spectrum":
        raise job.fields.wrong(
            "fit",
            f"the data are one spectrum; type {kind} needs a time axis: write type: spectrum, and "
            "leave out dynamics and baseline",
        )
    if kind == "baseline" and job.baseline is None:
        raise job.fields.wrong("fit", "type baseline needs 'baseline: [from, to]' in the job")
    if kind == "spectrum" and not one and job.fit.spectrum is None:
        raise job.fields.wrong(
            "fit", "which spectrum? write 'spectrum: 3.0' (a time) or 'spectrum: [1.0, 5.0]'"
        )
    if kind != "spectrum" and job.fit.spectrum is not None:
        raise job.fields.wrong(
            "fit", f"'spectrum:' belongs to 'type: spectrum', not to type {kind}; leave one out"
        )
    if one and job.fit.spectrum is not None:
        raise job.fields.wrong("fit", "the data are one spectrum; leave 'spectrum:' out")
    if one and job.dynamics:
        raise job.fields.wrong(
            "dynamics", "the data are one spectrum; nothing moves in time: leave it out"
        )
    return kind


def _check_sharing(job: Job, given: Overrides, kind: str) -> None:
    """Raises :class:`FlagError` where the fits of this kind share nothing; slices take workers."""
    if kind == "slices" and given.scheduler is None:
        job.fit.workers = given.workers or job.fit.workers
    elif kind != "2d" and (given.scheduler or given.workers):
        flag = "--scheduler" if given.scheduler else "--workers"
        others = "" if given.scheduler else " and of type slices"
        raise FlagError(f"{flag} is for fits of type 2d{others}; this one is of type {kind}")


def _try(job: Job, dataset: Dataset, where: Windows, kind: str, model: Model) -> None:
    """All of a fit but its steps: raises what keeps it from being begun."""
    if job.baseline is not None and where.baseline is not None:
        mean_spectrum(job, dataset, where, where.baseline)
    if kind == "baseline":
        return
    measurement = _measured(job, dataset, where, kind)
    if kind == "slices":
        measurement = row_of(measurement, (where.rows or (0, 0))[0])
    make_problem(model, measurement, job.fit.options.get("backend") or "compiled").start()


def _measured(job: Job, dataset: Dataset, where: Windows, kind: str) -> Measurement:
    """What a fit of this kind is of; its baseline aside."""
    if kind == "spectrum":
        return _spectrum(job, dataset, where)
    return series(job, dataset, where)


def _fits(
    job: Job, dataset: Dataset, where: Windows, kind: str, hold: Hold, client: Any
) -> list[Any]:
    """The fits of a job: a baseline first where there is one, its values start the next. `hold`
    marks them where a signal comes, `client` shares those of all times."""
    found: list[Any] = []
    seeds: dict[str, float] = {}
    if job.baseline is not None and kind in ("baseline", "2d", "slices"):
        assert where.baseline is not None
        measurement = mean_spectrum(job, dataset, where, where.baseline)
        result = hold.mark(_fit_one(job, dataset, measurement, "baseline", {}))
        found.append(result)
        seeds = {name: result.values[name] for name in result.problem.names}
        if kind == "baseline" or result.interrupted:
            return found
    try:
        found.append(hold.mark(_fit_main(job, dataset, where, kind, seeds, client)))
    except KeyboardInterrupt:
        if hold.insists or not found:
            raise
        found[-1].interrupted = True  # the baseline is whole; the next fit has no point yet
    return found


def _fit_main(
    job: Job, dataset: Dataset, where: Windows, kind: str, seeds: dict[str, float], client: Any
) -> Any:
    if kind == "slices":
        return _fit_slices(job, dataset, where, seeds)
    measurement = _measured(job, dataset, where, kind)
    if kind == "2d":
        return _fit_one(job, dataset, measurement, "2d", seeds, client)
    return _fit_one(job, dataset, measurement, "spectrum", {})


def _spectrum(job: Job, dataset: Dataset, where: Windows) -> Measurement:
    if dataset.time is None:
        return series(job, dataset, where)
    point = job.fit.spectrum
    with job.fields.blame("fit"):
        if isinstance(point, tuple):
            rows = row_range(dataset.time, *forward_range(point, "abs", "the range"), "abs")
        else:
            assert point is not None
            row = nearest_row(dataset.time, point, "abs")
            rows = row, row + 1
    return mean_spectrum(job, dataset, where, rows)


def _fit_one(
    job: Job,
    dataset: Dataset,
    measurement: Measurement,
    kind: str,
    seeds: dict[str, float],
    client: Any = None,
) -> FitResult:
    model = load_the_model(job, dataset, kind == "2d")
    known = {name: seeds[name] for name in model.opt_param_names if name in seeds}
    options = _options(job, measurement)
    if client is not None:
        options["client"] = client
    result = fit_model(
        model, measurement, progress=job.fit.progress, seeds=known or None, **options
    )
    result.fit_type, result.file_name = kind, dataset.name
    result.started_from = BASELINE if known else ""
    return result


def _fit_slices(job: Job, dataset: Dataset, where: Windows, seeds: dict[str, float]) -> Any:
    model = load_the_model(job, dataset, False)
    assert dataset.time is not None
    times = dataset.time[slice(*(where.rows or (None, None)))]
    given = [{name: seeds[name] for name in model.opt_param_names if name in seeds}] * times.size
    measurement = series(job, dataset, where)
    slices = fit_slices(
        model,
        measurement,
        progress=job.fit.progress,
        seeds=given if seeds else (),
        n_workers=job.fit.workers,
        times=times,
        **_options(job, measurement),
    )
    slices.file_name = dataset.name
    slices.started_from = BASELINE if seeds else ""
    return slices


def _options(job: Job, measurement: Measurement) -> dict[str, Any]:
    """Options of a fit; where the noise is known, standard errors are not scaled by chi²."""
    known = {"scale_covar": False} if measurement.weight is not None else {}
    return {"backend": None, **known, **job.fit.options}


# what is written


def write_results(
    job: Job, dataset: Dataset, results: Sequence[Any], say: Callable[[str], None]
) -> list[str]:
    """Report, parameters, picture and archive; the names of the files."""
    folder = job.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror})") from error
    config = job.plot
    last = results[-1]
    written = []
    with cautions_of_a_job(results):
        for result in results:
            name = "report.html" if result is last else f"report_{result.fit_type}.html"
            title = job.name if result is last else f"{job.name}: {result.fit_type}"
            notes = [for_fields(note) for note in dataset.notes]
            report(result, folder / name, title=title, notes=notes, config=config)
            written.append(name)
        written += _write_parameters(last, folder)
    if getattr(last, "linear", None) is not None:
        for name, columns in amplitude_tables(last.linear).items():
            write_text(folder / name, columns_csv(columns, columns.values()))
            written.append(name)
    try:
        dpi = config.dpi_save if "dpi_save" in job.plot_given else 160
        plot_fit(last, save_path=folder / "fit.png", config=config, dpi_save=dpi)
        written.append("fit.png")
    except PlotError as error:
        say(f"No picture: {error}")
    if job.archive:
        try:
            save_fit(folder / "fits.h5", results, mode="replace")
            written.append("fits.h5")
        except PyspecError as error:
            say(f"No archive: {error}")
    return written


def _write_parameters(result: Any, folder: Path) -> list[str]:
    names = ["parameters.csv", "parameters.json"]
    if isinstance(result, SliceResults):
        write_text(folder / names[0], slices_csv(result))
    else:
        write_parameters(result.table, folder / names[0])
    write_text(folder / names[1], result_json(result))
    return names


def _exit_code(results: Sequence[Any], say: Callable[[str], None]) -> int:
    if any(result.interrupted for result in results):
        return INTERRUPTED
    for result in results:
        done = bool(np.all(result.success))
        if not done:
            what = result.message if isinstance(result, FitResult) else "not every slice converged"
            say(what if what.startswith("Converged") else f"The fit did not converge: {what}")
            return NOT_CONVERGED
    return 0
