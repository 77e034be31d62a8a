"""``pyspec fit`` over a folder of jobs: one table, one archive, one page with small pictures."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspec.cli.commands.advice import after_fit
from pyspec.cli.dispatch import FAILED, INTERRUPTED, NOT_CONVERGED, OK
from pyspec.cli.folder import check_folder
from pyspec.cli.jobs.fields import FlagError
from pyspec.cli.jobs.job import Job
from pyspec.cli.json_output import said
from pyspec.cli.table import table
from pyspec.errors import PyspecError
from pyspec.fit.findings.verdict import GOOD, missed, verdict_of
from pyspec.fit.interrupts import Hold
from pyspec.io import save_fit, write_text
from pyspec.io.parameters import plain_result
from pyspec.plot.protocols import Fit
from pyspec.plot.reports.thumbnails import Small, small_page


@dataclass
class _Done:
    """One job of several: its result, or why there is none."""

    name: str
    result: Fit | None = None
    error: str = ""
    advice: Sequence[str] = ()

    @property
    def state(self) -> str:
        """What became of the fit in a word or two."""
        return "failed" if self.result is None else verdict_of(self.result)

    @property
    def alike(self) -> float | None:
        """By how much neighbours in the residual are alike, where they are."""
        off = None if self.result is None else missed(self.result)
        return None if off is None else off.numbers.get("share")


def jobs_of(paths: Sequence[Path]) -> list[Path]:
    """The job files that these paths name, those of a folder and the folders in it."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        own = path / "job.yaml"
        inside = [own] if own.is_file() else sorted(path.glob("*/job.yaml"))
        if not inside:
            raise FlagError(
                f"{path}: is a folder without a job; write: pyspec new {path} DATA, or name a "
                "job.yaml"
            )
        found += inside
    return found


def run_many(
    given: Namespace, jobs: Sequence[Path], fit_job: Callable[[Path, Hold], tuple[Job, Fit]]
) -> int:
    """Fits all jobs, one after the other, with `fit_job`, and writes what came out; returns the
    exit code."""
    home = given.jobs[0] if given.jobs[0].is_dir() else Path()
    folder = given.output or home / "results"
    check_folder(folder)
    done: list[_Done] = []
    with Hold() as hold:
        for path in jobs:
            name = path.parent.name or path.stem
            try:
                job, result = fit_job(path, hold)
                done.append(_Done(name, result, advice=after_fit(job, result)))
            except PyspecError as error:
                done.append(_Done(name, error=str(error).splitlines()[0]))
            except KeyboardInterrupt:
                said("Interrupted: what was fitted is written.")
                break
        written = _written(folder, done)
    rows = [_row(one) for one in sorted(done, key=lambda one: one.state == GOOD)]
    said(table(("data", "state", "reduced χ²", "alike", "evaluations", "what"), rows))
    said("; ".join(f"{n} {state}" for state, n in Counter(one.state for one in done).items()))
    said(f"\nWritten to {folder}: {', '.join(written)}")
    bad = [one.name for one in done if one.result is None]
    given.facts.update(folder=folder, written=written, failed=bad)
    given.facts["results"] = [
        {
            "name": one.name,
            "state": one.state,
            "alike": one.alike,
            "error": one.error or None,
            "advice": one.advice,
        }
        | ({} if one.result is None else {"result": plain_result(one.result)})
        for one in done
    ]
    if len(done) < len(jobs):
        return INTERRUPTED
    if bad:
        return FAILED
    return OK if all(one.result and one.result.success for one in done) else NOT_CONVERGED


def _row(one: _Done) -> tuple[str, ...]:
    """A row of the table."""
    if one.result is None:
        return (one.name, one.state, "", "", "", one.error)
    alike = "" if one.alike is None else f"{one.alike:.2f}"
    redchi, nfev = getattr(one.result, "redchi", None), getattr(one.result, "nfev", None)
    what = one.result.model.name
    return (one.name, one.state, f"{redchi:.4g}", alike, f"{nfev}", what)


def _written(folder: Path, done: Sequence[_Done]) -> list[str]:
    """One page, one table, one archive; the names of the files."""
    folder.mkdir(parents=True, exist_ok=True)
    small = [Small(one.name, one.state, one.result, one.error, one.advice) for one in done]
    small_page(folder / "report.html", small, title=str(folder.resolve().parent.name))
    write_text(folder / "parameters.csv", _table_csv(done))
    written = ["report.html", "parameters.csv"]
    results = [one.result for one in done if one.result is not None]
    if results:
        save_fit(folder / "fits.h5", results, mode="replace")
        written.append("fits.h5")
    return written


def _table_csv(done: Sequence[_Done]) -> str:
    """Every parameter of every fit, a row each."""
    lines = ["data,state,redchi,parameter,value,stderr"]
    for one in done:
        name = one.name.replace(",", ";")
        if one.result is None:
            lines.append(f"{name},failed,,,,")
            continue
        head = f"{name},{one.state},{one.result.redchi:.6g}"
        for key, value in one.result.values.items():
            error = one.result.stderr.get(key)
            lines.append(f"{head},{key},{value!r},{'' if error is None else repr(error)}")
    return "\n".join(lines) + "\n"
