"""Text files: separators, decimal signs, headers, layouts, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.io import read

X = np.array([84.0, 84.5, 85.25, 86.0, 86.75])
Y = np.array([1.0, 12.5, 3.25, 1e3, -2.0])


def write(folder: Path, text: str, name: str = "spectrum.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(separator: str, decimal: str = ".") -> str:
    rows = [f"{x}{separator}{y}".replace(".", decimal) for x, y in zip(X, Y, strict=True)]
    return "\n".join(rows) + "\n"


def test_axes_in_files_of_their_own(tmp_path: Path) -> None:
    data = np.random.default_rng(1).normal(size=(3, 4))
    np.savetxt(tmp_path / "data.csv", data, delimiter=",")
    np.savetxt(tmp_path / "energy.csv", X[:4])
    np.save(tmp_path / "time.npy", np.array([0.0, 1.0, 3.0]))
    path = tmp_path / "data.csv"
    found = read(path, energy="energy.csv", time="time.npy")
    np.testing.assert_allclose(found.data, data, rtol=1e-15)
    np.testing.assert_array_equal(found.time, [0, 1, 3])
    same = read(path, energy=X[:4], time="index")
    np.testing.assert_array_equal(same.time, [0, 1, 2])
    with pytest.raises(
        DataError,
        match=r"no time and no energy axis.*say read\('.*data.csv', energy='energy.csv', ",
    ):
        read(path)
    with pytest.raises(DataError, match=r"look transposed: say read\(\.\.\., transpose=True\)"):
        read(path, energy=[0, 1, 3], time=X[:4])
    turned = read(path, energy=[0, 1, 3], time=X[:4], transpose=True)
    np.testing.assert_allclose(turned.data, data.T, rtol=1e-15)
    with pytest.raises(DataError, match=r"energy='enrgy.csv' is no file.*mean 'energy.csv'"):
        read(path, energy="enrgy.csv", time="index")
    with pytest.raises(DataError, match=r"give it as read\(\.\.\., time=\.\.\.\)"):
        read(path, energy="energy.csv")


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    write(tmp_path, lines(","), "spectrum.csv")
    with pytest.raises(DataError, match=r"no such file; did you mean 'spectrum\.csv'"):
        read(tmp_path / "spektrum.csv")
    with pytest.raises(DataError, match=r"there is no folder"):
        read(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataError, match=r"is a folder; give a file of it, such as spectrum\.csv"):
        read(tmp_path)
    (tmp_path / "junk.dat").write_bytes(bytes(range(256)) * 8)
    with pytest.raises(DataError, match=r"junk\.dat: this is no text and no format"):
        read(tmp_path / "junk.dat")
    with pytest.raises(DataError, match="takes the path of a file, not int"):
        read(3)  # type: ignore[arg-type]
