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
    found: list[dict[str, object]] = []
    for what in ("data", "weight", "keep"):
        given = getattr(measurement, what)
        if not is_left_out(given):
            continue
        beside = given if isinstance(given, Beside) else None
        seen = measurement.seen if beside is None else beside.seen
        places = sorted(seen)
        one: dict[str, object] = {
            "what": what,
            **_address(beside.given if beside is not None else given),
        }
        one["begin"] = np.array([begin for begin, _ in places], np.int64)
        one["end"] = np.array([end for _, end in places], np.int64)
        one["checksum"] = np.array([seen[place] for place in places], np.uint64)
        if isinstance(beside, Weights):
            one["are_sigma"] = beside.are_sigma
        if isinstance(beside, Kept) and beside.columns is not None:
            one["columns"] = beside.columns
        found.append(one)
    return found


def as_given(data: object) -> Any:
    """Data as they were handed over: by reference, or as an array."""
    source = as_source(data)
    return np.asarray(data) if source is None else source


def measured_again(record: Record, data: object) -> Measurement:
    """The measurement of a fit of an archive, with these data, or those where they stood; without
    data where nothing is known of them.

    Raises :class:`DataError` where they do not stand there any more."""
    given, seen = None if data is None else as_given(data), Seen()
    windows = ("rows", "columns")
    measured: dict[str, Any] = {
        key: tuple(np.asarray(value).tolist()) if key in windows and value is not None else value
        for key, value in record["measurement"].items()
    }
    for one in record.get("by_reference") or ():
        if one["what"] != "data":
            measured[one["what"]] = opened_again(one)[0]
        elif given is None:
            given, seen = opened_again(one)
    found = Measurement(given, **measured)
    if seen:
        found.seen.update(seen)
    return found


def is_left_out(given: object) -> bool:
    """Whether these are values by reference that an archive does not hold."""
    source = source_of(given)
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
    if isinstance(whole, (HDF5Source, ArraySource)) and (found := whole.address) is not None:
        return dict(zip(("kind", "path", "key"), found, strict=True))
    return {"kind": "", "path": whole.name, "key": ""}


def _local(what: str, path: str, is_store: bool, say: str) -> Path:
    """The path of a file, or of the folder of a store, on this machine. An archive may come from
    elsewhere: what it says opens no address."""
    if "://" in path or "::" in path or path.startswith(("//", "\\\\")):
        raise DataError(f"{what} stood at {path}, an address that is not opened; {say}")
    place = Path(path).resolve()
    if not (place.is_dir() if is_store else place.is_file()):
        raise DataError(f"{what} stood in {path}, where no such file is; {say}")
    return place


def _open(reference: Reference) -> Source:
    kind, path, key = map(str, (reference["kind"], reference["path"], reference["key"]))
    what = "the data" if reference["what"] == "data" else f"the {reference['what']}"
    say = "hand them over: refit(data)" if what == "the data" else "fit them again from your script"
    if not kind:
        raise DataError(f"{what} were by reference ({path}), and no file is known; {say}")
    place = _local(what, path, kind == "zarr", say)
    try:
        if kind == "hdf5":
            with opened(place):  # refuses what reads from files elsewhere
                return HDF5Source(place, key)
        if kind == "npy":
            return by_reference(np.load(place, mmap_mode="r", allow_pickle=False))
        zarr = need("zarr", f"{path}: a store of zarr", "zarr")
        found = zarr.open(str(place), mode="r")
        return by_reference(found[key] if key else found)
    except Exception as error:
        raise DataError(
            f"{what} stood in {path}, which cannot be opened ({one_line(error)}); {say}"
        ) from None
