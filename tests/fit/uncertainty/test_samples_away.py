"""Samples of what the data limit on one side only: of a decay of 24 ± 7 the median used to be 330,
as the flat prior went up to 1000, and nothing said so."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pyspec import Measurement, fit_model, load_time_model

pytest.importorskip("emcee")

TIME = np.linspace(0, 20, 41)
MODELS = """
m:
  expFun: {{A: [3, True], tau: [{0}, True, 0.1, 1000], t0: [0, False]}}
  constFun: {{A: [0.5, True]}}
"""
TAU = "expFun_01_tau"


def fit(tau: float, seed: int) -> tuple[Any, npt.NDArray[np.float64]]:
    model = load_time_model(MODELS.format(tau), "m")
    model.set_axes(time=TIME)
    noise = np.random.default_rng([6, seed]).normal(0, 0.1, TIME.size)
    data = np.asarray(model.evaluate()) + noise
    return fit_model(model, Measurement(data, weight=10.0), scale_covar=False), data


def said(samples: Any) -> list[str]:
    return [text for text in samples.cautions if "do not hold the best values" in text]


def exact(data: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The middle 68 % of the posterior of the time: heights are integrated over by hand."""
    times, levels = np.geomspace(1, 1000, 2000), []
    for tau in times:
        q, r = np.linalg.qr(10 * np.stack([np.exp(-TIME / tau), np.ones(TIME.size)], 1))
        left = 10 * data - q @ (q.T @ (10 * data))
        levels.append(-0.5 * left @ left - np.log(abs(np.linalg.det(r))))
    density = np.exp(np.array(levels) - max(levels))
    sums = np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(times))
    return np.interp([0.1587, 0.8413], sums / sums[-1], times[1:])


@pytest.mark.filterwarnings("ignore::pyspec.errors.ModelWarning")
def test_samples_far_from_the_best_values_are_told() -> None:
    result, data = fit(25, 2)
    low, high = exact(data)
    assert low > result.values[TAU] + 0.5 * result.stderr[TAU]
    assert high > 700
    samples = result.sample(steps=1500, burn=400, seed=1)
    (text,) = said(samples)
    assert f"{TAU} = {result.values[TAU]:.4g} outside of " in text
    first, last = np.quantile(samples.of(TAU), [0.1587, 0.8413])
    assert first == pytest.approx(low, rel=0.5)
    assert last == pytest.approx(high, rel=0.2)


@pytest.mark.filterwarnings("ignore::pyspec.errors.ModelWarning")
def test_samples_about_the_best_values_are_not() -> None:
    result, _ = fit(4, 2)
    assert not said(result.sample(steps=800, burn=200, seed=1))
