"""Mahan's line over all ratios of its lengths, and what it becomes at their ends."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.exact_lines import mahan

from pyspec._library import OPS, call_function, supported_isas
from pyspec.functions import reference

SD, X0 = 0.3, 0.2
#: Before the edge, around it, and far into the tail.
AWAY = SD * np.array([-12.0, -5.0, -1.0, 0.3, 2.0, 7.0, 14.4, 90.0, 1e6])


def exact(x: np.ndarray, params: list[Any]) -> np.ndarray:
    return np.array([mahan(mp.mpf(float(at)), *params) for at in x])


def call(x: Any, *params: float) -> tuple[np.ndarray, np.ndarray]:
    value, slopes = call_function("Mahan", x, np.array(params)[:, np.newaxis], partials=True)
    assert slopes is not None
    return value[0], slopes[:, 0]


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
        params = [mp.mpf(value) for value in given]
        expected, slopes = exact(x, params).astype(float), []
        for k, value in enumerate(params):
            step = mp.mpf(10) ** -18 * (abs(value) or 1)
            ends = [[*params[:k], value + sign * step, *params[k + 1 :]] for sign in (1, -1)]
            slopes.append((exact(x, ends[0]) - exact(x, ends[1])) / (2 * step))
    derivatives = np.array(slopes, dtype=float)
    peak = np.abs(expected).max()
    inputs = np.abs(derivatives * np.array(given)[:, np.newaxis]).sum(axis=0)
    for isa in supported_isas():
        for n_rows in (1, 9):
            rows = np.repeat(np.array(given)[:, np.newaxis], n_rows, axis=1)
            bare, _ = call_function("Mahan", x, rows, isa=isa)
            value, found = call_function("Mahan", x, rows, partials=True, isa=isa)
            assert found is not None
            np.testing.assert_array_equal(bare, value)
            errors = np.abs(value[0] - expected) / 2.0**-52
            assert np.all(errors <= OPS["Mahan"].tolerance * peak + inputs)
            worst = np.abs(found[:, 0] - derivatives).max(axis=1)
            assert np.all(worst <= 1e-11 * np.abs(derivatives).max(axis=1) + 1e-30)


@pytest.mark.parametrize("alpha", [-0.6, 4.1, np.nan, np.inf, -1e300])
def test_beyond_its_indices_it_has_no_value(alpha: float) -> None:
    value, slopes = call(AWAY, 1.0, X0, SD, alpha, 2.0)
    assert np.isnan(value).all()
    assert np.isnan(slopes).all()
    with np.errstate(invalid="ignore"):
        assert np.isnan(reference("Mahan")(AWAY, 1.0, X0, SD, alpha, 2.0)).all()
