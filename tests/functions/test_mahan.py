"""Mahan's line over all ratios of its lengths, and what it becomes at their ends."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from support.exact import builds, exact_slopes
from support.exact_lines import mahan

from pyspec._library import OPS

SD, X0 = 0.3, 0.2
#: Before the edge, around it, and far into the tail.
AWAY = SD * np.array([-12.0, -5.0, -1.0, 0.3, 2.0, 7.0, 14.4, 90.0, 1e6])


ALL = [
    (ratio, alpha)
    for ratio in (1e-9, 1e-3, 0.07, 0.4, 1.0, -1.0, 6.0, 1e3, 1e6)
    for alpha in (0.0, 0.01, 0.17, 0.5, 1.0, 3.9, -0.4)
]
FAST = [(1e-3, 0.17), (0.07, 0.5), (-1.0, 0.01), (1e6, 0.17)]


@pytest.mark.parametrize(
    ("ratio", "alpha"),
    [case if case in FAST else pytest.param(*case, marks=pytest.mark.slow) for case in ALL],
)
def test_value_and_slopes_against_mpmath(ratio: float, alpha: float) -> None:
    """Values to 64 units of the peak and one rounding of each parameter; slopes to 1e-11 of the
    largest. The same bits with and without slopes, in rows and alone."""
    given = [1.7, X0, SD, alpha, SD * ratio]
    x = X0 - np.sign(ratio) * AWAY
    with mp.workdps(60):
        steps = [mp.mpf(10) ** -18 * (abs(value) or 1) for value in given]
        expected, slopes = exact_slopes(mahan, x, given, steps)
    allowed = OPS["Mahan"].tolerance * np.abs(expected).max()
    allowed += np.abs(slopes * np.array(given)[:, np.newaxis]).sum(axis=0)
    for how, value, found in builds(OPS["Mahan"], x, given):
        assert np.all(np.abs(value - expected) / 2.0**-52 <= allowed), how
        worst = np.abs(found - slopes).max(axis=1)
        assert np.all(worst <= 1e-11 * np.abs(slopes).max(axis=1) + 1e-30), how
