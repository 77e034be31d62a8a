"""What is read off a trace over time, whatever its units are."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.functions.response import expFun_gaussIRF
from pyspec.model.guess.laws import guess_laws

TIME = np.linspace(-2, 10, 200)
NOISE = np.random.default_rng(0).normal(0, 0.02, TIME.size)
DECAY = np.where(TIME > 0, np.exp(-TIME / 2), 0.0) + NOISE


@pytest.fixture(scope="module")
def law() -> tuple[float, float]:
    """Height and decay time as they are read off."""
    return guess_laws(TIME, DECAY).decays[0]


def test_a_decay(law: tuple[float, float]) -> None:
    assert law == pytest.approx((1.0, 2.0), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "size"), [(1e-13, 1e160), (1e-13, 1e-12), (1e12, 1e-200)])
def test_the_units_of_a_trace_change_no_law(
    unit: float, size: float, law: tuple[float, float]
) -> None:
    """1e-12 got a second decay and an oscillation, 1e-200 no law at all, 1e160 an overflow."""
    laws = guess_laws(unit * TIME, size * DECAY)
    ((height, tau),) = laws.decays
    assert laws.step is None
    assert laws.swing is None
    assert (height / size, tau / unit) == pytest.approx(law, abs=1e-4)
    assert laws.is_sharp


def test_an_oscillation_in_seconds() -> None:
    wave = 0.3 * np.exp(-TIME / 4) * np.cos(2 * np.pi * 1.2 * TIME)
    laws = guess_laws(1e-12 * TIME, 1e-6 * (DECAY + np.where(TIME > 0, wave, 0.0)))
    assert laws.swing is not None
    height, f, _, fade = laws.swing
    assert height == pytest.approx(3e-7, rel=0.05)
    assert f == pytest.approx(1.2e12, rel=0.01)
    assert fade == pytest.approx(4e-12, rel=0.1)


def test_few_points_get_fewer_parameters_than_they_are() -> None:
    """Of five points two decays behind an instrument were read: seven parameters."""
    for size in (5, 8):
        laws = guess_laws(TIME[31 : 31 + size], DECAY[31 : 31 + size])
        count = 1 + 2 * (laws.SD is not None) + (laws.step is not None) + 2 * len(laws.decays)
        assert count < size


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.0, 0.05])
def test_the_onset_of_a_long_trace_beside_an_oscillation(width: float) -> None:
    """It was that of averages over neighbours: 0.008 and free where it is sharp, and 0.0468 where
    it is 0.05."""
    t = np.linspace(-2, 10, 2000)
    rng = np.random.default_rng(0)
    y = expFun_gaussIRF(t, 1.0, 2.0, 0.0, width or 1e-6) + rng.normal(0, 0.01, t.size)
    y += 0.1 * np.where(t > 0, np.exp(-t / 3) * np.sin(2 * np.pi * 1.5 * t), 0.0)
    laws = guess_laws(t, y)
    assert laws.swing is not None
    assert laws.SD is not None
    assert laws.is_sharp == (width == 0.0)
    assert laws.is_sharp or pytest.approx(0.05, rel=0.04) == laws.SD
