"""The data of a file: axes, mask, noise, corrections, windows, means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, one_of
from pyspec.errors import DataError
from pyspec.io.sources.arrays import as_source
from pyspec.model import Measurement
from pyspec.model.build.inputs import file_inputs
from pyspec.model.data.axes import check_axis, check_weights, taken_axis
from pyspec.model.data.checksum import Data
from pyspec.model.data.lazy_weights import check_mask
from pyspec.model.data.source import source_of
from pyspec.workflow.data.checks import (
    NAN_POLICIES,
    both_of,
    check_data,
    check_pattern,
    held,
    how_made,
    kept_of,
    refuse_other_shape,
)
from pyspec.workflow.data.labelled import refuse_other_order
from pyspec.workflow.data.noise import Noise, make_noise, taken_sigma
from pyspec.workflow.workspace import Workspace

Array = npt.NDArray[np.float64]


class FileData:
    """The part of a File that holds what was measured. Parameters as of :class:`File`."""

    def __init__(
        self,
        project: Workspace,
        path: str | Path,
        name: str | None,
        data: npt.ArrayLike | None,
        energy: npt.ArrayLike | None,
        time: npt.ArrayLike | None,
        aux_axis: npt.ArrayLike | None,
        *,
        aux_weights: npt.ArrayLike | None,
        mask: npt.ArrayLike | None,
        nan_policy: str,
        labels: Mapping[str, str] | None,
        units: Mapping[str, str] | None,
        inputs: Mapping[str, npt.ArrayLike] | None = None,
    ) -> None:
        self.project = project
        #: Where the data come from.
        self.path = Path(path)
        #: How results call the file.
        self.name = str(path) if name is None else name
        self._energy: Array | None = None if energy is None else check_axis(energy, "energy")
        self._time: Array | None = (
            None if time is None else check_axis(time, "time", ascending=True)
        )
        self._aux_axis: Array | None = taken_axis(None, aux_axis, "auxiliary")
        self._aux_weights: Array | None = None
        if self.aux_axis is not None:
            self._aux_weights = check_weights(aux_weights, self.aux_axis.size)
        elif aux_weights is not None:
            raise DataError("aux_weights come together with the auxiliary axis: aux_axis=")
        self._inputs = file_inputs(inputs, (self.energy, self.time, self.aux_axis))
        for name, values in (inputs or {}).items():
            refuse_other_order(f"inputs[{name!r}]", values, self.time, self.energy)
        named = Measurement(labels=labels or {}, units=units or {})
        #: What "energy", "time" and "data" are, and their units: at the axes of all pictures.
        self.labels, self.units = dict(named.labels), dict(named.units)
        self._keep: npt.NDArray[np.bool_] | None = None
        self._excluded: npt.NDArray[np.bool_] | None = None
        self._excluded_rows: npt.NDArray[np.bool_] | None = None
        #: The ranges (low, high) of the last axis that are left out, and of the times of a series.
        self._excluded_ranges: tuple[tuple[float, float], ...] = ()
        self._excluded_times: tuple[tuple[float, float], ...] = ()
        self._raw: Data | None = None
        self._dark: Array | None = None
        self._calibration: Array | None = None
        self._data: Data | None = None
        if data is not None:
            self._take_data(data, mask, nan_policy)
        elif mask is not None:
            raise DataError("a mask needs data: File(data=..., mask=...)")
        self._noise = project.default_noise(() if self._data is None else self._data.shape)
        if self.noise.kind == "poisson" and data is not None:
            self._check_counts()
        self._rows: tuple[int, int] | None = None
        self._columns: tuple[int, int] | None = None
        self._baseline_rows: tuple[int, int] | None = None

    def _take_data(self, data: npt.ArrayLike, mask: npt.ArrayLike | None, nan_policy: str) -> None:
        if self.energy is None and (self.time is None or np.ndim(data) != 1):
            raise DataError(f"data need an energy axis{how_made(data)}")
        refuse_other_order("data", data, self.time, self.energy)
        refuse_other_order("mask", mask, self.time, self.energy)
        source = as_source(data)
        if source is not None:  # whether these are finite is seen when a fit reads them
            one_of("nan_policy", nan_policy, NAN_POLICIES, DataError)
            if nan_policy == "omit":
                raise DataError(
                    f"nan_policy='omit' needs data in memory, and {source.name} stays where it is; "
                    "leave the points out by mask=, (n_time, n_energy), True where one is hidden"
                )
            if len(source.shape) != 2 or self.time is None or self.energy is None:
                raise DataError(
                    f"{source.name} has shape {source.shape}; data by reference have shape (time, "
                    "energy), and both axes"
                )
            refuse_other_shape(source.name, source.shape, self.energy, self.time)
            held: Any = source
            self._raw = self._data = held
            self._keep = None if mask is None else kept_of(mask, source)
            return
        if isinstance(data, np.ma.MaskedArray):
            hidden = np.ma.getmaskarray(data)
            mask = hidden if mask is None else hidden | check_mask(mask, hidden.shape)
            data = np.ma.getdata(data)
        first, last = (None, self.time) if self.energy is None else (self.time, self.energy)
        self._data, self._keep = check_data(data, last, first, mask, nan_policy)
        self._raw = self._data
        if self._data.ndim == 2 and self.time is None:
            raise DataError("data of shape (time, energy) need a time axis: File(..., time=...)")

    # what a file says of itself: read-only, so that it always matches the data

    @property
    def data(self) -> Data | None:
        """(n_energy,), (n_time, n_energy) or (n_time,), corrected, read-only."""
        return self._data

    @property
    def energy(self) -> Array | None:
        """(n_energy,) the energy axis, read-only: :meth:`pyspec.io.Dataset.shift` calibrates."""
        return self._energy

    @property
    def time(self) -> Array | None:
        """(n_time,) the time axis, read-only, as `energy` is."""
        return self._time

    @property
    def aux_axis(self) -> Array | None:
        """(n_aux,) the auxiliary axis of profiles."""
        return self._aux_axis

    @property
    def aux_weights(self) -> Array | None:
        """(n_aux,) the weights of the average over it."""
        return self._aux_weights

    @property
    def inputs(self) -> Mapping[str, Array]:
        """Further arrays along the axes, which functions by formula read."""
        return self._inputs

    @property
    def noise(self) -> Noise:
        """What is known of the noise."""
        return self._noise

    @property
    def noise_type(self) -> str:
        """The kind of noise: "unknown", "gaussian" or "poisson"."""
        return self.noise.kind

    @property
    def noise_scale(self) -> float | None:
        """Counts for each unit of the data, None unless they are counts."""
        return self.noise.scale if self.noise.kind == "poisson" else None

    @property
    def sigma_data(self) -> float | Array | None:
        """The standard deviation that was declared."""
        return self.noise.declared_sigma

    @property
    def sigma_type(self) -> str:
        """Whether that is "constant", "array" or "none"."""
        sigma = self.noise.sigma
        if sigma is None:
            return "none"
        return "constant" if isinstance(sigma, float) else "array"

    @property
    def rows(self) -> tuple[int, int] | None:
        """Half-open range of rows that fits see; None is all."""
        return self._rows

    @property
    def columns(self) -> tuple[int, int] | None:
        """Half-open range of columns that fits see; None is all."""
        return self._columns

    @property
    def baseline_rows(self) -> tuple[int, int] | None:
        """Half-open range of rows of the baseline."""
        return self._baseline_rows

    # noise

    @answered
    def set_noise(
        self, noise_type: str, *, sigma: npt.ArrayLike | None = None, scale: float | None = None
    ) -> None:
        """Declares the noise of the data, which all later fits use.

        Parameters
        ----------
        noise_type : "gaussian", "poisson" (counts) or "unknown"
        sigma : for "gaussian" the standard deviation: a number, (n_time,) by spectrum, (n_energy,)
            by energy, or one value for each point
        scale : for "poisson" the counts for each unit of the data, 1 by default

        With known noise standard errors are not scaled by the reduced chi². For a mean of n spectra
        sigma is divided by sqrt(n), and `scale` is multiplied by n.
        """
        data = self._need_data()
        refuse_other_order("sigma", sigma, self.time, self.energy)
        noise = make_noise(noise_type, taken_sigma(sigma, data), scale, data.shape, self._keep)
        if noise.kind == "poisson":
            self._check_counts()
        self._noise = noise

    @answered
    def set_sigma(
        self, sigma: npt.ArrayLike | None, *, noise_type: str | None = None
    ) -> float | Array | None:
        """Declares Gaussian noise of this standard deviation; None takes it back. Returns it."""
        if sigma is None:
            self._noise = Noise()
        else:
            self.set_noise(noise_type or "gaussian", sigma=sigma)
        return self.noise.declared_sigma

    def _check_counts(self) -> None:
        if self._dark is not None or self._calibration is not None:
            raise DataError(
                "counts that were corrected (subtract_dark, calibrate_data) are no counts any "
                "more; use noise_type='gaussian' with the sigma of each point"
            )
        data = self._need_data()
        if source_of(data) is not None:
            return  # the fit looks
        bad = np.asarray(data < 0) if self.keep is None else np.asarray((data < 0) & self.keep)
        if bad.any():
            first = tuple(int(k) for k in np.argwhere(bad)[0])
            raise DataError(
                f"noise_type='poisson' needs counts, but {int(bad.sum())} value(s) are negative, "
                f"the first {data[first]:g} at {first}; mask them or use 'gaussian'"
            )

    # corrections

    @answered
    def subtract_dark(self, dark: npt.ArrayLike) -> None:
        """Subtracts a dark spectrum (n_energy,), or one a point, from the data as they came.

        A second call replaces the first; :meth:`reset_dark` takes it back.
        """
        refuse_other_order("dark", dark, self.time, self.energy)
        pattern = check_pattern(dark, self._need_data().shape, "dark")
        self._correct(pattern, self._calibration)

    @answered
    def calibrate_data(self, calibration: npt.ArrayLike) -> None:
        """Divides the data (after the dark) by a response (n_energy,), or one a point.

        A declared sigma is divided too. A second call replaces the first;
        :meth:`reset_calibration` takes it back.
        """
        refuse_other_order("calibration", calibration, self.time, self.energy)
        pattern = check_pattern(calibration, self._need_data().shape, "calibration", positive=True)
        self._correct(self._dark, pattern)

    @answered
    def reset_dark(self) -> None:
        """Takes :meth:`subtract_dark` back."""
        self._correct(None, self._calibration)

    @answered
    def reset_calibration(self) -> None:
        """Takes :meth:`calibrate_data` back."""
        self._correct(self._dark, None)

    def _correct(self, dark: Array | None, calibration: Array | None) -> None:
        assert self._raw is not None
        if self.noise.kind == "poisson" and (dark is not None or calibration is not None):
            raise DataError(
                "the noise is declared as that of counts, which a correction would spoil; declare "
                "it as 'gaussian' with the sigma of each point first"
            )
        if self.noise.sigma is not None and calibration is not self._calibration:
            self._noise = self.noise.calibrated(self._calibration, calibration)
        self._dark, self._calibration = dark, calibration
        if dark is None and calibration is None:
            self._data = self._raw
            return
        data = np.asarray(self._raw, dtype=np.float64)
        data = data if dark is None else data - dark
        data = data if calibration is None else data / calibration
        data.setflags(write=False)
        self._data = data

    # which points count

    @property
    def keep(self) -> npt.NDArray[np.bool_] | None:
        """False where a point is left out, masked or excluded; None where all count."""
        kept = self._kept_times()
        if self._excluded is None:
            return kept
        return both_of(kept, ~self._excluded, self._need_data().shape)

    def _kept_times(self) -> npt.NDArray[np.bool_] | None:
        """False where a point is masked, or its time left out; None where all count."""
        if self._excluded_rows is None:
            return self._keep
        return both_of(self._keep, ~self._excluded_rows[:, None], self._need_data().shape)

    # what must be there

    def _need_axis(self, name: str) -> Array:
        """The axis "energy" or "time". Raises :class:`DataError` without it."""
        axis: Array | None = getattr(self, name)
        if axis is None:
            trace = name == "energy" and self.data is not None and self.data.ndim == 1
            hint = "; its axis is time: fit_trace, or rename(time='energy') as it is read"
            say = hint if trace else f": File(..., {name}=...)"
            raise DataError(f"file {self.name!r} has no {name} axis{say}")
        return axis

    def _need_data(self, dimension: int | None = None) -> Data:
        """The data. Raises :class:`DataError` without any, or of another dimension."""
        if self.data is None:
            raise DataError(f"file {self.name!r} has no data: File(..., data=...)")
        if dimension is not None and self.data.ndim != dimension:
            raise DataError(
                f"file {self.name!r} holds {held(self.data.ndim, self.energy is not None)}"
            )
        return self.data
