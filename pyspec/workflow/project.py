"""Project: where the model files lie, what runs the fits, and the files that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspec.errors import DataError, FitError, ModelError, suggest
from pyspec.executor import backend_name
from pyspec.fit import FitResult, JointResult, fit_joint
from pyspec.io import StoredFit, StoredSlices, load_fits, save_fit
from pyspec.plot import PlotConfig
from pyspec.workflow.answers import select_fits
from pyspec.workflow.settings import read_settings

if TYPE_CHECKING:
    from pyspec.workflow.file import File


class Project:
    """A folder of model files, a backend, and the files that are fitted with them.

    Parameters
    ----------
    path : folder that relative model paths start from; None is the working directory
    name : a label
    config_file : settings in the project's folder, if there: show_output, backend, and fields of
        PlotConfig; what is given here stands above it
    backend : "compiled", "interpreted", "tree" or "compare"; None (default) runs compiled and
        falls back, with a warning that says why, where a model cannot be compiled
    show_output : whether fits show progress and print their result
    spec_fun_str : the founding name of a backend, such as "fit_model_gir"; same as `backend`
    """

    def __init__(
        self,
        path: str | Path | None = None,
        name: str = "my_project",
        config_file: str | Path | None = "project.yaml",
        *,
        backend: str | None = None,
        show_output: bool | int | None = None,
        spec_fun_str: str | None = None,
    ) -> None:
        self.path = Path(path) if path is not None else Path()
        if path is not None and not self.path.is_dir():
            raise DataError(f"project path {str(path)!r} is not a folder; create it first")
        self.name = name
        settings, fields = read_settings(self.path, path is not None, config_file)
        if show_output is None:
            show_output = settings.get("show_output", True)
        self.show_output = bool(show_output)
        self.plot_config = PlotConfig(**fields)
        self.files: list[File] = []
        self.joint_results: list[JointResult] = []
        self._backend: str | None = None
        if backend is not None and spec_fun_str is not None:
            raise DataError("give backend or spec_fun_str, not both")
        chosen = backend if backend is not None else spec_fun_str
        self.backend = settings.get("backend") if chosen is None else chosen

    @property
    def backend(self) -> str | None:
        """The backend of all fits that do not name one; None is compiled, with fallback."""
        return self._backend

    @backend.setter
    def backend(self, name: str | None) -> None:
        self._backend = None if name is None else backend_name(name)

    @property
    def spec_fun_str(self) -> str | None:
        """The backend under its founding attribute name."""
        return self._backend

    @spec_fun_str.setter
    def spec_fun_str(self, name: str | None) -> None:
        self.backend = name

    def resolve(self, path: str | Path) -> str | Path:
        """A model path, taken from the project's folder if relative."""
        if isinstance(path, str) and "\n" in path:
            return path
        given = Path(path)
        found = given if given.is_absolute() else self.path / given
        if not found.is_file():
            folder = found.parent
            known = [f.name for f in sorted(folder.glob("*.y*ml"))] if folder.is_dir() else []
            hint = suggest(found.name, known) or (f"; it holds {', '.join(known)}" if known else "")
            raise ModelError(f"no model file {found.name!r} in {str(folder)!r}{hint}")
        return found

    def output(self, path: str | Path | None, default: str) -> Path:
        """Where to write: `path`, or the default name, in the project's folder if relative."""
        given = Path(default if path is None else path).expanduser()
        return given if given.is_absolute() else self.path / given

    # all files at once

    def load_models(self, *, model_yaml: str | Path, model_info: str | Sequence[str]) -> None:
        """:meth:`File.load_model` for every file."""
        for file in self._need_files():
            file.load_model(model_yaml, model_info)

    def add_time_dependences(
        self,
        *,
        target_model: str,
        target_parameter: str,
        dynamics_yaml: str | Path,
        dynamics_model: str | Sequence[str],
        frequency: float = -1,
    ) -> None:
        """:meth:`File.add_time_dependence` for every file."""
        where = target_model, target_parameter, dynamics_yaml, dynamics_model
        for file in self._need_files():
            file.add_time_dependence(*where, frequency=frequency)

    def set_fit_limits(
        self,
        energy_limits: Sequence[float] | None,
        *,
        time_limits: Sequence[float] | None = None,
    ) -> None:
        """:meth:`File.set_fit_limits` for every file."""
        for file in self._need_files():
            file.set_fit_limits(energy_limits, time_limits=time_limits)

    def define_baselines(
        self, *, time_start: float, time_stop: float, time_type: str = "abs"
    ) -> None:
        """:meth:`File.define_baseline` for every file."""
        for file in self._need_files():
            file.define_baseline(time_start, time_stop, time_type=time_type)

    def fit_baselines(self, *, model_name: str, stages: int = 1, **options: Any) -> list[FitResult]:
        """:meth:`File.fit_baseline` for every file, one after the other."""
        return [file.fit_baseline(model_name, stages, **options) for file in self._need_files()]

    def fit_2d(
        self,
        *,
        model_name: str,
        stages: int = 1,
        seed_source: str | None = None,
        **options: Any,
    ) -> JointResult:
        """Fits the model of that name to all files together, as one residual.

        Parameters whose entry says "project" are the same in all files and occur once; the others
        are free in each file and called ``file00_GLP_01_A``. Every file has its own grid, window
        and noise; all of them, or none, have declared noise. Seeds and options as of
        :meth:`File.fit_2d`. Each file keeps its part as a result.
        """
        files = self._need_files()
        parts = [file._prepared_2d(model_name, seed_source) for file in files]
        if "project" not in {par.scope for model, _ in parts for par in model.parameters.values()}:
            raise FitError(
                f"no parameter of {model_name!r} is shared by the files; write 'project' for True "
                'in its entry, as in [30, "project", 0, 100], or fit each file on its own'
            )
        given: dict[str, Any] = {"backend": self.backend, "progress": self.show_output}
        if files[0].noise.is_known:
            given["scale_covar"] = False
        names = [file.name for file in files]
        joint = fit_joint(parts, stages=stages, names=names, **{**given, **options})
        for file, result in zip(files, joint, strict=True):
            stored = file.models[model_name]
            stored.set_values({name: result.values[name] for name in result.free_names})
            file.results.append(result)
        self.joint_results.append(joint)
        if self.show_output:
            print(joint)
        return joint

    @property
    def results(self) -> list[Any]:
        """The fits of all files, in the order of the files."""
        return [result for file in self.files for result in file.results]

    def save_fits(
        self,
        filepath: str | Path | None = None,
        *,
        file: int | str | File | Sequence[int | str | File] | None = None,
        model: str | Sequence[str] | None = None,
        fit_type: str | Sequence[str] | None = None,
        select: str = "all",
        by: str | None = None,
        overwrite: bool = False,
        show_output: bool | int = False,
    ) -> Path:
        """Saves the fits of all files (or of `file`) to one archive; see :meth:`File.save_fit`."""
        wanted = self.files if file is None else self._files(file)
        chosen: list[Any] = []
        for one in wanted:
            if one.results or file is not None:
                chosen += select_fits(one.results, model, fit_type, select, by)
        path = self.output(filepath, f"{self.name}_fits.h5")
        save_fit(path, chosen, mode="replace" if overwrite else "append")
        if show_output:
            print(f"{len(chosen)} fits saved to {path}")
        return path

    def load_fits(
        self,
        filepath: str | Path | None = None,
        *,
        file: str | None = None,
        model: str | None = None,
        fit_type: str | None = None,
        show_output: bool | int = False,
    ) -> tuple[StoredFit | StoredSlices, ...]:
        """The fits of an archive; each can be fitted again: ``fit.refit()``."""
        path = self.output(filepath, f"{self.name}_fits.h5")
        fits = load_fits(path, model=model, fit_type=fit_type, file=file)
        if show_output:
            print("\n".join(repr(fit) for fit in fits))
        return fits

    def _files(self, given: Any) -> list[File]:
        if isinstance(given, (int, str)):
            return [self[given]]
        if not isinstance(given, Sequence):
            return [given]
        return [self[one] if isinstance(one, (int, str)) else one for one in given]

    def _need_files(self) -> list[File]:
        if not self.files:
            raise DataError(
                f"project {self.name!r} has no files; make some: File(project, data=..., ...)"
            )
        return self.files

    def __getitem__(self, key: int | str) -> File:
        if isinstance(key, int):
            return self.files[key]
        for file in self.files:
            if file.name == key:
                return file
        known = [file.name for file in self.files]
        raise KeyError(f"no file {key!r} in project {self.name!r}{suggest(key, known)}")

    def __len__(self) -> int:
        return len(self.files)

    def describe(self, detail: int = 0) -> str:
        """Prints and returns a summary of the project and its files; with `detail` the models
        and fits of each file too."""
        lines = [
            f"project {self.name}: {len(self.files)} files, backend {self.backend or 'compiled'}"
        ]
        for file in self.files:
            lines.append(f"  {file}")
            if detail:
                lines += [f"    {model!r}" for model in file.models.values()]
                lines += [f"    {result!r}" for result in file.results]
        text = "\n".join(lines)
        print(text)
        return text

    def __repr__(self) -> str:
        return f"<Project {self.name}: {len(self.files)} files>"
