"""HDF5 files that read from other files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import load_archive, read, save_archive
from pyspec.io.archive import header
from pyspec.io.archive.addresses import opened_again
from pyspec.io.archive.salvage import salvage_report

ENERGY = np.linspace(80.0, 90.0, 8)
SECRET = np.arange(8.0) + 1000
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    (made / "below").mkdir(parents=True)
    for place in (tmp_path / "other.h5", made / "below" / "other.h5", made / "other.h5"):
        with h5py.File(place, "w") as file:
            file["values"] = SECRET
    (tmp_path / "raw.bin").write_bytes(SECRET.tobytes())
    (made / "raw.bin").write_bytes(SECRET.tobytes())
    return made


def virtual(file: Any, name: str, size: int = 8, key: str = "values") -> None:
    layout = h5py.VirtualLayout(shape=(size,), dtype="f8")
    layout[:] = h5py.VirtualSource(name, key, shape=(size,))
    file.create_virtual_dataset("data", layout)


def external(file: Any, name: str) -> None:
    file.create_dataset("data", shape=(8,), dtype="f8", external=[(name, 0, 64)])


def link(file: Any, name: str) -> None:
    file["data"] = h5py.ExternalLink(name, "/values")


def make(path: Path, put: Callable[[Any, str], None], name: str) -> Path:
    with h5py.File(path, "w") as file:
        file["energy"] = ENERGY
        put(file, name)
    return path


@pytest.mark.parametrize("where", ["raw.bin", "../raw.bin", "absolute"])
@pytest.mark.parametrize("ending", ["h5", "nxs", "nc", "mat"])
def test_external_storage_is_refused(folder: Path, where: str, ending: str) -> None:
    """The numbers of any file that the reader may read came back as data."""
    name = str(folder / "raw.bin") if where == "absolute" else where
    path = make(folder / f"a.{ending}", external, name)
    with pytest.raises(DataError, match=r"data: its values lie in another file, .*raw\.bin"):
        read(path)


@pytest.mark.parametrize("put", [virtual, link])
@pytest.mark.parametrize(
    "where", ["../other.h5", "absolute", "below/../../other.h5", "hop/other.h5"]
)
def test_other_files_outside_of_the_folder_are_refused(
    folder: Path, put: Callable[[Any, str], None], where: str
) -> None:
    (folder / "hop").symlink_to(folder.parent)
    name = str(folder.parent / "other.h5") if where == "absolute" else where
    path = make(folder / "a.h5", put, name)
    for lazy in (False, True):
        with pytest.raises(DataError, match="outside of the folder"):
            read(path, data="data", lazy=lazy)


@pytest.mark.parametrize(
    ("put", "where"),
    [(virtual, "other.h5"), (virtual, "below/other.h5"), (link, "below/other.h5")],
)
def test_files_of_the_own_folder_are_read_and_noted(
    folder: Path, put: Callable[[Any, str], None], where: str
) -> None:
    path = make(folder / "a.nxs", put, where)
    with h5py.File(path, "a") as file:
        file.attrs["NX_class"], file.attrs["signal"] = "NXdata", "data"
        file.attrs["axes"] = "energy"
    dataset = read(path)
    assert dataset.data.tolist() == SECRET.tolist()
    assert f"reads from other files of its folder: {Path(where)}" in dataset.notes


def test_files_that_others_read_from_are_looked_at_too(folder: Path) -> None:
    """A virtual data set of the own folder whose source has external storage, or leads further."""
    for put, name, why in (
        (external, "../raw.bin", "its values lie in another file"),
        (virtual, "../other.h5", "outside of the folder"),
        (link, "../other.h5", "outside of the folder"),
    ):
        make(folder / "hop.h5", put, name)
        path = folder / "a.h5"
        with h5py.File(path, "w") as file:
            file["energy"] = ENERGY
            virtual(file, "hop.h5", key="data")
        with pytest.raises(DataError, match=why):
            read(path, data="data")


def counted(path: Path, name: str) -> None:
    """A virtual data set of as many parts of 8 values as there are files of this name."""
    space = h5py.h5s.create_simple((8,), (h5py.h5s.UNLIMITED,))
    space.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (8,), (8,))
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_virtual(space, name.encode(), b"values", h5py.h5s.create_simple((8,)))
    with h5py.File(path, "w") as file:
        h5py.h5d.create(file.id, b"data", h5py.h5t.NATIVE_DOUBLE, space, how)


def test_a_counted_name_is_followed(folder: Path) -> None:
    """``part%b.h5`` stands for part0.h5, part1.h5 and so on."""
    path = folder / "a.h5"
    counted(path, "part%b.h5")
    with pytest.raises(DataError, match=r"part%b\.h5, which is not there"):
        read(path)
    for k in range(2):
        (folder / f"part{k}.h5").write_bytes((folder / "other.h5").read_bytes())
    dataset = read(path, energy="index")
    assert dataset.data.tolist() == [*SECRET, *SECRET]
    assert "reads from other files of its folder: part0.h5, part1.h5" in dataset.notes
    counted(path, "../part%b.h5")
    with pytest.raises(DataError, match="outside of the folder"):
        read(path, energy="index")


@PIPES
def test_a_fifo_does_not_hold_the_reader(folder: Path) -> None:
    """It held read() for 200 s."""
    os.mkfifo(folder / "pipe.h5")
    for put in (virtual, link):
        path = make(folder / "a.h5", put, "pipe.h5")
        with pytest.raises(DataError, match="no ordinary file"):
            read(path, data="data")
    path = make(folder / "a.h5", external, "pipe.h5")
    with pytest.raises(DataError, match="its values lie in another file"):
        read(path, data="data")


def test_a_missing_source_is_no_fill_value(folder: Path) -> None:
    """The library reads zeros where a source is missing."""
    path = make(folder / "a.h5", virtual, "gone.h5")
    with pytest.raises(DataError, match=r"gone\.h5, which is not there"):
        read(path, data="data")


def test_the_working_folder_does_not_stand_in_for_the_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library looks there where it finds no file beside the one that names it."""
    (folder / "other.h5").unlink()
    path = make(folder / "a.h5", link, "other.h5")
    with pytest.raises(DataError, match="no array 'data'"):
        read(path, data="data")
    monkeypatch.chdir(tmp_path)
    for put in (link, virtual):
        with pytest.raises(DataError, match="is not there"):
            read(make(folder / "a.h5", put, "other.h5"), data="data")


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("put", [virtual, external])
def test_an_archive_reads_no_other_file(
    folder: Path, put: Callable[[Any, str], None], tmp_path: Path
) -> None:
    path = folder / "fits.h5"
    save_archive(path, [{"number": np.arange(8.0)}])
    with h5py.File(path, "a") as file:
        del file["fits/0001/number"]
        put(file["fits/0001"], str(tmp_path / ("raw.bin" if put is external else "other.h5")))
        file["fits/0001"].move("data", "number")
    header.seal(path)
    with pytest.raises(DataError, match="lie in another file"):
        load_archive(path)
    assert "lie in another file" in salvage_report(path).damaged["fits/0001"]


