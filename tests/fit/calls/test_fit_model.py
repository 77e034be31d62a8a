"""fit_model: what it leaves alone, and what its result holds."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import (
    ENERGY,
    TRUE_2D,
    check_truth,
    data_1d,
    data_2d,
    series,
    spectrum,
)

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement


def test_model_and_data_are_left_alone() -> None:
    model, data = series(), data_2d()
    before, kept = dict(model.values), data.copy()
    data.setflags(write=False)
    fit_model(model, Measurement(data=data))
    assert model.values == before
    np.testing.assert_array_equal(data, kept)


@pytest.fixture(scope="module")
def part() -> FitResult:
    """A fit of a window of data that are spoiled outside of it, and at a masked point."""
    data = data_2d()
    data[:, :10] += 50.0
    keep = np.ones(data.shape, bool)
    data[3, 40], keep[3, 40] = 1e6, False
    return fit_model(series(), Measurement(data=data, rows=(2, 30), columns=(10, 70), keep=keep))


def test_a_window_and_a_mask_leave_points_out(part: FitResult) -> None:
    """lmfit counts masked points as data; redchi and errors must not."""
    check_truth(part, TRUE_2D)
    assert part.n_data == 28 * 60 - 1
    assert part.redchi == pytest.approx(part.chisqr / (part.n_data - part.n_free), rel=1e-12)
    keep = np.arange(ENERGY.size) < 60
    masked = fit_model(spectrum(), Measurement(data=data_1d(), keep=keep))
    cut = fit_model(spectrum(), Measurement(data=data_1d(), columns=(0, 60)))
    assert masked.redchi == pytest.approx(cut.redchi, rel=1e-9)
    for name in masked.problem.names:
        assert masked.stderr[name] == pytest.approx(cut.stderr[name], rel=1e-5)
