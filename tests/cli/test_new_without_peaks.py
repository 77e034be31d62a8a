"""``pyspec new DIR DATA`` of noise, of more lines than a first model has, and of dips."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.special import erf

from pyspec import load_fit
from pyspec.cli import main
from pyspec.functions.energy import GLSAsym
from pyspec.functions.fermi import FermiEdge

pytestmark = pytest.mark.usefixtures("numbers_alone")

X = np.linspace(400.0, 700.0, 301)


def line(x0: float, fwhm: float, x: np.ndarray = X) -> np.ndarray:
    return np.exp(-4 * np.log(2) * ((x - x0) / fwhm) ** 2)


def made(path: Path, x: np.ndarray, data: np.ndarray, head: str = "wavelength (nm),y") -> str:
    np.savetxt(path / "d.csv", np.c_[x, data], "%.6g", ",", header=head, comments="")
    assert main(["new", str(path / "a"), str(path / "d.csv"), "--force"]) == 0
    return (path / "a" / "models.yaml").read_text()


def fitted(path: Path) -> dict[str, float]:
    assert main(["fit", str(path / "a" / "job.yaml"), "--quiet"]) == 0
    return dict(load_fit(path / "a/results/fits.h5").values)


def reduced(path: Path) -> float:
    return float(load_fit(path / "a/results/fits.h5").redchi)


@pytest.mark.slow
@pytest.mark.parametrize("times", [0, 20])
def test_noise_gets_a_background_alone(
    times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It got one to four peaks, of which fits made lines of six standard errors."""
    rng = np.random.default_rng(0)
    if times:
        rows = rng.normal(100, 3, (times, X.size))
        np.savez(tmp_path / "d.npz", data=rows, energy=X, time=np.arange(times))
        assert main(["new", str(tmp_path / "a"), str(tmp_path / "d.npz")]) == 0
    else:
        made(tmp_path, X, 100 + 0.2 * (X - 400) + rng.normal(0, 3, X.size))
    assert "No maximum within the axis stands out of the noise" in capsys.readouterr().out
    text = (tmp_path / "a" / "models.yaml").read_text()
    assert "# No maximum within the axis" in text
    assert "GLP" not in text
    assert "decay:" not in text
    assert "GLP" not in (tmp_path / "a" / "job.yaml").read_text()
    values = fitted(tmp_path)
    if not times:
        assert abs(values["LinBack_m"] - 0.2) < 0.02
        assert main(["new", str(tmp_path / "b"), str(tmp_path / "d.csv"), "--peaks", "1"]) == 0
        assert "GLP" in (tmp_path / "b" / "models.yaml").read_text()


