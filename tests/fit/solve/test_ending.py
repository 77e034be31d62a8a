"""Endings of fits: what C is certain of is what the closer look says, and errors, correlations and
what follows parameters are arithmetic on an ending."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import DECAY, OFFSET, PEAK, SHAPED, SHIRLEY, energy_model
from support.fit_cases import loaded

from pyspec._library import CONSTANTS
from pyspec.executor.normal import pack_triangle, unpack
from pyspec.fit import FitResult, fit_model
from pyspec.fit.ending import Ending
from pyspec.fit.solve import conclude
from pyspec.fit.solve.covariance import gauss_newton
from pyspec.fit.solve.determined import WEAK
from pyspec.fit.solve.native import NativeSolver
from pyspec.model import Measurement, Model

BOUND = "Offset: {y0: [1, true, 0.9, 9]}"
WIDE = PEAK.replace("[9, true]", "[9, true, 0, 40]")
ONSET = "expFun: {A: [2, true], tau: [3, true], t0: [0.1, true]}"
MODELS = {
    "lines": lambda: energy_model(OFFSET, SHIRLEY, SHAPED, time=False),
    "moving": lambda: energy_model(OFFSET, SHAPED, moves={"GLP_01_x0": DECAY}),
    "a bound": lambda: energy_model(BOUND, WIDE, time=False),
    "two lines at one place": lambda: energy_model(OFFSET, PEAK, PEAK, time=False),
    "an onset": lambda: energy_model(OFFSET, PEAK, moves={"GLP_01_A": ONSET}),
}
SURE = ("lines", "moving", "a bound", "an onset")
CERTAIN, FLAGS = CONSTANTS["ENDING_CERTAIN"], ("CERTAIN", "WEAK", "NEUTRAL", "AT_BOUND", "EXACT")
GLP = """
glp:
  Offset: {y0: [2.0, True, -20, 50]}
  GLP: {A: [20.0, True, 0, 1000], x0: [84.2, True, 80, 90], F: [1.4, True, 0.1, 6],
        m: [0.4, True, 0, 1]}
  GLP: {A: ["GLP_01_A / 2"], x0: ["GLP_01_x0 + 3"], F: [GLP_01_F], m: [GLP_01_m]}
"""


def fitted(model: Model) -> FitResult:
    clean = model.evaluate() - (0.3 if math.isfinite(model.parameters["Offset_y0"].min) else 0.0)
    data = clean + np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    start = model.copy()
    start.set_values({name: 1.02 * start.values[name] for name in start.opt_param_names[:1]})
    return fit_model(start, Measurement(data=data))


def glp(seed: int) -> tuple[Model, Measurement]:
    """Two Gaussian lines fitted by GLP."""
    model = loaded(GLP, "glp", energy=np.linspace(80.0, 90.0, 200))
    truth = model.copy()
    truth.set_values({"GLP_01_m": 0.0, "GLP_01_x0": 84.3})
    noise = np.random.default_rng(seed).normal(0.0, 1.0, 200)
    return model, Measurement(np.ravel(truth.evaluate()) + noise)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What C said of each fit."""
    found: list[int] = []
    settle = NativeSolver.settle

    def noted(own: NativeSolver, *given: Any) -> Ending:
        ending = settle(own, *given)
        found.append(own.flags)
        return ending

    monkeypatch.setattr(NativeSolver, "settle", noted)
    return found


def flags_of(flags: int) -> set[str]:
    return {name for name in FLAGS if flags & CONSTANTS[f"ENDING_{name}"]}


@pytest.mark.parametrize("name", MODELS)
def test_both_ways_end_alike(name: str, monkeypatch: pytest.MonkeyPatch, asked: list[int]) -> None:
    quick = fitted(MODELS[name]())
    assert ("CERTAIN" in flags_of(asked[-1])) == (name in SURE)
    monkeypatch.setattr(conclude, "_CERTAIN", 1 << 20)  # which C never sets
    slow = fitted(MODELS[name]())
    assert quick.values == slow.values
    assert quick.ending.theta.tobytes() == slow.ending.theta.tobytes()
    assert (quick.success, quick.message, [*map(str, quick.findings)]) == (
        slow.success,
        slow.message,
        [*map(str, slow.findings)],
    )
    assert quick.at_bound == slow.at_bound
    assert bool(quick.at_bound) == (name == "a bound")
    assert quick.without_effect == slow.without_effect
    errors = slow.ending.stderr
    both = quick.ending.covariance, slow.ending.covariance
    np.testing.assert_allclose(*(one / errors / errors[:, None] for one in both), atol=1e-9)
    for one, other in zip(quick.stderr.values(), slow.stderr.values(), strict=True):
        assert one == (other if other is None else pytest.approx(other, rel=1e-9))


