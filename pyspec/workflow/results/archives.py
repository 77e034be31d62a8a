"""What a file gives out: archives of fits, tables of parameters, a summary as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pyspec.calls import meant, row_of, say
from pyspec.calls.named import LISTED
from pyspec.errors import CallError, DataError, FitError, NoSuchKeyError, shortened
from pyspec.fit import FitResult, JointResult
from pyspec.fit.progress import Steps
from pyspec.io import save_fit, write_parameters
from pyspec.io.atomic import file_name
from pyspec.plot.protocols import Fit
from pyspec.workflow.data.data import FileData
from pyspec.workflow.facts import FileFacts
from pyspec.workflow.results.export import export, export_joint, save_spectrum
from pyspec.workflow.results.identity import SHORT, find_fit, find_named, handle_of, listed
from pyspec.workflow.results.printed import printed
from pyspec.workflow.results.queries import FileAnswers, export_slices, select_fits
from pyspec.workflow.results.results import FitResults
from pyspec.workflow.workspace import Workspace


class FileOutput:
    """The part of a File that writes its fits."""

    def __init__(self, project: Workspace, data: FileData, answers: FileAnswers) -> None:
        self.project = project
        self.data = data
        self.answers = answers

    def save_fit(
        self,
        filepath: str | Path | None = None,
        *,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        select: str = "all",
        overwrite: bool = False,
        show_output: bool | int = False,
        by: str | None = None,
    ) -> Path:
        """Saves fits to an archive (HDF5), from which they can be looked at and fitted again:
        :func:`pyspec.io.load_fits`. Returns its path.

        `select` is "all", or the "latest" or the "best" fit of each model and type, by AIC or the
        metric `by` (not `sigma_eff`). Slices are ranked by the number of results, then by the sum
        of the metric. Fits that it does not hold yet are added to an archive that exists;
        `overwrite` replaces it. Raises :class:`FitError` for the best of fits to different data,
        windows or masks.
        """
        chosen = select_fits(self.answers.results, model, fit_type, select, by)
        path = self.project.output(filepath, f"{self.data.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            say(f"{len(chosen)} fits saved to {path}")
        return path

    def export_fit(
        self,
        ref: str | None = None,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        filepath: str | Path | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
        pictures: bool = True,
    ) -> Path:
        """Writes a fit as a folder of CSV tables and pictures, or its parameters alone; returns the
        path.

        Parameters
        ----------
        ref : the label of a fit; else a model or fit type, whose last fit is written; else the
            beginning of a handle; None is the last fit
        model, fit_type : the last fit of this model and type, in place of `ref`
        filepath : a folder, in which ``files/<file>/<model>/<handle>`` is made (default:
            ``fit_results/<project>`` in the project's folder), or a file ending in .csv or .json
            for the parameters alone
        overwrite : whether to replace what is there
        pictures : whether to draw the fit too

        Every folder holds ``params.csv``, ``metrics.csv``, ``correl.csv`` and ``fit_info.csv``. The
        last says what was fitted, whether the fit converged, and what it found. Beside them stand:

        - of one spectrum: ``fit_1d.csv`` with data, fit, residual and components
        - of a time series: ``fit_2d.csv``, ``observed_2d.csv``, ``energy.csv``, ``time.csv``
        - of free spectra or traces: ``amplitudes.csv``, with errors; ``basis.csv``, the populations
          or laws that multiply them, unless these differ along the spectrum
        - of a kinetic scheme: ``das.csv`` and ``eas.csv`` too
        - of slices: ``fit_pars.csv``; ``metrics_per_slice.csv`` with status and findings
        """
        kind = {"model": model, "fit_type": fit_type}
        if ref is not None and any(kind.values()):
            raise CallError("export_fit: give ref, or model and fit_type, not both")
        answers = self.answers
        result = answers.get_result(**kind) if ref is None else answers.by_reference(ref)
        path = self.project.output(filepath, "")
        if filepath is not None and path.suffix and not path.is_dir():
            self._write_parameters(result, path, overwrite)
        else:
            root = export_root(self.project) if filepath is None else path
            path = export(result, root, self.project, overwrite=overwrite, pictures=pictures)
        if show_output:
            say(f"fit written to {path}")
        return path

    @staticmethod
    def _write_parameters(result: Fit, path: Path, overwrite: bool) -> None:
        if isinstance(result, FitResult):
            write_parameters(result.table, path, overwrite=overwrite)
            return
        if path.exists() and not overwrite:
            raise DataError(f"{path}: exists already; choose another name or overwrite=True")
        export_slices(result, path)

    def save_baseline_fit(self, save_path: str | Path) -> Path:
        """Writes ``fit_1d.csv`` of the last baseline fit into a folder: every energy, the model
        (`sum`) and its components. Returns its path."""
        result = self.answers.get_result(fit_type="baseline")
        return save_spectrum(result, self.project.output(save_path, ""), self.project)

    def save_spectrum_fit(self, save_path: str | Path) -> Path:
        """Writes ``fit_1d.csv`` of the last fit of one spectrum into a folder; see
        :meth:`save_baseline_fit`."""
        result = self.answers.get_result(fit_type="spectrum")
        return save_spectrum(result, self.project.output(save_path, ""), self.project)


def export_root(project: Workspace) -> Path:
    """Where exported fits go without a `filepath`."""
    return project.path / "fit_results" / file_name(project.name)


AFile = TypeVar("AFile", bound=FileFacts)


def find_file(files: Sequence[AFile], key: int | str, project: str) -> AFile:
    """A file by its number or name. Raises :class:`NoSuchKeyError` for a name that no file has, or
    several, and IndexError for a number, which ends a loop over the files."""
    if isinstance(key, (int, np.integer)):
        if not -len(files) <= key < len(files):
            named = ", ".join(file.name for file in files[:LISTED])
            more = ", …" if len(files) > LISTED else ""
            held = f"the files {named}{more}, counted from 0" if files else "no file yet"
            raise IndexError(f"no file {key} in project {project!r}: it has {held}")
        return files[key]
    if not isinstance(key, str):
        raise CallError(f"project[{shortened(key)}]: give the name of a file, or its number")
    found = [k for k, file in enumerate(files) if file.name == key]
    if len(found) == 1:
        return files[found[0]]
    if found:
        raise NoSuchKeyError(
            f"{len(found)} files of project {project!r} are called {key!r}; take one by its "
            f"number, the last is project[{found[-1]}]; a cell that was run twice makes its file "
            "twice: start with a new Project"
        )
    known = [file.name for file in files]
    raise NoSuchKeyError(f"no file {key!r} in project {project!r}{meant(key, known)}")


class ProjectOutput:
    """The part of a Project that writes and reads the fits of its files."""

    def __init__(
        self, project: Workspace, files: Sequence[FileFacts], joint: list[JointResult]
    ) -> None:
        self.project = project
        self.files = files
        self.joint = joint

    def save_fits(
        self,
        filepath: str | Path | None = None,
        *,
        file: int | str | FileFacts | Sequence[int | str | FileFacts] | None = None,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        select: str = "all",
        by: str | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
    ) -> Path:
        """Saves the fits of all files (or of `file`) to one archive; see :meth:`File.save_fit`."""
        wanted = self.files if file is None else [self._file(one) for one in listed(file)]
        chosen: list[Any] = []
        for one in wanted:
            if one.results or file is not None:
                chosen += select_fits(one.results, model, fit_type, select, by)
        path = self.project.output(filepath, f"{self.project.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            say(f"{len(chosen)} fits saved to {path}")
        return path

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
        path = self.project.output(filepath, f"{self.project.name}_fits.h5")
        fits = FitResults.load(path, file=file, model=model, fit_type=fit_type)
        fits.config = self.project.plot_config
        if show_output:
            say("\n".join(repr(fit) for fit in fits))
        return fits

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
        return self._export(self._find(ref, find_named), filepath, overwrite, show_output, pictures)

    def _export(
        self,
        fit: Fit,
        filepath: str | Path | None,
        overwrite: bool,
        show_output: bool | int,
        pictures: bool,
    ) -> Path:
        root = export_root(self.project) if filepath is None else self.project.output(filepath, "")
        write: Any = export_joint if isinstance(fit, JointResult) else export
        path: Path = write(fit, root, self.project, overwrite=overwrite, pictures=pictures)
        if show_output:
            say(f"fit written to {path}")
        return path

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
        is_shown = bool(self.project.show_output) and len(fits) > 1
        label = "export with pictures" if pictures else "export"
        steps, written = Steps(is_shown, label, "fits"), []
        try:
            for fit in fits.values():
                written.append(self._export(fit, filepath, overwrite, show_output, pictures))
                steps.update(len(written), len(fits))
        finally:
            steps.close()
        return written

    def drop_fits(self, ref: str, *, show_output: bool | int = False) -> None:
        """Forgets the fit of a label or handle, and those equal to it; archives keep theirs. A
        joint fit goes with its part of every file.

        Raises :class:`FitError` for one file's part of a joint fit.
        """
        chosen = self._find(ref)
        if isinstance(chosen, JointResult):
            gone = list(chosen)
            self.joint.remove(chosen)
        else:
            handle = handle_of(chosen)
            gone = [fit for fit in self._all() if handle_of(fit) == handle]
            for whole in self.joint:
                if any(part is fit for part in whole for fit in gone):
                    name = handle_of(whole)[:SHORT]
                    raise FitError(
                        f"{ref!r} is one file's part of a joint fit, which goes as a whole: "
                        f"drop_fits({name!r})"
                    )
        for file in self.files:
            file.results[:] = [fit for fit in file.results if not any(fit is one for one in gone)]
        if show_output:
            say(f"{len(gone)} fits dropped")

    def _all(self) -> list[Any]:
        return [fit for file in self.files for fit in file.results]

    def _find(self, ref: str, find: Callable[[Sequence[Any], str], Any] = find_fit) -> Any:
        """The fit of a label or handle; a joint fit as a whole if it is that of all files."""
        return find([*self._all(), *self.joint], ref)

    def describe(self, detail: int = 0) -> str:
        """Prints and returns a summary of the project and its files; with `detail` the models
        and fits of each file too."""
        backend = self.project.backend or "compiled"
        lines = [f"project {self.project.name}: {len(self.files)} files, backend {backend}"]
        for file in self.files:
            lines.append(f"  {file}")
            if detail:
                lines += [f"    {model!r}" for model in file.models.values()]
                lines += [f"    {result!r}" for result in file.results]
        return printed("\n".join(lines))

    def _file(self, given: int | str | FileFacts) -> FileFacts:
        if isinstance(given, str):
            return find_file(self.files, given, self.project.name)
        if isinstance(given, FileFacts):
            return given
        if not self.files:
            raise DataError(f"project {self.project.name!r} has no files")
        return self.files[row_of("file", given, len(self.files), "a file")]
