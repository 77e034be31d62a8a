"""What the process that reads a damaged archive says, and what is made of its lines."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import digest, load_archive, sandbox, save_archive
from pyspec.io.archive import header, salvage

DATA = np.arange(3.0)
ARRAY = f"arrays/{digest(DATA)}"
FITS = [{"number": k, "data_sha256": digest(DATA)} for k in (1.0, 2.0, 3.0)]


class Ended(BaseException):
    """In place of the end of the process."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_archive(tmp_path / "a.h5", FITS, arrays={digest(DATA): DATA})
    return tmp_path / "a.h5"


@pytest.fixture
def child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[dict[str, Any]]]:
    """The child's work in this process: the lines that it prints. After the last one the child ends
    without closing the file."""

    def end(code: int) -> None:
        assert code == 0
        raise Ended

    def run(path: Path, *skipped: str) -> list[dict[str, Any]]:
        monkeypatch.setattr(salvage.os, "_exit", end)
        is_ended = True
        with suppress(Ended):
            salvage._read_items(path, tmp_path / "whole.h5", skipped)
            is_ended = False
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert is_ended == ("end" in lines[-1])
        return lines

    return run


def begun(lines: list[dict[str, Any]]) -> list[str]:
    return [line["item"] for line in lines if set(line) == {"item"}]


def test_the_child_says_what_it_reads_before_and_after(
    path: Path, tmp_path: Path, child: Callable[..., list[dict[str, Any]]]
) -> None:
    items = ["fits/0001", "fits/0002", "fits/0003"]
    lines = child(path)
    assert begun(lines) == ["the file", "fits", *items, "arrays", ARRAY, "the file"]
    assert [line["item"] for line in lines if line.get("whole")] == [*items, ARRAY]
    assert lines[-1] == {"end": True}
    fits, arrays, report = load_archive(tmp_path / "whole.h5")
    assert (fits, list(arrays), report) == (FITS, [digest(DATA)], None)


def test_the_child_leaves_out_what_is_damaged_or_skipped(
    path: Path, tmp_path: Path, child: Callable[..., list[dict[str, Any]]]
) -> None:
    with h5py.File(path, "r+") as file:
        file["fits/0002/number"][()] = 5.0
        file.attrs["n_fits"] = 4
        file.attrs["n_arrays"] = 2
    lines = child(path, "fits/0001")
    assert {line["item"]: line["why"] for line in lines if "why" in line} == {
        "fits/0002": "fits/0002: its sha256 differs",
        "fits/0004": "is missing",
        "arrays": "1 of 2 are missing",
    }
    assert load_archive(tmp_path / "whole.h5")[0] == FITS[2:]
    lines = child(path, "fits")
    assert begun(lines) == ["the file", "arrays", ARRAY, "the file"]
    with h5py.File(path, "r+") as file:
        file["fits"].move("0003", "three")
    lines = child(path, "arrays")
    assert begun(lines) == ["the file", "fits", "the file"]
    assert "invalid literal for int" in lines[2]["why"]
    assert load_archive(tmp_path / "whole.h5")[:2] == ([], {})


def test_the_child_reads_fits_by_number(
    path: Path, tmp_path: Path, child: Callable[..., list[dict[str, Any]]]
) -> None:
    """From the ten thousandth on names are longer, and their order is another."""
    with h5py.File(path, "r+") as file:
        file["fits"].move("0002", "10000")
        file["fits"].move("0003", "9999")
        assert list(file["fits"]) == ["0001", "10000", "9999"]
    lines = child(path)
    assert begun(lines)[2:5] == ["fits/0001", "fits/9999", "fits/10000"]
    assert load_archive(tmp_path / "whole.h5")[0] == [FITS[0], FITS[2], FITS[1]]


