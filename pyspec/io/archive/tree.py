"""Nested dicts of plain values and arrays as groups and datasets of an HDF5 file.

Texts have a fixed length, so that nothing lies in the global heap of HDF5. Damage stays where it is
and breaks no chain of pointers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, shortened
from pyspec.model.data.digest import little_endian

if TYPE_CHECKING:
    import h5py

#: Arrays from this size on are compressed, with a checksum.
_COMPRESSED = 4096

#: Levels of dicts and lists; a fit has four.
MAX_DEPTH = 16

#: Deflate packs at most 1032 to 1, so what claims to be larger cannot be in the file.
MAX_RATIO = 1032


#: What a tree holds when it is read.
Value: TypeAlias = (
    "str | bool | int | float | npt.NDArray[np.generic] | list[Value] | dict[str, Value] | None"
)
Tree: TypeAlias = dict[str, Value]


class Packing(TypedDict, total=False):
    """Options of h5py for a compressed dataset."""

    compression: str
    compression_opts: int
    shuffle: bool
    fletcher32: bool


class TreeDigest:
    """sha256 of a tree: of every entry its kind, its path and its content, in stored order.

    An entry adds one line, ``kind length path details``, and the bytes of its content; `length`
    is that of the path in bytes, so that no two trees give the same stream.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def entry(self, kind: str, path: str, details: object = "") -> None:
        """A dict ("group"), or a list of anything but texts ("list") with its length."""
        name = path.encode()
        self._hash.update(f"{kind} {len(name)} ".encode() + name + f" {details}\n".encode())

    def texts(self, path: str, texts: list[bytes], shape: tuple[int, ...]) -> None:
        """A text (shape ()) or a list of texts, each with its length before it."""
        self.entry("text", path, shape)
        for text in texts:
            self._hash.update(f"{len(text)}\n".encode())
            self._hash.update(text)

    def numbers(self, path: str, array: npt.NDArray[np.generic]) -> None:
        """A number or an array."""
        plain = little_endian(array)
        self.entry("numbers", path, f"{plain.dtype.str} {array.shape}")
        self._hash.update(plain.data if plain.size else b"")

    def hex(self) -> str:
        """The digest so far, as 64 hexadecimal digits."""
        return self._hash.hexdigest()


def write_tree(group: object, values: Mapping[str, object], where: str = "") -> str:
    """Writes strings, numbers, booleans, arrays, lists and dicts, and returns their digest.

    None is left out. A list of strings becomes one dataset, any other list a group with numbered
    members. `where` stands before the names in errors.

    Raises :class:`DataError` for what cannot be archived, with its place.
    """
    digest = TreeDigest()
    _write_group(group, values, "", where, digest, 0)
    return digest.hex()


class _Nowhere:
    """A group that keeps nothing."""

    @property
    def attrs(self) -> dict[str, object]:
        return {}

    def create_group(self, name: str, **_: object) -> _Nowhere:
        return self

    def create_dataset(self, name: str, **_: object) -> _Nowhere:
        return self


def tree_digest(values: Mapping[str, object]) -> str:
    """The digest that :func:`write_tree` returns, and nothing written."""
    return write_tree(_Nowhere(), values)


