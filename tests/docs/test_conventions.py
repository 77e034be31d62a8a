"""What docs/conventions.md says of widths, tails and errors is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec import File, FitResult, Measurement, Project, fit_model, fit_trace, load_model, read
from pyspec.functions import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conventions.md"

#: Other parameters than A and x0 of each line, with its tail at lower energies, then at higher.
SIDES: dict[str, tuple[tuple[float, ...], ...]] = {
    "DS": ((0.5, 0.2),),
    "DSBinding": ((), (0.5, 0.2)),
    "Mahan": ((0.3, 0.2, 4.0), (0.3, 0.2, -4.0)),
    "GLSAsym": ((1.0, 0.5, 0.3), (1.0, 0.5, -0.3)),
    "SkewGauss": ((1.0, -0.3), (1.0, 0.3)),
    "LA": ((1.0, 0.7, 2.0), (1.0, 2.0, 0.7)),
    "LF": ((1.0, 0.7, 2.0, 5.0), (1.0, 2.0, 0.7, 5.0)),
    "GaussAsym": ((0.5, 0.6), (0.5, 1.7)),
}

MODEL = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True], x0: [84, True], SD: [1, True]}
"""


@pytest.mark.parametrize("line", SIDES)
def test_side_of_the_tail(line: str) -> None:
    x = np.linspace(-8, 8, 1601)
    for given, sign in zip(SIDES[line], (-1, 1), strict=False):
        if not given:
            continue
        value = reference(line)(x, 1.0, 0.0, *given)
        top = x[value.argmax()]
        tail, other = (value[abs(x - top - side * 1.5).argmin()] for side in (sign, -sign))
        assert tail > 1.2 * other


def test_the_page_names_these_lines() -> None:
    table = PAGE.read_text("utf-8").split("| line | tail at lower energies |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == set(SIDES)


@pytest.mark.parametrize("resolution", ["", "  resolution: {SD: [0.3, True]}\n"])
def test_binding_energies_and_kinetic_ones_give_the_same_line(resolution: str) -> None:
    """Over 1486.6 eV - E a DSBinding has the A, F and alpha of a DS over E, with their errors."""
    kinetic = np.linspace(1392.6, 1408.6, 321)
    data = 50 * reference("DS")(kinetic, 10.0, 1402.6, 0.5, 0.15)
    data += 0.5 * np.random.default_rng(1).normal(size=data.size)

    def fit(line: str, x0: float, energy: np.ndarray) -> FitResult:
        text = f"m:\n{resolution}  {line}: {{A: [400, True], x0: [{x0}, True], F: [0.4, True], "
        model = load_model(text + "alpha: [0.1, True, 0, 1]}\n", "m")
        model.set_axes(energy=energy)
        return fit_model(model, Measurement(data))

    one, other = fit("DS", 1402.9, kinetic), fit("DSBinding", 83.7, 1486.6 - kinetic)
    assert other.chisqr == pytest.approx(one.chisqr, rel=1e-10)
    for name in ("A", "F", "alpha"):
        error = one.stderr[f"DS_01_{name}"]
        assert other.stderr[f"DSBinding_01_{name}"] == pytest.approx(error, rel=1e-5)
        away = other.values[f"DSBinding_01_{name}"] - one.values[f"DS_01_{name}"]
        assert abs(away) < 1e-4 * error
    away = 1486.6 - other.values["DSBinding_01_x0"] - one.values["DS_01_x0"]
    assert abs(away) < 1e-4 * one.stderr["DS_01_x0"]


def test_width_of_a_glp() -> None:
    x = np.linspace(-1, 1, 200_001)
    widths = [np.ptp(x[reference("GLP")(x, 1.0, 0.0, 1.0, m) >= 0.5]) for m in (0, 0.48, 0.5, 1)]
    assert widths[0] == pytest.approx(1, abs=1e-4)
    assert widths[-1] == pytest.approx(1, abs=1e-4)
    assert min(widths) == pytest.approx(1 - 0.044, abs=5e-4)


def test_which_errors_are_scaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.yaml").write_text(MODEL)
    energy, noise, sigma = np.linspace(80, 88, 81), np.random.default_rng(1).normal(0, 1, 81), 0.1
    model = load_model(MODEL, "peak")
    model.set_axes(energy=energy)
    data = model.evaluate() + noise
    table = np.c_[energy, data, np.full(81, sigma)]
    np.savetxt("s.csv", table, "%.17g", delimiter=",", header="energy,counts,err", comments="")

    def error(file: File) -> float:
        file.load_model("models.yaml", "peak")
        return file.fit_spectrum("peak").stderr["Gauss_01_x0"] or 0.0

    weighted = Measurement(data, weight=1 / sigma)
    plain = fit_model(model, Measurement(data)).stderr["Gauss_01_x0"]
    scaled = fit_model(model, weighted)
    unscaled = fit_model(model, weighted, scale_covar=False).stderr["Gauss_01_x0"] or 0.0
    assert scaled.stderr["Gauss_01_x0"] == pytest.approx(plain)
    assert scaled.stderr["Gauss_01_x0"] == pytest.approx(unscaled * scaled.redchi**0.5)
    project = Project(".", show_output=False)
    declared = File(project, name="declared", data=data, energy=energy)
    declared.set_noise("gaussian", sigma=sigma)
    assert error(declared) == pytest.approx(unscaled)
    assert error(File.from_dataset(read("s.csv"), project)) == pytest.approx(unscaled)


def test_errors_of_a_trace_with_sigma_are_not_scaled(tmp_path: Path) -> None:
    path = tmp_path / "laws.yaml"
    path.write_text("decay:\n  expFun: {A: [5, True], tau: [3, True, 0.1, 50], t0: [0, False]}\n")
    time = np.linspace(-2, 20, 60)
    values = np.where(time < 0, 0, 5 * np.exp(-time / 3))
    values += np.random.default_rng(1).normal(0, 0.3, 60)
    one, two = (fit_trace(path, "decay", time, values, sigma=s, progress=None) for s in (0.1, 0.2))
    assert (two.stderr["expFun_01_tau"] or 0) / (one.stderr["expFun_01_tau"] or 1) == pytest.approx(
        2
    )


def test_counts_per_second_are_fitted_as_the_counts(tmp_path: Path) -> None:
    seconds, energy = 20.0, np.linspace(80, 88, 81)
    clean = 3 + 18 * np.exp(-((energy - 84) ** 2) / 2)
    counts = np.random.default_rng(2).poisson(clean * seconds).astype(float)
    scaled = MODEL.replace("[3,", "[60,").replace("[18,", "[360,")
    found = []
    for text, data, scale in ((MODEL, counts / seconds, seconds), (scaled, counts, 1.0)):
        (tmp_path / "models.yaml").write_text(text)
        file = File(Project(tmp_path, show_output=False), data=data, energy=energy)
        file.set_noise("poisson", scale=scale)
        file.load_model("models.yaml", "peak")
        result = file.fit_spectrum("peak")
        unit = seconds / scale
        found.append(
            (result.values["Gauss_01_A"] / unit, (result.stderr["Gauss_01_A"] or 0) / unit)
        )
    assert found[0] == pytest.approx(found[1], rel=1e-6)
