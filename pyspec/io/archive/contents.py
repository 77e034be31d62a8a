"""Fits and arrays in an open HDF5 file: written, listed, and read one by one.

/                attributes: pyspec (version that wrote it), schema, n_fits, n_arrays
/fits/0001 …     one group for each fit: texts, tables, numbers; attribute sha256
/arrays/<sha256> data, stored once for all fits that use them

``docs/archive_format.md`` describes every field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.errors import DataError, cut, one_line, shortened
from pyspec.io.archive import header
from pyspec.io.archive.tree import Reader, Tree, packing, tree_digest, write_tree
from pyspec.model.data.digest import digest

if TYPE_CHECKING:
    import h5py

Fit = Mapping[str, object]
Arrays = dict[str, npt.NDArray[np.generic]]

#: What a person called a fit, and when it ended: it is the same fit under another name.
NAMED = ("label", "timestamp")

#: Fits that are named one by one beyond those that both their number and their names speak of.
_MOST = 100


def write_items(
    file: h5py.File, fits: Sequence[Fit], arrays: Mapping[str, npt.NDArray[np.generic]]
) -> None:
    """Adds fits and arrays that are not there yet to an archive or to an empty file.

    The index is written first, the fits next, and their data last. If the file is cut off, the fits
    before the cut can be read. HDF5 gives the names in a group their place in
    the file when it flushes, so without a flush after each fit those of all fits lay at the end.
    """
    for name in arrays:
        if not isinstance(name, str) or not re.fullmatch("[0-9a-f]{64}", name):
            raise DataError(
                f"arrays/{shortened(name)}: is no sha256; name the array by pyspec.io.digest(array)"
            )
    # In 32 bytes, so that another version takes its place.
    file.attrs.modify("pyspec", np.array(VERSION.encode(), dtype="S32"))
    file.attrs.modify("schema", header.VERSION)
    group, shared = file.require_group("fits"), file.require_group("arrays")
    places = _places(group, fits)
    new = [name for name in arrays if name not in shared]
    file.attrs.modify("n_fits", len(group) + len(places))
    file.attrs.modify("n_arrays", len(shared) + len(new))
    groups = [group.create_group(place, track_order=True) for place in places]
    for (place, fit), made in zip(places.items(), groups, strict=True):
        made.attrs["sha256"] = np.bytes_(write_tree(made, fit, f"fits/{place}"))
        if any(name in member for member in members_of(fit) for name in NAMED):
            made.attrs["unnamed"] = np.bytes_(_unnamed(fit))
        file.flush()
    data = [arrays[name] for name in new]
    empty = [
        shared.create_dataset(name, shape=array.shape, dtype=array.dtype, **packing(array.size))
        for name, array in zip(new, data, strict=True)
    ]
    for dataset, array in zip(empty, data, strict=True):
        dataset[...] = array


def _places(group: h5py.Group, fits: Sequence[Fit]) -> dict[str, Fit]:
    """New fits by their places. In the archive `fits` are the last ones, in their order: those that
    it holds already move behind the others. One of another label replaces that of the archive."""
    old = sorted(group, key=int)
    facts = {name: group[name].attrs for name in old}
    held = {bytes(own.get("unnamed", own["sha256"])): name for name, own in facts.items()}
    behind: list[str | Fit] = []
    for fit in fits:
        name = held.get(_unnamed(fit))
        if name is None or name not in group:
            behind.append(fit)
        elif _has_labels(group[name], fit):
            behind += [name] if name not in behind else []
        else:
            if name not in behind:
                del group[name]
            behind.append(fit)
    order = [*(name for name in old if name in group and name not in behind), *behind]
    last = max(map(int, old), default=0)
    places = [*old, *(f"{last + 1 + k:04d}" for k in range(len(order) - len(old)))]
    moved = {
        name: place
        for name, place in zip(order, places, strict=True)
        if isinstance(name, str) and name != place
    }
    for name in moved:
        group.move(name, f"{name} moves")
    for name, place in moved.items():
        group.move(f"{name} moves", place)
    return {
        place: entry
        for entry, place in zip(order, places, strict=True)
        if not isinstance(entry, str)
    }


def members_of(fit: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A fit, or its group in an archive, and those of the files of a joint fit."""
    files = fit.get("files")
    if isinstance(files, Mapping):
        files = list(files.values())
    many = files if isinstance(files, (list, tuple)) else ()
    return [fit, *(file for file in many if isinstance(file, Mapping))]


def _unnamed(fit: Fit) -> bytes:
    """The digest of a fit but for what a person called it, and when it ended."""
    whole, *files = (
        {key: value for key, value in member.items() if key not in NAMED}
        for member in members_of(fit)
    )
    return tree_digest({**whole, "files": files} if files else whole).encode()


def _has_labels(group: h5py.Group, fit: Fit) -> bool:
    """Whether a fit has no other labels than that of an archive."""
    pairs = zip(members_of(group), members_of(fit), strict=True)
    return all(own.get("label") in (None, _text(held, "label")) for held, own in pairs)


