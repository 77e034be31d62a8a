"""What a File says of itself: data, axes, noise, windows, models, fits. All of it is read-only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.model import Model
from pyspec.workflow.data.data import FileData
from pyspec.workflow.data.noise import Noise
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.models import FileModels

Array = npt.NDArray[np.float64]


class FileFacts:
    """The part of a File that is read, not called."""

    _data: FileData
    _models: FileModels
    _fits: FileFits

    @property
    def name(self) -> str:
        """How results call the file."""
        return self._data.name

    @property
    def path(self) -> Path:
        """Where the data come from."""
        return self._data.path

    @property
    def data(self) -> npt.NDArray[Any] | None:
        """(n_energy,), (n_time, n_energy) or (n_time,), corrected, read-only."""
        return self._data.data

    @property
    def energy(self) -> Array | None:
        """(n_energy,) the energy axis, read-only: :meth:`pyspec.io.Dataset.shift` calibrates."""
        return self._data.energy

    @property
    def time(self) -> Array | None:
        """(n_time,) the time axis, read-only, as `energy` is."""
        return self._data.time

    @property
    def aux_axis(self) -> Array | None:
        """(n_aux,) the auxiliary axis of profiles."""
        return self._data.aux_axis

    @property
    def aux_weights(self) -> Array | None:
        """(n_aux,) the weights of the average over it."""
        return self._data.aux_weights

    @property
    def inputs(self) -> Mapping[str, Array]:
        """Further arrays along the axes, which functions by formula read."""
        return self._data.inputs

    @property
    def keep(self) -> npt.NDArray[np.bool_] | None:
        """False where a point is left out, masked or excluded; None where all count."""
        return self._data.keep

    @property
    def labels(self) -> Mapping[str, str]:
        """What "energy", "time" and "data" are, as pictures call them; `units` has their units."""
        return self._data.labels

    @property
    def units(self) -> Mapping[str, str]:
        """The units of "energy", "time" and "data"."""
        return self._data.units

    @property
    def noise(self) -> Noise:
        """What is known of the noise."""
        return self._data.noise

    @property
    def noise_type(self) -> str:
        """The kind of noise: "unknown", "gaussian" or "poisson"."""
        return self._data.noise.kind

    @property
    def noise_scale(self) -> float | None:
        """Counts for each unit of the data, None unless they are counts."""
        noise = self._data.noise
        return noise.scale if noise.kind == "poisson" else None

    @property
    def sigma_data(self) -> float | Array | None:
        """The standard deviation that was declared."""
        return self._data.noise.given

    @property
    def sigma_type(self) -> str:
        """Whether that is "constant", "array" or "none"."""
        sigma = self._data.noise.sigma
        if sigma is None:
            return "none"
        return "constant" if isinstance(sigma, float) else "array"

    @property
    def rows(self) -> tuple[int, int] | None:
        """Half-open range of rows that fits see; None is all."""
        return self._data.rows

    @property
    def columns(self) -> tuple[int, int] | None:
        """Half-open range of columns that fits see; None is all."""
        return self._data.columns

    @property
    def baseline_rows(self) -> tuple[int, int] | None:
        """Half-open range of rows of the baseline."""
        return self._data.baseline_rows

    @property
    def baseline(self) -> Array:
        """(n_energy,) the mean spectrum that define_baseline chose; masked points do not count."""
        return self._data.baseline

    @property
    def models(self) -> dict[str, Model]:
        """The loaded models by name."""
        return self._models.models

    @property
    def results(self) -> list[Any]:
        """The fits, in the order they were made."""
        return self._fits.results
