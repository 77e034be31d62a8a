"""What docs/conventions.md says of binding energies and errors is so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import File, FitResult, Measurement, Project, fit_model, load_model, read
from pyspec.functions import reference

MODEL = """
peak:
  Offset: {y0: [3, True]}
  Gauss: {A: [18, True], x0: [84, True], SD: [1, True]}
"""


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
