"""Tables whose first, last or named rows are not like the others, and matrices with few columns."""

from pathlib import Path

import numpy as np
import pytest

from pyspec import read
from pyspec.errors import DataError

DATA = np.random.default_rng(0).normal(10.0, 1.0, (5, 9)).round(3)
ENERGY = np.linspace(80, 84, 9)


def written(folder: Path, text: str) -> Path:
    (folder / "table.csv").write_text(text, encoding="utf-8")
    return folder / "table.csv"


def matrix(folder: Path, times: list[float], width: int = 9, corner: str = "0", end: str = ""):
    head = [corner, *(f"{energy:g}" for energy in ENERGY[:width])]
    rows = [[f"{t:g}", *map(str, row[:width])] for t, row in zip(times, DATA, strict=True)]
    return written(folder, "".join(",".join(row) + "\n" for row in [head, *rows]) + end)


@pytest.mark.parametrize("times", [[-1, 0, 1, 1, 2], [2, 1, 1, 0, -1], [-1, 0, 1, 0, -1]])
def test_a_delay_that_was_measured_twice_is_named(tmp_path: Path, times: list[float]) -> None:
    """The error said that the data have no time and no energy axis."""
    path = matrix(tmp_path, times)
    with pytest.raises(DataError, match=r"the time axis .*sort=True\) sorts it .* averages"):
        read(path)
    found = read(path, sort=True)
    assert found.time.tolist() == sorted(set(times))
    twice = [k for k, time in enumerate(times) if time == 1]
    at = found.time.tolist().index(1.0)
    assert np.allclose(found.data[at], DATA[twice].mean(axis=0), rtol=1e-14)


def test_columns_that_begin_at_zero_stay_columns(tmp_path: Path) -> None:
    for rows in (
        np.arange(20.0).reshape(4, 5),
        np.column_stack([np.arange(5.0), DATA[:, :4]]),
        np.column_stack([np.arange(5.0), np.sort(DATA[:, :4], axis=1)]),
    ):
        text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
        found = read(written(tmp_path, text))
        assert np.array_equal(found.data, rows[:, 1:].T)
        assert np.array_equal(found.energy, rows[:, 0])
    # Points of a grid that is not complete are none of both.
    with pytest.raises(DataError, match="layout='points'"):
        read(written(tmp_path, "0,80,3\n0,81,4\n0,82,5\n1,80,6\n1,81,7\n"))


@pytest.mark.slow
def test_a_long_row_with_a_remark_is_read_at_once(tmp_path: Path) -> None:
    """Each of its digits was tried as the last one: a row of 10,000 values took two minutes,
    and one of 100,000 would take hours."""
    rows = [" ".join(map(str, range(k, 100_000 + k))) for k in range(4)]
    assert read(written(tmp_path, f"{rows[0]}\n{rows[1]} # spike\n{rows[2]}\n")).shape[1] == 99_999
    with pytest.raises(DataError, match=r":2: the row has 100003 values"):
        read(written(tmp_path, f"{rows[0]}\n{rows[1]} nan # spike\n{rows[2]}\n{rows[3]}\n"))


def test_delays_in_the_order_of_a_scan_are_a_row_of_axis(tmp_path: Path) -> None:
    """A first row of delays in any order, some twice, was data: the wavelengths got one at 0, and
    each delay was a column of a table."""
    rng, wavelength = np.random.default_rng(0), np.linspace(420.0, 750.0, 60)
    delay = np.r_[np.linspace(-1, 1, 21), np.geomspace(1.2, 1500, 20)]
    order = rng.permutation(np.r_[0:41, 3, 20])
    data = delay[None, :] * 0.01 + wavelength[:, None]
    for corner in ("0", "NaN"):
        rows = [[corner, *delay[order].astype(str)]]
        rows += [
            [str(at), *row[order].astype(str)] for at, row in zip(wavelength, data, strict=True)
        ]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(",".join(row) for row in rows))
        with pytest.raises(DataError, match=r"the time axis is not sorted: .*sort=True"):
            read(path)
        scan = read(path, sort=True)
        np.testing.assert_allclose(scan.axes["time"], delay)
        np.testing.assert_allclose(scan.axes["energy"], wavelength)
        np.testing.assert_allclose(scan.data, data.T)
    # Columns beside an axis that begins at 0 are none.
    table = np.c_[np.arange(0.0, 30.0), rng.normal(size=(30, 8))]
    np.savetxt(path, table, delimiter=",")
    assert read(path).dims == ("column", "energy")
