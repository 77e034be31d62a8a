"""What scripts of trspecfit read from a File: the same facts under the names that it gives them.

Each property answers from the parts of the File; nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit import FitResult, SliceResults
from pyspec.model import Model
from pyspec.workflow.data import FileData
from pyspec.workflow.fits import FileFits
from pyspec.workflow.models import FileModels
from pyspec.workflow.workspace import Workspace

Array = npt.NDArray[np.float64]


def _ends(axis: Array, window: tuple[int, int]) -> tuple[float, float]:
    """(lowest, highest) value of an axis within a half-open range."""
    part = axis[slice(*window)]
    return float(part.min()), float(part.max())


class PeerNames:
    """The part of a File that has trspecfit's names. All of them are read-only."""

    project: Workspace
    _data: FileData
    _models: FileModels
    _fits: FileFits

    @property
    def p(self) -> Workspace:
        """The project."""
        return self.project

    # data

    @property
    def dim(self) -> int:
        """1 for one spectrum, 2 for a time series, 0 without data."""
        return 0 if self._data.data is None else self._data.data.ndim

    @property
    def data_raw(self) -> npt.NDArray[Any] | None:
        """The data as they came, before subtract_dark and calibrate_data."""
        return self._data.raw

    @property
    def dark(self) -> Array | None:
        """What :meth:`subtract_dark` subtracts: zeros (n_energy,) without a call, None without
        data."""
        return self._correction(self._data.dark, 0.0)

    @property
    def calibration(self) -> Array | None:
        """What :meth:`calibrate_data` divides by: ones (n_energy,) without a call, None without
        data."""
        return self._correction(self._data.calibration, 1.0)

    def _correction(self, given: Array | None, neutral: float) -> Array | None:
        data = self._data.data
        if data is None:
            return None
        return np.full(data.shape[-1], neutral) if given is None else given

    # windows

    @property
    def e_lim(self) -> tuple[int, ...]:
        """(begin, end) columns that fits see, end excluded; () without an energy axis."""
        energy = self._data.energy
        return () if energy is None else self._data.columns or (0, energy.size)

    @property
    def e_lim_abs(self) -> tuple[float, ...]:
        """(lowest, highest) energy that fits see; () without an energy axis."""
        energy = self._data.energy
        return () if energy is None else _ends(energy, self._data.columns or (0, energy.size))

    @property
    def t_lim(self) -> tuple[int, ...]:
        """(begin, end) rows that fits see, end excluded; () without a time axis."""
        time = self._data.time
        return () if time is None else self._data.rows or (0, time.size)

    @property
    def t_lim_abs(self) -> tuple[float, ...]:
        """(first, last) time that fits see; () without a time axis."""
        time = self._data.time
        return () if time is None else _ends(time, self._data.rows or (0, time.size))

    @property
    def data_base(self) -> Array | None:
        """(n_energy,) the baseline; None before :meth:`define_baseline`."""
        return None if self._data.baseline_rows is None else self._data.baseline

    @property
    def base_t_ind(self) -> tuple[int, ...]:
        """(begin, end) rows of the baseline, end excluded; () before :meth:`define_baseline`."""
        return self._data.baseline_rows or ()

    @property
    def base_t_abs(self) -> tuple[float, ...]:
        """(first, last) time of the baseline; () before :meth:`define_baseline`."""
        rows, time = self._data.baseline_rows, self._data.time
        return () if rows is None or time is None else _ends(time, rows)

    # models and fits

    @property
    def model_active(self) -> Model | None:
        """The model that calls without a name mean; None before one is loaded."""
        return self._models.select_model() if self._models.models else None

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

    def _last(self, fit_type: str) -> Iterator[Any]:
        return (result for result in reversed(self._fits.results) if result.fit_type == fit_type)

    def _model_of(self, fit_type: str) -> Model | None:
        """The loaded model of the last fit of a type, with what the fit found; the copy that was
        fitted where the model is loaded no more."""
        result: FitResult | SliceResults | None = next(self._last(fit_type), None)
        if result is None:
            return None
        return self._models.models.get(result.model_name, result.model)

    @property
    def data_spec(self) -> npt.NDArray[Any] | None:
        """(n_energy,) the spectrum of the last fit of one spectrum."""
        result: FitResult | None = next(self._last("spectrum"), None)
        return None if result is None else result.measurement.data

    @property
    def spec_t_abs(self) -> list[float]:
        """[first, last] time of the last spectrum that was fitted; [] for data without times."""
        rows, time = self._fits.spectrum_rows, self._data.time
        return [] if rows is None or time is None else list(_ends(time, rows))

    @property
    def spec_t_ind(self) -> list[int]:
        """[begin, end] rows of the last spectrum that was fitted, end excluded."""
        return list(self._fits.spectrum_rows or ())

    @property
    def sigma_source(self) -> str:
        """Where sigma comes from, as the project says."""
        return self.project.sigma_source

    @property
    def results_sbs(self) -> list[Any]:
        """The slices of the last slice-by-slice fit."""
        return list(next(self._last("sbs"), ()))
