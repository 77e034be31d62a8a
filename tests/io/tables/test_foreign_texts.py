"""Texts of programs that were refused with a reason that was none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read

WAVES = [f"{500 + k}" for k in range(7)]
PLACES = [f"{0.5 * k:.2f}" for k in range(5)]
VALUES = [[f"{0.1 * i + k:.4f}" for k in range(7)] for i in range(5)]
HEAD = "file.ascii\nname\n{kind} explicit\nIntervalnr 7\n"


def wrapped(numbers: Sequence[str], n: int) -> str:
    return "".join(" ".join(numbers[k : k + n]) + "\n" for k in range(0, len(numbers), n))


def timp(n: int, how: str) -> str:
    rows = [[place, *values] for place, values in zip(PLACES, VALUES, strict=True)]
    if how == "axis alone":
        return wrapped(WAVES, n) + "".join(" ".join(row) + "\n" for row in rows)
    if how == "row by row":
        return wrapped(WAVES, n) + "".join(wrapped(row, n) for row in rows)
    if how == "on and on":
        return wrapped(WAVES, n) + wrapped([cell for row in rows for cell in row], n)
    return wrapped(WAVES + [cell for row in rows for cell in row], n)


@pytest.mark.parametrize("end", ["\x1a", "\r\n\x1a", "\x1a\r\n", "\x1a" * 20, "\n\x1a\x1a\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.ascii"])
def test_a_final_ctrl_z_is_no_data(tmp_path: Path, end: str, name: str) -> None:
    """DOS ends a text with it: "the row has 1 values, the others have 2"."""
    text = "".join(f"{k},{2 * k}\n" for k in range(9)).rstrip("\n")
    if name == "a.ascii":
        text = HEAD.format(kind="Wavelength") + timp(5, "row by row").rstrip("\n")
    (tmp_path / name).write_bytes((text + end).encode())
    assert np.isfinite(read(tmp_path / name).data).all()
    (tmp_path / "axis.txt").write_bytes(("1\n2\n3" + end).encode())
    assert read(tmp_path / "axis.txt", energy="index").data.tolist() == [1, 2, 3]


def test_a_ctrl_z_alone_is_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\r\n\x1a")
    with pytest.raises(DataError, match="the file is empty"):
        read(tmp_path / "a.txt")
