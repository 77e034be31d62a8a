"""Project and File: what a person works with. They refer to each other, so they share a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import Suggesting, answered, say
from pyspec.errors import DataError, FitError
from pyspec.fit import FitResult, JointResult, fit_joint
from pyspec.fit.interrupts import Hold, held
from pyspec.fit.options import SharedOptions
from pyspec.io import Dataset, from_xarray
from pyspec.model.data.source import source_of
from pyspec.model.late_import import late_import
from pyspec.workflow.data.checks import need_dataset, need_project, refuse_spectra
from pyspec.workflow.fitting.fits import refuse_twins
from pyspec.workflow.results.file_results import FileResults
from pyspec.workflow.results.identity import stamp
from pyspec.workflow.results.printed import printed
from pyspec.workflow.results.project_results import ProjectResults, find_file
from pyspec.workflow.results.results import FitResults
from pyspec.workflow.results.summary import file_html, file_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

#: Options of File that from_xarray takes beside its own.
_OWN = ("mask", "nan_policy", "name", "path", "aux_axis", "aux_weights", "labels", "inputs")


class File(FileResults, Suggesting):
    """One data set and what is done with it.

    Parameters
    ----------
    parent_project : the project it belongs to; a new one if None
    path : a label of where the data come from
    name : how results call it; `path` if None
    data : (n_energy,) or (n_time, n_energy). Arrays of float64, float32 or uint16 are used without
        a copy, and never written to. With a time axis alone: (n_time,)
    energy, time : the axes; energy rises or falls all the way, time rises
    aux_axis, aux_weights : the auxiliary axis of profiles and the weights of its average, equal
        ones by default
    mask : True where a point is left out: of the shape of the data, (n_energy,) for columns or
        (n_time, 1) for rows
    nan_policy : "raise" refuses NaN and infinities, "omit" leaves them out
    labels, units : what "energy", "time" and "data" are, ``{"energy": "binding energy"}``, and
        their units, ``{"energy": "eV", "time": "ps"}``: for pictures, reports and archives
    inputs : further arrays along the axes that functions by formula read, by name, such as a
        reference spectrum, ``{"ref": values}``

    Raises
    ------
    DataError
        data that are not finite real numbers, or do not match their axes
    """

    @answered
    def __init__(
        self,
        parent_project: Project | None = None,
        path: str | Path = "data",
        name: str | None = None,
        data: npt.ArrayLike | None = None,
        energy: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
        aux_axis: npt.ArrayLike | None = None,
        *,
        aux_weights: npt.ArrayLike | None = None,
        mask: npt.ArrayLike | None = None,
        nan_policy: str = "raise",
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        inputs: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        need_project(parent_project, path)
        project = Project() if parent_project is None else parent_project
        super().__init__(
            project, path, name, data, energy, time, aux_axis, aux_weights=aux_weights,
            mask=mask, nan_policy=nan_policy, labels=labels, units=units, inputs=inputs,
        )  # fmt: skip
        project.files.append(self)

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        parent_project: Project | None = None,
        *,
        errors: bool = True,
        **options: Any,
    ) -> File:
        """A file with the Dataset that :func:`pyspec.read` returned: a spectrum, spectra over time,
        or a trace, one value for each time. NaN are left out, unless ``nan_policy="raise"``; in
        data by reference they are refused. Standard errors that were read are taken as the noise
        of the data, unless the project declares another noise or ``errors=False``.
        """
        need_dataset(dataset)
        policy = "omit" if source_of(dataset.data) is None else "raise"
        arguments = {"nan_policy": policy, **dataset.for_file(), **options}
        file = cls(parent_project, **arguments)
        if errors and dataset.errors is not None and not file.noise.is_known:
            try:
                file.set_noise("gaussian", sigma=dataset.errors)
            except DataError as error:
                owner: Any = file.project
                owner.files.remove(file)
                raise DataError(
                    f"{dataset.name}: the standard errors that were read: {error}; errors=False "
                    "leaves them out"
                ) from None
        return file

    @classmethod
    def from_xarray(
        cls, array: object, parent_project: Project | None = None, **options: Any
    ) -> File:
        """A file of an ``xarray.DataArray`` or Dataset with named axes, energy last.

        Options `mask`, `nan_policy`, `name`, `aux_axis` are those of File, others those of
        :func:`pyspec.io.from_xarray`.
        """
        own = {key: options.pop(key) for key in _OWN if key in options}
        return cls.from_dataset(from_xarray(array, **options), parent_project, **own)

    def build(self, /, model_name: str | None = None, *, folder: str | Path | None = None) -> Any:
        """The builder in a notebook, on these data and a model of this file; without `model_name`
        on all of them. Save writes to `folder`. The model of the file stays as it is;
        ``file.add_model(builder.model)`` takes what was built. See :class:`pyspec.Builder`.
        """
        return late_import("pyspec.build.widget", "Builder")(self, model_name, folder=folder)

    # for people

    def describe(self, *, waterfall: float | None = None) -> str:
        """Prints and returns what the file holds; with `waterfall`, a distance in units of the
        data, shows the spectra above each other too."""
        text = printed(file_text(self))
        if waterfall is not None:
            self.plot_data(show=True, waterfall=waterfall)
        return text

    def __repr__(self) -> str:
        shape = "no data" if self.data is None else "data " + " × ".join(map(str, self.data.shape))
        return f"<File {self.name}: {shape}, {len(self.models)} models, {len(self.results)} fits>"

    def _repr_html_(self) -> str:
        return file_html(self)


class Project(ProjectResults, Suggesting):
    """A folder of model files, a backend, and the files that are fitted with them.

    Parameters
    ----------
    path : folder that relative model paths start from; None is the working directory
    name : a label
    config_file : a file of settings in the project's folder, read if it exists: show_output,
        backend, the noise of its files (noise_type, sigma_data, noise_scale), and fields of
        PlotConfig. Arguments override it
    backend : "compiled", "interpreted", "tree" or "compare"; None (default) runs compiled and
        falls back, with a warning that says why, where a model cannot be compiled
    show_output : whether fits show progress and print their result
    """

    @answered
    def __init__(
        self,
        path: str | Path | None = None,
        name: str = "my_project",
        config_file: str | Path | None = "project.yaml",
        *,
        backend: str | None = None,
        show_output: bool | int | None = None,
    ) -> None:
        super().__init__(path, name, config_file, backend=backend, show_output=show_output)
        self.files: list[File] = []
        self.joint_results: list[JointResult] = []

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
        """:meth:`File.add_time_dependence` for every file; for none where one holds one
        spectrum."""
        where = target_model, target_parameter, dynamics_yaml, dynamics_model
        for file in self._need_files():
            file._refuse_one_spectrum()
        for file in self._need_files():
            file.add_time_dependence(*where, frequency=frequency)

    def set_fit_limits(
        self,
        energy_limits: Sequence[float | None] | None = None,
        *,
        time_limits: Sequence[float | None] | None = None,
        exclude: Sequence[Sequence[float | None]] = (),
        exclude_times: Sequence[Sequence[float | None]] = (),
    ) -> None:
        """:meth:`File.set_fit_limits` for every file."""
        for file in self._need_files():
            file.set_fit_limits(
                energy_limits, time_limits=time_limits, exclude=exclude, exclude_times=exclude_times
            )

    def define_baselines(
        self, *, time_start: float | None, time_stop: float | None, time_type: str = "abs"
    ) -> None:
        """:meth:`File.define_baseline` for every file."""
        for file in self._need_files():
            file.define_baseline(time_start, time_stop, time_type=time_type)

    @answered
    @held
    def fit_baselines(
        self, *, model_name: str, **options: Unpack[SharedOptions]
    ) -> list[FitResult]:
        """:meth:`File.fit_baseline` for every file; Ctrl-C ends them with the fit that runs."""
        results: list[FitResult] = []
        with Hold() as hold:
            for file in self._need_files():
                results.append(hold.mark(file.fit_baseline(model_name, **options)))
                if hold.arrived:
                    break
            return results

    @answered
    @held
    def fit_2d(
        self,
        *,
        model_name: str,
        seed_source: str | None = None,
        **options: Unpack[SharedOptions],
    ) -> JointResult:
        """Fits the model of that name to all files together, as one residual.

        Parameters whose entry says "project" are the same in all files and occur once; the others
        are free in each file and called ``file00_GLP_01_A``. Every file has its own grid, window
        and noise; all of them, or none, have declared noise. Seeds and options as of
        :meth:`File.fit_2d`. Each file keeps its part as a result. Single spectra, or traces, are
        fitted together by :func:`pyspec.fit_joint`.
        """
        files = self._need_files()
        names = [file.name for file in files]
        refuse_twins(names)
        refuse_spectra({file.name: file.data for file in files})
        prepared = [file._prepared_2d(model_name, seed_source) for file in files]
        parts = [(model, measurement) for model, measurement, _ in prepared]
        if "project" not in {par.scope for model, _ in parts for par in model.parameters.values()}:
            raise FitError(
                f"no parameter of {model_name!r} is shared by the files; write 'project' for True "
                'in its entry, as in [30, "project", 0, 100], or fit each file on its own'
            )
        with Hold() as hold:
            joint = fit_joint(parts, names=names, **files[0]._options(options)).diagnose()
            origins = [origin for _, _, origin in prepared]
            joint.started_from = ", ".join(dict.fromkeys(origins))
            stamp(joint)
            for file, result, origin in zip(files, joint, origins, strict=True):
                result.started_from = origin
                file._store(result)
                stamp(result)
                file.results.append(result)
            self.joint_results.append(joint)
            for result in (joint, *joint):
                hold.mark(result)
            if self.show_output:
                say(joint)
            return joint

    @property
    def results(self) -> FitResults:
        """The fits of all files, in the order of the files, as a new list at each access, with
        `find`, `get`, `compare_models` and more: see :class:`pyspec.FitResults`."""
        fits = [result for file in self.files for result in file.results]
        return FitResults(fits, joint=self.joint_results, config=self.plot_config)

    def _need_files(self) -> list[File]:
        if not self.files:
            raise DataError(
                f"project {self.name!r} has no files; make some: File(project, data=..., ...)"
            )
        return self.files

    def __getitem__(self, key: int | str) -> File:
        return find_file(self.files, key, self.name)

    def __len__(self) -> int:
        return len(self.files)

    def __bool__(self) -> bool:
        return True  # also without files, for ``project or Project(".")``

    def __repr__(self) -> str:
        return f"<Project {self.name}: {len(self.files)} files>"
