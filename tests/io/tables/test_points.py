"""Tables with one row for each point: time, energy and value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, Project, read
from pyspec.errors import DataError

ENERGY = np.linspace(91.0, 80.0, 12)
TIME = np.array([-1.0, 0.0, 1.0, 2.5, 4.0])
DATA = np.arange(60.0).reshape(5, 12)
ROWS = [(t, e, DATA[i, j]) for i, t in enumerate(TIME) for j, e in enumerate(ENERGY)]
NAMED = "delay (ps),energy (eV),counts"


def write(folder: Path, rows: Sequence[Sequence[float]], head: str = "") -> Path:
    path = folder / "points.csv"
    text = "\n".join(",".join(f"{value:.10g}" for value in row) for row in rows)
    path.write_text(f"{head}\n{text}\n" if head else text, encoding="utf-8")
    return path


def write_model(folder: Path) -> Path:
    path = folder / "models.yaml"
    path.write_text("flat: {Offset: {y0: [1, true]}}\n", encoding="utf-8")
    return path


def test_points_without_a_row_are_left_out_of_fits(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS[:-4], NAMED)
    found = read(path)
    assert found.n_bad == 4
    assert "4 pairs of time and energy have no row" in str(found)
    file = File.from_dataset(found, Project(tmp_path, show_output=False))
    file.load_model(write_model(tmp_path), "flat")
    assert file.fit_2d("flat").n_data == 56


def test_scattered_points_are_no_grid(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(t + 1e-3 * rng.normal(), e, y) for t, e, y in ROWS]
    with pytest.raises(DataError, match="60 times and 12 energies, too many for a grid"):
        read(write(tmp_path, rows), layout="points")
