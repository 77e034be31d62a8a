"""Archives: fits in one HDF5 file that is always whole.

/                attributes: pyspec (version that wrote it), schema
/fits/0001 …     one group for each fit: texts, tables, numbers
/arrays/<sha256> data, stored once however many fits use them
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._version import VERSION
from pyspec.errors import DataError
from pyspec.io.atomic import folder_lock, replacing
from pyspec.io.optional import need
from pyspec.io.tree import read_tree, write_tree

#: What this version writes, and the latest that it reads.
SCHEMA = 1

MODES = ("append", "new", "replace")


def digest(array: npt.NDArray[Any]) -> str:
    """sha256 of an array: its type, shape and values, the same on every machine."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    text = f"{plain.dtype.str} {plain.shape}".encode()
    return hashlib.sha256(text + b"\n" + plain.tobytes()).hexdigest()


def save_archive(
    path: str | Path,
    contents: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    mode: str = "append",
) -> None:
    """Adds fits to an archive; afterwards the file is the new one, or the old one.

    Parameters
    ----------
    path : the file; made where it is missing
    contents : one dict for each fit: text, numbers, arrays, lists and dicts of them
    arrays : digest → array, for data that several fits share
    mode : "append" to what is there, "replace" it, or "new" to refuse a file that exists

    The old file is copied to a temporary one in the same folder, which is added to, synced and
    renamed. Two processes that save at the same time wait for each other.

    Raises :class:`DataError` where the file is no archive, or cannot be written.
    """
    h5py = need("h5py", "an archive of fits")
    if mode not in MODES:
        raise DataError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    fits = [contents] if isinstance(contents, Mapping) else list(contents)
    target = Path(path).expanduser().resolve()
    with folder_lock(target):
        exists = target.exists()
        if exists and mode == "new":
            raise DataError(
                f"{target}: exists already; choose another name, mode='append' to add to it, or "
                "mode='replace'"
            )
        add = exists and mode == "append"
        if add:
            with _opened(h5py, target):
                pass
        with replacing(target) as part:
            if add:
                shutil.copyfile(target, part)
            with h5py.File(part, "r+" if add else "w") as file:
                _write(h5py, file, fits, arrays or {})


def _write(
    h5py: Any,
    file: Any,
    fits: Sequence[Mapping[str, Any]],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    file.attrs["pyspec"], file.attrs["schema"] = VERSION, SCHEMA
    group, shared = file.require_group("fits"), file.require_group("arrays")
    write_tree(h5py, shared, {key: a for key, a in arrays.items() if key not in shared}, "arrays")
    last = max((int(name) for name in group), default=0)
    for number, fit in enumerate(fits, last + 1):
        write_tree(h5py, group.create_group(f"{number:04d}", track_order=True), fit, "fits")


def load_archive(
    path: str | Path,
) -> tuple[list[dict[str, Any]], dict[str, npt.NDArray[Any]]]:
    """All fits of an archive in the order they were saved, and the arrays that they share.

    Raises :class:`DataError` for what is no archive, or one of an unknown schema.
    """
    h5py = need("h5py", "an archive of fits")
    with _opened(h5py, Path(path).expanduser()) as file:
        fits = [read_tree(h5py, file["fits"][name]) for name in sorted(file["fits"], key=int)]
        return fits, read_tree(h5py, file["arrays"])


@contextmanager
def _opened(h5py: Any, path: Path) -> Any:
    if not path.is_file():
        raise DataError(f"{path}: there is no such archive; save_fit makes one")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path}: is no archive of fits: not HDF5, or damaged ({error})") from None
    with file:
        schema, writer = file.attrs.get("schema"), file.attrs.get("pyspec")
        if schema is None or writer is None or "fits" not in file or "arrays" not in file:
            raise DataError(
                f"{path}: is HDF5, but no archive of fits; read data with read(), or choose "
                "another name to save under"
            )
        if not isinstance(schema, (int, np.integer)) or not 1 <= schema <= SCHEMA:
            raise DataError(
                f"{path}: has schema {schema}, written by pyspec {writer}; this is pyspec "
                f"{VERSION}, which knows schemas 1 to {SCHEMA}; update it: pip install -U pyspec"
            )
        yield file
