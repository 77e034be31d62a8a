"""Trees in HDF5 groups: their bytes and digests are those of docs/archive_format.md, and what
cannot be written, or cannot have been, is refused exactly where that begins."""

from __future__ import annotations

import hashlib
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io.archive.tree import Reader, write_tree

MUCH = 1 << 20


@pytest.fixture
def file() -> Iterator[Any]:
    """An HDF5 file in memory."""
    with h5py.File("tree", "w", driver="core", backing_store=False, track_order=True) as made:
        yield made


def line(kind: str, path: str, details: str = "") -> bytes:
    return f"{kind} {len(path.encode())} {path} {details}\n".encode()


TREE: dict[str, Any] = {
    "a": {"b": 1.5, "none": None, "é": True},
    "words": ["x", "yé"],
    "text": "t\n",
    "empty": "",
    "nothing": [],
    "mixed": [1, "x", None, {"k": 2}],
    "pair": (np.float32(3.0), 4),
    "array": np.arange(6.0).reshape(2, 3),
    "swapped": np.arange(2, dtype=">i4"),
    "zero": np.zeros((0, 3)),
}
STREAM = b"".join(
    [
        line("group", "a"),
        line("numbers", "a/b", "<f8 ()") + np.float64(1.5).tobytes(),
        line("numbers", "a/é", "|b1 ()") + b"\x01",
        line("text", "words", "(2,)") + b"1\nx" + b"3\ny\xc3\xa9",
        line("text", "text", "()") + b"2\nt\n",
        line("text", "empty", "()") + b"0\n",
        line("text", "nothing", "(0,)"),
        line("list", "mixed", "4"),
        line("numbers", "mixed/0", "<i8 ()") + np.int64(1).tobytes(),
        line("text", "mixed/1", "()") + b"1\nx",
        line("group", "mixed/3"),
        line("numbers", "mixed/3/k", "<i8 ()") + np.int64(2).tobytes(),
        line("list", "pair", "2"),
        line("numbers", "pair/0", "<f4 ()") + np.float32(3.0).tobytes(),
        line("numbers", "pair/1", "<i8 ()") + np.int64(4).tobytes(),
        line("numbers", "array", "<f8 (2, 3)") + np.arange(6.0).tobytes(),
        line("numbers", "swapped", "<i4 (2,)") + np.arange(2, dtype="<i4").tobytes(),
        line("numbers", "zero", "<f8 (0, 3)"),
    ]
)


def test_the_digest_is_that_of_the_page(file: Any) -> None:
    wanted = hashlib.sha256(STREAM).hexdigest()
    assert write_tree(file, TREE) == wanted
    found, own = Reader(h5py, MUCH).tree(file)
    assert own == wanted
    assert list(found) == list(TREE)
    assert found["a"] == {"b": 1.5, "é": True}
    assert (type(found["a"]["b"]), type(found["a"]["é"])) == (float, bool)
    assert (found["words"], found["text"], found["empty"]) == (["x", "yé"], "t\n", "")
    assert (found["nothing"], found["mixed"]) == ([], [1, "x", None, {"k": 2}])
    assert found["pair"] == [3.0, 4]
    for name in ("array", "swapped", "zero"):
        assert found[name].dtype == TREE[name].dtype
        np.testing.assert_array_equal(found[name], TREE[name])


def test_texts_take_as_many_bytes_as_the_longest(file: Any) -> None:
    write_tree(file, {"words": ["x", "yé"], "empty": "", "nothing": []})
    sizes = {name: file[name].dtype.itemsize for name in ("words", "empty", "nothing")}
    assert sizes == {"words": 3, "empty": 1, "nothing": 1}
    assert file["words"].shape == (2,)


def test_the_file_keeps_no_times(tmp_path: Path) -> None:
    """A tree has the same bytes whenever it is written."""
    begin = int(time.time())
    with h5py.File(tmp_path / "a.h5", "w") as made:
        write_tree(made.create_group("a", track_order=True), TREE)
    written = (tmp_path / "a.h5").read_bytes()
    seconds = range(begin, int(time.time()) + 1)
    assert not any(second.to_bytes(4, "little") in written for second in seconds)


def test_texts_of_any_length_are_read(file: Any) -> None:
    """Other programs write them."""
    file["one"], file["two"] = "yé", ["x", "yé"]
    assert Reader(h5py, MUCH).tree(file)[0] == {"one": "yé", "two": ["x", "yé"]}


@pytest.mark.parametrize("is_virtual", [False, True])
def test_values_of_another_file_are_not_read(tmp_path: Path, is_virtual: bool) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        if is_virtual:
            layout = h5py.VirtualLayout((3,), "f8")
            layout[:] = h5py.VirtualSource(tmp_path / "b.h5", "x", (3,))
            file.create_virtual_dataset("x", layout)
        else:
            file.create_dataset("x", (3,), "f8", external=[(tmp_path / "b", 0, 24)])
        with pytest.raises(DataError, match="its values lie in another file"):
            Reader(h5py, MUCH).array(file["x"])


@pytest.mark.parametrize(
    ("value", "is_packed"),
    [
        (np.zeros(4095), False),
        (np.zeros(4096), True),
        ("x" * (8 * 4096 - 1), False),
        ("x" * (8 * 4096), False),  # HDF5 packs no single value; this used to be a TypeError
        (["x" * 4096] * 7, False),
        (["x" * 4096] * 8, True),
    ],
)
def test_what_is_large_is_compressed_with_a_checksum(
    file: Any, value: Any, is_packed: bool
) -> None:
    write_tree(file, {"a": value})
    made = file["a"]
    packed = (made.compression, made.compression_opts, made.shuffle, made.fletcher32)
    assert packed == (("gzip", 4, True, True) if is_packed else (None, None, False, False))
    found = Reader(h5py, MUCH).tree(file)[0]["a"]
    assert np.array_equal(found, value)


