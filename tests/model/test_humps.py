"""What stands out of a spectrum: lines do, noise does not."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.model.guess.humps import MANY, smoothed
from pyspec.model.guess.values import peak_places

X = np.arange(300.0)


def line(place: float, sd: float) -> np.ndarray:
    return np.exp(-0.5 * ((X - place) / sd) ** 2)


@pytest.mark.parametrize("n", [12, 30, 100, 300, 2000])
def test_noise_alone_has_no_humps(n: int) -> None:
    """One to four peaks used to be seen in any of these."""
    rng = np.random.default_rng(n)
    assert peak_places(np.ones(2)) == []
    assert sum(bool(peak_places(rng.normal(7.0, 2.0, n))) for _ in range(100)) <= 2


@pytest.mark.parametrize("mean", [0.3, 1.0, 3.0, 50.0])
def test_nor_have_counts(mean: float) -> None:
    rng = np.random.default_rng(3)
    assert sum(bool(peak_places(rng.poisson(mean, 400))) for _ in range(100)) <= 2


@pytest.mark.parametrize(("height", "sd"), [(8.0, 1.5), (5.0, 4.0), (2.5, 20.0)])
def test_a_line_in_noise_is_seen(height: float, sd: float) -> None:
    rng = np.random.default_rng(1)
    places = [peak_places(rng.normal(0, 1, 300) + height * line(150, sd)) for _ in range(40)]
    assert all(len(one) == 1 and abs(one[0] - 150) < max(3.0, sd) for one in places)


def test_narrow_and_broad_lines_of_one_spectrum_are_seen() -> None:
    """A survey was smoothed over a two-hundredth of its points, and of two narrow lines, one of
    them the highest, the lower one was lost beside broad ones."""
    rng = np.random.default_rng(2)
    x = np.arange(1201.0)
    lines = ((285, 1.7, 3000), (353, 1.7, 2300), (532, 1.7, 6000), (980, 6, 2000), (153, 1.7, 700))
    clean = 1000 + sum(a * np.exp(-0.5 * ((x - p) / s) ** 2) for p, s, a in lines)
    found = peak_places(rng.poisson(clean))
    assert sorted(round(place / 4) for place in found) == [38, 71, 88, 133, 245]
    assert abs(found[0] - 532) < 2


def test_many_points_are_smoothed_as_few_are() -> None:
    """Wide Gaussians over 100,000 points took five seconds."""
    from scipy.ndimage import gaussian_filter1d

    values = 7.0 + np.random.default_rng(4).normal(0, 1, 20_011) + np.linspace(0, 3, 20_011)
    for width in (8.0, 300.0):
        assert values.size * width > MANY
        own = gaussian_filter1d(values, width, truncate=6)
        np.testing.assert_allclose(smoothed(values, width), own, rtol=0, atol=1e-7)
    assert np.ptp(smoothed(np.full(20_011, 3.3), 300.0)) == 0.0
