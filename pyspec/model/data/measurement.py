"""A measurement: data, the window to fit, weights and mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pyspec._library import LIBRARY
from pyspec._library.memory import address
from pyspec.calls import Suggesting, answered, is_whole
from pyspec.errors import DataError, shortened, suggest
from pyspec.functions.grid import Grid, unit_of
from pyspec.functions.losses import FLOOR
from pyspec.model.data.checksum import Data
from pyspec.model.data.lazy_weights import Kept, both_kept, check_mask, taken_beside
from pyspec.model.data.measurement_checks import (
    check_weight,
    counted,
    low_of,
    real_of,
    refuse_negative,
    texts_of,
    window_of,
)  # fmt: skip
from pyspec.model.data.source import Seen, source_of
from pyspec.model.data.survey import Rules, Survey, Surveyed, survey_rows
from pyspec.model.data.windows import slice_of

#: How residuals are made.
LOSSES = ("squares", "poisson")

#: Other names of these; case does not matter.
LOSS_NAMES = {"gaussian": "squares", "least_squares": "squares", "counts": "poisson"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Measurement(Suggesting):
    """Data to which a model is fitted. Arrays cover the full axes; the window crops them.

    Parameters
    ----------
    data : (n_time, n_energy) or (n_energy,), or None where only the model is wanted; a source of
        :func:`pyspec.io.by_reference` stays where it is
    rows : (begin, end) of the time window, end excluded; None for all
    columns : (begin, end) of the energy window
    weight : factor of data - model, 1 / sigma; broadcasts to the data. Weight 0 masks a point
    mask : True where a point is left out: (n_energy,) masks columns, (n_time, 1) rows, and an array
        of the shape of the data points, as in :class:`pyspec.File`. Where data are by reference,
        `weight` and `mask` may be, too
    keep : the opposite, False where a point is masked; given both, both must let a point count
    loss : "squares" (or "gaussian"), or "poisson" for counts: the residual is then the signed root
        of the deviance, :func:`pyspec.functions.losses.deviance`
    loss_scale : counts for each unit of the data ("poisson")
    labels, units : what the data are: "energy", "time", "data" → label, such as "binding
        energy", and unit, such as "eV"; pictures, reports and archives show them
    energy_step : the step that pShirley of a ``Shirley`` counts by, as in a file of a joint fit;
        None for the mean step of the axis
    ends : the columns between which a ``StaticShirley`` stands; None for those of the window

    Raises :class:`DataError` where arrays or the window are not usable, and for unmasked values of
    the window that are not finite.
    """

    data: Data | None = None
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    weight: npt.NDArray[np.float64] | None = None
    keep: npt.NDArray[np.bool_] | None = None
    loss: str = "squares"
    loss_scale: float = 1.0
    labels: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    energy_step: float | None = None
    ends: tuple[int, int] | None = None

    @answered
    def __init__(
        self,
        data: Data | None = None,
        rows: tuple[int, int] | None = None,
        columns: tuple[int, int] | None = None,
        weight: npt.ArrayLike | None = None,
        keep: npt.NDArray[np.bool_] | None = None,
        loss: str = "squares",
        loss_scale: float = 1.0,
        labels: Mapping[str, str] | None = None,
        units: Mapping[str, str] | None = None,
        *,
        energy_step: float | None = None,
        ends: tuple[int, int] | None = None,
        mask: npt.ArrayLike | None = None,
    ) -> None:
        if source_of(mask) is not None:
            if keep is not None:
                raise DataError("with a mask by reference leave keep= out")
            keep = Kept(mask)  # type: ignore[arg-type, assignment]
        elif mask is not None:
            keep = both_kept(keep, ~check_mask(mask, np.shape(mask if data is None else data)))
        loss = LOSS_NAMES.get(str(loss).lower(), str(loss).lower())
        named = ({} if labels is None else labels, {} if units is None else units)
        values = (data, rows, columns, weight, keep, loss, loss_scale, *named, energy_step, ends)
        self.__dict__.update(zip(_FIELDS, values, strict=True))
        self._check()

    def __repr__(self) -> str:
        shape = "no data" if self.data is None else " × ".join(map(str, self.data.shape))
        window = [
            f"{name} {at[0]}:{at[1]}" for name in ("rows", "columns") if (at := getattr(self, name))
        ]
        present = [name for name in ("weight", "mask") if getattr(self, name) is not None]
        counts = [f"counts, {self.loss_scale:g} per unit"] if self.loss == "poisson" else []
        return f"<Measurement {', '.join([shape, *window, *present, *counts])}>"

    @property
    def mask(self) -> npt.NDArray[np.bool_] | None:
        """True where a point is left out; None where all count."""
        return None if self.keep is None else ~self.keep

    def _check(self) -> None:
        own, low = self.__dict__, np.inf
        own |= {name: texts_of(own[name], name) for name in ("labels", "units")}
        own |= {name: window_of(own[name], name) for name in ("rows", "columns", "ends")}
        if source_of(self.weight) is not None or source_of(self.keep) is not None:
            own["weight"], own["keep"] = taken_beside(self.data, self.weight, self.keep)
        if self.weight is not None and source_of(self.weight) is None:
            own["weight"] = real_of(self.weight, "weight").astype(np.float64, copy=False)
            low = low_of(self.weight)
        if self.keep is not None and source_of(self.keep) is None:
            own["keep"] = np.asarray(self.keep)
            if self.keep.dtype.kind != "b":
                raise DataError(
                    f"keep has type {self.keep.dtype}; give booleans, False where masked"
                )
        if self.data is not None:
            own["data"] = real_of(self.data, "data")
            if self.data.ndim not in (1, 2) or self.data.size == 0:
                raise DataError(
                    f"data have shape {self.data.shape}; give (n_time, n_energy) or (n_energy,)"
                )
            self.check_axes(self.data.shape)
            if low == 0.0 and self.weight is not None:
                own["keep"] = counted(self.keep, self.weight, self.data.shape)
            self._check_values()
        self._check_loss()

    def _check_loss(self) -> None:
        if self.loss not in LOSSES:
            raise DataError(
                f"unknown loss {self.loss!r}{suggest(str(self.loss), list(LOSSES))}; there are "
                f"{', '.join(LOSSES)}"
            )
        if not (np.isfinite(self.loss_scale) and self.loss_scale > 0):
            raise DataError(
                f"loss_scale is {self.loss_scale}; give the counts for each unit of the data, > 0"
            )
        if self.loss == "poisson" and self.data is not None:
            if source_of(self.data) is not None:
                return  # the survey looks
            window = self.window(self.data)
            kept = slice(None) if self.keep is None else self.window(self.keep)
            refuse_negative(np.min(window[kept], initial=0.0))

    def check_axes(self, full: tuple[int, ...], of: str = "") -> None:
        """Raises :class:`DataError` unless data, mask, weights and window fit what has these axes,
        the data or `of` a model: (n_time, n_energy), or the one that there is."""
        axes = " (times, energies)" if len(full) == 2 else ""
        whose = f"the axes of {of}" if of else "the data"
        for name, array in (("data", self.data), ("keep", self.keep)):
            if array is not None and array.shape != full:
                raise DataError(
                    f"{name} has shape {array.shape}, {whose} have {full}{axes}; give it the full "
                    "axes, and crop with rows and columns"
                )
        if self.weight is not None:
            check_weight(self.weight.shape, full)
        windows = ("rows", self.rows), ("columns", self.columns)
        for (name, window), size in zip(windows, (1, *full)[-2:], strict=True):
            if window is None or window[1] <= size:
                continue
            if name == "rows" and len(full) == 1:
                raise DataError(
                    f"rows={window} of data with one axis; give points of a spectrum or a trace "
                    f"as columns={window}"
                )
            raise DataError(
                f"the window's {name} {window} are empty or outside of the axis of {size} "
                "points; choose limits inside of it"
            )

    def _check_values(self) -> None:
        assert self.data is not None
        if source_of(self.data) is not None or self.data.dtype.kind in "iu":
            return  # the survey looks; any whole number will do
        bad = ~np.isfinite(self.window(self.data))
        if self.keep is not None:
            bad &= self.window(self.keep)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            raise DataError(
                f"{int(bad.sum())} point(s) of the data are NaN or infinite, the first at {first} "
                "of the window; mask them (mask=True there) or repair them"
            )

    @cached_property
    def seen(self) -> Seen:
        """Checksums of data by reference as they were read first."""
        return Seen()

    @cached_property
    def survey(self) -> Survey:
        """What a fit needs to know of data by reference, found in one pass over the window.

        Raises :class:`DataError` for values that are not finite, or for negative counts.
        """
        source = source_of(self.data)
        if source is None:
            raise DataError("a survey is of data by reference, not of an array")
        return self.survey_of(survey_rows(source, self.rules(), self.seen))

    def survey_of(self, surveyed: Surveyed) -> Survey:
        """What is known of all rows of the window, kept as :attr:`survey`."""
        survey = surveyed.survey()
        if self.loss == "poisson":
            refuse_negative(survey.low)
        self.seen.update(surveyed.seen)
        for name, seen in self.rules().beside().items():
            seen.update(surveyed.beside.get(name, {}))
        self.__dict__["survey"] = survey
        return survey

    def rules(self) -> Rules:
        """Which points of the window count, and how much."""
        assert self.data is not None
        begin, end = self.rows or (0, len(self.data))
        columns = slice(*(self.columns or (0, self.data.shape[-1])))
        scale = self.loss_scale if self.loss == "poisson" else None
        return Rules(columns, 0, len(self.data), self.weight, self.keep, scale).within(begin, end)

    def glimpse(self) -> Data | None:
        """The data in the window, or the first block of data by reference: shows how large values
        are."""
        source = source_of(self.data)
        if source is None:
            return None if self.data is None else self.window(self.data)
        begin, end = self.rows or (0, len(source))
        first = source.rows(begin, min(end, begin + source.step))
        return first[:, slice_of(self.columns)]

    def square(self) -> float:
        """chi² of a model that is 0 in the window: sum of (weight data)², or of counts
        2 loss_scale data."""
        stored = self.data
        assert stored is not None
        if source_of(stored) is not None:
            return self.survey.square
        data = self.window(stored)
        if self.loss == "poisson":
            data = np.sqrt(2.0 * self.loss_scale * np.maximum(data, 0.0))
        values = _lines(np.asarray(data, dtype=np.float64))
        keep = None if self.keep is None else self.keep.view(np.uint8)
        beside = [
            None if array is None else _lines(self.of_points(array), 0)
            for array in (self.weight, keep)
        ]
        places = [(0, 0, 0) if line is None else (address(line), *line.strides) for line in beside]
        of_values = address(values), *values.shape, values.strides[0]
        return float(LIBRARY.pyspec_square(*of_values, *places[0], *places[1]))

    def sigma(self, expected: Data) -> npt.NDArray[np.float64] | None:
        """The declared standard deviation of each point of the window: 1 / weight (inf for a weight
        of 0), for counts sqrt(expected / loss_scale). None without declared noise.

        `expected` is the model over the window: its shape, and the counts. Raises
        :class:`DataError` for weights of a measurement without data.
        """
        if self.weight is None and self.loss != "poisson":
            return None
        deviation = np.ones(np.shape(expected))
        if self.loss == "poisson":
            counts = np.maximum(np.asarray(expected) * self.loss_scale, FLOOR)
            deviation = np.sqrt(counts) / self.loss_scale
        if self.weight is not None:
            if self.data is None:
                raise DataError("weights belong to data, and there are none; give data=")
            weight = self.of_points(self.weight)
            deviation = np.divide(
                deviation, weight, out=np.full(deviation.shape, np.inf), where=weight > 0
            )
        return deviation

    def end_means(self, n: int = 5) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Means of the first `n` and of the last `n` points of each row of the window, (n_rows,)
        each: the ends between which ``StaticShirley`` stands. Masked points do not count.

        Raises :class:`DataError` where a row has fewer than 2 `n` points.
        """
        if not is_whole(n, 1):
            raise DataError(f"n is {shortened(n)}; give how many points count at each end")
        if self.data is None:
            raise DataError("a measurement without data has no ends; give data=")
        values = np.atleast_2d(np.asarray(self.window(self.data), dtype=np.float64))
        kept = np.ones(values.shape, dtype=np.bool_)
        if self.keep is not None:
            kept = np.atleast_2d(self.of_points(self.keep))
        fewest = int(kept.sum(axis=1).min())
        if fewest < 2 * n:
            raise DataError(
                f"n={n}: a row has {fewest} points that count; give n up to {fewest // 2}"
            )
        ends = []
        for step in (1, -1):
            used = (kept[:, ::step] & (np.cumsum(kept[:, ::step], axis=1) <= n))[:, ::step]
            ends.append(np.where(used, values, 0.0).sum(axis=1) / n)
        return ends[0], ends[1]

    def without_data(
        self, rows: tuple[int, int] | None = None, columns: tuple[int, int] | None = None
    ) -> Measurement:
        """Another window of the same file, without data; sums over energies stay as they are."""
        ends = self.ends or self.columns
        return Measurement(None, rows, columns, energy_step=self.energy_step, ends=ends)

    def grid(self, energy: npt.NDArray[np.float64]) -> Grid:
        """The energies as functions that sum over them see them."""
        return Grid(unit_of(energy, self.energy_step), self.ends or self.columns)

    def window(self, array: Data) -> Data:
        """The part of an array over the full axes that lies in the window."""
        columns = array[..., slice_of(self.columns)]
        return columns[slice_of(self.rows)] if array.ndim == 2 else columns

    def of_points(self, beside: Data) -> Data:
        """Weights or a mask for each point of the window, of a measurement with data."""
        assert self.data is not None
        try:
            return self.window(np.broadcast_to(beside, self.data.shape))
        except ValueError:
            raise DataError(
                f"what is given for each point has shape {np.shape(beside)}, the data "
                f"{self.data.shape}; give an array of the shape of the data"
            ) from None

    def kept_of(self, values: Data) -> Data:
        """Values of the window, flat, at its points that count."""
        return np.ravel(values) if self.keep is None else values[self.of_points(self.keep)]


def _lines(array: Data, *steps: int) -> Data:
    """The same values (n_rows, n_columns) as C reads them: those of a row side by side, or with
    one of these steps in bytes."""
    rows = array[None] if array.ndim == 1 else array
    if rows.strides[-1] in (rows.itemsize, *steps) and rows.flags.aligned:
        return rows
    return np.ascontiguousarray(rows)


def row_of(series: Measurement, row: int) -> Measurement:
    """One spectrum of a series (n_time, n_energy), with its part of weights and mask.

    Without weights only the values are checked again, which may have changed; the rest was checked
    when the series was made. Raises :class:`DataError` as the series did.
    """
    data, keep = series.data, None if series.keep is None else series.keep[row]
    assert data is not None
    own = {"data": data[row], "rows": None, "keep": keep}
    if series.weight is not None:
        return replace(series, weight=np.broadcast_to(series.weight, data.shape)[row], **own)
    spectrum = object.__new__(Measurement)
    spectrum.__dict__.update({name: getattr(series, name) for name in _FIELDS} | own)
    spectrum._check_values()
    spectrum._check_loss()
    return spectrum


_FIELDS = tuple([one.name for one in fields(Measurement)])
