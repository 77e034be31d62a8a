"""``pyspec fit JOB.yaml``: read, fit, print, write."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.cli.commands import INTERRUPTED, NOT_CONVERGED
from pyspec.cli.facts import data_facts, model_facts, said
from pyspec.cli.fields import FlagError
from pyspec.cli.folder import check_folder, left_of_earlier
from pyspec.cli.job import FIT_TYPES, Job, read_job
from pyspec.cli.prepare import file_of, load_data
from pyspec.cli.sharing import client_of
from pyspec.cli.spoken import for_fields, in_fields
from pyspec.errors import FitError, PyspecError, suggest
from pyspec.executor import backend_name
from pyspec.fit import FitResult, SliceResults, canonical_method
from pyspec.fit.interrupts import Hold
from pyspec.fit.solve.methods import checked_linear
from pyspec.io import Dataset, save_fit, write_parameters, write_text
from pyspec.io.parameters import columns_csv, plain_result, result_json, slices_csv
from pyspec.plot import PlotError, plot_fit, report
from pyspec.workflow import File
from pyspec.workflow.begin import When, begun, check_mean, rows_of_spectrum
from pyspec.workflow.export import amplitude_tables

#: The kinds of fits that a fit of the baseline comes before.
WITH_BASELINE = ("baseline", "2d", "slices")


def run(given: Namespace) -> int:
    """Runs one job; returns the exit code, for a signal 128 and its number. Arguments such as
    `output` and `method` go before what the job says."""
    job, facts = read_job(given.job), given.facts
    if given.output is not None:
        job.folder = given.output
    _override(job, given)
    check_folder(job.folder)
    say: Callable[[str], None] = (lambda text: None) if given.quiet else said
    dataset = load_data(job)
    say(for_fields(dataset.describe()))
    kind = _kind(job, dataset)
    _check_workers(job, kind)
    file = file_of(job, dataset)
    model = file.select_model()
    _check_means(job, file, kind)
    if given.check:
        with _said_of_fit(job):
            model = begun(file, model.name, kind, _when(job), job.fit.options.get("backend"))
        facts.update(data=data_facts(dataset, for_fields), type=kind, **model_facts(model))
        said(f"\n{model.describe()}\n\n{given.job}: all is well; without --check this is fitted")
        return 0
    say(f"\nFitting {_TITLES[kind]} ...")
    _check_sharing(job, given, kind)
    shares = (given.scheduler, given.workers) if kind == "2d" else (None, None)
    # What was fitted is written, whenever a signal comes.
    with client_of(*shares) as client, Hold() as hold:
        with _said_of_fit(job):
            results = _fits(job, file, model.name, kind, hold, client)
        last = results[-1]
        said(f"\n{for_fields(str(last))}\n")
        told = [in_fields(result) for result in results]
        written = write_results(job, dataset, results, told, say)
        said(f"Written to {job.folder}: {', '.join(written)}")
        older = left_of_earlier(job.folder, written)
        if older:
            said(f"Of an earlier fit, not of this one: {', '.join(older)}; remove what is old")
        if last.interrupted:
            said("Interrupted: this is the best point so far, and marked as such in these files.")
            if last.fit_type == "baseline" != kind:
                said(f"Not begun: the fit of {_TITLES[kind]}.")
        facts.update(folder=job.folder, written=written, older=older)
        facts["results"] = [plain_result(result) for result in told]
        code = _exit_code(results, say)
    return hold.exit_code or code


@contextmanager
def _said_of_fit(job: Job) -> Iterator[None]:
    """What a fit refuses is said at the job's line of 'fit:'."""
    try:
        yield
    except FitError as error:
        raise job.fields.wrong("fit", for_fields(str(error))) from error


def _override(job: Job, given: Namespace) -> None:
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
        job.fit.workers = job.fit.workers if given.type == "slices" else None
    job.fit.progress &= not given.quiet


_TITLES = {
    "2d": "all spectra together",
    "spectrum": "one spectrum",
    "baseline": "the baseline",
    "slices": "each spectrum by itself",
    "trace": "the trace",
}


def _kind(job: Job, dataset: Dataset) -> str:
    """What is fitted, where the job does not say it; refuses fields that such data do not have."""
    point = job.fit.spectrum
    if dataset.energy is None or dataset.time is None:
        return _kind_of_line(job, dataset)
    kind = job.fit.type or ("2d" if point is None else "spectrum")
    wrong = ""
    if kind == "trace":
        wrong = "the data are spectra over time; take one energy for a trace, 'select: {energy: …}'"
    elif kind == "baseline" and job.baseline is None:
        wrong = "type baseline needs 'baseline: [from, to]' in the job"
    elif kind == "spectrum" and point is None:
        wrong = "which spectrum? write 'spectrum: 3.0' (a time) or 'spectrum: [1.0, 5.0]'"
    elif kind != "spectrum" and point is not None:
        wrong = f"'spectrum:' belongs to 'type: spectrum', not to type {kind}; leave one out"
    if wrong:
        raise job.fields.wrong("fit", wrong)
    return kind


