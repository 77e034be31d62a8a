"""export_fit writes the fit that is named, or the last of the kind that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project
from pyspec.errors import CallError, FitError

MODELS = """
peak:
  Offset: {y0: [10, True, 0, 100]}
  Gauss: {A: [20, True], x0: [84, True, 82, 86], SD: [0.7, True, 0.1, 5]}
line:
  Offset: {y0: [10, True, 0, 100]}
"""


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODELS)
    energy, time = np.linspace(80, 90, 41), np.arange(4.0)
    clean = 10 + 20 * np.exp(-(((energy - 84) / 0.7) ** 2) / 2) * np.ones((4, 1))
    data = np.random.default_rng(0).normal(clean, 0.3)
    own = File(Project(tmp_path, show_output=0), name="scan", data=data, energy=energy, time=time)
    own.load_model("models.yaml", "peak")
    own.load_model("models.yaml", "line")
    return own


def exported(path: Path) -> str:
    """Model and type of the fit in a folder."""
    lines = (path / "fit_info.csv").read_text(encoding="utf-8").splitlines()
    facts = dict(line.split(",", 1) for line in lines if "," in line)
    return f"{facts.get('model', '')} {facts.get('fit_type', '')}"


def test_the_last_of_the_kind(file: File) -> None:
    file.fit_spectrum("peak", time_point=0)
    file.fit_2d("peak")
    file.fit_spectrum("line", time_point=0)
    given: Any
    for given, want in (
        ({}, "line spectrum"),
        ({"ref": "2d"}, "peak 2d"),
        ({"ref": "peak"}, "peak 2d"),
        ({"model": "peak", "fit_type": "spectrum"}, "peak spectrum"),
        ({"fit_type": "2d"}, "peak 2d"),
    ):
        path = file.export_fit(**given, filepath="out", overwrite=True, pictures=False)
        assert exported(path) == want, given
    project = file.project
    assert exported(project.export_fit("2d", filepath="p", pictures=False)) == "peak 2d"
    with pytest.raises(CallError, match="not both"):
        file.export_fit("peak", model="line")
    with pytest.raises(FitError, match="no fit"):
        file.export_fit("baseline")
