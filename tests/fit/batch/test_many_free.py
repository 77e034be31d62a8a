"""Many fits of a model whose spectra are free, and bootstraps of one: they were refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import Measurement, Model, bootstrap, fit_many, fit_model, load_model
from pyspec.functions.kinetics import populations
from pyspec.io import load_fit, save_fit

Array = npt.NDArray[np.float64]

TEXT = """
kinetics:
  chain: {A -> B: k1, B: k2}
chained:
  gaussIRF: {SD: [0.2, False]}
  chain: {k1: [1, True, 0.01, 100], k2: [0.3, True, 0.001, 50], t0: [0.1, True],
          spectra: {free: energy, min: 0}}
"""
ENERGY = np.linspace(1.5, 3, 12)
TIME = np.concatenate([np.linspace(-1, 3, 41), np.geomspace(3.2, 60, 15)])
NOISE = 0.05


def clean() -> Array:
    K = np.array([[-2.0, 0], [2.0, -0.2]])
    spectra = np.array([1 + np.exp(-(((ENERGY - at) / 0.3) ** 2)) for at in (1.9, 2.5)])
    return np.asarray(populations(TIME - 0.1, K, np.array([1.0, 0]), 0.2) @ spectra)


def model() -> Model:
    found = load_model(TEXT, "chained")
    found.set_axes(energy=ENERGY, time=TIME)
    return found


def measured(seed: int) -> Measurement:
    noise = np.random.default_rng(seed).normal(0, NOISE, (TIME.size, ENERGY.size))
    return Measurement(clean() + noise, weight=1 / NOISE)


def test_each_is_the_fit_of_its_measurement() -> None:
    series = [measured(seed) for seed in range(4)]
    fits = fit_many(model(), series, scale_covar=False)
    assert fits.success.all()
    for k, one in enumerate(series):
        alone = fit_model(model(), one, scale_covar=False)
        assert fits[k].values == dict(alone.values)
        assert fits[k].stderr == dict(alone.stderr)
        assert fits[k].chisqr == alone.chisqr
        again = fits.result(k).amplitudes
        assert again is not None
        assert alone.amplitudes is not None
        assert np.array_equal(again["chain_B_A"], alone.amplitudes["chain_B_A"])
    starts = [{"chain_k1": 5.0, "gaussIRF_SD": 0.25}, {"chain_k2": 0.1}]  # one is fixed
    fits = fit_many(model(), series[0], starts, n_starts=2)
    assert fits.success.all()
    assert fits.values["gaussIRF_SD"].tolist() == [0.25, 0.2]
    assert not np.isclose(fits[0].chisqr, fits[1].chisqr, rtol=1e-4)


@pytest.mark.parametrize("kind", ["noise", "residuals"])
def test_the_spread_of_a_bootstrap_is_the_standard_error(kind: str, tmp_path: Path) -> None:
    result = fit_model(model(), measured(1), scale_covar=False)
    fits = bootstrap(result, 200, kind=kind, seed=2)
    assert fits.success.all()
    for name in ("chain_k1", "chain_k2", "chain_t0"):
        error = result.stderr[name]
        assert error is not None
        assert abs(fits.spread(name) / error - 1) < 0.2  # four deviations of 200 draws
    save_fit(tmp_path / "fit.h5", result)
    stored = bootstrap(load_fit(tmp_path / "fit.h5"), 3, kind=kind, seed=2)
    assert np.allclose(stored.values["chain_k1"], fits.values["chain_k1"][:3], rtol=1e-7)
