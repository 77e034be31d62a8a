"""fit_model: simulate, fit, find the truth; what the result holds."""

from __future__ import annotations

import copy
import pickle
import warnings

import lmfit
import numpy as np
import pytest
from support.fit_cases import (
    ENERGY,
    START,
    STATIC,
    TIME,
    TRUE_1D,
    TRUE_2D,
    check_truth,
    data_1d,
    data_2d,
    series,
    spectrum,
)

from pyspec.errors import DataError
from pyspec.fit import fit_model
from pyspec.model import Measurement, load_model


@pytest.mark.parametrize("backend", ["tree", "interpreted", "compiled", "compare"])
def test_fit_finds_the_truth_in_every_backend(backend: str) -> None:
    one = fit_model(spectrum(), Measurement(data=data_1d()), backend=backend)
    two = fit_model(series(), Measurement(data=data_2d()), backend=backend)
    for result, truth in ((one, TRUE_1D), (two, TRUE_2D)):
        assert result.success
        assert result.backend == backend
        check_truth(result, truth)
        assert result.redchi == pytest.approx(0.05**2, rel=0.4)


def test_model_and_data_are_left_alone() -> None:
    model, data = series(), data_2d()
    before, kept = copy.deepcopy(model.values), data.copy()
    data.setflags(write=False)
    fit_model(model, Measurement(data=data))
    assert model.values == before
    np.testing.assert_array_equal(data, kept)


def test_followers_have_value_and_propagated_error() -> None:
    result = fit_model(series(), Measurement(data=data_2d()))
    values, errors = result.values, result.stderr
    assert values["GLP_02_x0"] == values["GLP_01_x0"] + 3.67
    assert errors["GLP_02_x0"] == pytest.approx(errors["GLP_01_x0"], rel=1e-12)
    assert errors["GLP_02_A"] == pytest.approx(0.75 * errors["GLP_01_A"], rel=1e-12)
    assert errors["GLP_02_m"] is None  # follows a fixed parameter
    follower = result.params["GLP_02_A"]
    assert follower.expr == "3/4 * GLP_01_A"
    assert follower.user_data == "3/4 * GLP_01_A"
    assert not follower.vary


def test_followers_through_chains_and_correlations() -> None:
    text = STATIC.format(**START).replace(
        '["GLP_01_F"]', '["(GLP_02_A - GLP_01_A) ** 2 / GLP_01_F / 5"]'
    )
    model = load_model(text, "spectrum")
    model.set_axes(energy=ENERGY)
    clean = model.evaluate(theta=[2.0, 12.0, 84.0, 1.4])
    data = clean + np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    result = fit_model(model, Measurement(data=data))
    a, f = result.values["GLP_01_A"], result.values["GLP_01_F"]
    names = list(result.lmfit.var_names)
    i, j = names.index("GLP_01_A"), names.index("GLP_01_F")
    slope = np.zeros(len(names))
    slope[i], slope[j] = a / 8 / f / 5, -(a**2) / 16 / f**2 / 5
    expected = np.sqrt(slope @ result.lmfit.covar @ slope)
    assert result.values["GLP_02_F"] == pytest.approx(a**2 / 16 / f / 5, rel=1e-12)
    assert result.stderr["GLP_02_F"] == pytest.approx(expected, rel=1e-10)


def test_window_weight_and_mask() -> None:
    data = data_2d()
    spoiled = data.copy()
    spoiled[:, :10] += 50.0  # outside of the window
    spoiled[3, 40] = 1e6  # masked
    keep = np.ones(data.shape, bool)
    keep[3, 40] = False
    measurement = Measurement(data=spoiled, rows=(2, 30), columns=(10, 81), keep=keep)
    result = fit_model(series(), measurement)
    check_truth(result, TRUE_2D)
    assert result.n_data == 28 * 71 - 1
    nfree = result.n_data - result.n_free
    assert result.redchi == pytest.approx(result.chisqr / nfree, rel=1e-12)
    weighted = fit_model(
        series(), Measurement(data=data, weight=np.full(data.shape, 20.0)), scale_covar=False
    )
    assert weighted.redchi == pytest.approx(1.0, rel=0.1)
    check_truth(weighted, TRUE_2D)


def test_masked_fit_equals_a_fit_without_those_points() -> None:
    """lmfit counts masked points as data; redchi and errors must not."""
    data = data_1d()
    keep = np.ones(data.shape, bool)
    keep[60:] = False
    masked = fit_model(spectrum(), Measurement(data=data, keep=keep))
    cut = fit_model(spectrum(), Measurement(data=data, columns=(0, 60)))
    assert masked.redchi == pytest.approx(cut.redchi, rel=1e-9)
    for name in masked.problem.names:
        assert masked.stderr[name] == pytest.approx(cut.stderr[name], rel=1e-5)


def test_arrays_of_the_result_cover_the_window() -> None:
    data = data_2d()
    result = fit_model(series(), Measurement(data=data, rows=(2, 30), columns=(10, 70)))
    np.testing.assert_array_equal(result.energy, ENERGY[10:70])
    np.testing.assert_array_equal(result.time, TIME[2:30])
    np.testing.assert_array_equal(result.data, data[2:30, 10:70])
    assert result.fit.shape == (28, 60)
    np.testing.assert_allclose(result.residual, result.data - result.fit, rtol=0, atol=0)
    flat = result.lmfit.residual
    np.testing.assert_allclose(flat, result.residual.ravel(), rtol=0, atol=1e-12)
    assert float(flat @ flat) == pytest.approx(result.chisqr, rel=1e-12)


def test_integer_and_single_precision_data() -> None:
    counts = np.round(100 * data_2d()).astype(np.uint16)
    model = series()
    model.parameters["GLP_01_A"].max = 1e5
    model.set_values({"Offset_y0": 240.0, "GLP_01_A": 1000.0})
    wanted = fit_model(model, Measurement(data=counts.astype(float)))
    for kind in (np.uint16, np.float32, np.int32):
        result = fit_model(model, Measurement(data=counts.astype(kind)))
        assert result.values == pytest.approx(wanted.values, rel=1e-9)
        assert result.data.dtype == kind


def test_result_pickles_and_serves_lmfit() -> None:
    result = fit_model(spectrum(), Measurement(data=data_1d()))
    again = pickle.loads(pickle.dumps(result))
    assert again.values == result.values
    np.testing.assert_array_equal(again.fit, result.fit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interval = lmfit.conf_interval(again.minimizer, again.lmfit, p_names=["GLP_01_x0"])
    low, best, high = (interval["GLP_01_x0"][k][1] for k in (2, 3, 4))
    assert low < best < high
    assert (high - low) / 2 == pytest.approx(result.stderr["GLP_01_x0"], rel=0.2)


def test_bad_data_never_reach_the_optimizer() -> None:
    data = data_1d()
    data[5] = np.nan
    with pytest.raises(DataError):
        fit_model(spectrum(), Measurement(data=data))
