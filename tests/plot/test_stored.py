"""Fits of an archive are drawn and reported as they were, without fitting again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, FitResults, Project, Simulator
from pyspec.errors import DataError
from pyspec.fit import fit_model, fit_slices
from pyspec.fit.findings.kinds import Kind
from pyspec.io import load_fit, load_fits, save_fit
from pyspec.model import Measurement, load_dynamics, load_model
from pyspec.plot import plot_fit, plot_model_1d, report

pytest.importorskip("matplotlib")
pytest.importorskip("h5py")

ENERGY = np.linspace(20.0, 0.0, 60)
TIME = np.linspace(-2.0, 18.0, 21)
TEXT = """
pair:
  Offset: {y0: [20.0, True]}
  GLP: {A: [100.0, True, 0, 1000], x0: [13.0, True], F: [2.0, True, 0.1, 9], m: [0.3, False]}
  GLP: {A: ["GLP_01_A / 2"], x0: ["GLP_01_x0 - 6"], F: ["GLP_01_F"], m: ["GLP_01_m"]}
law:
  expFun: {A: [2, True], tau: [5, True, 0.1, 50], t0: [0, False]}
"""
NAMES: dict[str, Any] = {"labels": {"energy": "BE"}, "units": {"energy": "eV", "time": "ps"}}


def fitted(two: bool) -> Any:
    model = load_model(TEXT, "pair")
    if two:
        model.add_dynamics("GLP_01_x0", load_dynamics(TEXT, "law", "GLP_01_x0"))
    model.set_axes(energy=ENERGY, time=TIME if two else None)
    data = np.random.default_rng(0).poisson(np.asarray(model.evaluate())) * 1.0
    result = fit_model(model, Measurement(data, columns=(5, 50), weight=np.array(0.2), **NAMES))
    result.file_name, result.fit_type = "scan", "2d" if two else "spectrum"
    return result


def arrays(figure: Any) -> list[Any]:
    found = [np.asarray(line.get_ydata()) for ax in figure.axes for line in ax.lines]
    return found + [np.asarray(c.get_array()) for ax in figure.axes for c in ax.collections
                    if c.get_array() is not None]  # fmt: skip


def same(first: Any, second: Any) -> None:
    pairs = list(zip(arrays(first), arrays(second), strict=True))
    assert pairs
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    texts = [
        [ax.get_title("left") + ax.get_xlabel() + ax.get_ylabel() for ax in f.axes]
        for f in (first, second)
    ]
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_loaded_slices_are_drawn_and_reported(tmp_path: Path) -> None:
    model = load_model(TEXT, "pair")
    model.set_axes(energy=ENERGY)
    clean = np.asarray(model.evaluate())
    data = np.random.default_rng(2).poisson(np.tile(clean, (6, 1))) * 1.0
    data[3] = 1e300  # this one fails
    slices = fit_slices(model, Measurement(data, **NAMES), times=TIME[:6])
    save_fit(tmp_path / "fits.h5", slices)
    again = load_fit(tmp_path / "fits.h5")
    assert again.status == slices.status
    for name in slices.names:
        np.testing.assert_array_equal(again.values[name], slices.values[name])
    good = slices.success
    np.testing.assert_allclose(again.fit[good], slices.fit[good], rtol=1e-12)
    assert again[0].result is not None
    assert again[0].result.residual.shape == (60,)
    same(plot_fit(load_fit(tmp_path / "fits.h5")), plot_fit(slices))
    assert "of 6 converged" in report(again, tmp_path / "s.html").read_text(encoding="utf-8")


def test_without_data_they_are_asked_for(tmp_path: Path) -> None:
    result = fitted(False)
    save_fit(tmp_path / "fits.h5", result, with_data=False)
    stored = load_fit(tmp_path / "fits.h5")
    with pytest.raises(DataError, match="saved without data; hand them over"):
        plot_fit(stored)
    data = result.measurement.data
    same(plot_fit(load_fit(tmp_path / "fits.h5", data=data)), plot_fit(result))


@pytest.mark.parametrize("two", [False, True])
def test_a_stored_fit_predicts_as_it_did(tmp_path: Path, two: bool) -> None:
    result = fitted(two)
    save_fit(tmp_path / "a.h5", [result])
    stored = load_fit(tmp_path / "a.h5")
    before = result.predict(energy=ENERGY[::2])
    after = stored.predict(energy=ENERGY[::2])
    np.testing.assert_allclose(after.value, before.value, rtol=1e-12)
    np.testing.assert_allclose(after.stderr, before.stderr, rtol=1e-9)
    same(stored.plot(), result.plot())


def test_labels_of_a_project_stay_with_its_models_and_fits(tmp_path: Path) -> None:
    """A loaded fit, a picture of the model and one of simulated data say what the project says."""
    (tmp_path / "project.yaml").write_text("e_label: Binding energy (eV)\n", encoding="utf-8")
    (tmp_path / "m.yaml").write_text(
        "m:\n  Offset: {y0: [2, False]}\n"
        "  Gauss: {A: [20, True], x0: [85, True], SD: [0.9, True]}\n",
        encoding="utf-8",
    )
    project = Project(path=tmp_path, name="labelled", show_output=False)
    energy = np.linspace(80, 90, 61)
    data = 2 + 20 * np.exp(-(((energy - 85.1) / 0.9) ** 2) / 2) + 0.1 * np.cos(7 * energy)
    file = File(project, "a", data=data, energy=energy)
    model = file.load_model("m.yaml", ["m"])
    file.fit_spectrum("m")
    project.save_fits(tmp_path / "fits.h5")
    figures = [
        FitResults.load(tmp_path / "fits.h5")[0].plot(),
        plot_model_1d(model),
        Simulator(model, noise_level=0.1).plot_comparison(),
    ]
    for figure in figures:
        assert figure.axes[-1].get_xlabel() == "Binding energy (eV)"
        assert figure.axes[-1].get_xlim() == pytest.approx((90.2, 79.8))


@pytest.mark.slow
def test_cautions_and_the_start_are_kept(tmp_path: Path) -> None:
    # A fit with a parameter at its bound lost its caution: loaded, it looked good.
    model = load_model(
        "m:\n  Offset: {y0: [10, True]}\n"
        "  Gauss: {A: [20, True], x0: [9, True, 5, 15], SD: [0.8, True, 0.1, 0.9]}\n"
    )
    energy, time = np.linspace(0.0, 20.0, 101), np.arange(4.0)
    clean = 10 + 20 * np.exp(-(((energy - 9.0) / 1.2) ** 2) / 2)
    data = clean + np.random.default_rng(2).normal(0.0, 0.3, (4, 101))
    file = File(Project(tmp_path, show_output=False), data=data, energy=energy, time=time)
    file.add_model(model)
    file.define_baseline(None, 1)
    one, slices = file.fit_baseline("m"), file.fit_slice_by_slice("m")
    (told,) = [found for found in one.findings if found.kind is Kind.AT_BOUND]
    assert told.places == ("Gauss_01_SD",)
    assert next((found.count, found.total) for found in slices.findings) == (4, 4)
    file.save_fit("kept.h5")
    first, second = load_fits(tmp_path / "kept.h5")
    for stored, fit in ((first, one), (second, slices)):
        assert stored.findings == fit.findings
        assert stored.started_from == fit.started_from
        assert str(fit.findings[0]) in str(stored)
        page = report(stored, tmp_path / "kept.html").read_text(encoding="utf-8")
        assert "Gauss_01_SD ended at its bound (max 0.9)" in page


@pytest.mark.slow
def test_results_are_drawn_without_a_word_about_pictures() -> None:
    """Used to ask for ``import pyspec.plot`` first, unless a Project had brought it."""
    code = (
        "import sys, numpy as np, pyspec; from pyspec.model import Measurement;"
        "model = pyspec.load_model('m:\\n  Offset: {y0: [1, True]}\\n', 'm');"
        "model.set_axes(energy=np.arange(9.0));"
        "result = pyspec.fit_model(model, Measurement(data=np.arange(9.0)));"
        "assert 'pyspec.plot' not in sys.modules;"
        "assert result.plot().get_axes()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
