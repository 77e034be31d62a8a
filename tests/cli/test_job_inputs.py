"""Jobs of `pyspec fit` whose model reads inputs: files of values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import load_fit
from pyspec.cli import main

pytestmark = pytest.mark.usefixtures("numbers_alone")

MODEL = """
functions:
  Reference: {formula: A * ref, inputs: ref}
seen:
  Gauss: {A: [9, True], x0: [84, True], SD: [1.1, True, 0.1, 5]}
  Reference: {A: [2, True]}
"""
ENERGY = np.linspace(80, 88, 81)
REF = 1 + np.cos(3 * ENERGY)


def job(folder: Path, inputs: str) -> str:
    noise = np.random.default_rng(0).normal(0, 0.1, ENERGY.size)
    data = 12 * np.exp(-((ENERGY - 84.1) ** 2) / 2.88) + 2.5 * REF + noise
    (folder / "m.yaml").write_text(MODEL)
    np.savetxt(folder / "data.csv", np.c_[ENERGY, data], delimiter=",")
    np.savetxt(folder / "one.csv", REF)
    np.savetxt(folder / "two.csv", np.c_[ENERGY, REF], delimiter=",")
    np.savetxt(folder / "other.csv", np.c_[ENERGY + 1, REF], delimiter=",")
    np.savetxt(folder / "short.csv", REF[:5])
    text = f"data: {{path: data.csv}}\nmodels: m.yaml\noutput: out\n{inputs}\n"
    (folder / "job.yaml").write_text(text)
    return str(folder / "job.yaml")


@pytest.mark.parametrize(
    "given",
    [
        "one.csv",
        "two.csv",
        "{path: two.csv}",
        "{path: one.csv, energy: index}",
        "{path: more.csv, columns: ref}",
        "{path: more.csv, columns: [energy, ref]}",
        "{path: more.csv, columns: 2}",
    ],
)
def test_a_job_gives_them_as_files(tmp_path: Path, given: str) -> None:
    table = np.c_[ENERGY, 0 * REF, REF]
    names = {"header": "energy,dark,ref", "comments": ""}
    np.savetxt(tmp_path / "more.csv", table, delimiter=",", **names)
    assert main(["fit", job(tmp_path, f"inputs: {{ref: {given}}}")]) == 0
    stored = load_fit(tmp_path / "out" / "fits.h5")
    assert abs(stored.values["Reference_01_A"] - 2.5) < 4 * stored.stderr["Reference_01_A"]
    assert np.allclose(stored.model.inputs["ref"], REF)


def test_a_column_of_the_data_is_one(tmp_path: Path) -> None:
    path = Path(job(tmp_path, "inputs: {ref: {columns: ref}}"))
    table = np.c_[np.loadtxt(tmp_path / "data.csv", delimiter=","), REF]
    names = {"header": "energy,counts,ref", "comments": ""}
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", **names)
    path.write_text(path.read_text().replace("data.csv}", "data.csv, columns: counts}"))
    assert main(["fit", str(path)]) == 0
    stored = load_fit(tmp_path / "out" / "fits.h5")
    assert abs(stored.values["Reference_01_A"] - 2.5) < 4 * stored.stderr["Reference_01_A"]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ("inputs: {ref: {}}", "inputs.ref: has no path"),
        ("inputs: {ref: {path: }}", "inputs.ref: has no path; write"),
        ("inputs: {ref: {colums: ref}}", "did you mean 'columns'"),
        ("inputs: {ref: {path: two.csv, columns: none}}", "none"),
        ("", "Reference reads the input 'ref'"),
        ("inputs: {ref: other.csv}", "belong to another energy axis, 81 to 89"),
        ("inputs: {ref: short.csv}", "the input 'ref' has 5 values, the axes have 81 points"),
        ("inputs: {fre: one.csv}", "reads an input 'fre'"),
        ("inputs: {ref: none.csv}", "none.csv"),
    ],
)
def test_mistakes_are_named(
    tmp_path: Path, inputs: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", job(tmp_path, inputs)]) != 0
    assert words in " ".join(capsys.readouterr().err.split())
