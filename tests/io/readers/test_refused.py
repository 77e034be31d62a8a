"""What read says of files and options that are not clear, or that it does not take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read

ENERGY, TIME = np.linspace(80, 90, 11), np.linspace(-1, 5, 7)
DATA = np.random.default_rng(3).normal(size=(7, 11))
SQUARE = DATA[:, :7]
#: Data in text, and axes in files beside them.
SERIES = {
    "data.csv": "1,2,3,4\n5,6,7,8\n3,1,4,1\n",
    "energy.csv": "84.0\n84.5\n85.25\n86.0\n",
    "time.npy": np.array([0.0, 1.0, 3.0]),
}
INDEX = {"energy": "index"}
AXES = {"energy": ENERGY, "time": TIME}
SIGMA = {"data": "counts", "errors": "sigma"}


def put(path: Path, content: object) -> None:
    """A file of text, bytes, one array, or of arrays by their names."""
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, np.ndarray):
        np.save(path, content)
    elif isinstance(content, Mapping) and path.suffix == ".zip":
        with ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    elif isinstance(content, Mapping) and path.suffix == ".npz":
        np.savez(path, **content)
    elif isinstance(content, Mapping):
        with h5py.File(path, "w") as file:
            for name, array in content.items():
                file[name] = array


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        # one array
        ("a.npy", DATA, {}, "no time and no energy axis"),
        ("a.npy", np.zeros(3, complex), INDEX, "complex; save their real part"),
        ("a.npy", np.array(["a", "b"]), INDEX, "not numbers"),
        ("a.npy", np.array([{}], dtype=object), INDEX, "cannot be read as NPY"),
        ("a.npy", np.zeros((0, 3)), {**INDEX, "time": "index"}, "there is nothing to fit"),
        ("a.npy", DATA[0], AXES, "time= is given, but the data have the axes energy; leave"),
        # text, with axes beside it
        ("data.csv", None, {}, "no time and no energy axis; give it as"),
        ("data.csv", None, {"energy": [0, 1, 3], "time": [1, 2, 3, 4]}, "say read.*transpose=True"),
        ("data.csv", None, {**INDEX, "time": "tme.npy"}, "time='tme.npy' is no file.*'time.npy'"),
        ("data.csv", None, {"energy": "energy.csv"}, r"give it as read\(\.\.\., time=\.\.\.\)"),
        ("time.npy", None, {"energy": "data.csv"}, "one row of numbers; this has 3 rows and 4"),
        # data that would stay where they are
        ("data.csv", None, {"lazy": True}, "data stay in files of netcdf, hdf5, npy and zarr"),
        ("a.npy", DATA[0], {**INDEX, "lazy": True}, r"\(11,\); data by reference have \(n_time"),
        ("a.npy", DATA, {**AXES, "lazy": True, "transpose": True}, "transpose= needs the data in"),
        ("a.npy", DATA, {**AXES, "lazy": True, "time": TIME[::-1]}, "time axis does not rise all"),
        # what is no file of data
        ("~nobody0/a.csv", None, {}, r"~nobody0/a\.csv: is no path of a file"),
        ("a.zip", {"notes.txt": "words"}, {}, "is a zip archive with notes.txt; unpack it"),
        ("a.dat", bytes(range(256)) * 8, {}, r"a\.dat: this is no text and no format"),
        ("a.bin", b"\x1f\x8b\x08\x00", {}, "is compressed, which is not read; unpack it first"),
        ("a.bin", b"%PDF-1.7", {}, "is a PDF"),
        ("a.bin", b"\x89PNG\r\n\x1a\n", {}, "is a picture"),
        ("a.bin", b"SQLite format 3\x00", {}, r"export it as \.xy or \.vms"),
        ("a.bin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", {}, "an old Excel file"),
        ("a.bin", b"\x80\x04\x95abc", {}, "is a Python pickle"),
    ],
)
def test_what_is_not_read(
    tmp_path: Path, name: str, content: object, options: dict[str, object], message: str
) -> None:
    for beside, text in SERIES.items():
        put(tmp_path / beside, text)
    put(tmp_path / name, content)
    with pytest.raises(DataError, match=message):
        read(name if name[0] in "~h" else tmp_path / name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"run1": DATA, "run2": DATA, **AXES}, {}, r"which array .*\?.*run1 \(7 × 11\), run2"),
        ({"run1": DATA, **AXES}, {"data": "run3"}, "no array 'run3'; .*did you mean 'run1'"),
        ({"d": DATA[0], "time": TIME}, {"energy": "time"}, r"energy='time' has shape \(7,\)"),
        ({"n": np.array(1.0)}, {}, "holds no array of numbers"),
        ({"d": SQUARE, "a": TIME, "b": TIME}, {}, r"no time and no energy axis.*a \(7\), b"),
        (
            {"counts": np.ones((5, 7, 7)), "sigma": np.ones((7, 7, 5))},
            SIGMA,
            "which dimension is which",
        ),
        (
            {"counts": DATA, "sigma": SQUARE, **AXES},
            SIGMA,
            r"errors have shape \(7, 7\), the data \(7, 11\)",
        ),
    ],
)
def test_which_array_is_meant(
    tmp_path: Path,
    suffix: str,
    arrays: dict[str, np.ndarray],
    options: dict[str, str],
    message: str,
) -> None:
    put(tmp_path / f"a{suffix}", arrays)
    with pytest.raises(DataError, match=message):
        read(tmp_path / f"a{suffix}", **options)  # type: ignore[arg-type]


def test_a_file_whose_bytes_cannot_be_read_says_why() -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("a file of Linux that cannot be read")
    with pytest.raises(DataError, match=r"mem: cannot be read \(Input/output error\)"):
        read("/proc/self/mem")


def test_what_is_no_path() -> None:
    with pytest.raises(DataError, match="takes the path of a file, not int"):
        read(3)  # type: ignore[arg-type]
