"""File and Project with what scripts of trspecfit call and read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import BackendError, DataError, FitError, suggest
from pyspec.executor import backend_name
from pyspec.fit import FitResult, JointResult, SliceResults
from pyspec.fit.slices.results import SliceFit
from pyspec.model import Model
from pyspec.model.data.checksum import Data
from pyspec.plot.protocols import Fit
from pyspec.trspecfit.answers import AnswerNames, save_spectrum
from pyspec.trspecfit.fits import fitted
from pyspec.workflow import File as _File
from pyspec.workflow import Project as _Project
from pyspec.workflow.workspace import Workspace

Array = npt.NDArray[np.float64]


def _ends(axis: Array, window: tuple[int, int]) -> tuple[float, float]:
    """(lowest, highest) value of an axis within a half-open range."""
    part = axis[slice(*window)]
    return float(part.min()), float(part.max())


#: What a project's `spec_fun_str` says → the backend that runs. The plan runs on the fastest
#: executor that can: compiled, or with a warning the next one.
SPEC_FUNCTIONS: dict[str, str | None] = {
    "fit_model_gir": None,
    "fit_model_jax": None,
    "fit_model_c": "compiled",
    "fit_model_mcp": "tree",
    "fit_model_compare": "compare",
}


class Project(_Project):
    """A :class:`pyspec.Project` that takes its backend under the name in trspecfit, too.

    spec_fun_str : "fit_model_gir" (the default) runs the plan on the fastest executor,
        "fit_model_mcp" the tree, "fit_model_compare" compares them
    """

    own_settings = (*_Project.own_settings, "spec_fun_str", "sigma_source", "sigma_type")

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
        if backend is not None and spec_fun_str is not None:
            raise DataError("give backend or spec_fun_str, not both")
        super().__init__(path, name, config_file, backend=backend, show_output=show_output)
        if spec_fun_str is None and self.backend is None:
            spec_fun_str = self.settings.get("spec_fun_str")
        if spec_fun_str is not None:
            self.spec_fun_str = spec_fun_str
        #: Where sigma comes from and what it is, kept as the settings have them.
        self.sigma_source: str = self.settings.get("sigma_source") or "user_supplied"
        self.sigma_type: str = self.settings.get("sigma_type") or "constant"

    @answered
    def fit_2d(self, *, model_name: str, **options: object) -> JointResult:
        """As :meth:`pyspec.Project.fit_2d`, with options of :func:`fitted`, too."""
        return fitted(super().fit_2d, model_name, options, self.show_output)

    @property
    def spec_fun_str(self) -> str:
        """The backend under its name in trspecfit; "fit_model_gir" is the plan on the fastest
        executor. Names of backends are taken too."""
        names = {backend: name for name, backend in reversed(SPEC_FUNCTIONS.items())}
        return names.get(self.backend, str(self.backend))

    @spec_fun_str.setter
    def spec_fun_str(self, name: str) -> None:
        try:
            self.backend = SPEC_FUNCTIONS[name] if name in SPEC_FUNCTIONS else backend_name(name)
        except BackendError:
            hint = suggest(str(name), list(SPEC_FUNCTIONS))
            raise BackendError(
                f"unknown spec_fun_str {name!r}; there are {', '.join(SPEC_FUNCTIONS)}{hint}"
            ) from None


class File(AnswerNames, _File):
    """A :class:`pyspec.File` that also answers to the names of trspecfit. Properties are read-only;
    nothing is stored here."""

    def set_sigma(
        self,
        sigma: npt.ArrayLike | None,
        *,
        noise_type: str | None = None,
        sigma_source: str = "user_supplied",
        sigma_type: str = "constant",
    ) -> float | Array | None:
        """As :meth:`pyspec.File.set_sigma`; `sigma_source` and `sigma_type` have no effect."""
        return super().set_sigma(sigma, noise_type=noise_type)

    @property
    def p(self) -> Workspace:
        """The project."""
        return self.project

    # data

    @property
    def dim(self) -> int:
        """1 for one spectrum, 2 for a time series, 0 without data."""
        return 0 if self.data is None else self.data.ndim

    @property
    def data_raw(self) -> Data | None:
        """The data as they came, before subtract_dark and calibrate_data."""
        return self._raw

    @property
    def dark(self) -> Array | None:
        """What :meth:`subtract_dark` subtracts: zeros (n_energy,) without a call, None without
        data."""
        return self._correction(self._dark, 0.0)

    @property
    def calibration(self) -> Array | None:
        """What :meth:`calibrate_data` divides by: ones (n_energy,) without a call, None without
        data."""
        return self._correction(self._calibration, 1.0)

    def _correction(self, values: Array | None, neutral: float) -> Array | None:
        data = self.data
        if data is None:
            return None
        return np.full(data.shape[-1], neutral) if values is None else values

    # windows

    @property
    def e_lim(self) -> tuple[int, ...]:
        """(begin, end) columns that fits see, end excluded; () without an energy axis."""
        energy = self.energy
        return () if energy is None else self.columns or (0, energy.size)

    @property
    def e_lim_abs(self) -> tuple[float, ...]:
        """(lowest, highest) energy that fits see; () without an energy axis."""
        energy = self.energy
        return () if energy is None else _ends(energy, self.columns or (0, energy.size))

    @property
    def t_lim(self) -> tuple[int, ...]:
        """(begin, end) rows that fits see, end excluded; () without a time axis."""
        time = self.time
        return () if time is None else self.rows or (0, time.size)

    @property
    def t_lim_abs(self) -> tuple[float, ...]:
        """(first, last) time that fits see; () without a time axis."""
        time = self.time
        return () if time is None else _ends(time, self.rows or (0, time.size))

    @property
    def data_base(self) -> Array | None:
        """(n_energy,) the baseline; None before :meth:`define_baseline`."""
        return None if self.baseline_rows is None else self.baseline

    @property
    def base_t_ind(self) -> tuple[int, ...]:
        """(begin, end) rows of the baseline, end excluded; () before :meth:`define_baseline`."""
        return self.baseline_rows or ()

    @property
    def base_t_abs(self) -> tuple[float, ...]:
        """(first, last) time of the baseline; () before :meth:`define_baseline`."""
        rows, time = self.baseline_rows, self.time
        return () if rows is None or time is None else _ends(time, rows)

    # models and fits

    @answered
    def fit_baseline(self, /, model_name: str, stages: int = 1, **options: object) -> FitResult:
        """As :meth:`pyspec.File.fit_baseline`, with options of :func:`fitted`, too."""
        return fitted(
            super().fit_baseline,
            model_name,
            {"stages": stages, **options},
            self.project.show_output,
        )

    @answered
    def fit_spectrum(self, /, model_name: str, **options: object) -> FitResult:
        """As :meth:`pyspec.File.fit_spectrum`, with options of :func:`fitted`, too."""
        return fitted(super().fit_spectrum, model_name, options, self.project.show_output)

    @answered
    def fit_2d(self, /, model_name: str, stages: int = 1, **options: object) -> FitResult:
        """As :meth:`pyspec.File.fit_2d`, with options of :func:`fitted`, too."""
        return fitted(
            super().fit_2d, model_name, {"stages": stages, **options}, self.project.show_output
        )

    @answered
    def fit_slice_by_slice(
        self, /, model_name: str, stages: int = 1, n_workers: int | None = None, **options: object
    ) -> SliceResults:
        """As :meth:`pyspec.File.fit_slice_by_slice`, with options of :func:`fitted`, too."""
        if getattr(options.get("mc_settings"), "use_mc", 0):
            raise FitError(
                "slices are not sampled all at once; sample one: "
                "slices[0].result.sample(steps=2000)"
            )
        options = {"stages": stages, **options}
        return fitted(super().fit_slice_by_slice, model_name, options, False)

    def save_baseline_fit(self, save_path: str | Path) -> Path:
        """Writes the last baseline fit: :func:`save_spectrum`."""
        return save_spectrum(self, "baseline", save_path)

    def save_spectrum_fit(self, save_path: str | Path) -> Path:
        """Writes the last fit of one spectrum: :func:`save_spectrum`."""
        return save_spectrum(self, "spectrum", save_path)

    @property
    def model_active(self) -> Model | None:
        """The model that calls without a name mean; None before one is loaded."""
        return self.select_model() if self.models else None

    @property
    def model_base(self) -> Model | None:
        """The model of the last baseline fit."""
        return self._model_of("baseline")

    @property
    def model_spec(self) -> Model | None:
        """The model of the last fit of one spectrum."""
        return self._model_of("spectrum")

    @property
    def model_sbs(self) -> Model | None:
        """The model of the last slice-by-slice fit."""
        return self._model_of("sbs")

    @property
    def model_2d(self) -> Model | None:
        """The model of the last 2D fit."""
        return self._model_of("2d")

    def _last(self, fit_type: str) -> Iterator[Fit]:
        return (result for result in reversed(self.results) if result.fit_type == fit_type)

    def _model_of(self, fit_type: str) -> Model | None:
        """The loaded model of the last fit of a type, at the values of the fit. If it is loaded no
        more, this is the copy that was fitted."""
        result = next(self._last(fit_type), None)
        if result is None:
            return None
        return self.models.get(result.model_name, result.model)

    @property
    def data_spec(self) -> Data | None:
        """(n_energy,) the spectrum of the last fit of one spectrum."""
        result = next(self._last("spectrum"), None)
        return None if result is None else result.measurement.data

    @property
    def spec_t_abs(self) -> list[float]:
        """[first, last] time of the last spectrum that was fitted; [] for data without times."""
        rows, time = self._spectrum_rows, self.time
        return [] if rows is None or time is None else list(_ends(time, rows))

    @property
    def spec_t_ind(self) -> list[int]:
        """[begin, end] rows of the last spectrum that was fitted, end excluded."""
        return list(self._spectrum_rows or ())

    @property
    def sigma_source(self) -> str:
        """Where sigma comes from, as the project says."""
        return str(getattr(self.project, "sigma_source", "user_supplied"))

    @property
    def results_sbs(self) -> list[SliceFit]:
        """The slices of the last slice-by-slice fit."""
        result = next(self._last("sbs"), None)
        return [*result] if isinstance(result, SliceResults) else []
