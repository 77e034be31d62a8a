"""The page for those who come from lmfit: its lines are those of lmfit, its names are there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pyspec import FitResult, Measurement, Model, fit_model
from pyspec import components as parts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from_lmfit.md"
X = np.linspace(0.5, 20, 196)


def test_names_that_the_page_says_are_there() -> None:
    model = Model("m", [parts.Offset(2), parts.Gauss(10, 9, 1.3)])
    model.set_axes(X)
    data = 2 + 9 * np.exp(-(((X - 9.1) / 1.2) ** 2) / 2)
    data += np.random.default_rng(0).normal(0, 0.1, X.size)
    result = fit_model(model, Measurement(data, weight=np.full(X.size, 2.0)))
    assert np.allclose(result.lmfit.residual, result.weighted_residual, atol=1e-12)
    assert np.allclose(result.weighted_residual, 2 * result.residual, atol=1e-12)
    assert result.lmfit.nfree == result.n_data - result.n_free
    assert list(result.lmfit.var_names) == list(result.free_names)
    table = PAGE.read_text(encoding="utf-8").split("## Names")[1]
    named = re.findall(r"`(?:result\.)?(\w+)(?:\(\)|\.\w+)?`", table.split("\n")[4])
    assert len(named) >= 8
    assert all(hasattr(FitResult, name) or hasattr(result, name) for name in named)
