"""Data as a File takes them: refused with one clear message, or frozen as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import frozen, one_of, real_array
from pyspec.errors import CallError, DataError
from pyspec.io import Dataset
from pyspec.io.sources.arrays import beside_source
from pyspec.model.data.checksum import Data
from pyspec.model.data.lazy_weights import Kept, check_mask
from pyspec.model.data.source import KEPT_TYPES, Source
from pyspec.workflow.workspace import Workspace

#: What becomes of values that are not finite: refused, or left out.
NAN_POLICIES = ("raise", "omit")


def need_project(project: object, path: object) -> None:
    """Raises :class:`CallError` where the first arguments of a File are no project and no label."""
    if isinstance(path, (str, Path)) and (project is None or isinstance(project, Workspace)):
        return
    rule, wrong = "path is a label, a text", path
    if project is not None and not isinstance(project, Workspace):
        rule, wrong = "the first argument is a project", project
    raise CallError(f"File: {rule}, not of type {type(wrong).__name__}{how_made(wrong)}")


def how_made(data: object) -> str:
    """How a file is made of what was perhaps meant as data with their axes."""
    if isinstance(data, Dataset):
        return "; a Dataset with its axes: File.from_dataset(dataset, project)"
    if isinstance(data, (str, Path)):
        return f"; a file is read first: File.from_dataset(read({str(data)!r}), project)"
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return "; an xarray with its axes: File.from_xarray(array, project)"
    if hasattr(data, "columns"):
        return "; those of a DataFrame: energy=frame.columns, time=frame.index"
    return "; name data and axes: File(data=data, energy=energy, time=time)"


def need_dataset(dataset: object) -> None:
    """Raises :class:`CallError` where what should be a Dataset is something else."""
    if not isinstance(dataset, Dataset):
        shown = f"{type(dataset).__name__}{how_made(dataset)}"
        raise CallError(f"File.from_dataset takes what read() returned, not {shown}")


def _numbers(values: object, subject: str) -> Data:
    """Any array-like of real numbers as an array; other content is refused."""
    array = real_array(subject, values)
    if array.dtype.kind == "b":
        raise DataError(f"{subject} has type bool; give real numbers")
    if array.size == 0:
        raise DataError(f"{subject} is empty (shape {array.shape}); give at least one spectrum")
    return array


def check_data(
    values: object,
    energy: npt.NDArray[np.float64] | None,
    time: npt.NDArray[np.float64] | None,
    mask: npt.ArrayLike | None = None,
    nan_policy: str = "raise",
) -> tuple[Data, npt.NDArray[np.bool_] | None]:
    """Data against its axes: (n_energy,) or (n_time, n_energy), finite unless masked, real;
    frozen. The second is False where a point is masked, or None without a mask."""
    one_of("nan_policy", nan_policy, NAN_POLICIES, DataError)
    data = _numbers(values, "data")
    if data.ndim not in (1, 2):
        raise DataError(
            f"data has {data.ndim} dimensions; one spectrum has 1 (energy), a time series 2 "
            "(time, energy); choose a part, or average over the others"
        )
    refuse_other_shape("data", data.shape, energy, time)
    keep = None if mask is None else ~check_mask(mask, data.shape)
    if nan_policy == "omit" and data.dtype.kind == "f":
        finite = np.isfinite(data)
        if not finite.all():
            keep = finite if keep is None else keep & finite
    refuse_nonfinite(data if keep is None else np.where(keep, data, 0))
    if keep is not None and not keep.any():
        raise DataError("every point of the data is masked; True in mask= means: leave it out")
    if data.dtype not in KEPT_TYPES or not data.dtype.isnative:
        data = data.astype(np.float64)
    return frozen(data), keep


def kept_of(mask: npt.ArrayLike, source: Source) -> Any:
    """Where points of data by reference count; a mask that is by reference, too, stays there."""
    hidden = beside_source(mask, source.shape, "mask")
    return ~check_mask(mask, source.shape) if hidden is None else Kept(hidden)


def both_of(
    keep: npt.NDArray[np.bool_] | None, columns: npt.NDArray[np.bool_], shape: tuple[int, ...]
) -> npt.NDArray[np.bool_]:
    """Where points count by `keep`, or None, and by these columns of it."""
    flags: Any = Kept(keep.given, columns) if isinstance(keep, Kept) else None
    if flags is None:
        flags = np.broadcast_to(columns, shape) if keep is None else np.asarray(keep & columns)
    return flags  # type: ignore[no-any-return]


def check_pattern(
    values: object, shape: tuple[int, ...], subject: str, positive: bool = False
) -> npt.NDArray[np.float64]:
    """A correction of the data: a number, (n_energy,), or one value a point."""
    pattern = np.asarray(_numbers(values, subject), dtype=np.float64)
    if pattern.shape not in (shape, shape[-1:], ()):
        raise DataError(
            f"{subject} has shape {pattern.shape}, the data {shape}; give a number, a spectrum "
            f"({shape[-1]},), or one value a point"
        )
    if not np.isfinite(pattern).all():
        raise DataError(f"{subject} has values that are not finite; replace them")
    if positive and not (pattern > 0).all():
        raise DataError(
            f"{subject} must be above 0 everywhere, the data are divided by it; mask dead points "
            "with mask= and give them 1"
        )
    return pattern


def refuse_other_shape(
    subject: str,
    shape: tuple[int, ...],
    energy: npt.NDArray[np.float64] | None,
    time: npt.NDArray[np.float64] | None,
) -> None:
    """Raises :class:`DataError` for data of another shape than the axes, None for one not there."""
    sizes = [None if axis is None else axis.size for axis in (time, energy)][-len(shape) :]

    def fits(own: tuple[int, ...]) -> bool:
        return all(size in (None, n) for size, n in zip(sizes, own, strict=True))

    if not fits(shape):
        shown = ", ".join("?" if size is None else str(size) for size in sizes)
        hint = "each row needs its time and each column its energy"
        if fits(shape[::-1]):
            hint = (
                "it looks transposed: pass data.T, or exchange the axes (rows are times, columns "
                "are energies)"
            )
        raise DataError(
            f"{subject} has shape {shape}, but the axes (time, energy) have ({shown}); {hint}"
        )


def refuse_nonfinite(data: Data) -> None:
    """Raises :class:`DataError` with the count and the first place of NaN and inf."""
    bad = ~np.isfinite(data)
    count = int(bad.sum())
    if not count:
        return
    first = tuple(int(index) for index in np.unravel_index(int(np.argmax(bad)), data.shape))
    place = f"row {first[0]}, column {first[1]}" if data.ndim == 2 else f"index {first[0]}"
    raise DataError(
        f"data holds {count} values that are NaN or inf, first at {place}; leave these points "
        "out, nan_policy='omit' of a File or mask=, or replace them"
    )


def refuse_spectra(files: Mapping[str, Data | None]) -> None:
    """Raises :class:`DataError` if a file (name → data) of a project holds one spectrum or trace,
    which a project does not fit together."""
    single = [name for name, data in files.items() if data is not None and data.ndim == 1]
    if single:
        raise DataError(
            f"file {single[0]!r} holds one spectrum or trace, and a project fits data of shape "
            "(time, energy) together; fit those of one axis by fit_joint([(model, "
            "Measurement(data)), ...], names=[...])"
        )


def held(n_dim: int, has_energy: bool) -> str:
    """The remedy where a call does not take the data that a file holds."""
    if n_dim == 2:
        return (
            "spectra over time; a trace is one value for each time: "
            "File(data=file.data[:, 7], time=file.time), or fit all with fit_2d"
        )
    kind, call = ("spectrum", "fit_spectrum") if has_energy else ("trace", "fit_trace")
    return f"one {kind}; this needs data of shape (time, energy); use {call}"
