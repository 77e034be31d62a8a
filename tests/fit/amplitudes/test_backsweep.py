"""Decays seen by a synchroscan streak camera: the recipe of
docs/howto/pump_probe/streak_camera.md, against sums over pulses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyspec.functions.response import expFun_gaussIRF
from pyspec.model import load_time_model

Array = np.ndarray

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "pump_probe" / "streak_camera.md"
PERIOD = 13200.0


def recipe() -> str:
    """The section ``functions`` and the model that the page prints."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "Synchroscan:" in block)


def law(time: Array, tau: float, t0: float, SD: float, T: float, centre: float) -> Array:
    """The recipe as a model of one trace of height 1."""
    functions = recipe().split("fluorescence:", maxsplit=1)[0]
    given = {"A": 1.0, "tau": tau, "t0": t0, "SD": SD, "T": T, "centre": centre}
    values = ", ".join(f"{name}: [{value!r}, False]" for name, value in given.items())
    model = load_time_model(f"{functions}one:\n  Synchroscan: {{{values}}}\n", "one")
    model.set_axes(time=time)
    return model.evaluate()


def pulses(time: Array, tau: float, t0: float, SD: float, T: float, centre: float) -> Array:
    """The sum over all pulses until now of the exact response to each, at the times at which the
    sweep passes a place: `time` forward, and half a period after the centre on its way back."""
    back = 2 * centre + T / 2 - time
    n = np.arange(int(40 * tau / T) + 3)[:, np.newaxis]
    seen = [expFun_gaussIRF(at, 1.0, tau, t0 - n * T, SD).sum(axis=0) for at in (time, back)]
    return np.asarray(seen[0] + seen[1])


TIMES = np.linspace(-300.0, 1800.0, 701)


@pytest.mark.parametrize("tau", [0.5, 8.0, 90.0, 1500.0, 20000.0, 3e5])
@pytest.mark.parametrize(("t0", "SD", "centre"), [(3.0, 4.0, 3.0), (20.0, 60.0, 700.0)])
def test_the_recipe_is_the_sum_over_all_pulses(
    tau: float, t0: float, SD: float, centre: float
) -> None:
    expected = pulses(TIMES, tau, t0, SD, PERIOD, centre)
    found = law(TIMES, tau, t0, SD, PERIOD, centre)
    assert np.abs(found - expected).max() < 1e-11 * expected.max()
