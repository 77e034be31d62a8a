"""Measured files from elsewhere, shown and fitted from the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pyspec.cli import main

pytest.importorskip("matplotlib")

W4F = """\
W4f:
  LinBack:
    m: [50, True, -1000, 1000]
    b: [900, True, 0, 10000]
    xStart: [-38, False]
    xStop: [-29, False]
  GLP:
    A: [1000, True, 0, 100000]
    x0: [-32.5, True, -34, -31]
    F: [0.5, True, 0.1, 3]
    m: [0.3, True, 0, 1]
  GLP:
    A: ["ratio * GLP_01_A"]
    x0: ["GLP_01_x0 - split"]
    F: ["GLP_01_F"]
    m: ["GLP_01_m"]
parameters:
  ratio: [0.75, True, 0.3, 1.5]
  split: [2.1, True, 1.5, 2.8]
"""
JOB = """\
name: W 4f
data:
  path: {path}
  {part}
models: models.yaml
limits: {{energy: [-36, -31]}}
plot: {{e_label: E - E_F (eV)}}
"""


@pytest.fixture
def data(shared: Path) -> Path:
    folder = shared / "data"
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    return folder


@pytest.mark.usefixtures("numbers_alone")
@pytest.mark.parametrize("part", ["select: {x: 36, y: 30}", "mean: [x, y]"])
def test_a_doublet_of_the_map(data: Path, part: str, tmp_path: Path) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    path = data / "xps_map" / "nano_xps.nc"
    (tmp_path / "models.yaml").write_text(W4F)
    (tmp_path / "job.yaml").write_text(JOB.format(path=path, part=part))
    assert main(["fit", str(tmp_path / "job.yaml"), "-q"]) == 0
    with (tmp_path / "results" / "parameters.csv").open() as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    split = float(rows["split"]["value"])
    assert 2.05 < split < (2.13 if "mean" in part else 2.2)
    assert float(rows["split"]["stderr"]) < 0.05


def test_a_map_needs_a_place(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    path = data / "xps_map" / "nano_xps.nc"
    (tmp_path / "models.yaml").write_text(W4F)
    (tmp_path / "job.yaml").write_text(JOB.format(path=path, part=""))
    assert main(["fit", str(tmp_path / "job.yaml")]) == 1
    assert "'at: {y: 25, x: 20}'" in capsys.readouterr().err
    (tmp_path / "job.yaml").write_text(JOB.format(path=path, part="select: {x: 99, y: 0}"))
    assert main(["fit", str(tmp_path / "job.yaml")]) == 1
    assert "no position (0 to 40)" in capsys.readouterr().err
