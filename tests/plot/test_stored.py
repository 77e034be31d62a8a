"""Fits of an archive are drawn and reported as they were, without fitting again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.pictures import FALLING, pair

from pyspec import File, FitResults, Project, Simulator
from pyspec.errors import DataError
from pyspec.io import load_fit, save_fit
from pyspec.plot import plot_fit, plot_model_1d

pytest.importorskip("matplotlib")
pytest.importorskip("h5py")


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


def test_without_data_they_are_asked_for(tmp_path: Path) -> None:
    result = pair()
    save_fit(tmp_path / "fits.h5", result, with_data=False)
    stored = load_fit(tmp_path / "fits.h5")
    with pytest.raises(DataError, match="saved without data; hand them over"):
        plot_fit(stored)
    data = result.measurement.data
    same(plot_fit(load_fit(tmp_path / "fits.h5", data=data)), plot_fit(result))


@pytest.mark.parametrize("two", [False, True])
def test_a_stored_fit_predicts_as_it_did(tmp_path: Path, two: bool) -> None:
    result = pair(two)
    save_fit(tmp_path / "a.h5", [result])
    stored = load_fit(tmp_path / "a.h5")
    before = result.predict(energy=FALLING[::2])
    after = stored.predict(energy=FALLING[::2])
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
