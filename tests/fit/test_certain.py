"""The short way to what a fit determines says what the long way says, or nothing."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from support.column_models import DECAY, OFFSET, PEAK, SHAPED, SHIRLEY, energy_model

from pyspec._library import LIBRARY
from pyspec._library.memory import address, address_in
from pyspec.executor.normal import pack_triangle
from pyspec.fit import FitResult, fit_model
from pyspec.fit.solve.covariance import gauss_newton
from pyspec.fit.solve.determined import WEAK
from pyspec.fit.solve.native import Certain, NativeSolver
from pyspec.model import Measurement, Model

MODELS = {
    "lines": lambda: energy_model(OFFSET, SHIRLEY, SHAPED, time=False),
    "moving": lambda: energy_model(OFFSET, SHAPED, moves={"GLP_01_x0": DECAY}),
    "a bound": lambda: energy_model(
        "Offset: {y0: [1, true, 0.9, 9]}", PEAK.replace("[9, true]", "[9, true, 0, 40]"), time=False
    ),
    "two lines at one place": lambda: energy_model(OFFSET, PEAK, PEAK, time=False),
    "an onset": lambda: energy_model(
        OFFSET, PEAK, moves={"GLP_01_A": "expFun: {A: [2, true], tau: [3, true], t0: [0.1, true]}"}
    ),
}


def _fit(model: Model) -> FitResult:
    clean = model.evaluate() - (0.3 if math.isfinite(model.parameters["Offset_y0"].min) else 0.0)
    data = clean + np.random.default_rng(3).normal(0.0, 0.05, clean.shape)
    start = model.copy()
    start.set_values({name: 1.02 * start.values[name] for name in start.opt_param_names[:1]})
    return fit_model(start, Measurement(data=data))


@pytest.mark.parametrize("name", MODELS)
def test_both_ways_end_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Certain | None] = []
    short = NativeSolver.certain.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(
        NativeSolver, "certain", property(lambda own: asked.append(short(own)) or asked[-1])
    )
    quick = _fit(MODELS[name]())
    assert asked
    monkeypatch.setattr(NativeSolver, "certain", None)
    slow = _fit(MODELS[name]())
    assert quick.values == slow.values
    assert (quick.success, quick.message, quick.cautions) == (
        slow.success,
        slow.message,
        slow.cautions,
    )
    assert quick.at_bound == slow.at_bound
    assert bool(quick.at_bound) == (name == "a bound")
    assert quick.without_effect == slow.without_effect
    for one, other in zip(quick.stderr.values(), slow.stderr.values(), strict=True):
        assert one == (other if other is None else pytest.approx(other, rel=1e-9))
    for par, correl in slow.correl.items():
        assert quick.correl[par] == pytest.approx(correl, rel=1e-9, abs=1e-12)
    assert (asked[-1] is None) == (name in ("two lines at one place", "an onset"))


def certain(triangle: npt.NDArray[np.float64], is_factor: bool, n: int) -> Certain | None:
    """What C is certain of in a triangle of [J r], J of n columns."""
    memory = bytearray(8 * n * n + 8 + int(LIBRARY.pyspec_certain_size(n)))
    at = address_in(memory)
    arrays = at, at + 8 * n * n, at + 8 * (n * n + 1)
    known = LIBRARY.pyspec_certain(n, is_factor, address(triangle), WEAK, *arrays)
    return Certain(memory, 0, n) if known > 0 else None


@pytest.mark.parametrize("is_factor", [False, True])
def test_certain_is_never_wrong(is_factor: bool) -> None:
    """Of 2,000 matrices, many of them nearly singular."""
    draw = np.random.default_rng(0)
    said = 0
    for _ in range(2000):
        n = int(draw.integers(1, 6))
        columns = draw.normal(size=(12, n)) * 10.0 ** draw.uniform(-6, 6, n)
        if n > 1 and draw.random() < 0.7:  # the first column nearly a sum of others
            columns[:, 0] = columns[:, 1:].sum(axis=1)
            columns[:, 0] *= 1.0 + 10.0 ** draw.uniform(-8, 0) * draw.normal(size=12)
        both = np.column_stack([columns, draw.normal(size=12)])
        factor = np.linalg.qr(both, mode="r")
        triangle = pack_triangle(factor if is_factor else both.T @ both)
        found = certain(triangle, is_factor, n)
        singular = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), compute_uv=False)
        if found is None:
            assert singular[-1] < 10 * n * WEAK * singular[0]  # it does not refuse without reason
            continue
        said += 1
        assert singular[-1] > WEAK * singular[0]
        expected, lost = gauss_newton(factor[:, :-1])
        assert not lost
        assert expected is not None
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert np.abs(found.covariance - expected).max() <= 1e-7 * scale.max()
        assert np.abs((found.covariance - expected) / scale).max() < 1e-7
        step = np.linalg.lstsq(columns / np.linalg.norm(columns, axis=0), both[:, -1])[0]
        fall = np.sum((columns / np.linalg.norm(columns, axis=0) @ step) ** 2)
        assert found.decrease == pytest.approx(fall, rel=1e-6)
    assert said > 1000