def _kind_of_line(job: Job, dataset: Dataset) -> str:
    """The same for data of one axis."""
    if dataset.energy is None:
        kind, axis, moves = "trace", "an energy", "its time laws are the model"
    else:
        kind, axis, moves = "spectrum", "a time", "nothing moves in time"
    if job.fit.type not in (None, kind):
        raise job.fields.wrong(
            "fit",
            f"the data are one {kind}; type {job.fit.type} needs {axis} axis: write type: {kind}, "
            "and leave out dynamics and baseline",
        )
    other = axis.split()[1]
    limits = job.energy_limits if other == "energy" else job.time_limits
    for field, given, say in (
        ("fit", job.fit.spectrum, "leave 'spectrum:' out"),
        ("limits", limits, f"leave '{other}:' out"),
        ("baseline", job.baseline, "leave it out"),
        ("dynamics", job.dynamics or None, f"{moves}: leave it out"),
    ):
        if given is not None:
            raise job.fields.wrong(field, f"the data are one {kind}; {say}")
    return kind


def _check_workers(job: Job, kind: str) -> None:
    """A job's own workers are processes for slices: other fits would not use them."""
    if job.fit.workers is not None and kind != "slices":
        other = "; to share it write pyspec fit JOB.yaml --workers N" if kind == "2d" else ""
        raise job.fields.wrong(
            "fit",
            f"'workers:' belongs to 'type: slices', not to type {kind}; leave it out{other}",
        )


def _check_sharing(job: Job, given: Namespace, kind: str) -> None:
    """Raises :class:`FlagError` where the fits of this kind share nothing; slices take workers."""
    if kind == "slices" and given.scheduler is None:
        job.fit.workers = given.workers or job.fit.workers
    elif kind != "2d" and (given.scheduler or given.workers):
        flag = "--scheduler" if given.scheduler else "--workers"
        others = "" if given.scheduler else " and of type slices"
        raise FlagError(f"{flag} is for fits of type 2d{others}; this one is of type {kind}")


def _check_means(job: Job, file: File, kind: str) -> None:
    """Spectra that are averaged lie in the data, and the noise of their mean is known."""
    rows = file.baseline_rows if kind in WITH_BASELINE else None
    if job.fit.spectrum is not None:
        with job.fields.blame("fit"):
            rows = rows_of_spectrum(file, _when(job))
    if rows is not None:
        with job.fields.blame("noise"):
            check_mean(file, rows)


def _when(job: Job) -> When:
    """The time of one spectrum of a series, or the range of the mean."""
    point = job.fit.spectrum
    return (None, point) if isinstance(point, tuple) else (point, None)


def _fits(job: Job, file: File, name: str, kind: str, hold: Hold, client: Any) -> list[Any]:
    """The fits of a job: a baseline first where there is one, its values start the next. `hold`
    marks them where a signal comes, `client` shares those of all times."""
    found: list[Any] = []
    options: dict[str, Any] = {"progress": job.fit.progress, **job.fit.options}
    if job.baseline is not None and kind in WITH_BASELINE:
        found.append(hold.mark(file.fit_baseline(name, **options)))
        if kind == "baseline" or found[-1].interrupted:
            return found
    try:
        found.append(hold.mark(_fit_main(job, file, name, kind, options, client)))
    except KeyboardInterrupt:
        if hold.insists or not found:
            raise
        found[-1].interrupted = True  # the baseline is whole; the next fit has no point yet
    return found


def _fit_main(
    job: Job, file: File, name: str, kind: str, options: dict[str, Any], client: Any
) -> Any:
    if kind == "trace":
        return file.fit_trace(file.models[name], **options)
    if kind == "spectrum":
        point, span = _when(job)
        return file.fit_spectrum(name, time_point=point, time_range=span, **options)
    if kind == "slices":
        return file.fit_slice_by_slice(name, n_workers=job.fit.workers, **options)
    return file.fit_2d(name, **options, **({} if client is None else {"client": client}))


# what is written


def write_results(
    job: Job,
    dataset: Dataset,
    results: Sequence[Any],
    told: Sequence[Any],
    say: Callable[[str], None],
) -> list[str]:
    """Report, parameters, picture and archive; the names of the files. `told` are the fits with
    cautions as a job says them; archives keep the others."""
    folder = job.folder
    folder.mkdir(parents=True, exist_ok=True)
    config, last, written = job.plot, told[-1], []
    notes = [for_fields(note) for note in dataset.notes]
    for result in told:
        name = "report.html" if result is last else f"report_{result.fit_type}.html"
        title = job.name if result is last else f"{job.name}: {result.fit_type}"
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
