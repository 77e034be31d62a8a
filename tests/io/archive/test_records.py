"""Fits and arrays in an HDF5 file: their numbering, their digests, and what has gone missing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from pyspec._version import VERSION
from pyspec.errors import DataError
from pyspec.io import digest
from pyspec.io.archive import contents as records
from pyspec.io.archive.tree import Reader

ONE, TWO = np.arange(3.0), np.arange(2, dtype=np.float32)
FIT = {"number": 1.5, "name": "x"}


@pytest.fixture
def file() -> Iterator[Any]:
    """An HDF5 file in memory."""
    with h5py.File("records", "w", driver="core", backing_store=False) as made:
        yield made


def reader() -> Reader:
    return Reader(h5py, 1 << 20)


def test_fits_are_numbered_and_arrays_stored_once(file: Any) -> None:
    records.write_items(file, [FIT], {digest(ONE): ONE})
    assert dict(file.attrs) == {
        "pyspec": VERSION.encode(),
        "schema": 4,
        "n_fits": 1,
        "n_arrays": 1,
    }
    records.write_items(file, [{"n": 1}, {}], {digest(ONE): ONE, digest(TWO): TWO})
    assert list(file["fits"]) == records.fit_names(file) == ["0001", "0002", "0003"]
    assert set(file["fits/0001"].attrs) == {"sha256"}
    assert set(file["arrays"]) == {digest(ONE), digest(TWO)}
    assert (file.attrs["n_fits"], file.attrs["n_arrays"]) == (3, 2)
    del file["fits/0002"]
    records.write_items(file, [{"n": 2}], {})
    assert records.fit_names(file) == ["0001", "0003", "0004"]
    assert (file.attrs["n_fits"], file.attrs["n_arrays"]) == (3, 2)
    file["fits"].move("0004", "10000")
    file["fits"].move("0003", "9999")
    assert records.fit_names(file) == ["0001", "9999", "10000"]


def lettered(text: str) -> dict[str, str]:
    """A fit of a letter, its label and when it ended."""
    names = ("letter", "label", "timestamp")
    return {name: one for name, one in zip(names, text.split(":"), strict=False) if one}


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        ("a b", "b", "a b"),
        ("a b", "a", "b a"),
        ("a b c", "b a d", "c b a d"),
        ("a", "a a", "a"),
        ("a b", "b c b", "a b c"),
        ("a:x b", "a", "b a:x"),
        ("a:x b", "a::9", "b a:x"),
        ("a:x:1 b", "a:x:2", "b a:x:1"),
        ("a b", "a:y c", "b a:y c"),
        ("a:x", "a:x a:y", "a:x a:y"),
        ("a:x", "a:y a:x", "a:y a:x"),
        ("a:x b c", "a:y c:z", "b a:y c:z"),
        ("a:x b", "a a:y", "b a:x a:y"),
    ],
)
def test_fits_that_are_there_move_behind_the_others(
    file: Any, before: str, given: str, after: str
) -> None:
    """A fit of another label takes the place of the one before, and one without a label is it."""
    records.write_items(file, [lettered(one) for one in before.split()], {})
    records.write_items(file, [lettered(one) for one in given.split()], {})
    names = records.fit_names(file)
    found = [records.fit_of(reader(), file, name) for name in names]
    assert found == [lettered(one) for one in after.split()]
    assert file.attrs["n_fits"] == len(names)
    assert names == [f"{number:04d}" for number in range(1, len(names) + 1)]


def test_a_fit_lies_before_the_next(tmp_path: Path) -> None:
    """Of a file that is cut off the fits before the cut are read."""
    fits = [{f"{n} name {k}": f"{n} text {k}{300 * ' '}" for k in range(20)} for n in "abc"]
    written = saved(tmp_path / "a.h5", fits, {}).read_bytes()
    words = [[text.encode() for pair in fit.items() for text in pair] for fit in fits]
    begins = [min(map(written.index, one)) for one in words]
    ends = [max(map(written.index, one)) for one in words]
    assert written.index(b"0003") < begins[0]
    assert ends[0] < begins[1]
    assert ends[1] < begins[2]


@pytest.mark.parametrize("name", [5, "", "0" * 63, "0" * 65, "G" * 64, "0" * 64 + "\n"])
def test_arrays_are_named_by_their_digests(file: Any, name: Any) -> None:
    with pytest.raises(DataError, match=r"^arrays/.*: is no sha256; name the array by pyspec\.io"):
        records.write_items(file, [], {name: ONE})
    assert not len(file)


def test_a_digest_is_checked_whenever_it_is_read(file: Any) -> None:
    records.write_items(file, [FIT, FIT], {digest(ONE): ONE, digest(TWO): TWO})
    assert records.fit_of(reader(), file, "0001") == FIT
    np.testing.assert_array_equal(records.array_of(reader(), file, digest(ONE)), ONE)
    file["fits/0001/number"][()] = 2.5
    with pytest.raises(DataError, match=r"^fits/0001: its sha256 differs$"):
        records.fit_of(reader(), file, "0001")
    assert records.fit_of(reader(), file, "0002") == FIT
    file[f"arrays/{digest(ONE)}"][0] = 9.0
    with pytest.raises(DataError, match=f"^arrays/{digest(ONE)}: its sha256 differs$"):
        records.array_of(reader(), file, digest(ONE))
    assert records.array_of(reader(), file, digest(TWO)).dtype == np.float32


def test_a_fit_is_a_dict(file: Any) -> None:
    """A list without members has the digest of a dict without members."""
    records.write_items(file, [{}], {})
    assert file["fits/0001"].attrs["sha256"] == hashlib.sha256().hexdigest().encode()
    assert records.fit_of(reader(), file, "0001") == {}
    file["fits/0001"].attrs["list"] = 0
    with pytest.raises(DataError, match=r"^fits/0001: its sha256 differs$"):
        records.fit_of(reader(), file, "0001")


def test_missing_fits(file: Any) -> None:
    def missing(*names: str) -> list[str]:
        found = records.missing_items(file, "fits", names)
        assert set(found.values()) <= {"is missing"}
        return [name.removeprefix("fits/") for name in found]

    assert missing() == []
    assert missing("0001", "0002") == []
    assert missing("0001", "0004") == ["0002", "0003"]
    file.attrs["n_fits"] = 3
    assert missing() == ["0001", "0002", "0003"]
    assert missing("0001") == ["0002", "0003"]
    assert missing("0001", "0002", "0003") == []
    assert missing("0001", "0002", "0003", "0004") == []
    file.attrs["n_fits"] = 100
    assert len(missing()) == 100
    file.attrs["n_fits"] = -5
    assert missing("0002") == ["0001"]


@pytest.mark.parametrize(
    ("counted", "name", "last"),
    [(1, "9999", 101), (1 << 40, "0005", 105), (101, "0000", 100), (-5, "0101", 100)],
)
def test_a_damaged_number_is_not_believed_at_any_length(
    file: Any, counted: int, name: str, last: int
) -> None:
    """The names of 2^40 fits used to fill the memory."""
    file.attrs["n_fits"] = counted
    *found, beyond = records.missing_items(file, "fits", [name]).items()
    wanted = [f"fits/{number:04d}" for number in range(1, last + 1)]
    assert [one for one, _ in found] == [one for one in wanted if one != f"fits/{name}"]
    assert beyond == (f"fits after {last:04d}", f"1 fits are there, {counted} are counted")


def test_missing_arrays(file: Any) -> None:
    assert records.missing_items(file, "arrays", ["a"]) == {}
    file.attrs["n_arrays"] = 2
    assert records.missing_items(file, "arrays", ["a", "b"]) == {}
    assert records.missing_items(file, "arrays", ["a", "b", "c"]) == {}
    assert records.missing_items(file, "arrays", ["a"]) == {"arrays": "1 of 2 are missing"}
    assert records.missing_items(file, "arrays", []) == {"arrays": "2 of 2 are missing"}


@pytest.mark.parametrize("lost", ["schema", "pyspec", "fits", "arrays"])
def test_what_makes_an_archive(file: Any, lost: str) -> None:
    records.write_items(file, [], {})
    records.check_root(file, Path("a.h5"))
    if lost in file:
        del file[lost]
    else:
        del file.attrs[lost]
    with pytest.raises(DataError, match=r"^a\.h5: is HDF5, but no archive of fits; read data with"):
        records.check_root(file, Path("a.h5"))


@pytest.mark.parametrize("schema", [0, 3, 5, -1, 4.0, "2" * 200])
@pytest.mark.parametrize("by", [np.bytes_(b"9.1" + b"x" * 60), "9.1" + "x" * 60])
def test_schemas_that_are_not_known(file: Any, schema: Any, by: Any) -> None:
    records.write_items(file, [], {})
    file.attrs["schema"], file.attrs["pyspec"] = schema, by
    shown = str(schema)
    if len(shown) > 100:
        shown = "2" * 66 + " … (118 characters left out) … " + "2" * 16
    text = f"a.h5: has version {shown} of the format, and this pyspec reads version 4 alone; "
    with pytest.raises(DataError, match="^" + re.escape(text)):
        records.check_root(file, Path("a.h5"))


def saved(path: Path, fits: list[Any], arrays: dict[str, Any]) -> Path:
    with h5py.File(path, "w") as made:
        records.write_items(made, fits, arrays)
    return path


def test_what_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "a.h5", [FIT], {digest(ONE): ONE, digest(TWO): TWO})
    fits, arrays = records.load_checked(h5py, path)
    assert fits == [FIT]
    assert {name: list(one) for name, one in arrays.items()} == {
        digest(ONE): [0.0, 1.0, 2.0],
        digest(TWO): [0.0, 1.0],
    }

    def full(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Reader, "array", full)
    with pytest.raises(
        DataError, match=r"too large for the memory .*; its data alone take 32 byte"
    ):
        records.load_checked(h5py, path)


def test_what_is_no_archive(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.h5", [FIT], {})
    with h5py.File(path, "r+") as file:
        file["fits/0001/number"][()] = 2.5
    with pytest.raises(DataError, match=r"a\.h5: is damaged: fits/0001: its sha256 differs; copy"):
        records.load_checked(h5py, path)
    with h5py.File(path, "w") as file:
        file["x"] = 1
    with pytest.raises(DataError, match="is HDF5, but no archive of fits"):
        records.load_checked(h5py, path)
    path.write_bytes(b"nothing of the kind")
    with (
        pytest.raises(DataError, match=r"^shown: is no archive of fits: not HDF5, or damaged \("),
        records.opened(h5py, path, Path("shown")),
    ):
        pass


@pytest.mark.parametrize(
    ("texts", "last", "letters"),
    [
        ({}, False, "abca"),
        ({}, True, "a"),
        ({"letter": "a"}, False, "aa"),
        ({"letter": ["b", "c"]}, True, "c"),
        ({"letter": "abc", "label": ["x", "y"]}, False, "bc"),
        ({"letter": "a", "label": ["x"]}, False, ""),
        ({"label": [None]}, True, ""),
    ],
)
def test_the_fits_that_are_wanted(tmp_path: Path, texts: Any, last: bool, letters: str) -> None:
    """Data of other fits are not read."""
    fits = [{**lettered(one), "data_sha256": digest(ONE)} for one in ("a", "b:x", "c:y")]
    fits.append({**lettered("a:z"), "data_sha256": digest(TWO)})
    path = saved(tmp_path / "a.h5", fits, {digest(ONE): ONE, digest(TWO): TWO})
    found, arrays = records.load_checked(h5py, path, records.Wanted(texts, last))
    assert "".join(str(fit["letter"]) for fit in found) == letters
    assert set(arrays) == {fit["data_sha256"] for fit in found}
