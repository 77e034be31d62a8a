"""Files that share a free spectrum: the same minimum and errors as with each amplitude a parameter
of one fit of all files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.fit_cases import loaded

from pyspec import (
    DataError,
    Measurement,
    Model,
    ModelError,
    fit_joint,
    load_model,
)
from pyspec.components import expFun, free, gaussIRF
from pyspec.functions import energy
from pyspec.functions.response import expFun_gaussIRF as decay
from pyspec.functions.response import stepFun_gaussIRF as step

Array = np.ndarray

ENERGY = np.linspace(1.5, 3.0, 14)
TIMES = (np.linspace(-1, 6, 36), np.concatenate([np.linspace(-0.8, 3, 20), np.arange(4, 16)]))
MODEL = """
one:
  gaussIRF: {SD: [0.25, True, 0.01, 2]}
  expFun: {A: {free: energy, vary: project}, tau: [1.6, "project", 0.1, 10], t0: [0.1, True]}
  stepFun: {A: {free: energy}, t0: ["expFun_01_t0"]}
"""
#: Time constant; width and onset of each file.
TRUTH = np.array([2.0, 0.2, 0.05, 0.3, -0.1])


def traces(theta: Array, file: int) -> Array:
    width, onset = theta[1 + 2 * file : 3 + 2 * file]
    law = decay(TIMES[file], 1.0, theta[0], onset, width)
    return np.array([law, step(TIMES[file], 1.0, onset, width)])


def spectra() -> list[Array]:
    shapes = ((5, 1.9), (2, 2.6), (-3, 2.2))
    return [np.asarray(energy.Gauss(ENERGY, height, at, 0.25)) for height, at in shapes]


def files(weighted: bool = False, seed: int = 3) -> list[tuple[Model, Measurement]]:
    rng = np.random.default_rng(seed)
    common, *own = spectra()
    found = []
    for file, time in enumerate(TIMES):
        data = traces(TRUTH, file).T @ np.array([common, own[file]])
        data += rng.normal(0, 0.05, data.shape)
        weight = rng.uniform(5, 30, data.shape) if weighted else None
        model = loaded(MODEL, "one", energy=ENERGY, time=time)
        found.append((model, Measurement(data, weight=weight)))
    return found


def reference(parts: list[tuple[Model, Measurement]]) -> tuple[Array, Array, float]:
    """Values, errors and chi² with every amplitude a parameter: theta, the shared spectrum, and
    that of each file."""
    n, m = TRUTH.size, ENERGY.size

    def spectrum(file: int, at: Array) -> Array:
        own = at[n + m * (1 + file) : n + m * (2 + file)]
        return np.asarray(traces(at[:n], file).T @ np.array([at[n : n + m], own]))

    def residual(at: Array) -> Array:
        found = []
        for file, (_, measured) in enumerate(parts):
            weight = 1.0 if measured.weight is None else measured.weight
            found.append(((measured.data - spectrum(file, at)) * weight).ravel())
        return np.concatenate(found)

    def jacobian(at: Array) -> Array:
        columns = []
        for k in range(at.size):
            h = 1e-5 * max(abs(at[k]), 0.1)
            up, down = at.copy(), at.copy()
            up[k] += h
            down[k] -= h
            columns.append((residual(up) - residual(down)) / (2 * h))
        return np.array(columns).T

    start = np.concatenate([TRUTH, *spectra()])
    found = least_squares(residual, start, jacobian, method="lm", xtol=1e-15, ftol=1e-15)
    size = residual(start).size
    variance = 2 * found.cost / (size - found.x.size)
    covariance = variance * np.linalg.inv(found.jac.T @ found.jac)
    return found.x, np.sqrt(np.diag(covariance)), 2 * found.cost


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_one_fit_with_every_amplitude_a_parameter(weighted: bool) -> None:
    parts = files(weighted)
    result = fit_joint(parts)
    values, errors, chisqr = reference(parts)
    assert result.success
    assert result.joint.chisqr == pytest.approx(chisqr, rel=1e-9)
    assert result.joint.n_free == TRUTH.size + 3 * ENERGY.size
    names = [
        "expFun_01_tau", "file00_gaussIRF_SD", "file00_expFun_01_t0", "file01_gaussIRF_SD",
        "file01_expFun_01_t0",
    ]  # fmt: skip
    found = [result.values[name] for name in names]
    stderr = [result.stderr[name] for name in names]
    one, two = (result[k].amplitudes for k in range(2))
    assert np.array_equal(one["expFun_01_A"], two["expFun_01_A"])
    for linear, name in ((one, "expFun_01_A"), (one, "stepFun_01_A"), (two, "stepFun_01_A")):
        found.extend(linear[name])
        stderr.extend(linear.stderr[name])
    assert np.abs((np.array(found) - values) / errors).max() < 1e-5
    assert np.allclose(np.array(stderr, float), errors, rtol=1e-6)
    assert np.allclose(two.stderr["expFun_01_A"], one.stderr["expFun_01_A"], rtol=1e-12)
    begin = 0
    for file in result:
        part = file.residual.ravel()
        whole = np.asarray(result.joint.residual)[begin : begin + part.size]
        assert np.allclose(part, whole, rtol=1e-12, atol=1e-12)
        begin += part.size


def test_a_result_is_the_same_after_a_pickle_and_a_prediction_knows_all_files() -> None:
    result = fit_joint(files())
    file: Any = result[1]
    result.conf_interval()  # goes to other places
    before, spread = file.amplitudes, file.predict(time=[0.5, 2.0])
    fitted = pickle.loads(pickle.dumps(fit_joint(files())[1])).amplitudes
    assert np.allclose(before["expFun_01_A"], fitted["expFun_01_A"], rtol=1e-9)
    again = pickle.loads(pickle.dumps(file))
    after = again.amplitudes
    for name in before:
        assert np.array_equal(before[name], after[name])
        assert np.allclose(before.stderr[name], after.stderr[name], rtol=1e-12)
    assert np.array_equal(file.fit, again.fit)
    assert np.allclose(again.predict(time=[0.5, 2.0]).stderr, spread.stderr, rtol=1e-12)


def test_a_model_says_what_is_shared() -> None:
    model = load_model(MODEL, "one")
    assert "vary: project" in model.to_yaml()
    assert load_model(model.to_yaml(), "one").parameters["expFun_01_A"].free.shared
    made = Model("one", [gaussIRF(0.2), expFun(A=free("energy", shared=True), tau=1.0, t0=0)])
    assert made.parameters["expFun_01_A"].free.shared
    with pytest.raises(ModelError, match="vary: project"):
        load_model(MODEL.replace("vary: project", "vary: True"), "one")


def test_what_cannot_be_shared_is_refused() -> None:
    (one, first), (two, second) = files()
    two.set_axes(energy=ENERGY + 0.01)
    with pytest.raises(DataError, match="other energies"):
        fit_joint([(one, first), (two, second)])
    two.set_axes(energy=np.linspace(1.5, 3.0002, 14))
    with pytest.raises(DataError, match=r"up to 0\.0002 apart, 3\.0002 and 3, where rounding may"):
        fit_joint([(one, first), (two, second)])
    two.set_axes(energy=ENERGY[1:])
    less = Measurement(np.asarray(second.data)[:, 1:])
    with pytest.raises(DataError, match=r"in its window, 13 points in place of 14; bring both"):
        fit_joint([(one, first), (two, less)])
    other = load_model(MODEL.replace("vary: project}", "vary: project, min: 0}"), "one")
    other.set_axes(energy=ENERGY, time=TIMES[1])
    with pytest.raises(ModelError, match="the same entry"):
        fit_joint([(one, first), (other, second)])
