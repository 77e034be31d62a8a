"""Poisson deviance residuals: against reference numbers, and in three executors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.zoo import make_model

from pyspec.errors import DataError
from pyspec.executor import make_executor
from pyspec.functions.losses import deviance, deviance_slope
from pyspec.model import Measurement


def test_golden_deviance(shared: Path) -> None:
    with np.load(shared / "golden" / "functions.npz") as arrays:
        for scale, name in ((1.0, "poisson_1"), (12.5, "poisson_12.5")):
            value = deviance(arrays["noise__d"], arrays["noise__m"], scale)
            expected = arrays[f"noise__{name}__res"]
            np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


def test_its_squares_sum_to_the_likelihood_ratio() -> None:
    d, m = np.array([3.0, 0.0, 7.0, 1.0]), np.array([2.0, 0.5, 9.0, 1.0])
    counts, means = 4.0 * d, 4.0 * m
    with np.errstate(all="ignore"):
        ratio = 2 * np.sum(
            means - counts + np.where(counts > 0, counts * np.log(counts / means), 0)
        )
    assert np.sum(deviance(d, m, 4.0) ** 2) == pytest.approx(ratio, rel=1e-14)


def test_it_is_continuous_at_the_floor() -> None:
    for d in (0.5, 0.001, 3.0):
        below, above = deviance(d, 0.001 - 1e-9, 1.0), deviance(d, 0.001 + 1e-9, 1.0)
        assert abs(below - above) < 1e-5 * max(abs(above), 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.uint16])
def test_three_executors_agree(dtype: type) -> None:
    model = make_model("doublet_sin")
    clean = make_executor(model).run(model.theta())
    counts = np.random.default_rng(3).poisson(2.0 * np.clip(clean, 0, None)).astype(dtype)
    counts[3:5] = 0
    theta = model.theta()
    theta[model.opt_param_names.index("Offset_y0")] = -3.0  # the model turns negative
    measurement = Measurement(data=counts, rows=(1, 40), loss="poisson", loss_scale=2.0)
    residuals = [
        make_executor(model, measurement, backend).residual(theta)
        for backend in ("tree", "interpreted", "compiled")
    ]
    scale = np.abs(residuals[0]).max()
    for residual in residuals[1:]:
        np.testing.assert_allclose(residual, residuals[0], rtol=0, atol=1e-10 * scale)


def test_mistakes() -> None:
    with pytest.raises(DataError, match="counts cannot be negative, but the data reach -1"):
        Measurement(data=np.array([1.0, -1.0]), loss="poisson")
    with pytest.raises(DataError, match="did you mean 'poisson'"):
        Measurement(data=np.ones(3), loss="poison")
    with pytest.raises(DataError, match="loss_scale is 0"):
        Measurement(data=np.ones(3), loss="poisson", loss_scale=0.0)


def test_the_slope_far_above_the_data() -> None:
    """There the deviance is -sqrt(2 scale m); m squared overflows long before its root does."""
    model = np.array([1e20, 1e160, 1e269])
    slope = deviance_slope(np.full(3, 1.4), model, 0.03)
    np.testing.assert_allclose(slope, -np.sqrt(0.03 / (2.0 * model)), rtol=1e-14)
