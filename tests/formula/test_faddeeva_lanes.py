"""w(x + iy) in formulas, whose heights are often the same along a row: the series that are prepared
for them, and what takes their place elsewhere, give the values of SciPy in every orientation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import wofz
from support.kernel_calls import KernelCall

from pyspec._library import supported_isas
from pyspec.formula import define

BOTH = define("energy Both(x0, y): wofz_real(x - x0, y) + 3 * wofz_imag(x - x0, y)")
#: Either side of where a series holds, |x + iy| < 8 and y >= 1e-6; the last lie below the axis.
HEIGHTS = (0.0, 1e-7, 1e-6, 1e-3, 0.4, 3.0, 7.99, 8.01, 90.0, -1e-3, -0.4, -1.5)
#: The middle of nodes, their ends, both signs, and far out.
X = np.concatenate([np.linspace(-9.3, 9.3, 149), [0.25, 0.5, -0.5, 7.75, 8.0, 1e3, -1e5]])


def run(params: np.ndarray, isa: str, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
    """The value (n_rows, n_x) and, of y alone, the slope."""
    value = np.empty((params.shape[1], X.size))
    by_y = np.empty_like(value)
    KernelCall(BOTH, X, params, value, [None, by_y] if slopes else None, isa=isa).run()
    return value, by_y


def exact(params: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value and slope by y, with w' = 2 i / sqrt(pi) - 2 z w, and what rounding of w and z w makes
    of them at most."""
    z = X - params[0][:, np.newaxis] + 1j * params[1][:, np.newaxis]
    w = wofz(z)
    by_z = 2j / np.sqrt(np.pi) - 2 * z * w
    rounding = 1e-13 * np.stack([np.abs(w), 1 + np.abs(z * w)])
    return w.real + 3 * w.imag, -by_z.imag + 3 * by_z.real, rounding


def some_rows(order: np.ndarray) -> np.ndarray:
    """(2, n_rows): x0 and y."""
    heights = np.array(HEIGHTS)[order]
    return np.stack([np.linspace(-0.2, 0.3, heights.size), heights])


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("n_rows", [1, 3, len(HEIGHTS)])
def test_values_and_slopes_are_those_of_scipy(isa: str, n_rows: int) -> None:
    for start in range(0, len(HEIGHTS), n_rows):
        params = some_rows(np.arange(start, start + n_rows))
        value, by_y = run(params, isa, True)
        expected, slope, rounding = exact(params)
        assert np.all(np.abs(value - expected) <= rounding[0])
        assert np.all(np.abs(by_y - slope) <= rounding[1])


@pytest.mark.parametrize("isa", supported_isas())
def test_a_row_has_the_same_bits_whatever_stands_beside_it(isa: str) -> None:
    """Alone its lanes are places, in company rows, in any order; with slopes or without."""
    n = len(HEIGHTS)
    params = some_rows(np.arange(n))
    value, by_y = run(params, isa, True)
    assert np.array_equal(run(params, isa, False)[0], value)
    order = np.random.default_rng(3).permutation(n)
    mixed, mixed_by_y = run(np.ascontiguousarray(params[:, order]), isa, True)
    assert np.array_equal(mixed, value[order])
    assert np.array_equal(mixed_by_y, by_y[order])
    for k in range(n):
        alone, alone_by_y = run(np.ascontiguousarray(params[:, [k]]), isa, True)
        assert np.array_equal(alone[0], value[k])
        assert np.array_equal(alone_by_y[0], by_y[k])
