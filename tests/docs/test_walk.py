"""The page that follows one model: what it says of the data is so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from docs.pages import walk_page
from pyspec import Measurement, fit_model


def test_the_numbers_of_the_page_are_those_of_the_data(shared: Path) -> None:
    folder = shared / "data" / "trspecfit_examples" / "02_dependent_parameters"
    data, energy, time = (
        np.loadtxt(folder / f"{name}.csv", delimiter=",") for name in ("data", "energy", "time")
    )
    np.testing.assert_allclose(walk_page.ENERGY, energy, atol=1e-9)
    np.testing.assert_allclose(walk_page.TIME, time, atol=1e-6)
    shown = data[np.ix_(walk_page.ROWS, walk_page.COLUMNS)]
    np.testing.assert_allclose(walk_page.DATA, shown, atol=0.0051)
    model = walk_page.doublet()
    model.set_axes(energy=energy, time=time)
    result = fit_model(model, Measurement(data=data, rows=(1, 206), columns=(245, 870)))
    assert result.success
    for name, value in walk_page.BEST.items():
        assert result.values[name] == pytest.approx(value, abs=0.02 * result.stderr[name])
