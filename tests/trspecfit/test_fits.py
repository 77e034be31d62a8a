"""What fits take under the names of trspecfit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.errors import CallError, FitError
from pyspec.trspecfit import File, Project

ENERGY = np.linspace(80.0, 90.0, 51)
LINE = """
line:
  Offset: {y0: [1.0, True, -10, 10]}
  LinBack: {m: [0.1, True, -5, 5], b: [0, False], xStart: [80, False], xStop: [90, False]}
"""
DATA = 2.0 + 0.3 * (ENERGY - 80.0) + np.random.default_rng(3).normal(0, 0.2, 51)


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(LINE)
    made = File(Project(tmp_path, show_output=0), "a", data=DATA, energy=ENERGY)
    made.load_model("models.yaml", "line")
    return made


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, "native"),
        ({"stages": 1, "fit_alg_1": "leastsq"}, "leastsq"),
        ({"stages": 2}, "nelder then native"),
        ({"stages": 2, "fit_alg_1": "powell"}, "powell then native"),
        ({"stages": 2, "fit_alg_2": "leastsq"}, "nelder then leastsq"),
        ({"method": "leastsq"}, "leastsq"),
    ],
)
def test_stages_are_methods_in_turn(file: File, options: dict[str, Any], method: str) -> None:
    assert file.fit_spectrum("line", **options).method == method


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"stages": 3}, "stages must be 1, or 2 for fit_alg_1 then fit_alg_2; not 3"),
        ({"fit_alg_2": "nelder"}, "fit_alg_2='nelder' is the method of a second stage"),
        ({"method": "leastsq", "fit_alg_1": "nelder"}, "'leastsq' and .* 'nelder' contradict"),
    ],
)
def test_stages_that_contradict(file: File, options: dict[str, Any], says: str) -> None:
    with pytest.raises(FitError, match=says):
        file.fit_spectrum("line", **options)


def test_a_fit_without_a_model(file: File) -> None:
    for fit in (file.fit_2d, file.fit_baseline, file.fit_spectrum, file.project.fit_2d):
        with pytest.raises(CallError, match="needs model_name"):
            fit()