def test_a_survey_is_cut_into_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It got four peaks for all of it."""
    x = np.linspace(1200, 0, 1201)
    lines = ((84, 5), (285, 3), (335, 2.5), (353, 2.2), (532, 6), (103, 0.9), (153, 0.7))
    clean = 1000 + sum(1000 * a * line(place, 4, x) for place, a in lines)
    counts = np.random.default_rng(1).poisson(clean)
    text = made(tmp_path, x, counts, "Binding Energy (eV),counts")
    assert text.count("GLP:") == 1
    told = capsys.readouterr().out
    assert "a survey" in told
    windows = re.findall(r"--select energy=(\d+):(\d+)", told)
    for place, _ in lines:
        assert any(float(low) < place < float(high) for low, high in windows), place
    assert abs(fitted(tmp_path)["GLP_01_x0"] - 532) < 0.2
    assert main(["new", str(tmp_path / "all"), str(tmp_path / "d.csv"), "--survey"]) == 0
    assert sorted(one.name for one in (tmp_path / "all").iterdir()) == [
        "at_153", "at_285", "at_335", "at_532", "at_84",
    ]  # fmt: skip
    assert main(["fit", str(tmp_path / "all"), "--quiet"]) == 0
    assert (tmp_path / "all/results/report.html").read_text().count("<svg") == 5


@pytest.mark.parametrize(
    ("data", "heights"),
    [
        (10 * line(600, 60) - 1.0 * line(480, 40), {480: -1, 600: 10}),  # a weak bleach
        (-10 * line(600, 60) + 1.0 * line(480, 40), {480: 1, 600: -10}),
        (-100 + 80 * line(550, 20), {550: 80}),  # a line above a background below 0
        (-5 + 20 * line(500, 20) + 15 * line(600, 30), {500: 20, 600: 15}),
        (100 + 0.2 * (X - 400) - 20 * line(500, 20), {500: -20}),
    ],
)
def test_the_sign_of_a_line_is_that_against_its_background(
    data: np.ndarray, heights: dict[int, float], tmp_path: Path
) -> None:
    text = made(tmp_path, X, data + np.random.default_rng(2).normal(0, 0.05, X.size))
    pairs = [block.split("\n  ")[1:3] for block in text.split("GLP:")[1:]]
    found = {
        round(yaml.safe_load(x0)["x0"][0], -1): yaml.safe_load(A)["A"][0]
        for A, x0 in ((a.strip(), x.strip()) for a, x in pairs)
    }
    assert found.keys() == heights.keys()
    for place, height in heights.items():
        assert found[place] == pytest.approx(height, rel=0.3)
    values = fitted(tmp_path)
    for name, height in zip(("GLP_01_A", "GLP_02_A"), heights.values(), strict=False):
        assert values[name] == pytest.approx(height, rel=0.05)


@pytest.mark.parametrize("kind", ["rises", "falls", "with a line"])
def test_a_step_gets_a_step(kind: str, tmp_path: Path) -> None:
    """It got a straight line, with a peak at its upper end, and not a word."""
    rng, step = np.random.default_rng(5), 500 * (1 + erf((X - 560) / 8))
    data = {"rises": step, "falls": step[::-1], "with a line": step + 1500 * line(565, 12)}[kind]
    text = made(tmp_path, X, 50 + data + rng.normal(0, 5, X.size))
    assert "ErfStep" in text
    assert text.count("GLP:") == (kind == "with a line")
    fitted(tmp_path)
    result = load_fit(tmp_path / "a/results/fits.h5")
    truth = {"ErfStep_x0": 540 if kind == "falls" else 560, "ErfStep_SD": 8 / 2**0.5}
    for name, value in truth.items():
        assert abs(result.values[name] - value) < 5 * result.stderr[name]
    assert reduced(tmp_path) < 1.3 * 25


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["kinetic energy", "binding energy"])
def test_a_fermi_edge_has_temperature_and_resolution(scale: str, tmp_path: Path) -> None:
    x = np.linspace(15.0, 18.0, 151)
    fall = FermiEdge(x, 300.0, 16.7, 300.0, 0.08, -20.0, 0.0)
    if scale == "binding energy":
        x = 16.7 - np.linspace(15.0, 18.0, 151)
    data = 40 + fall + np.random.default_rng(3).normal(0, 3, x.size)
    text = made(tmp_path, x, data, f"{scale} (eV),counts")
    assert "T: [300.0, False]" in text
    values = fitted(tmp_path)
    assert abs(values["FermiEdge_x0"] - (16.7 if scale == "kinetic energy" else 0.0)) < 0.02
    assert abs(values["FermiEdge_SD"] - 0.08) < 0.02
    assert reduced(tmp_path) < 1.4 * 9


@pytest.mark.parametrize("kind", ["slope", "line", "loss"])
def test_other_spectra_are_no_edge(kind: str, tmp_path: Path) -> None:
    step = 1000 / (1 + np.exp(-(X - 560) / 4))
    data = {
        "slope": 10 * (X - 400), "line": 500 * line(560, 30),
        "loss": step[::-1] + 1500 * line(565, 12),
    }[kind]  # fmt: skip
    head = "binding energy (eV),y" if kind == "loss" else "wavelength (nm),y"
    x = X[::-1] if kind == "loss" else X
    text = made(tmp_path, x, 50 + data + np.random.default_rng(5).normal(0, 5, X.size), head)
    assert "Step" not in text
    assert "FermiEdge" not in text


@pytest.mark.slow
def test_a_tail_gets_asymmetric_lines(tmp_path: Path) -> None:
    """Two symmetric lines missed it, and the report was green."""
    x = np.linspace(95.0, 80.0, 301)
    data = sum(a * GLSAsym(x, 1.0, x0, 0.8, 0.5, 0.35) for a, x0 in ((400, 84.0), (300, 87.7)))
    data = 50 + data + np.random.default_rng(2).normal(0, 2, x.size)
    text = made(tmp_path, x, data, "binding energy (eV),counts")
    assert text.count("GLSAsym:") == 2
    assert abs(fitted(tmp_path)["GLSAsym_01_a"] - 0.35) < 0.05
    assert reduced(tmp_path) < 1.3 * 4