def test_the_child_refuses_what_is_no_archive(
    path: Path, child: Callable[..., list[dict[str, Any]]]
) -> None:
    with h5py.File(path, "r+") as file:
        file.attrs["schema"] = 9
    first, last = child(path)
    assert first == {"item": "the file"}
    assert "has version 9 of the format, and this pyspec reads version 4 alone" in last["refused"]


Told = list[list[dict[str, Any]]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Told], list[tuple[Any, ...]]]:
    """Children whose lines are given; what each was asked."""

    def tell(lines: Told) -> list[tuple[Any, ...]]:
        asked: list[tuple[Any, ...]] = []

        def run(path: Path, target: Path, skipped: Any, n: int, seconds: float) -> Any:
            asked.append((path, tuple(skipped), n, seconds))
            return lines[len(asked) - 1]

        monkeypatch.setattr(salvage, "_run_child", run)
        return asked

    return tell


END = {"end": True}


def test_after_a_crash_the_next_child_leaves_out_what_was_read(
    path: Path, told: Callable[[Told], list[tuple[Any, ...]]]
) -> None:
    n = path.stat().st_size
    asked = told(
        [
            [{"item": "the file"}, {"item": "fits"}, {"item": "fits/0001"}],
            [{"item": "the file"}, {"item": "fits/0002"}, {"item": "fits/0002", "why": "bad"},
             {"item": ARRAY}, {"item": ARRAY, "whole": True}, {"item": "fits/0003"}],
            [{"item": "the file"}, {"item": ARRAY, "whole": True}, {"item": "the file"}, END],
        ]
    )  # fmt: skip
    report = salvage.salvage(path, path.with_name("b.h5"), Path("elsewhere"))
    crashed = "reading it crashed, took too long, or asked for too much memory"
    assert report.damaged == {"fits/0001": crashed, "fits/0002": "bad", "fits/0003": crashed}
    assert report.whole == (ARRAY,)
    assert [one[:3] for one in asked] == [
        (Path("elsewhere"), (), n),
        (Path("elsewhere"), ("fits/0001",), n),
        (Path("elsewhere"), ("fits/0001", "fits/0002", "fits/0003"), n),
    ]
    seconds = 30.0 + 0.5 * n / (1 << 20)
    assert all(one[3] == pytest.approx(seconds) for one in asked)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{"item": "the file"}],
        [{"item": "fits/0001", "whole": True}],
        [{"item": "fits/0001", "why": "bad"}],
    ],
)
def test_a_child_that_comes_to_nothing(
    path: Path, told: Callable[[Told], list[tuple[Any, ...]]], lines: list[dict[str, Any]]
) -> None:
    """Crashes that no item explains end the search."""
    asked = told([lines] * 3)
    with pytest.raises(DataError, match=r"a\.h5: is damaged: nothing in it can be read; copy it"):
        salvage.salvage(path, path.with_name("b.h5"))
    assert len(asked) == 1
    assert asked[0][0] == path


