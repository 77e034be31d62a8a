"""chi² at many points of one problem, where a single trace moves the spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyspec import Measurement, fit_joint, fit_model, load_model
from pyspec.fit.batch.points import sums_at_points
from pyspec.model import load_dynamics

#: Rows that do not fill whole tiles of eight, and energies enough that curves pay.
TIME, ENERGY = np.linspace(-10.0, 60.0, 157), np.linspace(-5.0, 5.0, 120)

TEXT = """
m:
  LinBack: {m: [0.1, false], b: [1, false], xStart: [-5, false], xStop: [5, false]}
  GLP: {A: [20, false], x0: [0.2, true, -3, 3], F: [1.5, false], m: [0.3, false]}
"""
AMPLITUDE = TEXT.replace("20, false", "20, true, 0, 90").replace("0.2, true, -3, 3", "0.2, false")
DOUBLET = f"""{TEXT}\
  GLP: {{A: [9, false], x0: ["GLP_01_x0 + 1.4"], F: ["GLP_01_F"], m: ["GLP_01_m"]}}
"""
DECAY = """
decay:
  gaussCONV: {SD: [3, true, 0.5, 9]}
  expFun: {A: [0.8, true, -2, 2], tau: [9, true, 1, 50], t0: [0, false]}
"""


def moving(text: str = TEXT, target: str = "GLP_01_x0", *, free: tuple[str, ...] = ()) -> Any:
    model = load_model(text, "m")
    for name in free:
        model.set(name, vary=True)
    model.set_axes(energy=ENERGY, time=TIME)
    model.add_dynamics(target, load_dynamics(DECAY, "decay", target))
    return model


def measured(model: Any, seed: int = 1, **options: Any) -> Measurement:
    clean = np.asarray(model.evaluate())
    if options.get("loss") == "poisson":
        data = np.random.default_rng(seed).poisson(clean).astype(float)
    else:
        data = clean + 0.2 * np.random.default_rng(seed).normal(size=clean.shape)
    return Measurement(data, **options)


def ragged() -> Any:
    draw = np.random.default_rng(7)
    shape = TIME.size, ENERGY.size
    weight, keep = draw.uniform(0.5, 2.0, shape), draw.uniform(size=shape) > 0.1
    model = moving()
    return fit_model(
        model, measured(model, weight=weight, keep=keep, rows=(3, 150), columns=(10, 115))
    )


CASES = {
    "position": lambda: fit_model(moving(), measured(moving())),
    "amplitude": lambda: fit_model(
        moving(AMPLITUDE, "GLP_01_A"), measured(moving(AMPLITUDE, "GLP_01_A"))
    ),
    "doublet": lambda: fit_model(moving(DOUBLET), measured(moving(DOUBLET))),
    "weights, mask, window": ragged,
    "counts": lambda: fit_model(moving(), measured(moving(), loss="poisson")),
    "files": lambda: fit_joint([(moving(), measured(moving(), k)) for k in (1, 2)]).joint,
}


def near(result: Any, n: int, size: float = 1.0) -> Any:
    """Points as a chain has them."""
    errors = np.array([result.stderr[name] for name in result.free_names])
    return result.theta + size * errors * np.random.default_rng(2).normal(size=(n, errors.size))


def walked(result: Any, points: Any) -> Any:
    """chi² at each point by itself: no curve is made of one point."""
    found = []
    for one in points:
        with sums_at_points(result.problem, lambda: None) as sums:
            found.append(float(sums(one[None], "value")[0, 0]))
    return np.array(found)


@pytest.mark.parametrize("name", CASES)
def test_later_points_have_the_chisqr_of_walks(name: str) -> None:
    result = CASES[name]()
    points = near(result, 120)
    points[100:] += 4.0 * (points[100:] - result.theta)  # where no curve holds at first
    with sums_at_points(result.problem, lambda: None) as sums:
        found = sums(points, "value")[:, 0]
        again = sums(points, "value")[:, 0]
    expected = walked(result, points)
    assert np.ptp(expected) > 5.0
    assert expected[0] == pytest.approx(result.problem.chisqr_at(points[0]), rel=1e-12)
    assert found == pytest.approx(expected, rel=1e-12)
    assert again == pytest.approx(expected, rel=1e-12)
    assert np.array_equal(found[:15], expected[:15])
    assert np.mean(again[:15] == expected[:15]) < 0.7  # by polynomials now


@pytest.mark.parametrize("name", ["position", "files"])
def test_threads_change_no_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for n in ("1", "3"):
        monkeypatch.setenv("PYSPEC_NUM_THREADS", n)
        result = CASES[name]()
        with sums_at_points(result.problem, lambda: None) as sums:
            found.append(sums(near(result, 80), "value"))
    assert np.array_equal(*found)
