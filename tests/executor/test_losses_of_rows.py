"""Losses of many spectra at once: what the points of a chunk lose goes to those below it together.
It used to go point by point, through memory: the derivatives of a Tougaard background took three
times as long."""

import numpy as np
import pytest

from pyspec import Model
from pyspec.components import GLP, Offset, Tougaard, Tougaard3, fixed, linFun, moving
from pyspec.executor import make_executor

LOSSES = {
    "Tougaard": lambda: Tougaard(B=(300, 0, 3000), C=(1643, 10, 5000)),
    "Tougaard3": lambda: Tougaard3(B=(300, 0, 3000), C=(600, 10, 5000), D=(100, 1, 1000)),
}


def spectra(kind: str, n_energy: int, height: float, time: float | None) -> Model:
    """A line that moves by 0.05 in a unit of time; of one time the spectrum alone."""
    law = [linFun(m=fixed(0.05), t0=fixed(0.0))]
    place = moving(85.0, law) if time is None else (85.0 + 0.05 * time)
    line = GLP(A=height, x0=place, F=1.2, m=0.3)
    model = Model("losses", [Offset(5.0), LOSSES[kind](), line])
    model.set_axes(energy=np.linspace(90.0, 80.0, n_energy))
    return model


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("n_energy", [100, 128, 333])
@pytest.mark.parametrize("height", [100.0, 1e90, 1e200])
def test_spectra_of_a_series_are_those_of_each_by_itself(
    kind: str, n_energy: int, height: float
) -> None:
    """Of some chunks' lengths; heights so large that sums are bounded go point by point."""
    time = np.arange(11.0)
    series = spectra(kind, n_energy, height, None)
    series.set_axes(energy=series.energy, time=time)
    together = make_executor(series)
    values, theta = together.run(None), np.array(series.theta())
    slopes = together.jacobian(theta).reshape(theta.size, *values.shape)
    for k, at in enumerate(time.tolist()):
        model = spectra(kind, n_energy, height, at)
        alone = make_executor(model)
        assert alone.opt_param_names == together.opt_param_names
        assert values[k] == pytest.approx(alone.run(None), rel=1e-13, abs=0.0)
        for own, one in zip(slopes, alone.jacobian(None), strict=True):
            assert np.abs(own[k] - one).max() <= 1e-12 * np.abs(one).max()
