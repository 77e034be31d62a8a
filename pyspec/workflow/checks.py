"""Data as a File takes them: refused with one clear message, or frozen as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError

#: Data of these types are used where they lie, without a copy.
KEPT_TYPES = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.uint16))


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: the owner's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def _numbers(given: Any, what: str) -> npt.NDArray[Any]:
    """Any array-like of real numbers as an array; other content is refused."""
    if isinstance(given, np.ma.MaskedArray):
        raise DataError(
            f"{what} is a masked array, whose mask would be lost; fill it, or cut the window "
            "with set_fit_limits"
        )
    try:
        array = np.asarray(given)
    except ValueError:
        raise DataError(
            f"{what} has rows of different lengths; give each row as many numbers as the others"
        ) from None
    if array.dtype.kind == "c":
        raise DataError(f"{what} is complex; choose its .real part or its magnitude np.abs(...)")
    if array.dtype.kind not in "iuf":
        raise DataError(
            f"{what} has type {array.dtype}, not numbers; convert it: np.asarray({what}, float)"
        )
    if array.size == 0:
        raise DataError(f"{what} is empty (shape {array.shape}); give at least one spectrum")
    return array


def check_data(
    given: Any,
    energy: npt.NDArray[np.float64] | None,
    time: npt.NDArray[np.float64] | None,
) -> npt.NDArray[Any]:
    """Data against its axes: (n_energy,) or (n_time, n_energy), finite, real; frozen."""
    data = _numbers(given, "data")
    if data.ndim not in (1, 2):
        raise DataError(
            f"data has {data.ndim} dimensions; one spectrum has 1 (energy), a time series 2 "
            "(time, energy); choose a part, or average over the others"
        )
    expected = expected_shape(data.ndim, energy, time)
    if not _fits(expected, data.shape):
        shown = ", ".join("?" if size is None else str(size) for size in expected)
        hint = "; each row needs its time and each column its energy"
        if data.ndim == 2 and _fits(expected, data.shape[::-1]):
            hint = (
                "; it looks transposed: pass data.T, or exchange the axes (rows are times, columns "
                "are energies)"
            )
        elif data.ndim == 2 and any(
            size == own + 1 for size, own in zip(expected, data.shape, strict=True) if size
        ):
            hint = "; an axis of edges becomes one of centres by (edges[1:] + edges[:-1]) / 2"
        elif data.ndim == 1 and time is not None:
            hint = "; one spectrum needs no time axis"
        raise DataError(
            f"data has shape {data.shape}, but the axes (time, energy) have ({shown}){hint}"
        )
    refuse_nonfinite(data)
    if data.dtype not in KEPT_TYPES or not data.dtype.isnative:
        data = data.astype(np.float64)
    return frozen(data)


def _fits(expected: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    return all(size in (None, own) for size, own in zip(expected, shape, strict=True))


def expected_shape(
    dimension: int,
    energy: npt.NDArray[np.float64] | None,
    time: npt.NDArray[np.float64] | None,
) -> tuple[int | None, ...]:
    """Shape that the axes ask for; None where there is no axis."""
    n_energy = None if energy is None else energy.size
    n_time = None if time is None else time.size
    return (n_energy,) if dimension == 1 else (n_time, n_energy)


def refuse_nonfinite(data: npt.NDArray[Any]) -> None:
    """Raises :class:`DataError` with the count and the first place of NaN and inf."""
    if data.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        if np.isfinite(data.sum(dtype=np.float64)):
            return
    bad = ~np.isfinite(data)
    count = int(bad.sum())
    if not count:
        return
    first = tuple(int(index) for index in np.unravel_index(int(np.argmax(bad)), data.shape))
    place = f"row {first[0]}, column {first[1]}" if data.ndim == 2 else f"index {first[0]}"
    n_nan = int(np.isnan(data).sum())
    kinds = "NaN" if n_nan == count else "inf" if not n_nan else "NaN or inf"
    raise DataError(
        f"data holds {count} values that are {kinds}, first at {place}; replace them, or cut "
        "the rows and columns away"
    )
