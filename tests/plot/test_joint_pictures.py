"""A joint fit has a picture and a report of all of its files, by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_joint, load_dynamics, load_model
from pyspec.plot import PlotError, plot_fit, report

pytest.importorskip("matplotlib").use("agg")

MODEL = """
peak:
  Offset: {y0: [10, True, 0, 100]}
  Gauss: {A: [20, True], x0: [84, project, 82, 86], SD: [0.7, True, 0.1, 5]}
decay:
  expFun: {A: [5, True], tau: [4, True, 0.1, 100], t0: [0, False]}
"""
ENERGY, TIME = np.linspace(80, 90, 41), np.arange(-2.0, 6.0)


def joint(names: list[str] | None, *, series: bool = False, sigma: float = 0.0) -> Any:
    generator, parts = np.random.default_rng(0), []
    for k in range(3):
        model = load_model(MODEL, "peak")
        if series:
            model.add_dynamics("Gauss_01_A", load_dynamics(MODEL, "decay", "Gauss_01_A"))
        model.set_axes(energy=ENERGY, time=TIME if series else None)
        clean = np.asarray(model.evaluate()) * (1 + 0.2 * k)
        options: Any = {"weight": np.array(1 / sigma)} if sigma else {}
        parts.append((model, Measurement(generator.normal(clean, 0.3), **options)))
    return fit_joint(parts, names=names, scale_covar=not sigma)


@pytest.mark.slow
@pytest.mark.parametrize("series", [False, True])
def test_the_picture_has_every_file_by_name(series: bool, tmp_path: Path) -> None:
    """plot() said that pictures belong to one file, and a loop over the files was left to write."""
    result = joint(["cold", "warm", "hot"], series=series)
    path = tmp_path / "joint.png"
    figure = result.plot(save_path=path, title="three temperatures")
    assert path.is_file()
    heads = [part.get_suptitle() for part in figure.subfigs] if series else []
    heads = heads or [ax.get_title(loc="left") for ax in figure.axes[::2]]
    assert [name for name in result.names if any(name in head for head in heads)] == [
        "cold", "warm", "hot"]  # fmt: skip
    assert figure.get_suptitle() == "three temperatures"
    assert len(plot_fit(result).axes) == len(result.joint.plot().axes) == (15 if series else 6)
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    with pytest.raises(PlotError, match="several panels"):
        result.plot(ax=ax)


@pytest.mark.parametrize("sigma", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_the_report_has_all_files(sigma: float, tmp_path: Path) -> None:
    """report() took one file alone."""
    result = joint(["cold", "warm", "hot"], sigma=sigma)
    page = report(result, tmp_path / "joint.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") == 3
    for name in result.names:
        assert f"peak fitted to {name}" in page
        assert f"Data of {name}" in page
    assert "3 files together" in page
    assert "Gauss_01_x0" in page
    cards = page[: page.index("<h2>")]
    assert ("reduced χ²" in cards) is bool(sigma)
