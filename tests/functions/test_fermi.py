"""The Fermi edge over all ratios of resolution and temperature, against sums in 30 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from support.exact import builds, exact_slopes
from support.exact_lines import fermi_edge

from pyspec._library import OPS
from pyspec.functions.fermi import BOLTZMANN

#: SD / kT: each way of computing, where one ends and the next begins, and the limits.
RATIOS = (0.0, 1e-4, 0.3, 0.4, 0.4000001, 1.0, 2.7, 6.0, 9.9999, 10.0, 14.0, 90.0, 1e6)
#: Beside a ratio that is computed in the same way.
DEAR = (0.4000001, 1.0, 9.9999)
#: In units of the larger width.
PLACES = np.array([-30.0, -3.1, -1.0, -1e-3, 0.0, 0.2, 0.9, 2.3, 5.0, 38.0])


def edge(ratio: float, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Parameters with widths of about `unit`, and an axis about the edge."""
    kT = unit if ratio <= 1 else unit / ratio
    params = np.array([1.3, 0.125, kT / BOLTZMANN, ratio * kT, 0.2 / unit, -0.07 / unit])
    return params, params[1] + unit * PLACES


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "ratio",
    [pytest.param(one, marks=[pytest.mark.slow] * (one in DEAR)) for one in RATIOS],
)
def test_value_and_derivatives(ratio: float, every: int) -> None:
    op = OPS["FermiEdge"]
    for unit in (0.7, 3e-3) if ratio in (0.3, 90.0) else (0.02,):
        params, x = edge(ratio, unit)
        x = x[::every]
        with mp.workdps(30):
            kT = mp.mpf(params[2]) * mp.mpf("1e-4")
            steps = [mp.mpf(10) ** -10 * (abs(mp.mpf(given)) or kT) for given in params]
            value, slopes = exact_slopes(fermi_edge, x, params, steps)
        rounding = 2.0**-52 * np.abs(slopes * params[:, np.newaxis]).sum(axis=0)
        for how, found, partials in builds(op, x, params):
            errors = np.abs(found - value) - rounding
            assert errors.max() <= op.tolerance * 2.0**-52 * np.abs(value).max()
            for k, name in enumerate(op.params):
                scale = np.abs(slopes[k]).max()
                if ratio == 0.0 and name == "SD":  # even in SD: no slope at 0
                    assert not partials[k].any()
                    continue
                worst = np.abs(partials[k] - slopes[k]).max()
                assert worst <= 1e-9 * scale, f"{name}, {how}: {worst / scale:.2g}"
