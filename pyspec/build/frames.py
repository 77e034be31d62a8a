"""Frames: arrays of numbers, and how they go to a page with the state, as bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.fit import FitResult
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.frame import Frame
from pyspec.workflow.session.ground import Ground
from pyspec.workflow.session.state import ONE

#: Arrays of single precision by name.
Single: TypeAlias = dict[str, npt.NDArray[np.float32]]

#: Arrays by the view that they are for, and by name.
Frames: TypeAlias = dict[str, Mapping[str, npt.NDArray[np.generic]]]

#: The first array of a message begins at a multiple of so many bytes.
ALIGNED = 8


def packed(version: int, state: str, frames: Frames) -> bytes:
    """The news for a page as one message: the length of the header as uint32, the header in JSON,
    and the arrays. Arrays are float32, except axes. `state` is JSON."""
    kept = [
        (frame, name, _plain(array))
        for frame, arrays in frames.items()
        for name, array in arrays.items()
    ]
    listed = [
        {"frame": frame, "name": name, "shape": list(array.shape), "dtype": str(array.dtype)}
        for frame, name, array in kept
    ]
    head = {"version": version, "frames": list(frames), "arrays": listed}
    header = f'{json.dumps(head)[:-1]}, "state": {state}}}'.encode()
    gap = -(4 + len(header)) % ALIGNED
    parts = [struct.pack("<I", len(header)), header, bytes(gap)]
    return b"".join([*parts, *(array.tobytes() for _, _, array in kept)])


def _plain(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    if array.dtype == np.float64 or array.dtype == np.float32:
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array, dtype=np.float32)


def narrow(array: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
    """The numbers as float32; beyond its range infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def file_frames(ground: Ground) -> Frames:
    """The axes that the data have, and the data, NaN where they are masked."""
    axes = {"energy": ground.energy, "time": ground.time}
    own = {name: axis for name, axis in axes.items() if axis is not None}
    return {"axes": own, "data": {"data": _masked_data(ground)}}


def _masked_data(ground: Ground) -> npt.NDArray[np.float32]:
    data = narrow(ground.data)
    keep = ground.whole.keep
    return data if keep is None else np.where(keep, data, np.float32(np.nan))


def drawn_frames(ground: Ground, document: Document, frame: Frame, *, with_map: bool) -> Frames:
    """What is drawn at the cursor, and the map where it is shown."""
    row, column = document.cursor
    data = _masked_data(ground)
    if ground.kind != "series":
        curves = {"data": data, "sum": frame.model} | _named(frame.spectrum)
        curves |= _band(document.result, ground)
        return {"trace" if ground.kind == "trace" else "spectrum": curves}
    spectrum = {"data": data[row], "sum": narrow(frame.row)} | _named(frame.spectrum)
    trace = {"data": data[:, column], "sum": narrow(frame.column)} | _named(frame.trace)
    spectrum |= _band(document.result, ground, row=row)
    trace |= _band(document.result, ground, column=column)
    frames: Frames = {"spectrum": spectrum, "trace": trace, "free": _free(document, frame)}
    return frames | ({"map": {"fit": frame.model}} if with_map else {})


def _free(document: Document, frame: Frame) -> Single:
    """Free amplitudes with their errors behind a fit, and what differs from energy to energy."""
    curves = {f"{frame.axis}:{name}": narrow(values) for name, values in frame.free.items()}
    curves |= {f"dispersed:{name}": narrow(values) for name, values in frame.dispersed.items()}
    result = document.result
    linear = None if result is None or result.fit_type == ONE else result.amplitudes
    errors = {} if linear is None else linear.stderr
    for name, free in frame.free.items():
        inside = np.isfinite(free)
        if name in errors and errors[name].size == np.count_nonzero(inside):
            error = np.full(free.size, np.nan)
            error[inside] = errors[name]
            curves[f"error:{name}"] = narrow(error)
    return curves


def _named(curves: Mapping[str, npt.NDArray[np.generic]]) -> Single:
    return {f"component:{name}": narrow(curve) for name, curve in curves.items()}


#: The bands of a result by where they are: they take longer than all else that is drawn.
_BANDS: dict[tuple[int, int | None, int | None], tuple[FitResult, Single]] = {}


def _is_row(result: FitResult, ground: Ground, row: int | None) -> bool:
    """Whether the fit of one spectrum is that of this row."""
    fitted = result.problem.measurement.data
    if row is None or fitted is None or ground.energy is None:
        return False
    is_whole = np.shape(fitted) == ground.energy.shape
    return is_whole and bool(np.array_equal(fitted, ground.data[row], equal_nan=True))


def _band(
    result: FitResult | None, ground: Ground, row: int | None = None, column: int | None = None
) -> Single:
    """One standard error below and above the fit; nothing where it has none."""
    if result is None or not result.success:
        return {}
    key = id(result), row, column
    kept = _BANDS.get(key)
    if kept is not None and kept[0] is result:
        return kept[1]
    if len(_BANDS) > 200:
        _BANDS.clear()
    axes = {}
    if row is not None and ground.time is not None:
        axes["time"] = ground.time[row : row + 1]
    if column is not None and ground.energy is not None:
        axes["energy"] = ground.energy[column : column + 1]
    band: Single = {}
    try:
        if result.fit_type != ONE or _is_row(result, ground, row):
            axes = {} if result.fit_type == ONE else axes
            low, high = result.predict(**axes).band
            band = {"low": narrow(low.ravel()), "high": narrow(high.ravel())}
    except PyspecError:
        band = {}
    _BANDS[key] = result, band
    return band
