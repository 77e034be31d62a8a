"""Checks of what a measurement takes: windows, texts, numbers, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, shortened, suggest
from pyspec.model.data.source import source_of

Array = npt.NDArray[np.float64]

#: What `labels` and `units` may name.
QUANTITIES = ("energy", "time", "data")


def low_of(weight: npt.NDArray[np.float64]) -> float:
    """The least weight. Raises :class:`DataError` for weights that are none."""
    if not np.isfinite(weight).all():
        raise DataError("weight is not finite everywhere; mask such points with mask=")
    low = float(np.min(weight, initial=np.inf))
    if low < 0:
        raise DataError(f"weight is negative ({low:g}); give 1 / sigma, or 0 for no weight")
    return low


def counted(
    keep: npt.NDArray[np.bool_] | None, weight: npt.NDArray[np.float64], shape: tuple[int, ...]
) -> npt.NDArray[np.bool_]:
    """False where a point is masked or has no weight: it tells nothing, and is no point that the
    noise could be told from. Along an axis on which all are the same they stay one."""
    own = np.broadcast_to(weight > 0, shape)
    if keep is None:
        return own
    return keep if own[keep].all() else keep & own


def refuse_negative(low: float) -> None:
    """Raises :class:`DataError` for negative counts."""
    if low < 0:
        raise DataError(
            f"counts cannot be negative, but the data reach {low:g}; subtract no "
            'background from counts, or use loss="squares" with weights'
        )


def check_weight(shape: tuple[int, ...], data: tuple[int, ...]) -> None:
    """Raises :class:`DataError` for weights that do not fit the data."""
    try:
        fits = np.broadcast_shapes(shape, data) == data
    except ValueError:
        fits = False
    if not fits:
        axes = " (times, energies)" if len(data) == 2 else ""
        raise DataError(
            f"weight has shape {shape}, which does not broadcast to {data}{axes}; give a number, "
            "one for each energy, or one for each point"
        )


def check_sigma(values: object, shape: tuple[int, ...], keep: Any = None) -> float | Array:
    """A number, or an array that broadcasts to the data: (n_time,) or (n_time, 1) is one value for
    each spectrum, (n_energy,) or (1, n_energy) one for each energy, and an array of the shape of
    the data one for each point. One axis is ambiguous where there are as many times as energies.

    Raises :class:`DataError` for another shape, and for values that are not finite and above 0.
    Masked points (`keep` is False), spectra and energies do not count."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise DataError(
            f"sigma is {shortened(values)}; give one standard deviation or an array"
        ) from None
    if array.dtype.kind not in "fiu":
        raise DataError(f"sigma has type {array.dtype}; give one standard deviation or an array")
    sigma = array.astype(np.float64)
    lines = ((shape[0], 1), (1, shape[1])) if len(shape) == 2 else ()
    if sigma.ndim == 1 and lines and sigma.size in shape:
        if shape[0] == shape[1]:
            raise DataError(
                f"sigma has {sigma.size} values, as many as there are times and energies; say "
                "sigma[:, np.newaxis] for one a time, sigma[np.newaxis, :] for one an energy"
            )
        sigma = sigma.reshape(lines[0] if sigma.size == shape[0] else lines[1])
    fits = sigma.shape in (shape, *lines)
    if fits and isinstance(keep, np.ndarray):
        for axis in (k for k, n in enumerate(sigma.shape) if n != shape[k]):
            keep = keep.any(axis=axis, keepdims=True)
        sigma = np.where(keep, sigma, 1.0)
    if sigma.ndim and not fits:
        each = "one value a spectrum (n_time,), one an energy (n_energy,), " if lines else ""
        raise DataError(
            f"sigma has shape {sigma.shape}, the data {shape}; give a number, {each}or one a point"
        )
    bad = ~(np.isfinite(sigma) & (sigma > 0))
    if bad.any():
        first = tuple(int(k) for k in np.argwhere(bad)[0])
        place = f" at {first}" if first else ""
        raise DataError(
            f"sigma must be finite and above 0, but is {sigma[first]:g}{place}; "
            "mask points without an error"
        )
    return sigma if sigma.ndim else float(sigma)


def window_of(limits: Sequence[float] | None, label: str) -> tuple[int, int] | None:
    """(begin, end), or None. Raises :class:`DataError` for anything else."""
    if limits is None:
        return None
    try:
        begin, end = (int(limit) for limit in limits)
        whole = (begin, end) == tuple(limits)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise DataError(
            f"{label} is {shortened(limits)}; give (begin, end) as whole numbers, or None; axes "
            "belong to the model, limits on them to File.set_fit_limits"
        )
    if not 0 <= begin < end:
        raise DataError(f"the window's {label} ({begin}, {end}) are empty; begin must be below end")
    return begin, end


def texts_of(texts: object, label: str) -> dict[str, str]:
    """Labels or units by name; empty ones are left out."""
    if not isinstance(texts, Mapping):
        raise DataError(f'{label} is {texts!r}; give texts by name, such as {{"energy": "eV"}}')
    for name, text in texts.items():
        if name not in QUANTITIES:
            raise DataError(
                f"{label} names {name!r}{suggest(str(name), list(QUANTITIES))}; it may name "
                f"{', '.join(QUANTITIES)}"
            )
        if not isinstance(text, str):
            raise DataError(f"{label}[{name!r}] is {text!r}; give a text")
    return {name: text.strip() for name, text in texts.items() if text.strip()}


def real_of(values: Any, label: str) -> Any:
    """An array of real numbers, or a source. Raises :class:`DataError` for anything else."""
    if np.ma.is_masked(values):
        raise DataError(
            f"{label} is a masked array, whose mask would be lost; give its values and "
            "mask=np.ma.getmaskarray(data)"
        )
    array: Any = values if source_of(values) is not None else np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"{label} has type {array.dtype}; give real numbers, such as np.asarray({label}, float)"
        )
    return array
