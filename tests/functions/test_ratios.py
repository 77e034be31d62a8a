"""Lines of several lengths over all ratios of these, against sums and integrals in many digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.exact import builds, exact_slopes
from support.exact_lines import fermi_edge, mahan

from pyspec._library import OPS
from pyspec.functions.fermi import BOLTZMANN


def compare(
    name: str,
    exact: Callable[..., Any],
    x: np.ndarray,
    params: Sequence[float],
    steps: Sequence[Any],
    bound: float,
) -> None:
    """Values to the tolerance of the row and one rounding of each parameter; slopes to `bound` of
    the largest. The same bits with and without slopes, in rows and alone."""
    op = OPS[name]
    value, slopes = exact_slopes(exact, x, params, steps)
    if params[op.params.index("SD")] == 0.0:  # even in it
        slopes[op.params.index("SD")] = 0.0
    allowed = op.tolerance * np.abs(value).max()
    allowed += np.abs(slopes * np.array(params)[:, np.newaxis]).sum(axis=0)
    for how, found, partials in builds(op, x, params):
        assert np.all(np.abs(found - value) / 2.0**-52 <= allowed), how
        worst = np.abs(partials - slopes).max(axis=1)
        assert np.all(worst <= bound * np.abs(slopes).max(axis=1) + 1e-30), how


#: SD / kT: each way of computing, where one ends and the next begins, and the limits.
RATIOS = (0.0, 1e-4, 0.3, 0.4, 0.4000001, 1.0, 2.7, 6.0, 9.9999, 10.0, 14.0, 90.0, 1e6)
#: Beside a ratio that is computed in the same way.
DEAR = (0.4000001, 1.0, 9.9999)
#: In units of the larger width.
PLACES = np.array([-30.0, -3.1, -1.0, -1e-3, 0.0, 0.2, 0.9, 2.3, 5.0, 38.0])


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "ratio", [pytest.param(one, marks=[pytest.mark.slow] * (one in DEAR)) for one in RATIOS]
)
def test_a_fermi_edge(ratio: float, every: int) -> None:
    for unit in (0.7, 3e-3) if ratio in (0.3, 90.0) else (0.02,):
        kT = unit if ratio <= 1 else unit / ratio
        params = [1.3, 0.125, kT / BOLTZMANN, ratio * kT, 0.2 / unit, -0.07 / unit]
        with mp.workdps(30):
            steps = [mp.mpf(10) ** -10 * (abs(mp.mpf(given)) or kT) for given in params]
            x = 0.125 + unit * PLACES[::every]
            compare("FermiEdge", fermi_edge, x, params, steps, 1e-9)


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
def test_a_line_of_mahan(ratio: float, alpha: float) -> None:
    given = [1.7, X0, SD, alpha, SD * ratio]
    with mp.workdps(60):
        steps = [mp.mpf(10) ** -18 * (abs(value) or 1) for value in given]
        compare("Mahan", mahan, X0 - np.sign(ratio) * AWAY, given, steps, 1e-11)
