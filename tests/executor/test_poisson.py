"""Poisson deviance residuals: against 60 digits, and in three executors."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from support.agreement import BACKENDS
from support.zoo import make_model

from pyspec import components
from pyspec.errors import DataError
from pyspec.executor import make_executor
from pyspec.functions.losses import deviance, deviance_slope
from pyspec.model import Measurement, Model


def _counted(d: float, m: float, scale: float) -> tuple[float, float]:
    """The signed root of the deviance and its derivative by the model, with 60 digits."""
    if d == 0:
        return -float(mp.sqrt(2 * mp.mpf(scale) * m)), -float(mp.sqrt(mp.mpf(scale) / (2 * m)))
    data, model = mp.mpf(d), mp.mpf(m)
    root = mp.sqrt(2 * mp.mpf(scale) * (data * mp.log(data / model) - data + model))
    root = -root if data < model else root
    slope = scale * (1 - data / model) / root if root else -mp.sqrt(scale / model)
    return float(root), float(slope)


@mp.workdps(60)
@pytest.mark.parametrize("scale", [1.0, 12.5])
def test_no_digits_are_lost(scale: float) -> None:
    """A difference of like numbers made 0 of -1e-4: d = 1e8, m = d + 1. Wherever the model stands,
    the value and its slope are those of 60 digits, in Python and in C."""
    sizes = 10.0 ** np.arange(-2, 16)
    apart = np.concatenate([10.0 ** np.arange(-15.0, 15.0), [0.05, 0.099, 0.101, 0.5, 0.0]])
    for model in sizes:
        above = [model / (1 + x) for x in apart]
        d = np.array([0.0, model / 1e30, *above, *(model * (1 + apart))])
        expected = np.array([_counted(count, model, scale) for count in d])
        value = deviance(d, np.full(d.size, model), scale)
        slope = deviance_slope(d, np.full(d.size, model), scale)
        np.testing.assert_allclose(value, expected[:, 0], rtol=1e-14)
        np.testing.assert_allclose(slope, expected[:, 1], rtol=1e-14)
        measurement = Measurement(data=d, loss="poisson", loss_scale=scale)
        offset = Model("offset", [components.Offset(float(model))])
        offset.set_axes(energy=np.arange(d.size))
        executor = make_executor(offset, measurement, "compiled")
        residual, columns = executor.residual([model]), executor.jacobian([model])
        np.testing.assert_allclose(residual, expected[:, 0], rtol=1e-14)
        np.testing.assert_allclose(np.ravel(columns), expected[:, 1], rtol=1e-14)


def test_three_executors_agree_where_the_model_is_negative() -> None:
    model = make_model("doublet_sin")
    clean = make_executor(model).run(model.theta())
    counts = np.random.default_rng(3).poisson(2.0 * np.clip(clean, 0, None)).astype(np.uint16)
    counts[3:5] = 0
    theta = model.theta()
    theta[model.opt_param_names.index("Offset_y0")] = -3.0
    measurement = Measurement(data=counts, rows=(1, 40), loss="poisson", loss_scale=2.0)
    first, *others = [make_executor(model, measurement, one).residual(theta) for one in BACKENDS]
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-10 * np.abs(first).max())


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
