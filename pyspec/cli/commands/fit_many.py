"""``pyspec fit`` over a folder of jobs: one table, one archive, one page with small pictures."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from pyspec.cli.commands.advice import after_fit
from pyspec.cli.dispatch import FAILED, INTERRUPTED, NOT_CONVERGED, OK
from pyspec.cli.folder import check_folder
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import Job
from pyspec.cli.json_output import print_now
from pyspec.cli.table import table
from pyspec.errors import PyspecError
from pyspec.fit.findings.verdict import GOOD, missed
from pyspec.fit.interrupts import Hold
from pyspec.io import save_fit, write_text
from pyspec.io.parameters import plain_result
from pyspec.plot.protocols import Fit
from pyspec.plot.reports.thumbnails import Small, small_page


def jobs_of(paths: Sequence[Path]) -> list[Path]:
    """The job files that these paths name, those of a folder and the folders in it."""
    jobs: list[Path] = []
    for path in paths:
        if not path.is_dir():
            jobs.append(path)
            continue
        own = path / "job.yaml"
        inside = [own] if own.is_file() else sorted(path.glob("*/job.yaml"))
        if not inside:
            raise FlagError(
                f"{path}: is a folder without a job; write: pyspec new {path} DATA, or name a "
                "job.yaml"
            )
        jobs += inside
    return jobs


def run_many(
    args: Namespace, jobs: Sequence[Path], fit_job: Callable[[Path, Hold], tuple[Job, Fit]]
) -> int:
    """Fits all jobs, one after the other, with `fit_job`, and writes what came out; returns the
    exit code."""
    home = args.jobs[0] if args.jobs[0].is_dir() else Path()
    folder = args.output or home / "results"
    check_folder(folder)
    done: list[Small] = []
    with Hold() as hold:
        for path in jobs:
            name = path.parent.name or path.stem
            try:
                job, result = fit_job(path, hold)
                done.append(Small(name, result, lines=after_fit(job, result)))
            except PyspecError as error:
                done.append(Small(name, error=str(error).splitlines()[0]))
            except KeyboardInterrupt:
                print_now("Interrupted: what was fitted is written.")
                break
        written = _written(folder, done)
    rows = [_row(outcome) for outcome in sorted(done, key=lambda outcome: outcome.state == GOOD)]
    print_now(table(("data", "state", "reduced χ²", "alike", "evaluations", "what"), rows))
    print_now(
        "; ".join(f"{n} {state}" for state, n in Counter(outcome.state for outcome in done).items())
    )
    print_now(f"\nWritten to {folder}: {', '.join(written)}")
    bad = [outcome.name for outcome in done if outcome.result is None]
    args.facts.update(folder=folder, written=written, failed=bad)
    args.facts["results"] = [
        {
            "name": outcome.name,
            "state": outcome.state,
            "alike": _alike(outcome),
            "error": outcome.error or None,
            "advice": outcome.lines,
        }
        | ({} if outcome.result is None else {"result": plain_result(outcome.result)})
        for outcome in done
    ]
    if len(done) < len(jobs):
        return INTERRUPTED
    if bad:
        return FAILED
    is_good = all(outcome.result and outcome.result.success for outcome in done)
    return OK if is_good else NOT_CONVERGED


def _alike(outcome: Small) -> float | None:
    """By how much neighbours in the residual are alike, where they are."""
    off = None if outcome.result is None else missed(outcome.result)
    return None if off is None else off.numbers.get("share")


def _row(outcome: Small) -> tuple[str, ...]:
    """A row of the table."""
    if outcome.result is None:
        return (outcome.name, outcome.state, "", "", "", outcome.error)
    share = _alike(outcome)
    alike = "" if share is None else f"{share:.2f}"
    redchi, nfev = getattr(outcome.result, "redchi", None), getattr(outcome.result, "nfev", None)
    model = outcome.result.model.name
    return (outcome.name, outcome.state, f"{redchi:.4g}", alike, f"{nfev}", model)


def _written(folder: Path, done: Sequence[Small]) -> list[str]:
    """One page, one table, one archive; the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    small_page(folder / "report.html", done, title=str(folder.resolve().parent.name))
    write_text(folder / "parameters.csv", _table_csv(done))
    written = ["report.html", "parameters.csv"]
    results = [outcome.result for outcome in done if outcome.result is not None]
    if results:
        save_fit(folder / "fits.h5", results, mode="replace")
        written.append("fits.h5")
    return written


def _table_csv(done: Sequence[Small]) -> str:
    """Every parameter of every fit, a row each."""
    lines = ["data,state,redchi,parameter,value,stderr"]
    for outcome in done:
        name = outcome.name.replace(",", ";")
        if outcome.result is None:
            lines.append(f"{name},failed,,,,")
            continue
        head = f"{name},{outcome.state},{outcome.result.redchi:.6g}"
        for key, value in outcome.result.values.items():
            error = outcome.result.stderr.get(key)
            lines.append(f"{head},{key},{value!r},{'' if error is None else repr(error)}")
    return "\n".join(lines) + "\n"