def _text(group: h5py.Group, key: str) -> str | None:
    return bytes(group[key][()]).decode() if key in group else None


def missing_items(file: h5py.File, kind: str, names: Sequence[str]) -> dict[str, str]:
    """What the group ("fits" or "arrays") of an archive has lost: name → that it is missing."""
    expected = int(file.attrs.get(f"n_{kind}", len(names)))
    if kind == "fits":
        highest = max(map(int, names), default=0)
        low, high = sorted((expected, highest))  # one of them may be damaged
        last = min(high, max(low, 0) + _MOST)
        places = {f"{number:04d}" for number in range(1, last + 1)}
        missing = {f"fits/{name}": "is missing" for name in sorted(places - set(names), key=int)}
        if last < high:
            missing[f"fits after {last:04d}"] = (
                f"{len(names)} fits are there, {expected} are counted"
            )
        return missing
    lost = expected - len(names)
    return {"arrays": f"{lost} of {expected} are missing"} if lost > 0 else {}


def fit_names(file: h5py.File) -> list[str]:
    """The names of the fits in the order in which they were saved."""
    return sorted(file["fits"], key=int)


def fit_of(reader: Reader, file: h5py.File, name: str) -> Tree:
    """One fit, its digest checked. Raises whatever damage leads to."""
    group = file["fits"][name]
    fit, own = reader.tree(group)
    if bytes(group.attrs["sha256"]).decode() != own or not isinstance(fit, dict):
        raise DataError(f"fits/{name}: its sha256 differs")
    return fit


def array_of(reader: Reader, file: h5py.File, name: str) -> npt.NDArray[np.generic]:
    """One array, its digest checked. Raises whatever damage leads to."""
    array = reader.array(file["arrays"][name])
    if digest(array) != name:
        raise DataError(f"arrays/{name}: its sha256 differs")
    return array


def check_root(file: h5py.File, path: Path) -> None:
    """Raises :class:`DataError` unless an open HDF5 file is an archive of fits."""
    schema, writer = file.attrs.get("schema"), file.attrs.get("pyspec")
    if schema is None or writer is None or "fits" not in file or "arrays" not in file:
        raise DataError(
            f"{path}: is HDF5, but no archive of fits; read data with read(), or choose "
            "another name to save under"
        )
    if not isinstance(schema, (int, np.integer)) or schema != header.VERSION:
        raise header.refused(path, cut(str(schema), 100))


@contextmanager
def opened(h5py: ModuleType, path: Path, shown: Path) -> Iterator[h5py.File]:
    """The archive `path`, open for reading; errors call it `shown`."""
    try:
        file = h5py.File(path, "r")
    except Exception as error:
        raise DataError(
            f"{shown}: is no archive of fits: not HDF5, or damaged ({one_line(error)})"
        ) from None
    with file:
        check_root(file, shown)
        yield file


@dataclass(frozen=True)
class Wanted:
    """Which fits of an archive are read: those whose texts are among these, all of them or the
    last. A joint fit has those of its own, and those of each of its files."""

    texts: Mapping[str, Collection[str | None]]
    last: bool = False

    def names(self, file: h5py.File) -> list[str]:
        """The names of the fits in an open archive, in the order in which they were saved."""
        every = fit_names(file)
        matches = (name for name in reversed(every) if self.matches(file["fits"][name], _text))
        return list(matches)[::-1] if not self.last else list(islice(matches, 1))

    def matches(self, fit: Mapping[str, Any], text: Callable[[Any, str], object]) -> bool:
        """Whether the texts of a fit, or of one of its files, are among these."""
        return any(
            all(
                isinstance(own := text(member, key), str) and own in among
                for key, among in self.texts.items()
            )
            for member in members_of(fit)
        )


def load_checked(
    h5py: ModuleType, path: Path, wanted: Wanted | None = None
) -> tuple[list[Tree], Arrays]:
    """Fits and arrays of an archive whose bytes were checked; their digests are checked too. With
    `wanted` those fits and their data, and nothing else is read."""
    with opened(h5py, path, path) as file:
        reader = Reader(h5py, path.stat().st_size)
        arrays = list(file["arrays"])
        try:
            names = fit_names(file) if wanted is None else wanted.names(file)
            fits = [fit_of(reader, file, name) for name in names]
            if wanted is not None:
                used = {member.get("data_sha256") for fit in fits for member in members_of(fit)}
                arrays = [name for name in arrays if name in used]
            return fits, {name: array_of(reader, file, name) for name in arrays}
        except MemoryError:
            size = sum(int(file["arrays"][name].nbytes) for name in arrays)
            raise DataError(
                f"{path}: too large for the memory that is free; its data alone take {size} bytes"
            ) from None
        except Exception as error:  # damage shows itself in many ways
            raise header.DamageError(one_line(error), path) from None
