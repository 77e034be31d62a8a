"""Addresses of data by reference in an archive, and checksums of the rows that were fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pyspec.errors import DataError, one_line
from pyspec.io.archive.fields import Record, Reference
from pyspec.io.optional import need
from pyspec.io.readers.hdf5 import opened
from pyspec.io.sources.arrays import ArraySource, HDF5Source, as_source, by_reference
from pyspec.model import Measurement
from pyspec.model.data.lazy_weights import Beside, Kept, Weights
from pyspec.model.data.source import LOADED, Seen, Source, source_of, whole_of


def references_of(measurement: Measurement) -> list[dict[str, object]]:
    """What an archive keeps of data, weights and mask by reference that are too large for it."""
    references: list[dict[str, object]] = []
    for name in ("data", "weight", "keep"):
        values = getattr(measurement, name)
        if not is_left_out(values):
            continue
        beside = values if isinstance(values, Beside) else None
        seen = measurement.seen if beside is None else beside.seen
        places = sorted(seen)
        reference: dict[str, object] = {
            "what": name,
            **_address(beside.given if beside is not None else values),
        }
        reference["begin"] = np.array([begin for begin, _ in places], np.int64)
        reference["end"] = np.array([end for _, end in places], np.int64)
        reference["checksum"] = np.array([seen[place] for place in places], np.uint64)
        if isinstance(beside, Weights):
            reference["are_sigma"] = beside.are_sigma
        if isinstance(beside, Kept) and beside.columns is not None:
            reference["columns"] = beside.columns
        references.append(reference)
    return references


def measured_again(record: Record, data: object) -> Measurement:
    """The measurement of a fit of an archive, with these data, or those where they stood; without
    data where nothing is known of them.

    Raises :class:`DataError` where they do not stand there any more."""
    values: Any = None if data is None else as_source(data)
    if values is None and data is not None:
        values = np.asarray(data)
    seen = Seen()
    windows = ("rows", "columns")
    measured: dict[str, Any] = {
        key: tuple(np.asarray(value).tolist()) if key in windows and value is not None else value
        for key, value in record["measurement"].items()
    }
    for reference in record.get("by_reference") or ():
        if reference["what"] != "data":
            measured[reference["what"]] = opened_again(reference)[0]
        elif values is None:
            values, seen = opened_again(reference)
    measurement = Measurement(values, **measured)
    if seen:
        measurement.seen.update(seen)
    return measurement


def is_left_out(values: object) -> bool:
    """Whether these are values by reference that an archive does not hold."""
    source = source_of(values)
    return source is not None and source.nbytes > LOADED


def opened_again(reference: Reference) -> tuple[Source | Beside, Seen]:
    """Data, weights or mask of an archive where they stand, with their checksums.

    Raises :class:`DataError` where they are not there any more, or nobody knows where they were.
    """
    source = _open(reference)
    columns = (reference["begin"], reference["end"], reference["checksum"])
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    seen = Seen({(begin, end): checksum for begin, end, checksum in rows})
    if reference["what"] == "data":
        return source, seen
    made: Beside = (
        Weights(source, bool(reference.get("are_sigma", True)))
        if reference["what"] == "weight"
        else Kept(source, reference.get("columns"))
    )
    made.seen.update(seen)
    return made, seen


def _address(source: Source) -> dict[str, str]:
    """Kind, path and name within; a kind "" where they are not known."""
    whole = whole_of(source)
    if whole is not source or whole is None:
        return {"kind": "", "path": source.name, "key": ""}
    if isinstance(whole, (HDF5Source, ArraySource)) and (address := whole.address) is not None:
        return dict(zip(("kind", "path", "key"), address, strict=True))
    return {"kind": "", "path": whole.name, "key": ""}


def _open(reference: Reference) -> Source:
    kind, path, key = map(str, (reference["kind"], reference["path"], reference["key"]))
    subject, say = f"the {reference['what']}", "fit them again from your script"
    if reference["what"] == "data":
        say = "hand them over: refit(data)"
    if not kind:
        raise DataError(f"{subject} were by reference ({path}), and no file is known; {say}")
    # An archive may come from elsewhere: what it says opens no address.
    if "://" in path or "::" in path or path.startswith(("//", "\\\\")):
        raise DataError(f"{subject} stood at {path}, an address that is not opened; {say}")
    place = Path(path).resolve()
    if not (place.is_dir() if kind == "zarr" else place.is_file()):
        raise DataError(f"{subject} stood in {path}, where no such file is; {say}")
    try:
        if kind == "hdf5":
            with opened(place):  # refuses what reads from files elsewhere
                return HDF5Source(place, key)
        if kind == "npy":
            return by_reference(np.load(place, mmap_mode="r", allow_pickle=False))
        zarr = need("zarr", f"{path}: a store of zarr", "zarr")
        store = zarr.open(str(place), mode="r")
        return by_reference(store[key] if key else store)
    except Exception as error:
        raise DataError(
            f"{subject} stood in {path}, which cannot be opened ({one_line(error)}); {say}"
        ) from None
