"""What a fit leaves in its folder: first its numbers, then its pictures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from pyspec.cli.commands.advice import after_fit
from pyspec.cli.folder import leaves
from pyspec.cli.jobs.job import Job
from pyspec.cli.json_output import print_now
from pyspec.cli.syntax_hints import for_fields
from pyspec.errors import cut
from pyspec.fit import FitResult, SliceResults
from pyspec.io import Dataset, save_fit, write_parameters, write_text
from pyspec.io.optional import available
from pyspec.io.parameters import columns_csv, result_json, slices_csv
from pyspec.plot import plot_fit, report
from pyspec.plot.protocols import Fit
from pyspec.workflow.results.export import amplitude_tables


class Output:
    """The files of a fit in one folder. Each is written by itself: if one cannot be written,
    `unwritten` has its name and the reason, and the others follow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: list[str] = []
        self.unwritten: dict[str, str] = {}
        with suppress(OSError):  # every file tells that its folder is missing
            folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, work: Callable[[Path], object]) -> None:
        """Writes one file, never through a symbolic link that leads out of the folder: the file
        takes the place of the link."""
        path = self.folder / name
        with self._named(name):
            if path.is_symlink() and leaves(path, self.folder):
                _tell(f"{path}: was a link to {os.readlink(path)}, and is a file now")
                path.unlink()
            work(path)
            self.written.append(name)

    @contextmanager
    def _named(self, name: str) -> Iterator[None]:
        """What fails inside is the reason why the file `name` is not written."""
        try:
            yield
        except Exception as error:  # matplotlib, LaTeX and the disk fail in many ways
            why = " ".join(str(error).split()) or type(error).__name__
            self._left_out(name, for_fields(cut(why, 500)))

    def _left_out(self, name: str, why: str) -> None:
        self.unwritten[name] = why
        _tell(f"{name} is not written: {why}")

    def save(self, job: Job, results: Sequence[Fit], told: Sequence[Fit]) -> bool:
        """Archive, parameters and tables; whether all of them are written. `told` are the fits with
        cautions as a job says them; archives keep the others. Where there is neither an archive nor
        parameters, these are printed with all their digits."""
        last = told[-1]
        if job.archive and available("h5py"):
            self.write("fits.h5", lambda path: save_fit(path, results, mode="replace"))
        self.write("parameters.json", lambda path: write_text(path, result_json(last)))
        if isinstance(last, SliceResults):
            self.write("parameters.csv", lambda path: write_text(path, slices_csv(last)))
        else:
            self.write("parameters.csv", partial(write_parameters, last.table))
        free = last.amplitudes if isinstance(last, FitResult) else None
        if free is not None:
            tables = {}
            with self._named("amplitudes.csv"):
                tables = amplitude_tables(free)
            for name, columns in tables.items():
                text = columns_csv(columns, columns.values())
                self.write(name, partial(write_text, text=text))
        is_whole = not self.unwritten
        if not {"fits.h5", "parameters.json"} & {*self.written}:
            print_now(f"Nothing could be written to {self.folder}. This is what was fitted:")
            for fit in told:
                print_now(result_json(fit))
        if job.archive and not available("h5py"):
            self._left_out("fits.h5", "it needs h5py: pip install 'pyspec-fit[io]'")
        return is_whole

    def draw(self, job: Job, dataset: Dataset, told: Sequence[Fit]) -> None:
        """The picture and the reports."""
        config, last = job.plot, told[-1]
        notes = [for_fields(note) for note in dataset.notes] + after_fit(job, last)

        def page(result: Fit, path: Path) -> None:
            title = job.name if result is last else f"{job.name}: {result.fit_type}"
            report(result, path, title=title, notes=notes, config=config)

        def picture(path: Path) -> None:
            plot_fit(last, save_path=path, config=config)

        self.write("fit.png", picture)
        for fit in told:
            name = "report.html" if fit is last else f"report_{fit.fit_type}.html"
            self.write(name, partial(page, fit))


def _tell(text: str) -> None:
    with suppress(OSError):
        print(f"pyspec: {text}", file=sys.stderr, flush=True)
