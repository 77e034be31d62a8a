"""fit_model: what it leaves alone, and what its result holds."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import (
    ENERGY,
    START,
    STATIC,
    TIME,
    TRUE_2D,
    check_truth,
    data_1d,
    data_2d,
    series,
    spectrum,
)

from pyspec.fit import FitResult, fit_model
from pyspec.model import Measurement, load_model


def test_model_and_data_are_left_alone() -> None:
    model, data = series(), data_2d()
    before, kept = dict(model.values), data.copy()
    data.setflags(write=False)
    fit_model(model, Measurement(data=data))
    assert model.values == before
    np.testing.assert_array_equal(data, kept)


def test_followers_have_value_and_propagated_error() -> None:
    """Through chains of expressions and correlations."""
    text = STATIC.format(**START).replace(
        '["GLP_01_F"]', '["(GLP_02_A - GLP_01_A) ** 2 / GLP_01_F / 5"]'
    )
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    clean = model.evaluate(theta=[2.0, 12.0, 84.0, 1.4])
    data = clean + np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    result = fit_model(model, Measurement(data=data))
    values, errors = result.values, result.stderr
    a, f = values["GLP_01_A"], values["GLP_01_F"]
    names = list(result.lmfit.var_names)
    i, j = names.index("GLP_01_A"), names.index("GLP_01_F")
    slope = np.zeros(len(names))
    slope[i], slope[j] = a / 8 / f / 5, -(a**2) / 16 / f**2 / 5
    expected = np.sqrt(slope @ result.lmfit.covar @ slope)
    assert values["GLP_02_F"] == pytest.approx(a**2 / 16 / f / 5, rel=1e-12)
    assert errors["GLP_02_F"] == pytest.approx(expected, rel=1e-10)
    assert values["GLP_02_x0"] == values["GLP_01_x0"] + 3.67
    assert errors["GLP_02_x0"] == pytest.approx(errors["GLP_01_x0"], rel=1e-12)
    assert errors["GLP_02_m"] is None  # follows a fixed parameter
    follower = result.params["GLP_02_A"]
    assert follower.expr == follower.user_data == "3/4 * GLP_01_A"
    assert not follower.vary


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


def test_arrays_of_the_result_cover_the_window(part: FitResult) -> None:
    np.testing.assert_array_equal(part.energy, ENERGY[10:70])
    np.testing.assert_array_equal(part.time, TIME[2:30])
    assert part.data.shape == part.fit.shape == (28, 60)
    np.testing.assert_allclose(part.residual, part.data - part.fit, rtol=0, atol=0)
    flat = part.lmfit.residual
    assert float(flat @ flat) == pytest.approx(part.chisqr, rel=1e-12)
    kept = part.residual.ravel()[flat != 0.0]
    np.testing.assert_allclose(flat[flat != 0.0], kept, rtol=0, atol=1e-12)
