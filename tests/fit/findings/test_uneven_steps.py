"""Shirley weighs points by their steps."""

from __future__ import annotations

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy.special import erfc
from support.fit_cases import loaded
from support.kernel_calls import call_function

from pyspec._library import supported_isas
from pyspec.fit import fit_joint, fit_model
from pyspec.functions.energy import Shirley
from pyspec.functions.grid import mean_step, shirley_shares
from pyspec.model import Measurement, Model

LINES = ((100.0, 84.0, 0.5), (50.0, 86.0, 0.5))
LOSS = 0.1  # of the area above, for each eV
TEXT = """
m:
  Offset: {y0: [5, true]}
  Shirley: {pShirley: [0.01, SHARED, 0, 1]}
  Gauss: {A: [100, true], x0: [84, true], SD: [0.5, true, 0.1, 2]}
  Gauss: {A: [50, true], x0: [86, true], SD: [0.5, true, 0.1, 2]}
"""


def stepped(coarse: float = 0.2, fine: float = 0.025) -> np.ndarray:
    """Fine steps above 86 eV, coarse ones below."""
    return np.concatenate([np.arange(80.0, 86.0, coarse), np.arange(86.0, 90.0, fine)])


AXES = {
    "named case": stepped(),
    "coarse above": np.concatenate([np.arange(80.0, 85.0, 0.025), np.arange(85.0, 90.0, 0.1)]),
    "stretched": 80.0 + 10.0 * np.linspace(0.0, 1.0, 240) ** 1.7,
    "drawn": np.sort(np.random.default_rng(3).uniform(80.0, 90.0, 400)),
}


def spectrum(x: np.ndarray, loss: float = LOSS) -> np.ndarray:
    """Two Gaussians, their loss as an integral, and a constant."""
    found = np.full(x.size, 5.0)
    for height, centre, width in LINES:
        u = (x - centre) / width
        found += height * np.exp(-u * u / 2)
        found += loss * height * width * np.sqrt(np.pi / 2) * erfc(u / np.sqrt(2))
    return found


def model_on(x: np.ndarray, shared: str = "true") -> Model:
    return loaded(TEXT.replace("SHARED", shared), "m", energy=x)


@pytest.mark.parametrize(("name", "falling"), [("named case", False), ("drawn", True)])
def test_heights_and_loss_come_out_on_uneven_axes(name: str, falling: bool) -> None:
    """Binding energies fall along the axis: then the loss is below its line, too."""
    x, data = AXES[name], spectrum(AXES[name])
    if falling:
        x = 170.0 - x
    model = model_on(x)
    model.set_values({"Gauss_01_x0": 170.0 - 84.0, "Gauss_02_x0": 170.0 - 86.0} if falling else {})
    result = fit_model(model, Measurement(data, weight=np.full(x.size, 2.0)), scale_covar=False)
    # A point counts for itself, too, by half of a mean step: heights are that much smaller.
    own = 1.0 + LOSS * mean_step(x) / 2
    expected = {"Gauss_01_A": 100.0 / own, "Gauss_02_A": 50.0 / own, "Offset_y0": 5.0}
    expected["Shirley_pShirley"] = LOSS * mean_step(x) * own
    for name_of, value in expected.items():
        error = result.stderr[name_of]
        assert error is not None
        assert abs(result.values[name_of] - value) < 0.3 * error, name_of
    assert result.chisqr < 0.1


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("name", AXES)
def test_the_sum_longhand(name: str, isa: str) -> None:
    """Point by point in 50 digits: half of each way to the points above and below, over a mean
    step; of the own point half of the way above and half of a mean step. In C and in NumPy, rows
    in lanes and one by one, value and slope."""
    x, shares = AXES[name], shirley_shares(AXES[name])
    fed = np.stack([spectrum(x), np.random.default_rng(1).uniform(-1.0, 2.0, x.size)])
    factors = np.array([[0.013, -1.7]])
    with mp.workdps(50):
        at = [mp.mpf(one) for one in x]
        mean = (at[-1] - at[0]) / (x.size - 1)
        ways = [mean, *(b - a for a, b in pairwise(at)), mean]
        expected = np.zeros(fed.shape)
        for row, values in enumerate(fed):
            above = mp.mpf(0)
            for i in range(x.size - 1, -1, -1):
                own = mp.mpf(values[i])
                expected[row, i] = (above + own * (mean + ways[i + 1]) / 2) / mean
                above += own * (ways[i] + ways[i + 1]) / 2
    scale = 1e-13 * abs(expected).max()
    rows, slopes = call_function("Shirley", x, factors, fed, True, isa, shares)
    np.testing.assert_allclose(rows, factors.T * expected, rtol=0, atol=2 * scale)
    np.testing.assert_allclose(slopes[0], expected, rtol=0, atol=scale)
    for k in range(2):
        one, _ = call_function("Shirley", x, factors[:, [k]], fed[[k]], False, isa, shares)
        np.testing.assert_array_equal(one[0], rows[k])
        in_numpy = Shirley(x, factors[0, k], fed[k])
        np.testing.assert_allclose(in_numpy, factors[0, k] * expected[k], rtol=0, atol=2 * scale)


def joint_parts(shared: str = '"project"') -> list[tuple[Model, Measurement]]:
    found = []
    for x in (np.linspace(80.0, 90.0, 201), np.linspace(80.0, 90.0, 81), AXES["named case"]):
        weight = np.full(x.size, 2.0)
        found.append((model_on(x, shared), Measurement(spectrum(x), weight=weight)))
    return found


def test_files_share_the_loss_for_each_electronvolt() -> None:
    """A pShirley for each point was shared: of files with other steps it fitted none."""
    parts = joint_parts()
    result = fit_joint(parts, scale_covar=False)
    assert result.joint.chisqr < 1.0
    share = LOSS * mean_step(parts[0][0].energy)
    assert result.joint.values["Shirley_pShirley"] == pytest.approx(share, rel=0.01)
    for file, (model, measured) in zip(result, parts, strict=True):
        assert file.values["Shirley_pShirley"] == result.joint.values["Shirley_pShirley"]
        np.testing.assert_allclose(file.fit, measured.data, atol=1.0)
        np.testing.assert_allclose(file.predict(model.energy).value, file.fit, rtol=1e-9)
        peaks, grounds = file.components()
        both = sum([*peaks.values(), *grounds.values()])
        np.testing.assert_allclose(both, file.fit, rtol=1e-9)
        apart = file.eval_components()
        np.testing.assert_allclose(sum(apart.values()), file.fit, rtol=1e-9)
    alone = fit_joint(joint_parts("true"), scale_covar=False)
    for index, (model, _) in enumerate(parts):
        own = alone.joint.values[f"file{index:02d}_Shirley_pShirley"]
        assert own == pytest.approx(LOSS * mean_step(model.energy), rel=0.02)
