"""Intervals of a file's fit as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import CallError, File, Project

pytest.importorskip("pandas")


def test_columns_of_far_levels_have_names_of_their_own(tmp_path: Path) -> None:
    """From five standard deviations on they were called 100.00%, and one of them was left."""
    (tmp_path / "m.yaml").write_text("m:\n  Offset: {y0: [1, True]}\n")
    data = np.random.default_rng(1).normal(1.0, 0.5, 50)
    file = File(Project(tmp_path, show_output=0), "a", data=data, energy=np.arange(50.0))
    file.set_noise("gaussian", sigma=0.5)
    file.load_model("m.yaml", "m")
    result = file.fit_spectrum("m")
    table = file.get_confidence_intervals(sigmas=[1, 3, 4, 5, 6])
    levels = ["68.27%", "99.73%", "99.9937%", "99.999943%", "99.99999980%"]
    below = [f"-{level}" for level in reversed(levels)]
    assert list(table.columns) == [*below, "best", *(f"+{level}" for level in levels)]
    away = (table.loc["Offset_y0"] - result.values["Offset_y0"]) / result.stderr["Offset_y0"]
    np.testing.assert_allclose(away, [-6, -5, -4, -3, -1, 0, 1, 3, 4, 5, 6], rtol=1e-4, atol=1e-9)


def test_a_trace_of_intervals_is_refused_with_the_call_that_has_it(tmp_path: Path) -> None:
    """It was an AttributeError: 'tuple' object has no attribute 'items'."""
    data = np.random.default_rng(1).normal(1.0, 0.5, 50)
    file = File(Project(tmp_path, show_output=0), "a", data=data, energy=np.arange(50.0))
    file.load_model("m:\n  Offset: {y0: [1, True]}\n", "m")
    result = file.fit_spectrum("m")
    with pytest.raises(CallError, match=r"call result.conf_interval\(trace=True\)"):
        file.get_confidence_intervals(trace=True)
    assert len(result.conf_interval(trace=True)) == 2
