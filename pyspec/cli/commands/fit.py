"""``pyspec fit JOB.yaml``: read, fit, print, write."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pyspec.cli.commands.advice import after_fit
from pyspec.cli.commands.cluster import client_of
from pyspec.cli.commands.output import Output
from pyspec.cli.dispatch import FAILED, INTERRUPTED, NOT_CONVERGED, OK
from pyspec.cli.folder import check_folder, leaves, left_of_earlier
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import JOB_TYPES, Job, read_job
from pyspec.cli.jobs.loader import file_of, load_data
from pyspec.cli.json_output import data_facts, model_facts, print_now
from pyspec.cli.shell import word
from pyspec.cli.syntax_hints import for_fields, in_fields
from pyspec.errors import FitError, PyspecError, suggest
from pyspec.executor import backend_name
from pyspec.fit import FitResult, canonical_method
from pyspec.fit.interrupts import Hold
from pyspec.fit.solve.methods import checked_linear
from pyspec.io import Dataset
from pyspec.io.parameters import plain_result
from pyspec.plot.protocols import Fit
from pyspec.workflow import File
from pyspec.workflow.fitting.defaults import When, begun, check_mean, rows_of_spectrum

#: The kinds of fits that a fit of the baseline comes before.
WITH_BASELINE = ("baseline", "2d", "slices")


def run(args: Namespace) -> int:
    """Runs one job, or those of a folder; returns the exit code."""
    from pyspec.cli.commands.fit_many import jobs_of, run_many

    jobs = jobs_of(args.jobs)
    if len(jobs) == 1 and jobs[0] in (args.jobs[0], args.jobs[0] / "job.yaml"):
        args.job = jobs[0]
        return run_one(args)
    return run_many(args, jobs, partial(_fit_job, args))


def _fit_job(args: Namespace, path: Path, hold: Hold) -> tuple[Job, Fit]:
    """One job of several and its fit, which is not written."""
    job = read_job(path)
    _override(job, args)
    job.fit.progress = False
    dataset = load_data(job)
    kind = _kind(job, dataset)
    if kind == "slices":
        own = f"pyspec fit {word(path)}"
        raise job.fields.wrong("fit", f"slices have a report of their own; write: {own}")
    file = file_of(job, dataset)
    return job, _fits(job, file, file.select_model().name, kind, hold, None)[-1]


def run_one(args: Namespace) -> int:
    """Runs one job; returns the exit code, for a signal 128 and its number. Arguments such as
    `output` and `method` go before what the job says."""
    job, facts = read_job(args.job), args.facts
    if args.output is not None:
        job.folder = args.output
    elif leaves(job.folder, job.path.parent):
        facts["outside"] = job.folder.resolve()
        print_now(
            f"The output goes to {job.folder.resolve()}, which is outside of the job's folder."
        )
    _override(job, args)
    check_folder(job.folder)
    say: Callable[[str], None] = (lambda text: None) if args.quiet else print_now
    dataset = load_data(job)
    say(for_fields(dataset.describe()))
    kind = _kind(job, dataset)
    file = file_of(job, dataset)
    model = file.select_model()
    _check_means(job, file, kind)
    if args.check:
        with _blame_fit(job):
            model = begun(file, model.name, kind, _when(job), job.fit.options.get("backend"))
        facts.update(data=data_facts(dataset, for_fields), type=kind, **model_facts(model))
        print_now(
            f"\n{model.describe()}\n\n{args.job}: all is well; without --check this is fitted"
        )
        return 0
    say(f"\nFitting {_TITLES[kind]} ...")
    if kind != "2d" and (args.scheduler or args.workers):
        flag = "--scheduler" if args.scheduler else "--workers"
        raise FlagError(f"{flag} is for fits of type 2d; this one is of type {kind}")
    shares = (args.scheduler, args.workers) if kind == "2d" else (None, None)
    # What was fitted is written, whenever a signal comes.
    with client_of(*shares) as client, Hold() as hold:
        with _blame_fit(job):
            results = _fits(job, file, model.name, kind, hold, client)
        last, told = results[-1], [in_fields(result) for result in results]
        facts["results"] = [plain_result(result) for result in told]
        output = Output(job.folder)
        is_saved = output.save(job, results, told)
        print_now(f"\n{for_fields(str(last))}\n")
        output.draw(job, dataset, told)
        written = output.written
        if written:
            print_now(f"Written to {job.folder}: {', '.join(written)}")
        for line in after_fit(job, last):
            print_now(line)
        older = left_of_earlier(job.folder, written)
        if older:
            print_now(f"Of an earlier fit, not of this one: {', '.join(older)}; remove what is old")
        if last.interrupted:
            print_now(
                "Interrupted: this is the best point so far, and marked as such in these files."
            )
            if last.fit_type == "baseline" != kind:
                print_now(f"Not begun: the fit of {_TITLES[kind]}.")
        facts.update(folder=job.folder, written=written, unwritten=output.unwritten, older=older)
    return hold.exit_code or _exit_code(results, say) or (OK if is_saved else FAILED)


@contextmanager
def _blame_fit(job: Job) -> Iterator[None]:
    """What a fit refuses is said at the job's line of 'fit:'."""
    try:
        yield
    except FitError as error:
        raise job.fields.wrong("fit", for_fields(str(error))) from error


