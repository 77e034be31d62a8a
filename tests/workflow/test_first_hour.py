"""Stumbles of a first hour with one's own data: what is read is used, what is refused says what
to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, read
from pyspec.errors import DataError, ModelError

MODEL = """
peak:
  Offset: {y0: [20, True]}
  Gauss: {A: [300, True, 0, 10000], x0: [84.2, True, 82, 86], SD: [0.5, True, 0.1, 3]}
"""
ENERGY = np.linspace(88.0, 80.0, 121)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of another program: binding energies, intensities and their errors."""
    clean = 30 + 400 * np.exp(-(((ENERGY - 84.0) / 0.6) ** 2) / 2)
    sigma = np.sqrt(clean)
    data = np.random.default_rng(2).normal(clean, sigma)
    lines = ["Binding Energy (eV);Intensity (cps);err"]
    lines += [f"{e:.3f};{y:.3f};{s:.3f}" for e, y, s in zip(ENERGY, data, sigma, strict=True)]
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "m.yaml").write_text(MODEL)
    return path


def fitted(file: File) -> Any:
    file.load_model("m.yaml", "peak")
    return file.fit_spectrum("peak")


def test_standard_errors_that_are_read_weight_the_fit(table: Path) -> None:
    # They used to be read, printed and dropped.
    dataset, project = read(table), Project(table.parent)
    assert dataset.errors is not None
    assert "standard errors from column 2;" in str(dataset)
    result = fitted(File.from_dataset(dataset, project))
    assert result.redchi == pytest.approx(1.0, abs=0.35)
    assert result.settings["scale_covar"] is False
    bare = fitted(File.from_dataset(dataset, project, errors=False))
    assert bare.redchi > 30
    plain = read(table, columns=["binding energy", "Intensity"])
    assert plain.errors is None
    np.testing.assert_array_equal(plain.data, dataset.data)


def test_an_error_of_zero_is_named_and_may_be_masked(table: Path) -> None:
    lines = table.read_text().splitlines()
    lines[4] = lines[4].rpartition(";")[0] + ";0"
    table.write_text("\n".join(lines))
    dataset, project = read(table), Project(table.parent)
    with pytest.raises(DataError, match=r"own: .* is 0 at \(3,\); mask .* errors=False leaves"):
        File.from_dataset(dataset, project)
    assert list(project.files) == []
    hidden = np.arange(ENERGY.size) == 3
    assert fitted(File.from_dataset(dataset, project, mask=hidden)).redchi < 2


def test_other_columns_stay_data(table: Path) -> None:
    table.write_text(table.read_text().replace(";err", ";after"))
    dataset = read(table)
    assert dataset.errors is None
    with pytest.raises(DataError, match=r"of a table read\(..., columns=\(x, y\)\) chooses a col"):
        File.from_dataset(dataset, Project(table.parent))


def test_tables_with_axes_of_their_own_are_told_where_these_are() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.ones((3, 4)))
    with pytest.raises(DataError, match=r"energy=frame.columns, time=frame.index"):
        File(data=frame)


def test_a_model_beside_the_script_is_named_where_the_project_is_elsewhere(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    Path("results").mkdir()
    file = File(Project("results"), data=np.ones(121), energy=ENERGY)
    with pytest.raises(ModelError, match=r"the project's folder.*Path\('m\.yaml'\)\.resolve\(\)"):
        file.load_model("m.yaml", "peak")
    file.load_model(Path("m.yaml").resolve(), "peak")
    assert list(file.models) == ["peak"]
