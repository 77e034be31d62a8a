"""Lists of lists of different lengths, empty arrays and the like, in place of what is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, Project, PyspecError

ENERGY, TIME = np.linspace(80.0, 90.0, 41), np.arange(6.0)
MODEL = """
m:
  Offset: {y0: [3, True, 0, 100]}
  Gauss: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], SD: [0.6, True, 0.05, 5]}
"""
RAGGED = [[1], [2, 3]]


@pytest.fixture
def file(tmp_path: Path) -> File:
    (tmp_path / "models.yaml").write_text(MODEL)
    line = 3.0 + 18.0 * np.exp(-(((ENERGY - 84.0) / 0.6) ** 2) / 2.0)
    data = line + np.random.default_rng(0).normal(0.0, 0.1, (6, 41))
    file = File(Project(tmp_path, show_output=False), data=data, energy=ENERGY, time=TIME)
    file.load_model("models.yaml", "m")
    file.fit_slice_by_slice("m")
    return file


CALLS: dict[str, tuple[Callable[[File], Any], str]] = {
    "noise": (
        lambda file: file.set_noise("gaussian", sigma=RAGGED),
        r"sigma is \[\[1\], \[2, 3\]\]; give one standard deviation or an array",
    ),
    "words as seeds": (
        lambda file: file.fit_slice_by_slice("m", seed_values=["a", "b"]),
        "seed_values has 2 entries for 6 slices; give one dict of name",
    ),
    "a word as a seed": (
        lambda file: file.fit_slice_by_slice("m", seed_values={"Gauss_01_A": "a"}),
        "seed_values of Gauss_01_A has type",
    ),
    "two seeds for one slice": (
        lambda file: file.fit_slice_by_slice("m", seed_values=[{"Gauss_01_A": [1, 2]}] * 6),
        r"seed_values of Gauss_01_A have shape \(2,\); give a number",
    ),
    "no model": (
        lambda file: file.get_result(model=[]),
        r"model is \[\]; give the name of one, or none for any",
    ),
    "elimination": (
        lambda file: file.fit_spectrum("m", time_range=(0, 3), linear=np.array([])),
        r"linear=array\(\[\], dtype=float64\) is unknown; it may be 'eliminate'",
    ),
}


@pytest.mark.parametrize("what", CALLS)
def test_they_are_refused_by_name(file: File, what: str) -> None:
    """They ended in errors of NumPy or Python, or in one that contradicted itself."""
    call, said = CALLS[what]
    with pytest.raises(PyspecError, match=said):
        call(file)


def test_a_fit_by_a_number_that_is_not_there(file: File) -> None:
    """IndexError: list index out of range."""
    slices = file.project.results[0]
    with pytest.raises(IndexError, match="no fit 99: there are 6, counted from 0"):
        slices[99]
    assert len(slices[-2:]) == 2
