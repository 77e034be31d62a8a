"""One fit as a folder of tables and pictures, for people without pyspec."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.calls import say
from pyspec.errors import DataError, FitError
from pyspec.fit import FitResult, JointResult, SliceResults
from pyspec.fit.amplitudes.amplitudes import Amplitudes, open_fit
from pyspec.fit.batch.fits import states_of
from pyspec.fit.results.result import TOGETHER
from pyspec.io.atomic import file_name, folder_lock, write_text
from pyspec.plot import plot_evolution, plot_fit
from pyspec.plot.figure import as_remark
from pyspec.plot.protocols import Fit
from pyspec.workflow.results.identity import SHORT, handle_of
from pyspec.workflow.workspace import Workspace

Array = npt.NDArray[np.float64]

#: Columns of a table of parameters.
COLUMNS = ("name", "value", "stderr", "init_value", "min", "max", "vary", "expr")

#: Metrics in the order of their columns.
METRICS = ("chi2_raw", "chi2_red_raw", "chi2", "chi2_red", "r2", "aic", "bic")


class Folder:
    """A folder of CSV tables with the numbers and separators of a project."""

    def __init__(self, path: Path, project: Workspace) -> None:
        self.path = path
        self.project = project
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{path}: cannot be made ({error.strerror}); choose another folder"
            ) from None

    def table(self, name: str, head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
        """Rows below a head; None becomes an empty cell."""
        stream = io.StringIO()
        writer = csv.writer(stream, delimiter=self.project.delim, lineterminator="\n")
        if head:
            writer.writerow(head)
        writer.writerows([self._cell(value) for value in row] for row in rows)
        write_text(self.path / name, stream.getvalue())

    def _cell(self, value: object) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, (float, np.floating)):
            return self.project.num_fmt % value
        return str(value)

    def columns(self, name: str, columns: Mapping[str, Iterable[object]]) -> None:
        """Arrays of one length side by side."""
        self.table(name, list(columns), zip(*columns.values(), strict=True))


def export_to(
    fit: Fit | JointResult,
    project: Workspace,
    filepath: str | Path | None,
    overwrite: bool,
    pictures: bool,
    show_output: bool | int,
) -> Path:
    """Writes a fit to ``files/<file>/<model>/<handle>`` below `filepath`, a joint fit to
    ``joint/<model>/<handle>`` with a folder ``files/<file>`` for each file: the tables as a whole
    or not at all, then the pictures. Returns that folder. See :meth:`pyspec.Project.export_fit`."""
    default = project.path / "fit_results" / file_name(project.name)
    root = default if filepath is None else project.output(filepath, "")
    above = ("joint",) if isinstance(fit, JointResult) else ("files", fit.file_name or "fit")
    names = (*above, fit.model_name, handle_of(fit)[:SHORT])
    target = root.joinpath(*map(file_name, names))
    parts: dict[Path, Fit] = {Path(): fit}
    if isinstance(fit, JointResult):  # has a folder for each file
        parts = {Path("files", file_name(part.file_name)): part for part in fit}

    def write(folder: Folder) -> None:
        if isinstance(fit, JointResult):
            _write_numbers(fit, folder)
            _write_info(fit, folder, "joint")
        for below, part in parts.items():
            write_fit(part, Folder(folder.path / below, project))

    _replaced(target, project, overwrite, write)
    for below, part in parts.items() if pictures else ():
        _draw(part, Folder(target / below, project))
    if show_output:
        say(f"fit written to {target}")
    return target


def _replaced(
    target: Path, project: Workspace, overwrite: bool, write: Callable[[Folder], object]
) -> None:
    """A folder that is there as a whole or not at all. The one before is moved aside until then;
    where a killed process left it there, it comes back."""
    part, aside = (target.with_name(f".{target.name}.{word}") for word in ("part", "before"))
    Folder(target.parent, project)
    with folder_lock(target):
        if aside.exists() and not target.exists():
            aside.replace(target)
        if target.exists() and any(target.iterdir()) and not overwrite:
            raise DataError(f"{target}: exists already; choose another folder or overwrite=True")
        try:
            for left in (part, aside):
                shutil.rmtree(left, ignore_errors=True)
            write(Folder(part, project))
            if target.exists():
                target.replace(aside)
            part.replace(target)
        except OSError as error:
            if aside.exists() and not target.exists():
                aside.replace(target)
            raise DataError(
                f"{target}: cannot be written ({error.strerror}); choose another folder"
            ) from None
        finally:
            shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def write_fit(fit: Fit, folder: Folder) -> None:
    """The tables of one fit."""
    _write_info(fit, folder, fit.fit_type)
    if isinstance(fit, SliceResults):
        _write_slices(fit, folder)
    else:
        _write_numbers(fit, folder)
    if isinstance(fit, SliceResults) or np.ndim(fit.data) == 2:
        assert fit.energy is not None
        assert fit.time is not None
        tables = {"fit_2d.csv": open_fit(fit, fit.fit), "observed_2d.csv": fit.data}
        tables |= {"energy.csv": fit.energy[:, None], "time.csv": fit.time[:, None]}
        for name, values in tables.items():
            folder.table(name, (), np.asarray(values, dtype=np.float64))
    else:
        write_curves(fit, folder)
    if isinstance(fit, FitResult) and fit.amplitudes is not None:
        for name, columns in amplitude_tables(fit.amplitudes).items():
            folder.columns(name, columns)


def _write_info(fit: Fit, folder: Folder, kind: str) -> None:
    facts = {
        "handle": handle_of(fit),
        "file": fit.file_name,
        "model": fit.model_name,
        "fit_type": kind,
        "label": fit.label or "",
        "timestamp": fit.timestamp,
        "pyspec_version": VERSION,
        "success": bool(np.all(fit.success)),
    }
    if isinstance(fit, SliceResults):
        ended = states_of(fit.status)
    else:
        ended = " ".join(str(fit.message).split())
        if fit._is_joint_member:
            facts["joint_fit"] = TOGETHER
    rows = [
        *facts.items(),
        ("message", ended),
        *(("finding", str(finding)) for finding in fit.findings),
    ]
    folder.table("fit_info.csv", ["field", "value"], rows)


def _write_numbers(fit: FitResult, folder: Folder) -> None:
    folder.table("params.csv", COLUMNS, parameter_rows(fit))
    folder.table("metrics.csv", METRICS, [[fit.statistics[name] for name in METRICS]])
    correlations = fit.correlations
    if len(correlations):
        rows = [
            (name, *row) for name, row in zip(correlations.names, correlations.matrix, strict=True)
        ]
        folder.table("correl.csv", ["", *correlations.names], rows)


def parameter_rows(fit: FitResult) -> list[tuple[object, ...]]:
    """The parameters of a fit, a row of :data:`COLUMNS` each."""
    return [(r.name, r.value, r.stderr, r.init, r.min, r.max, r.vary, r.expr) for r in fit.table]


def _write_slices(fit: SliceResults, folder: Folder) -> None:
    folder.columns("params.csv", fit.values)
    folder.columns("params_stderr.csv", fit.stderr)
    folder.columns("fit_pars.csv", {"index": range(len(fit)), "time": fit.time, **fit.values})
    rows = []
    for part in fit:
        statistics = {} if part.result is None else part.result.statistics
        message = " ".join(part.message.split())
        findings = " | ".join(map(str, () if part.result is None else part.result.findings))
        metrics = [statistics.get(name) for name in METRICS]
        rows.append((part.index, *metrics, part.status, message, findings))
    head = ["slice", *METRICS, "status", "message", "findings"]
    folder.table("metrics_per_slice.csv", head, rows)


def amplitude_tables(linear: Amplitudes) -> dict[str, dict[str, Array]]:
    """File name → columns. Free spectra or traces have their errors; both are NaN if they are not
    known. Errors are also NaN where the amplitude is held at 0. Their basis is included if it is
    the same for all. Schemes have decay- and evolution-associated spectra.
    """
    columns = {linear.axis: linear.along}
    for name in linear.names:
        columns |= {name: linear.known[name], f"{name}_stderr": linear.stderr[name]}
    tables = {"amplitudes.csv": columns}
    if all(np.ndim(basis) == 1 for basis in linear.basis.values()):
        other = "time" if linear.axis == "energy" else "energy"
        tables["basis.csv"] = {other: linear.x, **linear.basis}
    for name in linear.kinetics:
        own = f"_{name}" if len(linear.kinetics) > 1 else ""
        for kind in ("das", "eas"):
            try:
                curves = getattr(linear, kind)(name)
            except FitError:
                continue
            columns = {linear.axis: linear.along}
            for label, value, error in zip(curves.names, curves.known, curves.stderr, strict=True):
                columns |= {label: value, f"{label}_stderr": error}
            tables[file_name(f"{kind}{own}.csv")] = columns
    return tables


def write_curves(fit: FitResult, folder: Folder) -> None:
    """Data, fit and residual of one spectrum or trace, and of a spectrum its components."""
    columns = {"observed": fit.data, "fit": fit.fit, "residual": fit.residual}
    columns = {"time" if fit.is_trace else "energy": fit.axis, **columns}
    if not fit.is_trace:
        columns |= components_of(fit)
    folder.columns("fit_1d.csv", columns)


def components_of(fit: FitResult, *, whole: bool = False) -> dict[str, Array]:
    """The components of a fit to one spectrum, in file order."""
    peaks, grounds = fit.components(whole=whole)
    curves = {**peaks, **grounds}
    names = [component.name for component in fit.model.components]
    return {name: curves[name] for name in names if name in curves}


def _draw(fit: Fit, folder: Folder) -> None:
    config = folder.project.plot_config
    name = "2D_data_fit_res.png" if np.ndim(fit.data) == 2 else "fit_1d.png"
    with as_remark("picture"):
        plot_fit(fit, config=config, save_path=folder.path / name)
        if not isinstance(fit, SliceResults):
            return
        for par in fit.free_names:
            path = folder.path / file_name(f"{par}.png")
            plot_evolution(
                fit.time, fit.values, fit.stderr, params=[par], source=fit, config=config,
                save_path=path,
            )  # fmt: skip