def _override(job: Job, args: Namespace) -> None:
    """What the command line says, in place of the job's, refused before data are read."""
    kinds: dict[str, Callable[[str], str]] = {
        "method": canonical_method,
        "backend": backend_name,
        "linear": checked_linear,
    }
    for name, check in kinds.items():
        value = getattr(args, name)
        if value is not None:
            try:
                job.fit.options[name] = check(value)
            except PyspecError as error:
                raise FlagError(f"--{name}: {error}") from error
    if args.type is not None:
        if args.type not in JOB_TYPES:
            types = ", ".join(JOB_TYPES)
            hint = suggest(args.type, list(JOB_TYPES))
            raise FlagError(f"--type must be one of {types}, not {args.type!r}{hint}")
        job.fit.type = args.type
        job.fit.spectrum = job.fit.spectrum if args.type == "spectrum" else None
    job.fit.progress &= not args.quiet


_TITLES = {
    "2d": "all spectra together",
    "spectrum": "one spectrum",
    "baseline": "the baseline",
    "slices": "each spectrum by itself",
    "trace": "the trace",
}


def _kind(job: Job, dataset: Dataset) -> str:
    """The kind of fit, by default that of the data. Refuses fields that such data do not have."""
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
    limits = job.limits[f"{other}_limits"]
    for field, value, say in (
        ("fit", job.fit.spectrum, "leave 'spectrum:' out"),
        ("limits", limits, f"leave '{other}:' out"),
        ("baseline", job.baseline, "leave it out"),
        ("dynamics", job.dynamics or None, f"{moves}: leave it out"),
    ):
        if value is not None:
            raise job.fields.wrong(field, f"the data are one {kind}; {say}")
    return kind


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


def _fits(job: Job, file: File, name: str, kind: str, hold: Hold, client: object) -> list[Fit]:
    """The fits of a job: a baseline first where there is one, its values start the next. `hold`
    marks them where a signal comes, `client` shares those of all times."""
    fits: list[Fit] = []
    options = {"progress": job.fit.progress, **job.fit.options}
    if job.baseline is not None and kind in WITH_BASELINE:
        fits.append(hold.mark(file.fit_baseline(name, **options)))
        if kind == "baseline" or fits[-1].interrupted:
            return fits
    try:
        fits.append(hold.mark(_fit_main(job, file, name, kind, options, client)))
    except KeyboardInterrupt:
        if hold.insists or not fits:
            raise
        fits[-1].interrupted = True  # the baseline is whole; the next fit has no point yet
    return fits


def _fit_main(
    job: Job, file: File, name: str, kind: str, options: dict[str, Any], client: object
) -> Fit:
    if kind == "trace":
        return file.fit_trace(file.models[name], **options)
    if kind == "spectrum":
        point, span = _when(job)
        return file.fit_spectrum(name, time_point=point, time_range=span, **options)
    if kind == "slices":
        return file.fit_slice_by_slice(name, **options)
    return file.fit_2d(name, client=client, **options)


def _exit_code(results: Sequence[Fit], say: Callable[[str], None]) -> int:
    if any(result.interrupted for result in results):
        return INTERRUPTED
    for result in results:
        done = bool(np.all(result.success))
        if not done:
            text = result.message if isinstance(result, FitResult) else "not every slice converged"
            say(text if text.startswith("Converged") else f"The fit did not converge: {text}")
            return NOT_CONVERGED
    return 0