def nested(depth: int, is_list: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if is_list else {"x": value}
    return {"x": value}


@pytest.mark.parametrize("is_list", [False, True])
def test_sixteen_levels(file: Any, is_list: bool) -> None:
    value = nested(16, is_list)
    write_tree(file, value)
    assert Reader(h5py, MUCH).tree(file)[0] == value
    key = "0" if is_list else "x"
    place = "/".join(["at", "x", *[key] * 16])
    with pytest.raises(DataError, match=f"^'{place}': nested more than 16 levels; flatten it$"):
        write_tree(file.create_group("other"), nested(17, is_list), "at")
    group = file.create_group("deep")
    inner = group
    for _ in range(17):
        inner = inner.create_group("0")
        if is_list:
            inner.attrs["list"] = 1
    place = "/".join(["0"] * 17)
    with pytest.raises(DataError, match=f"^'{place}': nested more than 16 levels$"):
        Reader(h5py, MUCH).tree(group)
    assert Reader(h5py, MUCH).tree(group["0"])[0] is not None


@pytest.mark.parametrize("name", [5, "", ".", "a/b", "a\x00", "\ud800", "/", None])
@pytest.mark.parametrize(
    ("where", "place", "inner"), [("", "/", "b"), ("fits/0001", "fits/0001", "fits/0001/b")]
)
def test_names_that_cannot_be(file: Any, name: Any, where: str, place: str, inner: str) -> None:
    with pytest.raises(DataError, match=f"^'{place}': .* cannot be a name in an archive$"):
        write_tree(file, {name: 1}, where)
    with pytest.raises(DataError, match=f"^'{inner}': .* cannot be a name in an archive$"):
        write_tree(file, {"b": {name: 1}}, where)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_texts_that_cannot_be(file: Any, text: str) -> None:
    for value in (text, ["good", text]):
        with pytest.raises(DataError, match=r"^fits/0001/a: the text .* holds a character that"):
            write_tree(file, {"a": value}, "fits/0001")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.zeros(2, np.complex64), "complex64"),
        (np.zeros(2, "S3"), r"\|S3"),
        (np.array([None]), "object"),
        (1j, "complex"),
        (10**30, "int"),
        ({1}, "set"),
        (deque([[1.0], [1.0, 2.0]]), "deque"),
    ],
)
def test_numbers_that_cannot_be(file: Any, value: Any, shown: str) -> None:
    with pytest.raises(DataError, match=f"^a: {shown} cannot be archived; use text, numbers of"):
        write_tree(file, {"a": value})
    with pytest.raises(DataError, match=f"^here/a: {shown} cannot be archived"):
        write_tree(file, {"a": value}, "here")


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no longer numbers here")
def test_numbers_of_more_than_8_bytes_cannot_be(file: Any) -> None:
    name = np.dtype(np.longdouble).name
    with pytest.raises(DataError, match=f"^a: {name} cannot be archived"):
        write_tree(file, {"a": np.zeros(2, np.longdouble)})
    write_tree(file, {"f8": np.zeros(2), "i8": np.zeros(2, np.int64), "u1": np.uint8(3)})
    assert len(file) == 3


def test_no_dataset_is_larger_than_its_file_can_hold(file: Any) -> None:
    """Compressed data are at most 1032 times as long as what packs them."""
    file["plain"] = np.zeros(10)
    file.create_dataset("packed", shape=(1032,), dtype="f8", chunks=(129,))
    file.create_dataset("longer", shape=(1033,), dtype="f8", chunks=(129,))
    assert Reader(h5py, 80).array(file["plain"]).size == 10
    assert Reader(h5py, 8).array(file["packed"]).size == 1032
    text = "/plain: claims to hold 80 bytes, which a file of 79 bytes cannot hold"
    with pytest.raises(DataError, match=f"^{text}$"):
        Reader(h5py, 79).array(file["plain"])
    with pytest.raises(DataError, match=r"^/longer: claims to hold 8264 bytes, which a file of 8 "):
        Reader(h5py, 8).array(file["longer"])
    with pytest.raises(DataError, match=r"^/plain: claims to hold 80 bytes"):
        Reader(h5py, 8).tree(file)
    file["texts"] = np.array([b"x"] * 10, "S1")
    with pytest.raises(DataError, match=r"^/texts: holds no numbers$"):
        Reader(h5py, 80).array(file["texts"])


@pytest.mark.parametrize("size", [-1, 0, 7, 8])
def test_a_list_has_at_most_as_many_entries_as_the_file_bytes(file: Any, size: int) -> None:
    file.create_group("a").attrs["list"] = size
    if size in (0, 7):
        assert Reader(h5py, 7).tree(file)[0] == {"a": [None] * size}
        return
    with pytest.raises(DataError, match=f"^a: a list of {size} entries cannot be in the file"):
        Reader(h5py, 7).tree(file)


def test_lists_in_the_file_need_not_be_complete(file: Any) -> None:
    group = file.create_group("a")
    group.attrs["list"] = 3
    group["1"] = 5.0
    group["no member"] = 6.0
    assert re.sub(r"\s", "", str(Reader(h5py, MUCH).tree(file)[0])) == "{'a':[None,5.0,None]}"
