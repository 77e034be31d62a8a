"""A measurement: data, the window to fit, weights and mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest

#: How residuals are made.
LOSSES = ("squares", "poisson")


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a model is compared with. Arrays cover the full axes; the window crops them.

    Parameters
    ----------
    data : (n_time, n_energy) or (n_energy,), or None where only the model is wanted
    rows : (begin, end) of the time window, end excluded; None for all
    columns : (begin, end) of the energy window
    weight : factor of data - model, 1 / sigma; broadcasts to the data
    keep : False where a point is masked, of the shape of the data
    loss : "squares", or "poisson" for counts: the residual is then the signed root of the
        deviance, :func:`pyspec.functions.losses.deviance`
    loss_scale : counts for each unit of the data ("poisson")

    Raises :class:`DataError` where arrays or the window are not usable, and for data that are
    not finite within the window, unless masked.
    """

    data: npt.NDArray[Any] | None = None
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    weight: npt.NDArray[np.float64] | None = None
    keep: npt.NDArray[np.bool_] | None = None
    loss: str = "squares"
    loss_scale: float = 1.0

    def __post_init__(self) -> None:
        for what in ("rows", "columns"):
            object.__setattr__(self, what, _window(getattr(self, what), what))
        if self.weight is not None:
            weight = _real(self.weight, "weight").astype(np.float64, copy=False)
            if not np.isfinite(weight).all():
                raise DataError("weight is not finite everywhere; mask such points with keep")
            if (weight < 0).any():
                raise DataError(
                    f"weight is negative ({weight.min():g}); give 1 / sigma, or 0 for no weight"
                )
            object.__setattr__(self, "weight", weight)
        if self.keep is not None:
            keep = np.asarray(self.keep)
            if keep.dtype.kind != "b":
                raise DataError(f"keep has type {keep.dtype}; give booleans, False where masked")
            object.__setattr__(self, "keep", keep)
        if self.data is not None:
            object.__setattr__(self, "data", _real(self.data, "data"))
            self._check_data()
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
            window = self.window(self.data)
            kept = slice(None) if self.keep is None else self.window(self.keep)
            low = np.min(window[kept], initial=0.0)
            if low < 0:
                raise DataError(
                    f"counts cannot be negative, but the data reach {low:g}; subtract no "
                    'background from counts, or use loss="squares" with weights'
                )

    def _check_data(self) -> None:
        assert self.data is not None
        if self.data.ndim not in (1, 2) or self.data.size == 0:
            raise DataError(
                f"data have shape {self.data.shape}; give (n_time, n_energy) or (n_energy,)"
            )
        if self.keep is not None and self.keep.shape != self.data.shape:
            raise DataError(
                f"keep has shape {self.keep.shape}, the data {self.data.shape}; give each point "
                "its True or False"
            )
        bad = ~np.isfinite(self.window(self.data))
        if self.keep is not None:
            bad &= self.window(self.keep)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            raise DataError(
                f"{int(bad.sum())} point(s) of the data are NaN or infinite, the first at {first} "
                "of the window; mask them (keep=False there) or repair them"
            )

    def square(self) -> float:
        """chi² of a model that is 0 in the window: sum of (weight data)², or of counts
        2 loss_scale data."""
        assert self.data is not None
        data = self.window(self.data)
        if self.loss == "poisson":
            data = np.sqrt(2.0 * self.loss_scale * np.maximum(data, 0.0))
        if self.weight is not None:
            data = data * self.window(np.broadcast_to(self.weight, self.data.shape))
        if self.keep is not None:
            data = data[self.window(self.keep)]
        flat = np.asarray(data, dtype=np.float64).ravel()
        return float(np.einsum("i,i", flat, flat))

    def window(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The part of an array over the full axes that lies in the window."""
        columns = array[..., slice(*(self.columns or (None, None)))]
        return columns[slice(*(self.rows or (None, None)))] if array.ndim == 2 else columns


def _window(given: Any, what: str) -> tuple[int, int] | None:
    if given is None:
        return None
    try:
        begin, end = (int(limit) for limit in given)
        whole = (begin, end) == tuple(given)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise DataError(f"{what} is {given!r}; give (begin, end) as whole numbers, or None")
    if not 0 <= begin < end:
        raise DataError(f"the window's {what} ({begin}, {end}) are empty; begin must be below end")
    return begin, end


def _real(values: Any, what: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"{what} has type {array.dtype}; give real numbers, such as np.asarray({what}, float)"
        )
    return array
