"""The results of a project: archives and tables of the fits of all files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from pyspec.calls import answered, meant, say
from pyspec.errors import FitError, NoSuchKeyError, shortened
from pyspec.fit import JointResult
from pyspec.fit.progress import Steps
from pyspec.io import save_fit
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.results.export import export_to
from pyspec.workflow.results.file_results import select_fits
from pyspec.workflow.results.identity import SHORT, find_fit, find_named, handle_of, listed
from pyspec.workflow.results.printed import printed
from pyspec.workflow.results.results import FitResults
from pyspec.workflow.workspace import Workspace

AFile = TypeVar("AFile", bound=FileFits)


def find_file(files: Sequence[AFile], key: object, project: str) -> AFile:
    """A file by its number or name. Raises :class:`NoSuchKeyError` for a name that no file has, or
    several, and IndexError for a number, which ends a loop over the files."""
    if isinstance(key, (int, np.integer)) and -len(files) <= key < len(files):
        return files[int(key)]
    names = [file.name for file in files]
    numbers = [k for k, name in enumerate(names) if name == key]
    if len(numbers) == 1:
        return files[numbers[0]]
    if numbers:
        raise NoSuchKeyError(
            f"{len(numbers)} files of project {project!r} are called {key!r}; take one by its "
            f"number, the last is project[{numbers[-1]}]; a cell that was run twice makes its file "
            "twice: start with a new Project"
        )
    error = IndexError if isinstance(key, (int, np.integer)) else NoSuchKeyError
    raise error(f"no file {shortened(key)} in project {project!r}{meant(key, names)}")


class ProjectResults(Workspace):
    """The part of a Project that writes and reads the fits of its files."""

    files: Sequence[FileFits]
    joint_results: list[JointResult]

    @answered
    def save_fits(
        self,
        filepath: str | Path | None = None,
        *,
        file: int | str | FileFits | Sequence[int | str | FileFits] | None = None,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        select: str = "all",
        by: str | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
    ) -> Path:
        """Saves the fits of all files (or of `file`) to one archive; see :meth:`File.save_fit`. A
        joint fit that one of them has a part of is saved whole."""
        wanted = self.files
        if file is not None:
            wanted = [
                one if isinstance(one, FileFits) else find_file(self.files, one, self.name)
                for one in listed(file)
            ]
        chosen = []
        for member in wanted:
            if member.results or file is not None:
                chosen += select_fits(member.results, model, fit_type, select, by)
        joint: dict[Fit, Fit] = {part: whole for whole in self.joint_results for part in whole}
        last_first = dict.fromkeys(joint.get(fit, fit) for fit in reversed(chosen))
        chosen = list(last_first)[::-1]
        path = self.output(filepath, f"{self.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            say(f"{len(chosen)} fits saved to {path}")
        return path

    @answered
    def load_fits(
        self,
        filepath: str | Path | None = None,
        *,
        file: str | Sequence[str] | None = None,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        show_output: bool | int = False,
    ) -> FitResults:
        """The fits of an archive; each can be fitted again: ``fit.refit()``."""
        path = self.output(filepath, f"{self.name}_fits.h5")
        fits = FitResults.load(path, file=file, model=model, fit_type=fit_type)
        fits.config = self.plot_config
        if show_output:
            say("\n".join(repr(fit) for fit in fits))
        return fits

    @answered
    def export_fit(
        self,
        ref: str,
        *,
        filepath: str | Path | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
        pictures: bool = True,
    ) -> Path:
        """Writes one fit as a folder of tables and pictures; a joint fit has a folder for each
        file. `ref` is a label or handle of any file, or a model or fit type, of which the last is
        taken. See :meth:`pyspec.File.export_fit`."""
        fit = find_named([*self._all(), *self.joint_results], ref)
        return export_to(fit, self, filepath, overwrite, pictures, show_output)

    @answered
    def export_fits(
        self,
        filepath: str | Path | None = None,
        *,
        overwrite: bool = False,
        show_output: bool | int = False,
        pictures: bool = True,
    ) -> list[Path]:
        """:meth:`export_fit` of every fit of every file; equal fits are written once. Pictures take
        most of the time: with ``pictures=False`` there are tables alone."""
        fits = {handle_of(fit): fit for fit in self._all()}
        is_shown = bool(self.show_output) and len(fits) > 1
        label = "export with pictures" if pictures else "export"
        steps, written = Steps(is_shown, label, "fits"), []
        try:
            for fit in fits.values():
                written.append(export_to(fit, self, filepath, overwrite, pictures, show_output))
                steps.update(len(written), len(fits))
        finally:
            steps.close()
        return written

    @answered
    def drop_fits(self, ref: str, *, show_output: bool | int = False) -> None:
        """Forgets the fit of a label or handle, and those equal to it; archives keep theirs. A
        joint fit goes with its part of every file.

        Raises :class:`FitError` for one file's part of a joint fit.
        """
        chosen = find_fit([*self._all(), *self.joint_results], ref)
        if isinstance(chosen, JointResult):
            gone: list[Fit] = list(chosen)
            self.joint_results.remove(chosen)
        else:
            handle = handle_of(chosen)
            gone = [fit for fit in self._all() if handle_of(fit) == handle]
            for whole in self.joint_results:
                if any(part is fit for part in whole for fit in gone):
                    name = handle_of(whole)[:SHORT]
                    raise FitError(
                        f"{ref!r} is one file's part of a joint fit, which goes as a whole: "
                        f"drop_fits({name!r})"
                    )
        for file in self.files:
            file.results[:] = [
                fit for fit in file.results if not any(fit is dropped for dropped in gone)
            ]
        if show_output:
            say(f"{len(gone)} fits dropped")

    def _all(self) -> list[Fit]:
        return [fit for file in self.files for fit in file.results]

    @answered
    def describe(self, detail: int = 0) -> str:
        """Prints and returns a summary of the project and its files; with `detail` the models
        and fits of each file too."""
        backend = self.backend or "compiled"
        lines = [f"project {self.name}: {len(self.files)} files, backend {backend}"]
        for file in self.files:
            lines.append(f"  {file}")
            if detail:
                lines += [f"    {model!r}" for model in file.models.values()]
                lines += [f"    {result!r}" for result in file.results]
        return printed("\n".join(lines))
