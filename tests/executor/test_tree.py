"""The tree executor against sums written out by hand: the witness must be right on its own."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import DataError, ModelError
from pyspec.executor.tree import TreeExecutor
from pyspec.functions import reference
from pyspec.model import Measurement, Model, load_dynamics, load_model

X = np.linspace(80.0, 90.0, 41)
T = np.array([-2.0, -0.5, 0.0, 0.7, 1.5, 4.0])

GLP, Gauss, LinBack = reference("GLP"), reference("Gauss"), reference("LinBack")
Shirley, Decay, Wave = reference("Shirley"), reference("expFun"), reference("sinFun")

TEXT = """\
m:
  LinBack:
    xStop: [88.0, False]
    xStart: [82.0, False]
    b: [1.0, True]
    m: [0.25, True]
  Shirley:
    pShirley: [0.02, True]
  GLP:
    A: [20.0, True]
    x0: [84.0, True]
    F: [0.9, True]
    m: [0.3, True]
  Shirley:
    pShirley: [0.01, True]
  Gauss:
    A: ["GLP_01_A / 4"]
    x0: ["GLP_01_x0 + 2.5"]
    SD: [0.6, True]
"""

LAWS = """\
shift:
  expFun:
    A: [1.0, True]
    tau: [2.0, True]
    t0: [0.0, False]
  sinFun:
    A: ["expFun_01_A / 10"]
    f: [0.2, True]
    phi: [0.0, False]
    t0: [-1.0, False]
    y0: [0.05, True]
fade:
  expFun:
    A: [-5.0, True]
    tau: [3.0, True]
    t0: [0.5, False]
"""


def model(time: np.ndarray | None = None, **laws: str) -> Model:
    loaded = load_model(TEXT)
    for name, law in laws.items():
        loaded.add_dynamics(name, load_dynamics(LAWS, law, name))
    loaded.set_axes(energy=X, time=time)
    return loaded


def spectrum(x: np.ndarray, A: float, x0: float, F: float = 0.9) -> np.ndarray:
    """The model above, written out: from the last component to the first."""
    total = Gauss(x, A / 4, x0 + 2.5, 0.6)
    total = total + Shirley(x, 0.01, total)
    total = total + GLP(x, A, x0, F, 0.3)
    total = total + Shirley(x, 0.02, total)
    return total + LinBack(x, 0.25, 1.0, 82.0, 88.0)


def test_components_combine_in_reverse_file_order() -> None:
    executor = TreeExecutor(model())
    value = executor.run(model().theta())
    assert value.shape == X.shape
    np.testing.assert_allclose(value, spectrum(X, 20.0, 84.0), rtol=1e-15)


def test_shirley_follows_the_index_on_a_descending_axis() -> None:
    loaded = model()
    loaded.set_axes(energy=X[::-1])
    value = TreeExecutor(loaded).run(loaded.theta())
    np.testing.assert_allclose(value, spectrum(X[::-1], 20.0, 84.0), rtol=1e-15)
    assert not np.allclose(value[::-1], spectrum(X, 20.0, 84.0))


def test_static_model_on_two_axes_broadcasts() -> None:
    value = TreeExecutor(model(T)).run(model().theta())
    assert value.shape == (T.size, X.size)
    for row in value:
        np.testing.assert_array_equal(row, value[0])
    np.testing.assert_allclose(value[0], spectrum(X, 20.0, 84.0), rtol=1e-15)


def test_dynamics_and_what_follows_them() -> None:
    moved = model(T, GLP_01_x0="shift", GLP_01_A="fade")
    value = TreeExecutor(moved).run(moved.theta())
    x0 = 84.0 + Decay(T, 1.0, 2.0, 0.0) + Wave(T, 0.1, 0.2, 0.0, -1.0, 0.05)
    A = 20.0 + Decay(T, -5.0, 3.0, 0.5)
    expected = np.array([spectrum(X, *pair) for pair in zip(A, x0, strict=True)])
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_theta_and_fixed_are_inputs() -> None:
    moved = model(T, GLP_01_x0="shift")
    executor = TreeExecutor(moved)
    assert executor.opt_param_names == moved.opt_param_names
    assert executor.fixed_names == moved.fixed_names
    start = executor.run(moved.theta())
    by_name = executor.run({"GLP_01_A": 8.0}, {"GLP_01_x0_expFun_01_t0": 1.0})
    theta = moved.theta()
    theta[moved.opt_param_names.index("GLP_01_A")] = 8.0
    fixed = [moved.values[name] for name in moved.fixed_names]
    fixed[moved.fixed_names.index("GLP_01_x0_expFun_01_t0")] = 1.0
    np.testing.assert_array_equal(by_name, executor.run(theta, np.array(fixed)))
    x0 = 84.0 + Decay(T, 1.0, 2.0, 1.0) + Wave(T, 0.1, 0.2, 0.0, -1.0, 0.05)
    expected = np.array([spectrum(X, 8.0, at) for at in x0])
    np.testing.assert_allclose(by_name, expected, rtol=1e-12)
    np.testing.assert_array_equal(executor.run(moved.theta()), start)


def test_relative_guard() -> None:
    executor = TreeExecutor(model())
    assert np.isnan(executor.run(None, {"LinBack_xStart": 88.0})).all()
    assert np.isfinite(executor.run(None, {"LinBack_xStart": 87.9})).all()


def test_what_is_refused() -> None:
    bare = load_model(TEXT)
    with pytest.raises(ModelError, match="no energy axis"):
        TreeExecutor(bare)
    with pytest.raises(ModelError, match="GLP_01_x0 moves in time, but the model has no time axis"):
        TreeExecutor(model(None, GLP_01_x0="shift"))
    for measurement, message in (
        (Measurement(keep=np.ones(3, bool)), "keep has shape"),
        (Measurement(rows=(0, 2)), "of data with one axis; give points of a spectrum"),
    ):
        with pytest.raises(DataError, match=message):
            TreeExecutor(model(), measurement)