@pytest.mark.parametrize("is_factor", [False, True])
def test_certain_is_never_wrong(is_factor: bool) -> None:
    """Of 150 matrices, many of them nearly singular, with some parameters judged elsewhere."""
    draw = np.random.default_rng(0)
    said = 0
    for _ in range(150):
        n = int(draw.integers(1, 6))
        columns = draw.normal(size=(12, n)) * 10.0 ** draw.uniform(-6, 6, n)
        if n > 1 and draw.random() < 0.7:  # the first column nearly a sum of others
            columns[:, 0] = columns[:, 1:].sum(axis=1)
            columns[:, 0] *= 1.0 + 10.0 ** draw.uniform(-8, 0) * draw.normal(size=12)
        apart = tuple(np.flatnonzero(draw.random(n) < 0.2).tolist())
        free = [k for k in range(n) if k not in apart]
        both = np.column_stack([columns, draw.normal(size=12)])
        found, flags = ending_of(both, is_factor, apart)
        unit = (columns / np.linalg.norm(columns, axis=0))[:, free]
        singular = np.linalg.svd(unit, compute_uv=False)
        if not flags & CERTAIN:
            assert singular[-1] < 10 * n * WEAK * singular[0]  # it does not refuse without reason
            continue
        said += 1
        assert np.isnan(found.covariance[list(apart)]).all()
        if not free:
            continue
        assert singular[-1] > WEAK * singular[0]
        expected, lost = gauss_newton(np.linalg.qr(columns[:, free], mode="r"))
        assert not lost
        assert expected is not None
        inner = found.covariance[np.ix_(free, free)]
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert np.abs((inner - expected) / scale).max() < 1e-7
        step = np.linalg.lstsq(unit, both[:, -1], rcond=None)[0]
        assert found.distance == pytest.approx(np.linalg.norm(unit @ step), rel=1e-6)
        if "WEAK" not in flags_of(flags):
            root = unpack(found.factor, symmetric=False)
            gram, size = both.T @ both, np.linalg.norm(both, axis=0)
            assert np.abs((root.T @ root - gram) / np.outer(size, size)).max() < 1e-12
    assert said > 75


def ending_of(
    both: npt.NDArray[np.float64], is_factor: bool, apart: tuple[int, ...]
) -> tuple[Ending, int]:
    """The ending at a point with this [J r], and its flags."""
    n = both.shape[1] - 1
    square = float(both[:, -1] @ both[:, -1])
    wide = np.full(n, 1e30)
    solver = NativeSolver(np.zeros(n), -wide, wide, len(both), 2.0 * square, 9)

    def answer(theta: Any, form: str) -> npt.NDArray[np.float64]:
        return pack_triangle(both.T @ both)

    solver.run(answer, lambda *_: None)
    factor = np.linalg.qr(both, mode="r")
    solver._normal[:] = pack_triangle(factor if is_factor else both.T @ both)
    solver._array(0, solver._places.lower)[-n:] = 0.0
    state = solver._words
    state[12] = 2 * is_factor
    return solver.settle(n + 1, 0, False, dict.fromkeys(apart, (0.0, 0.0))), solver.flags


def test_a_mixing_at_0_is_neutral(asked: list[int]) -> None:
    """There its slope is that of the width: no bound holds it, and C is not certain."""
    ended = [(fit_model(*glp(seed)), asked[-1]) for seed in range(9)]
    at_zero = [(result, said) for result, said in ended if result.at_bound]
    assert len(at_zero) >= 2
    for result, said in at_zero:
        assert {"AT_BOUND", "NEUTRAL"} <= flags_of(said)
        assert result.success
        assert result.stderr["GLP_01_m"] is None
        assert result.stderr["GLP_01_F"] is not None


def test_without_slopes_nothing_is_known_of_lost_directions() -> None:
    ending = Ending(np.zeros(2), np.full((2, 2), np.nan), 2.0, 1.0, 20, lost=(0, 1))
    assert np.isnan(ending.determined().covariance).all()
    with pytest.raises(ValueError, match="slopes"):
        _ = ending.root