def test_time_is_up(
    path: Path, told: Callable[[Told], list[tuple[Any, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All children together get four times what one gets, of Python and of the system."""
    times = SimpleNamespace(children_user=1.5, children_system=0.25)
    monkeypatch.setattr(salvage.os, "times", lambda: times)
    assert salvage._spent() == 1.75
    asked = told([[{"item": f"fits/{k:04d}"}] for k in range(1, 9)])
    seconds = 30.0 + 0.5 * path.stat().st_size / (1 << 20)
    spent = iter([t * seconds for t in (0.2, 0.2, 1.7, 3.7, 4.2, 5.2)])
    monkeypatch.setattr(salvage, "_spent", lambda: next(spent))
    with pytest.raises(DataError, match="nothing in it can be read"):
        salvage.salvage(path, path.with_name("b.h5"))
    assert [one[3] for one in asked] == pytest.approx([seconds, seconds, 0.5 * seconds])


def test_children_that_wait_for_ever(
    path: Path, told: Callable[[Told], list[tuple[Any, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take no processor, but time on the clock."""
    asked = told([[{"item": f"fits/{k:04d}"}] for k in range(1, 9)])
    seconds = 30.0 + 0.5 * path.stat().st_size / (1 << 20)
    clock = iter([10.0 * t * seconds for t in (0.0, 0.0, 1.0, 2.0, 3.0, 4.0)])
    monkeypatch.setattr(salvage.time, "monotonic", lambda: next(clock))
    with pytest.raises(DataError, match="nothing in it can be read"):
        salvage.salvage(path, path.with_name("b.h5"))
    assert len(asked) == 4


def test_a_refusal_is_told_on(path: Path, told: Callable[[Told], list[tuple[Any, ...]]]) -> None:
    told([[{"item": "the file"}, {"refused": "it is of the future"}]])
    with pytest.raises(DataError, match=r"^it is of the future$"):
        salvage.salvage(path, path.with_name("b.h5"))


def test_how_the_child_is_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = path.stat().st_size
    lines = b'pyspec began\n{"item": "the file"}\nno json\n[1]\n{"end": true}\n{"cut'
    asked: list[Any] = []

    def ask(answer: Any) -> list[dict[str, Any]]:
        def run(command: list[str], **given: Any) -> Any:
            asked.extend((command, given))
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(sandbox.subprocess, "run", run)
        return salvage._run_child(path, Path("b.h5"), ["fits/0001"], n, 7.5)

    whole = subprocess.CompletedProcess([], 0, stdout=lines, stderr=b"")
    assert ask(whole) == [{"item": "the file"}, {"end": True}]
    command, given = asked
    assert command[:3] == [sys.executable, "-I", "-S"]
    assert given["timeout"] == 75.0
    work, *limits = pickle.loads(given["input"])
    assert (work.func, work.args) == (salvage._read_items, (path, Path("b.h5"), {"fits/0001"}))
    assert limits == [7.5, (512 << 20) + 64 * n]
    assert ask(subprocess.TimeoutExpired([], 75, output=lines[:34])) == [{"item": "the file"}]
    for answer, why in (
        (subprocess.TimeoutExpired([], 75.0), "no answer"),
        (subprocess.CompletedProcess([], 1, b"", b"Traceback\nImportError: no numpy"), "no numpy"),
        (OSError(12, "no memory"), "no memory"),
    ):
        own = r"a\.h5: needs a Python process of its own"
        with pytest.raises(DataError, match=f"{own} .*{why}"):
            ask(answer)


def test_what_was_cut_off_is_filled_up(path: Path, tmp_path: Path) -> None:
    """To the length in its header, but not to more than 1000 times its own."""
    folder, data = tmp_path / "folder", path.read_bytes()
    folder.mkdir()
    assert salvage._completed(path, folder) == path
    path.write_bytes(data[:-10])
    copy = salvage._completed(path, folder)
    assert copy == folder / "completed.h5"
    assert copy.read_bytes() == data[:-10] + bytes(10)
    path.write_bytes(data + b"\0")
    assert salvage._completed(path, folder) == path
    for length, is_filled in ((1000 * 513, True), (1000 * 513 + 1, False)):
        path.write_bytes(bytes(header.SIZE))
        with path.open("ab") as file:
            file.truncate(length)
        header.seal(path)
        path.write_bytes(path.read_bytes()[:513])
        assert (salvage._completed(path, folder) != path) == is_filled
    path.write_bytes(b"\0" + data[1:-10])
    assert salvage._completed(path, folder) == path


def test_reports_in_one_line() -> None:
    damaged = {f"fits/{k:04d}": "bad" for k in range(1, 6)}
    shown = "; ".join(f"fits/000{k}: bad" for k in range(1, 6))
    assert str(salvage.Report((), damaged)) == shown
    damaged["fits/0006"] = damaged["fits/0007"] = "bad"
    assert str(salvage.Report((), damaged)) == f"{shown}; and 2 more"
