"""Stumbles of a first hour with one's own data: what is read is used, what is refused says what
to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, read
from pyspec.cli.dispatch import main
from pyspec.errors import DataError, ModelError
from pyspec.fit.findings.counted import gathered
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind

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


@pytest.mark.slow
def test_a_job_is_weighted_as_a_file_is(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = table.parent / "job.yaml"
    job.write_text("data: {path: own.csv}\nmodels: m.yaml\n")
    assert main(["fit", str(job), "-q", "-o", str(table.parent / "out")]) == 0
    shown = capsys.readouterr().out
    result = fitted(File.from_dataset(read(table), Project(table.parent)))
    lines = [line for line in str(result).splitlines() if line.startswith(("Gauss", "Offset"))]
    for line in (*lines, f"reduced χ² {result.redchi:.8g}"):
        assert line.rstrip() in shown
    capsys.readouterr()
    job.write_text("data: {path: own.csv}\nmodels: m.yaml\nnoise: {type: none}\n")
    assert main(["fit", str(job), "-q", "-o", str(table.parent / "out")]) == 0
    assert f"reduced χ² {result.redchi:.8g}" not in capsys.readouterr().out
    table.write_text(table.read_text().replace(table.read_text().splitlines()[4], "87.8;30;0"))
    job.write_text("data: {path: own.csv}\nmodels: m.yaml\n")
    assert main(["fit", str(job), "-q"]) == 1
    assert "'noise: {type: none}' leaves them out" in capsys.readouterr().err


def test_other_columns_stay_data(table: Path) -> None:
    table.write_text(table.read_text().replace(";err", ";after"))
    dataset = read(table)
    assert dataset.errors is None
    with pytest.raises(DataError, match=r"of a table read\(..., columns=\(x, y\)\) chooses a col"):
        File.from_dataset(dataset, Project(table.parent))


def _at_bound(name: str, side: str) -> Finding:
    numbers = {"limit": 0.1, "gain": 0.0, "chisqr": 9.0, "variance": 1.0}
    return Finding(Kind.AT_BOUND, (name,), {"side": side, **numbers})


def test_findings_of_one_kind_are_counted_by_parameter_and_side() -> None:
    """A fit of 500 slices printed 35 lines that differed in the parameter alone."""
    gone = Finding(Kind.FAINT_LINE, ("GLP_01_A", "GLP_01_x0", "GLP_01_F"), {"away": 1.0})
    less = Finding(Kind.FAINT_LINE, ("Gauss_01_A", "Gauss_01_x0"), {"away": 1.0})
    low, high = _at_bound("GLP_01_F", "min"), _at_bound("GLP_01_F", "max")
    each = [(low, gone), (_at_bound("GLP_02_F", "min"), high), (high, less)]
    lines, bounds = gathered(zip((1.0, 2.0, 3.0), each, strict=True), 9)
    assert (bounds.count, bounds.total, bounds.first, bounds.finding) == (3, 9, 1.0, low)
    assert bounds.places == {"GLP_01_F (max)": 2, "GLP_01_F (min)": 1, "GLP_02_F (min)": 1}
    assert (lines.count, lines.finding) == (2, gone)
    assert lines.places == {"GLP_01_A": 1, "Gauss_01_A": 1}


def test_tables_with_axes_of_their_own_are_told_where_these_are() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.ones((3, 4)))
    with pytest.raises(DataError, match=r"energy=frame.columns, time=frame.index"):
        File(data=frame)
    with pytest.raises(DataError, match=r"of a Series: energy=series.index"):
        File(data=frame[0])


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
