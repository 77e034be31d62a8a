"""Dead channels, which are exactly 0 between values that are not, are a caution. False alarms were
counted by simulation: 0 of 1,300 series of 5 × 151 points with counts of 0.01 to 3,000 and up to
four peaks, each against the truth and against four smoother curves, of as many spectra clipped at
0, and of as many differences rounded to whole numbers; 3 of as many of narrow lines between zeros.
"""

import numpy as np
import pytest
from support.findings import of_kind
from support.fit_cases import loaded

from pyspec import Measurement, fit_model
from pyspec.fit.findings.dead import dead_points
from pyspec.fit.findings.kinds import Kind

PEAK = """
peak:
  Offset: {y0: [30, True]}
  Gauss: {A: [500, True], x0: [-0.5, True, -2, 1], SD: [0.2, True, 0.02, 1]}
"""
ENERGY = np.linspace(-2, 1, 151)
CLEAN = 40 + 600 * np.exp(-(((ENERGY + 0.55) / 0.15) ** 2) / 2)


def peak():
    return loaded(PEAK, "peak", energy=ENERGY)


about_zeros = of_kind(Kind.DEAD_POINTS, level=1)


@pytest.mark.parametrize("loss", ["gaussian", "poisson"])
def test_a_dead_strip_is_told(loss: str) -> None:
    """The fit is pulled down to them, as far from their neighbours as from noise of heavy tails."""
    strip = range(70, 74)
    data = np.random.default_rng(0).poisson(CLEAN).astype(float)
    assert not about_zeros(fit_model(peak(), Measurement(data, loss=loss)))
    data[strip] = 0.0
    result = fit_model(peak(), Measurement(data, loss=loss))
    (found,) = about_zeros(result)
    assert result.values["Gauss_01_A"] < 500
    assert found.numbers == {"count": 4, "energy": ENERGY[70]}
    mask = np.zeros(151, bool)
    mask[strip] = True
    assert not about_zeros(fit_model(peak(), Measurement(data, loss=loss, mask=mask)))


def test_a_dead_channel_of_few_counts_is_told_by_all_spectra() -> None:
    """Of 2 counts a point any may be 0; of 300 spectra not all."""
    fit = np.full((300, 60), 2.0)
    data = np.random.default_rng(0).poisson(fit).astype(float)
    kept = np.ones(fit.shape, bool)
    assert not dead_points(data, fit, kept).any()
    data[:, 30] = 0.0
    kept[:7, 30] = False
    assert np.array_equal(dead_points(data, fit, kept), kept & (data == 0) & (np.arange(60) == 30))
    assert np.array_equal(dead_points(data.T, fit.T, kept.T).T.sum(axis=0), 293 * np.eye(60)[30])


def test_which_points_are_dead() -> None:
    kept = np.ones((6, 151), bool)
    fit = np.tile(CLEAN, (6, 1))
    data = fit + np.random.default_rng(1).normal(0, 3, fit.shape)
    assert not dead_points(data, fit, kept).any()
    data[:, 20:23] = data[3] = 0.0  # three channels, and the spectrum of one delay
    expected = data == 0.0  # also where both meet and there is nothing beside them
    assert np.array_equal(dead_points(data, fit, kept), expected)
    assert not dead_points(data, fit, kept & (data != 0)).any()
    assert np.array_equal(dead_points(-data, -fit, kept), expected)
    data[:, :20] = 0.0  # the detector ends there: nothing lies on the other side
    assert not dead_points(data[:1], fit[:1], kept[:1])[0, :23].any()


@pytest.mark.parametrize("unit", [1.0, 0.001])
def test_of_many_counts_some_are_zero(unit: float) -> None:
    """Among 100,000 counts of 9 on average, beside others that are fewer, a few are 0 by chance."""
    fit = np.full((1000, 600), 1.8)
    fit[:, 300:420] = 9.0
    data = np.random.default_rng(1).poisson(fit) * unit
    kept = np.ones(fit.shape, bool)
    assert not dead_points(data, unit * fit, kept).any()
    fit[:, 340:380], data[:, 340:380] = 40.0, 40.0 * unit
    data[:, 350] = 0.0
    assert np.array_equal(np.unique(np.nonzero(dead_points(data, unit * fit, kept))[1]), [350])