ADDRESSES = [
    "http://127.0.0.1:9/a.zarr", "s3://bucket/a.zarr", "file:///etc", "memory://a", "//host/a",
    "\\\\host\\share\\a.h5", "simplecache::http://127.0.0.1:9/a", "zip::/a.zip", "/nowhere/a.h5",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["hdf5", "npy", "zarr"])
@pytest.mark.parametrize("path", ADDRESSES)
def test_an_archive_refers_to_a_local_path(kind: str, path: str) -> None:
    """zarr and its file systems asked whatever address an archive of somebody else named."""
    with pytest.raises(DataError, match=r"an address that is not opened|no such file"):
        opened_again({"what": "data", "kind": kind, "path": path, "key": "data"})


@PIPES
def test_an_archive_refers_to_no_pipe_and_no_file_with_external_storage(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    path = make(folder / "a.h5", external, "../raw.bin")
    for kind, place in (("hdf5", "pipe"), ("npy", "pipe"), ("zarr", "pipe")):
        with pytest.raises(DataError, match="no such file"):
            opened_again({"what": "data", "kind": kind, "path": str(folder / place), "key": ""})
    with pytest.raises(DataError, match="lie in another file"):
        opened_again({"what": "data", "kind": "hdf5", "path": str(path), "key": "data"})
