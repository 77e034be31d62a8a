"""Contours of a pair of parameters hold as many samples as they say."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.fit import MCMCResult, SampleSettings
from pyspec.plot import plot_chain
from pyspec.plot.figures.chain import SHARES

pytest.importorskip("matplotlib").use("agg")


@pytest.mark.parametrize(
    "n", [400, *(pytest.param(n, marks=pytest.mark.slow) for n in (2000, 20000))]
)
def test_contours_of_few_samples(n: int) -> None:
    """Of 400 samples the outer one was 22 islands with 63 %, the inner one 16 with 22 %."""
    from matplotlib.path import Path

    truth = np.array([[1.0, 0.7], [0.7, 1.0]])
    chain = np.random.default_rng(0).multivariate_normal([1.0, 2.0], truth, (n // 20, 20))
    samples = MCMCResult(
        ["a", "b"], chain, np.full(20, 0.4), SampleSettings(steps=n // 20, burn=0, thin=1)
    )
    figure = plot_chain(samples)
    (contours,) = (c for ax in figure.axes for c in ax.collections if hasattr(c, "levels"))
    to_circle = np.linalg.inv(np.linalg.cholesky(truth)).T
    for path, share in zip(contours.get_paths(), reversed(SHARES), strict=True):
        (outline,) = path.to_polygons()
        inside = Path(outline).contains_points(chain.reshape(-1, 2))
        assert inside.mean() == pytest.approx(share, abs=0.03)
        radius = np.hypot(*((outline - [1.0, 2.0]) @ to_circle).T)
        assert np.median(radius) == pytest.approx(np.sqrt(-2 * np.log(1 - share)), rel=0.06)


def test_a_parameter_that_stayed_has_no_contours() -> None:
    chain = np.random.default_rng(0).normal(size=(50, 20, 2)) * [1.0, 0.0]
    settings = SampleSettings(steps=50, burn=0, thin=1)
    assert len(plot_chain(MCMCResult(["a", "b"], chain, np.full(20, 0.4), settings)).axes) == 4
