"""What of a fit is drawn: the window, or all of the data with the window marked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pyspec.fit import FitResult, SliceResults
from pyspec.fit.amplitudes.amplitudes import open_fit
from pyspec.fit.results.coarse import CoarseFit, drawn
from pyspec.fit.results.same_data import need_checksum, need_same
from pyspec.model.data.checksum import Data
from pyspec.plot.config import PlotConfig
from pyspec.plot.data_slice import clipped, cut_of
from pyspec.plot.elements.axes import rms
from pyspec.plot.elements.labels import unit_of
from pyspec.plot.protocols import Fit
from pyspec.plot.style import PlotError, three_digits

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """Arrays of one picture: (n_time, n_energy), or (n,) of one spectrum or trace.

    `data` is NaN where a point is masked, `masked` holds the data there and NaN elsewhere. `fit` is
    NaN where free amplitudes have no data.
    `sigma` is the declared standard deviation of each point, or None. `rows` and `columns` are
    the fit window within the arrays, half-open; `begin` is the place of their first column on
    the model's energy axis; `time` is None for one spectrum and for a trace.
    """

    energy: Array
    time: Array | None
    data: Array
    masked: Array
    fit: Array
    sigma: Array | None
    rows: tuple[int, int]
    columns: tuple[int, int]
    start: Array | None = None
    begin: int = 0

    @property
    def inside(self) -> tuple[slice, ...]:
        """The fit window as an index."""
        columns = slice(*self.columns)
        return (columns,) if self.time is None else (slice(*self.rows), columns)

    @property
    def residual(self) -> Array:
        """data - fit, NaN where masked."""
        return self.data - self.fit

    @property
    def cropped(self) -> bool:
        """Whether something lies outside of the fit window."""
        rows = (0, 1 if self.time is None else self.time.size)
        return self.columns != (0, self.energy.size) or self.rows != rows

    @property
    def has_masked(self) -> bool:
        """Whether points of the fit window do not count."""
        return bool(np.isnan(self.data[self.inside]).any())


@dataclass(frozen=True)
class Residual:
    """The residual as a picture shows it.

    `values` are divided by σ or by their own rms, or in units of the data; `label` says which;
    `spread` is the rms within the fit window; `is_scaled` says whether 1 is one σ or one rms.
    """

    values: Array
    label: str
    spread: float
    is_scaled: bool
    note: str


def residual_of(seen: View, result: Fit, config: PlotConfig) -> Residual:
    """The residual in the unit that `config` asks for, with what it is called.

    Raises :class:`PlotError` where it is to be divided by σ, but none was declared.
    """
    unit, residual = config.residual_unit, seen.residual
    if unit == "auto":
        unit = "data" if seen.sigma is None else "sigma"
    if unit == "sigma":
        if seen.sigma is None:
            raise PlotError(
                "residual_unit='sigma': the noise of these data was not declared; declare it "
                "(weights, File.set_noise), or take residual_unit='rms' or 'data'"
            )
        scaled = residual / seen.sigma
        # A weight of 0 means an infinite σ: such points do not count.
        counted = np.isfinite(seen.sigma[seen.inside]) & np.isfinite(residual[seen.inside])
        spread = rms(scaled[seen.inside][counted])
        noise = "σ = √counts" if result.measurement.loss == "poisson" else "σ as declared"
        note = f"{noise},  rms {three_digits(spread)}"
        return Residual(scaled, "(data − fit) / σ", spread, True, note)
    spread = rms(residual[seen.inside])
    unit_text = unit_of(result, "data")
    shown = f"{three_digits(spread)} {unit_text}".rstrip()
    if unit == "rms" and spread > 0:
        return Residual(residual / spread, "(data − fit) / rms", 1.0, True, f"rms = {shown}")
    label = f"data − fit ({unit_text})" if unit_text else "data − fit"
    return Residual(residual, label, spread, False, f"rms = {shown}")


def view_of(result: Fit, config: PlotConfig) -> View:
    """The arrays of a fit that `config` wants to see; of many points by reference means over its
    window. The whole of slices are all energies at the times of the window."""
    result = drawn(result) if isinstance(result, FitResult) else result
    whole = config.full_range and not isinstance(result, CoarseFit)
    if whole:
        seen = _whole(result) if isinstance(result, FitResult) else _whole_slices(result)
    else:
        seen = _window(result)
    if config.show_init and seen.time is None and isinstance(result, FitResult):
        with np.errstate(all="ignore"):
            if {*result.free_names} <= {*result.start}:
                seen = replace(seen, start=result.curve("start", whole=whole))
    return _sliced(seen, config)


def _window(result: Fit) -> View:
    is_trace = isinstance(result, FitResult) and result.is_trace
    time = None if is_trace else result.time
    data, fit, axis = result.data, open_fit(result, result.fit), result.axis
    valid, masked = _parted(data, result.keep)
    n_rows = 1 if time is None else time.size
    begin = (result.measurement.columns or (0, 0))[0]
    sigma = result.sigma
    window = (0, n_rows), (0, axis.size)
    return View(axis, time, valid, masked, fit, sigma, *window, begin=begin)


def _whole(result: FitResult) -> View:
    need_same(result.problem)
    measurement, fit = result.measurement, result.curve(whole=True)
    assert measurement.data is not None
    valid, masked = _parted(measurement.data, measurement.keep)
    everything = replace(measurement, rows=None, columns=None, keep=np.isfinite(measurement.data))
    sigma = everything.sigma(fit)
    model = result.model
    time = None if result.is_trace else model.time
    axis = model.time if result.is_trace else model.energy
    assert axis is not None
    rows = measurement.rows or (0, 1 if time is None else time.size)
    columns = measurement.columns or (0, axis.size)
    fit = open_fit(result, fit, rows, columns)
    return View(axis, time, valid, masked, fit, sigma, rows, columns)


def _whole_slices(result: SliceResults) -> View:
    """All energies at the times of the window; the other times are not known to fits of slices."""
    series, energy = result.series, result.model.energy
    assert energy is not None
    assert series.data is not None
    everything = replace(series, columns=None)
    keep = None if series.keep is None else everything.window(series.keep)
    need_checksum(series.data, result.data_checksum, f"slices of {result.model_name}")
    valid, masked = _parted(everything.window(series.data), keep)
    fit = np.full(valid.shape, np.nan)
    for slice_fit in result:
        if slice_fit.result is not None:
            fit[slice_fit.index] = slice_fit.result.curve(whole=True)
    columns = series.columns or (0, energy.size)
    sigma = everything.sigma(fit)
    return View(energy, result.time, valid, masked, fit, sigma, (0, len(fit)), columns)


def _parted(data: Data, keep: npt.NDArray[np.bool_] | None) -> tuple[Array, Array]:
    """(data that count, data that are masked), NaN where they are not."""
    plain = np.asarray(data, dtype=np.float64)
    good = np.isfinite(plain) if keep is None else np.isfinite(plain) & keep
    return np.where(good, plain, np.nan), np.where(good, np.nan, plain)


def _sliced(seen: View, config: PlotConfig) -> View:
    """Only what `data_slice` names."""
    index = cut_of(config, seen.data.shape)
    return replace(
        seen,
        energy=seen.energy[index[-1]],
        time=None if seen.time is None else seen.time[index[0]],
        data=seen.data[index],
        masked=seen.masked[index],
        fit=seen.fit[index],
        sigma=None if seen.sigma is None else seen.sigma[index],
        rows=seen.rows if seen.time is None else clipped(seen.rows, index[0]),
        columns=clipped(seen.columns, index[-1]),
        start=None if seen.start is None else seen.start[index[-1]],
        begin=seen.begin + index[-1].start,
    )