def _write_group(
    group: h5py.Group,
    values: Mapping[str, object],
    path: str,
    where: str,
    digest: TreeDigest,
    depth: int,
) -> None:
    place = f"{where}/{path}".strip("/") or "/"
    if depth > MAX_DEPTH:
        raise DataError(f"{shortened(place)}: nested more than {MAX_DEPTH} levels; flatten it")
    for key, value in values.items():
        is_text = isinstance(key, str) and key not in ("", ".") and not {"/", "\x00"} & set(key)
        if not is_text or not _encodes(key):
            raise DataError(f"{shortened(place)}: {shortened(key)} cannot be a name in an archive")
        inner = f"{path}/{key}" if path else key
        if value is None:
            continue
        if isinstance(value, Mapping):
            digest.entry("group", inner)
            made = group.create_group(key, track_order=True)
            _write_group(made, value, inner, where, digest, depth + 1)
        elif isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
            _write_texts(group, key, list(value), (len(value),), inner, where, digest)
        elif isinstance(value, (list, tuple)):
            digest.entry("list", inner, len(value))
            made = group.create_group(key, track_order=True)
            made.attrs["list"] = len(value)
            members = {str(k): entry for k, entry in enumerate(value)}
            _write_group(made, members, inner, where, digest, depth + 1)
        elif isinstance(value, str):
            _write_texts(group, key, [value], (), inner, where, digest)
        else:
            array = _numbers(value, f"{where}/{inner}".strip("/"))
            digest.numbers(inner, array)
            _write_array(group, key, array, packing(array.size))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _write_texts(
    group: object,
    key: str,
    texts: list[str],
    shape: tuple[int, ...],
    path: str,
    where: str,
    digest: TreeDigest,
) -> None:
    """Texts as UTF-8 of one length, filled up with zero bytes."""
    from h5py import string_dtype

    for text in texts:
        if "\x00" in text or not _encodes(text):
            raise DataError(
                f"{where}/{path}: the text {shortened(text)} holds a character that UTF-8 text "
                "cannot hold (NUL or half a pair); remove it"
            )
    encoded = [text.encode() for text in texts]
    digest.texts(path, encoded, shape)
    width = max([len(text) for text in encoded], default=0) or 1
    array = np.array(encoded, dtype=string_dtype("utf-8", width)).reshape(shape)
    packed = packing(array.nbytes // 8) if shape else {}  # HDF5 packs no single text
    _write_array(group, key, array, packed)


def _write_array(
    group: h5py.Group, key: str, array: npt.NDArray[np.generic], packed: Packing
) -> None:
    """One dataset. Data without compression are handed to HDF5 directly: of some 55 datasets in a
    fit each takes 18 us here, and 65 us with ``create_dataset``."""
    if packed or isinstance(group, _Nowhere):
        group.create_dataset(key, data=array, dtype=array.dtype, **packed)
        return
    from h5py import h5d, h5p, h5s, h5t

    options = h5p.create(h5p.DATASET_CREATE)
    options.set_obj_track_times(False)
    space = h5s.create_simple(array.shape) if array.shape else h5s.create(h5s.SCALAR)
    kind = h5t.py_create(array.dtype, logical=True)
    made = h5d.create(group.id, key.encode(), kind, space, options)
    if array.size:
        plain = np.ascontiguousarray(array).reshape(array.shape)
        made.write(h5s.ALL, h5s.ALL, plain, kind)


def _numbers(value: object, place: str) -> npt.NDArray[np.generic]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        array = np.array(None)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        kind = array.dtype if isinstance(value, np.ndarray) else type(value).__name__
        raise DataError(
            f"{place}: {kind} cannot be archived; use text, numbers of up to 8 bytes, arrays, "
            "lists and dicts of them"
        )
    return array


def packing(size: int) -> Packing:
    """Options of a dataset of `size` numbers: large ones are compressed."""
    if size < _COMPRESSED:
        return {}
    return {"compression": "gzip", "compression_opts": 4, "shuffle": True, "fletcher32": True}


class Reader:
    """Reads trees of one file, and refuses sizes that the file cannot hold.

    Parameters
    ----------
    h5py : the library
    n_bytes : the length of the file
    """

    def __init__(self, h5py: ModuleType, n_bytes: int) -> None:
        self._h5py = h5py
        self._n_bytes = n_bytes

    def tree(self, group: h5py.Group) -> tuple[Value, str]:
        """What was written: dicts, lists, str, bool, int, float and arrays; and its digest."""
        digest = TreeDigest()
        return self._members(group.id, "", digest, 0), digest.hex()

    def array(self, item: h5py.Dataset) -> npt.NDArray[np.generic]:
        """One dataset of numbers."""
        if item.dtype.kind not in "biuf":
            raise DataError(f"{item.name}: holds no numbers")
        return self._values(item.id)

    def _members(self, group: h5py.Group, path: str, digest: TreeDigest, depth: int) -> Value:
        """`group` and what it holds are HDF5's own: as h5py's, they take twice the time."""
        if depth > MAX_DEPTH:
            raise DataError(f"{shortened(path)}: nested more than {MAX_DEPTH} levels")
        size = self._length(group)
        if size is not None:
            if not 0 <= size <= self._n_bytes:
                raise DataError(f"{path}: a list of {size} entries cannot be in the file")
            return [
                self._entry(group, name, f"{path}/{name.decode()}", digest, depth)
                if name in group
                else None
                for name in (b"%d" % k for k in range(size))
            ]
        return {
            key: self._entry(group, name, f"{path}/{key}" if path else key, digest, depth)
            for name, key in ((name, name.decode()) for name in list(group))
        }

    def _length(self, group: object) -> int | None:
        """Of a list; None for a dict."""
        if not self._h5py.h5a.exists(group, b"list"):
            return None
        return int(self._h5py.Group(group).attrs["list"])

    def _entry(
        self, group: object, name: bytes, path: str, digest: TreeDigest, depth: int
    ) -> Value:
        item = self._h5py.h5o.open(group, name)
        if isinstance(item, self._h5py.h5g.GroupID):
            size = self._length(item)
            kind, details = ("group", "") if size is None else ("list", str(size))
            digest.entry(kind, path, details)
            return self._members(item, path, digest, depth + 1)
        value = self._values(item)
        if value.dtype.kind not in "biuf":
            encoded = [bytes(text) for text in value.astype(object).ravel()]
            digest.texts(path, encoded, value.shape)
            texts: list[Value] = [text.decode() for text in encoded]
            return texts[0] if value.shape == () else texts
        digest.numbers(path, value)
        return value.item() if value.shape == () else value

    def _values(self, item: h5py.h5d.DatasetID) -> npt.NDArray[np.generic]:
        """Of a dataset: numbers, bytes, or objects that are texts of variable length. Refuses
        what the file cannot hold before anything is allocated, and what lies in other files."""
        facts = item.get_create_plist()
        if facts.get_external_count() or facts.get_layout() == self._h5py.h5d.VIRTUAL:
            raise DataError("its values lie in another file, where save_fit writes none")
        shape, dtype = item.shape, item.dtype
        size = math.prod(shape) * dtype.itemsize
        if size > self._n_bytes:
            chunked = self._h5py.Dataset(item).chunks is not None
            if not chunked or size > self._n_bytes * MAX_RATIO:
                raise DataError(
                    f"{self._h5py.Dataset(item).name}: claims to hold {size} bytes, which a file "
                    f"of {self._n_bytes} bytes cannot hold"
                )
        if dtype.kind not in "biufS":
            return np.asarray(self._h5py.Dataset(item)[()], dtype=object)
        values = np.zeros(shape, dtype)
        if values.size:
            item.read(self._h5py.h5s.ALL, self._h5py.h5s.ALL, values)
        return values
