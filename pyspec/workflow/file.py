"""File: one measurement with its axes, its models, its window and its fits."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, FitError, ModelError, suggest
from pyspec.fit import CorrelationTable, FitResult, ParameterTable, fit_model
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.model.axes import check_axis
from pyspec.workflow.checks import check_data
from pyspec.workflow.project import Project
from pyspec.workflow.seeds import one_name, seed_from
from pyspec.workflow.windows import index_range, nearest_row, row_range

Array = npt.NDArray[np.float64]

FIT_TYPES = ("baseline", "spectrum", "2d")


class File:
    """One data set and what is done with it.

    Parameters
    ----------
    parent_project : the project it belongs to; a new one if None
    path : a label of where the data come from
    name : how results call it; `path` if None
    data : (n_energy,) or (n_time, n_energy); used where it lies, not copied, where its type
        is float64, float32 or uint16; never written to
    energy, time : the axes; energy rises or falls all the way, time rises

    Raises
    ------
    DataError
        data that are not finite real numbers, or do not match their axes
    """

    def __init__(
        self,
        parent_project: Project | None = None,
        path: str | Path = "test",
        name: str | None = None,
        data: Any = None,
        energy: Any = None,
        time: Any = None,
    ) -> None:
        self.project = parent_project if parent_project is not None else Project()
        self.path = Path(path)
        self.name = str(path) if name is None else name
        self.energy: Array | None = None if energy is None else check_axis(energy, "energy")
        self.time: Array | None = None if time is None else check_axis(time, "time", ascending=True)
        self.data: npt.NDArray[Any] | None = None
        if data is not None:
            if self.energy is None:
                raise DataError("data need an energy axis: File(data=..., energy=..., time=...)")
            self.data = check_data(data, self.energy, self.time)
            if self.data.ndim == 2 and self.time is None:
                raise DataError(
                    "data of shape (time, energy) need a time axis: File(..., time=...)"
                )
        self.models: dict[str, Model] = {}
        self.results: list[FitResult] = []
        self.rows: tuple[int, int] | None = None
        self.columns: tuple[int, int] | None = None
        self.baseline_rows: tuple[int, int] | None = None
        self.project.files.append(self)

    # models

    def load_model(self, model_yaml: str | Path, model_info: str | Sequence[str]) -> Model:
        """Loads one model of a YAML file (relative to the project's folder) and keeps it.

        A model of the same name that was loaded before is replaced.
        """
        source = self.project.resolve(model_yaml)
        model = load_model(source, one_name(model_info, "model_info"))
        if self.energy is not None:
            model.set_axes(energy=self.energy, time=self.time)
        self.models[model.name] = model
        return model

    def add_time_dependence(
        self,
        target_model: str,
        target_parameter: str,
        dynamics_yaml: str | Path,
        dynamics_model: str | Sequence[str],
        *,
        frequency: float = -1,
    ) -> None:
        """Lets `target_parameter` of `target_model` move in time as a dynamics model says.

        ``p(t) = p + D(t)``; the new parameters are called
        ``<target_parameter>_<function>_<number>_<name>``, as in ``GLP_01_x0_expFun_01_tau``.
        """
        if frequency != -1:
            raise ModelError(
                f"frequency={frequency!r}: repeated dynamics (subcycles) are not available; "
                "leave frequency at -1"
            )
        model = self.select_model(target_model)
        if target_parameter not in model.parameters:
            known = list(model.parameters)
            raise ModelError(
                f"model {model.name!r} has no parameter {target_parameter!r}"
                f"{suggest(target_parameter, known)}; it has {', '.join(known)}"
            )
        source = self.project.resolve(dynamics_yaml)
        name = one_name(dynamics_model, "dynamics_model")
        dynamics = load_dynamics(source, name, model.parameters[target_parameter])
        model.add_dynamics(target_parameter, dynamics)

    def select_model(self, model_name: str) -> Model:
        """The loaded model of that name."""
        if model_name in self.models:
            return self.models[model_name]
        known = list(self.models)
        if not known:
            raise ModelError(f"no model is loaded: call load_model(path, {model_name!r}) first")
        hint = suggest(str(model_name), known)
        raise ModelError(f"no model {model_name!r} is loaded{hint}; loaded: {', '.join(known)}")

    # windows

    def set_fit_limits(
        self,
        energy_limits: Sequence[float] | None,
        *,
        time_limits: Sequence[float] | None = None,
        show_plot: bool = False,
    ) -> None:
        """Fits see only these energies and times: both ends included, in either order.

        None means the whole axis. `show_plot` opens a picture of the data with the window.
        """
        energy = self._need_axis("energy")
        columns = index_range(energy, energy_limits, "energy")
        rows = None
        if time_limits is not None:
            rows = index_range(self._need_axis("time"), time_limits, "time")
        self.columns, self.rows = columns, rows
        if show_plot:
            self.plot_data(show=True)

    def define_baseline(
        self,
        time_start: float,
        time_stop: float,
        *,
        time_type: str = "abs",
        show_plot: bool = False,
    ) -> None:
        """The baseline is the mean of the spectra from `time_start` to `time_stop`, inclusive.

        `time_type` is "abs" for times or "ind" for row numbers.
        """
        self._need_data(2)
        self.baseline_rows = row_range(self._need_axis("time"), time_start, time_stop, time_type)
        if show_plot:
            self.plot_data(show=True)

    @property
    def baseline(self) -> Array:
        """(n_energy,) the mean spectrum that define_baseline chose."""
        if self.baseline_rows is None:
            raise DataError("no baseline yet: call define_baseline(time_start, time_stop) first")
        return self._mean(self.baseline_rows)

    def _mean(self, rows: tuple[int, int]) -> Array:
        data = self._need_data(2)
        return np.asarray(data[slice(*rows)].mean(axis=0, dtype=np.float64))

    # fits

    def fit_baseline(self, model_name: str, stages: int = 1, **options: Any) -> FitResult:
        """Fits one model to the baseline spectrum. Options as of :func:`pyspec.fit_model`."""
        return self._fit_spectrum(model_name, "baseline", self.baseline, stages, options)

    def fit_spectrum(
        self,
        model_name: str,
        *,
        time_point: float | None = None,
        time_range: tuple[float, float] | None = None,
        time_type: str = "abs",
        stages: int = 1,
        show_plot: bool = False,
        **options: Any,
    ) -> FitResult:
        """Fits one spectrum: the row nearest to `time_point`, the mean over `time_range`
        (inclusive), or 1D data as they are."""
        data = self._need_data()
        if data.ndim == 1:
            if time_point is not None or time_range is not None:
                raise DataError("the data are one spectrum; leave time_point and time_range out")
            spectrum = data
        elif (time_point is None) == (time_range is None):
            raise DataError("give either time_point or time_range=(start, stop)")
        elif time_point is not None:
            spectrum = data[nearest_row(self._need_axis("time"), time_point, time_type)]
        else:
            assert time_range is not None
            spectrum = self._mean(row_range(self._need_axis("time"), *time_range, time_type))
        result = self._fit_spectrum(model_name, "spectrum", spectrum, stages, options)
        if show_plot:
            self.plot_fit(model=model_name, fit_type="spectrum", show=True)
        return result

    def fit_2d(
        self,
        model_name: str,
        stages: int = 1,
        *,
        seed_source: str | None = None,
        **options: Any,
    ) -> FitResult:
        """Fits one model to all spectra of the window together.

        `seed_source="baseline"` starts from the best values of the last baseline fit, matched
        by name, fixed parameters included; "model" from the values in the model. By default:
        baseline where one was fitted. Options as of :func:`pyspec.fit_model`.
        """
        data = self._need_data(2)
        model = copy.deepcopy(self.select_model(model_name))
        model.set_axes(energy=self._need_axis("energy"), time=self._need_axis("time"))
        if seed_source not in (None, "baseline", "model"):
            raise FitError(f"seed_source must be 'baseline' or 'model', not {seed_source!r}")
        if seed_source != "model":
            seeds = [result for result in self.results if result.fit_type == "baseline"]
            if seeds:
                seed_from(model, seeds[-1])
            elif seed_source == "baseline":
                raise FitError(
                    "seed_source='baseline', but no baseline was fitted yet; call fit_baseline"
                )
        measurement = Measurement(data=data, rows=self.rows, columns=self.columns)
        return self._fit(model, measurement, "2d", stages, options)

    def _fit_spectrum(
        self,
        model_name: str,
        fit_type: str,
        spectrum: npt.NDArray[Any],
        stages: int,
        options: Mapping[str, Any],
    ) -> FitResult:
        model = copy.deepcopy(self.select_model(model_name))
        model.set_axes(energy=self._need_axis("energy"), time=None)
        measurement = Measurement(data=spectrum, columns=self.columns)
        return self._fit(model, measurement, fit_type, stages, options)

    def _fit(
        self,
        model: Model,
        measurement: Measurement,
        fit_type: str,
        stages: int,
        options: Mapping[str, Any],
    ) -> FitResult:
        given = {"backend": self.project.backend, "progress": self.project.show_output, **options}
        result = fit_model(model, measurement, stages=stages, **given)
        result.fit_type, result.file_name = fit_type, self.name
        stored = self.models[model.name]
        stored.set_values({name: result.values[name] for name in result.problem.names})
        self.results.append(result)
        if self.project.show_output:
            print(result)
        return result

    # answers

    def get_result(self, *, model: str | None = None, fit_type: str | None = None) -> FitResult:
        """The last fit, of that model and type if given."""
        if fit_type is not None and fit_type not in FIT_TYPES:
            hint = suggest(str(fit_type), list(FIT_TYPES))
            raise FitError(
                f"fit_type must be one of {', '.join(FIT_TYPES)}, not {fit_type!r}{hint}"
            )
        for result in reversed(self.results):
            if model in (None, result.model_name) and fit_type in (None, result.fit_type):
                return result
        done = ", ".join(f"{r.fit_type} of {r.model_name}" for r in self.results) or "none"
        if not self.results:
            raise FitError("no fit yet; call fit_baseline, fit_spectrum or fit_2d first")
        wanted = " ".join(str(part) for part in (fit_type, model) if part)
        raise FitError(f"no fit {wanted} yet; fits so far: {done}".replace("  ", " "))

    def get_parameters(
        self, *, model: str | None = None, fit_type: str | None = None
    ) -> ParameterTable:
        """All parameters of the last fit (of that model and type)."""
        return self.get_result(model=model, fit_type=fit_type).table

    def get_correlations(
        self, *, model: str | None = None, fit_type: str | None = None
    ) -> CorrelationTable:
        """Correlations of the free parameters of the last fit (of that model and type)."""
        return self.get_result(model=model, fit_type=fit_type).correlations

    def plot_fit(
        self,
        *,
        model: str | None = None,
        fit_type: str | None = None,
        save_path: str | Path | None = None,
        show: bool = False,
        **options: Any,
    ) -> Any:
        """Data, fit and residual of the last fit; returns the Figure. Options as of
        :func:`pyspec.plot.plot_fit`."""
        from pyspec.plot import plot_fit

        result = self.get_result(model=model, fit_type=fit_type)
        return plot_fit(result, save_path=save_path, show=show, **options)

    def plot_data(
        self, *, save_path: str | Path | None = None, show: bool = False, **options: Any
    ) -> Any:
        """The data with fit window and baseline marked; returns the Figure."""
        from pyspec.plot import plot_data

        return plot_data(
            self._need_data(),
            self._need_axis("energy"),
            self.time,
            save_path=save_path,
            show=show,
            rows=self.rows,
            columns=self.columns,
            baseline=self.baseline_rows,
            **options,
        )

    def describe(self) -> str:
        """Prints and returns what the file holds."""
        lines = [repr(self).strip("<>")]
        for name, axis in (("energy", self.energy), ("time", self.time)):
            if axis is not None:
                lines.append(f"  {name}: {axis.size} points, {axis[0]:g} to {axis[-1]:g}")
        if self.data is not None:
            lines.append(f"  data: {self.data.dtype}, {self.data.min():g} to {self.data.max():g}")
        for what, window in (
            ("fit rows", self.rows),
            ("fit columns", self.columns),
            ("baseline rows", self.baseline_rows),
        ):
            if window is not None:
                lines.append(f"  {what}: {window[0]} to {window[1] - 1}")
        lines += [
            f"  model {name}: {len(m.parameters)} parameters" for name, m in self.models.items()
        ]
        lines += [f"  {result!r}".replace("<", "").replace(">", "") for result in self.results]
        text = "\n".join(lines)
        print(text)
        return text

    def __repr__(self) -> str:
        shape = "no data" if self.data is None else "data " + " × ".join(map(str, self.data.shape))
        return f"<File {self.name}: {shape}, {len(self.models)} models, {len(self.results)} fits>"

    # what must be there

    def _need_axis(self, name: str) -> Array:
        axis: Array | None = getattr(self, name)
        if axis is None:
            raise DataError(f"file {self.name!r} has no {name} axis: File(..., {name}=...)")
        return axis

    def _need_data(self, dimension: int | None = None) -> npt.NDArray[Any]:
        if self.data is None:
            raise DataError(f"file {self.name!r} has no data: File(..., data=...)")
        if dimension is not None and self.data.ndim != dimension:
            raise DataError(
                f"file {self.name!r} holds one spectrum; this needs data of shape (time, energy); "
                "use fit_spectrum"
            )
        return self.data
