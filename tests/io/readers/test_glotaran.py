"""The ascii format of glotaran, and KiMoPack's .SIA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pyspec.io import read

TIME, WAVE = np.array([0.0, 1.0, 5.0]), np.array([400.0, 410.0, 420.0, 430.0])
DATA = np.arange(12.0).reshape(3, 4) / 7


def explicit(kind: str, across: np.ndarray, down: np.ndarray, data: np.ndarray) -> str:
    rows = [
        " ".join(map(repr, [float(d), *map(float, r)])) for d, r in zip(down, data, strict=True)
    ]
    axis = " ".join(map(str, across))
    return "\n".join(["title", "set one", kind, f"Intervalnr {across.size}", axis, *rows]) + "\n"


def test_both_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.ascii"
    path.write_text(explicit("Wavelength explicit", WAVE, TIME, DATA))
    first = read(path)
    path.write_text(explicit("Time explicit", TIME, WAVE, DATA.T))
    for found in (first, read(path)):
        assert found.dims == ("time", "energy")
        np.testing.assert_array_equal(found.time, TIME)
        np.testing.assert_array_equal(found.energy, WAVE)
        np.testing.assert_array_equal(found.data, DATA)
    assert first.name == "a: set one"


def test_sia(tmp_path: Path) -> None:
    path = tmp_path / "a.SIA"
    rows = [f"{t}\t" + "\t".join(map(str, row)) for t, row in zip(TIME, DATA, strict=True)]
    path.write_text("Time in ps\t" + "\t".join(map(str, WAVE)) + "\n" + "\n".join(rows))
    found = read(path)
    np.testing.assert_array_equal(found.data, DATA)
    assert found.units["time"] == "ps"
    assert found.notes[0] == "KiMoPack .SIA"
    path.write_text(path.read_text().replace(str(DATA[1, 1]), ""))
    assert read(path).n_bad == 1
