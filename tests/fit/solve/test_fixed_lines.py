"""Lines that nothing free moves are computed once for a fit, and come to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec.executor import make_executor, worst_difference
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model, load_dynamics

X = np.linspace(80.0, 90.0, 201)


def model_with(lines: int, between: str = "", x: np.ndarray = X) -> Model:
    """An offset above fixed lines of several kinds."""
    kinds = ("GLP", "Gauss", "Voigt", "Lorentz")
    numbers = {
        "GLP": "A: [{h}, false], x0: [{c}, false], F: [0.7, false], m: [0.3, false]",
        "Gauss": "A: [{h}, false], x0: [{c}, false], SD: [0.4, false]",
        "Voigt": "A: [{h}, false], x0: [{c}, false], SD: [0.4, false], W: [0.2, false]",
        "Lorentz": "A: [{h}, false], x0: [{c}, false], W: [0.5, false]",
    }
    text = "m:\n  Offset: {y0: [1, true]}\n" + between
    for k in range(lines):
        kind = kinds[k % 4]
        given = numbers[kind].format(h=1 + k % 5, c=80.3 + 9.4 * k / max(lines - 1, 1))
        text += f"  {kind}: {{{given}}}\n"
    return loaded(text, "m", energy=x)


def noisy(model: Model, seed: int = 0) -> np.ndarray:
    clean = make_executor(model, None, "tree").run(model.theta())
    return clean + np.random.default_rng(seed).normal(0.0, 0.1, clean.shape)


def test_a_fit_sees_fixed_values_that_have_changed() -> None:
    """Between two fits of one model, and on another axis of the same size."""
    data = noisy(model_with(20))
    for change in range(4):
        model = model_with(20, x=X + 0.01 * (change == 3))
        for k in range(change + 1):
            model.set_values({"GLP_01_A": 1.0 + k, "Gauss_02_x0": 83.0 + 0.2 * k})
            found = fit_model(model, Measurement(data))
            lines = make_executor(model, None, "tree").run(model.theta()) - model.theta()[0]
            expected = float((data - lines).mean())
            assert found.values["Offset_y0"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("moves", ["Gauss_05_A", "Gauss_05_x0"])
def test_series_have_fixed_lines_too(moves: str) -> None:
    """Separable models sum over shapes, the others walk; threads do not change a bit."""
    model = model_with(12, "  Gauss: {A: [3, true], x0: [84, true], SD: [0.5, true]}\n")
    moves = moves.replace("Gauss_05", "Gauss_01")
    model.set_axes(time=np.linspace(-1.0, 3.0, 80))
    law = "d:\n  expFun: {A: [1, true], tau: [1.2, true], t0: [0, false]}\n"
    model.add_dynamics(moves, load_dynamics(law, ["d"], moves))
    data = noisy(model)
    executor = make_executor(model, Measurement(data))
    tree = make_executor(model, Measurement(data), "tree")
    for factor in (1.0, 1.02):
        theta = factor * model.theta()
        assert worst_difference(executor.run(theta), tree.run(theta)) <= 1e-12
        whole = executor.normal(theta)
        np.testing.assert_array_equal(whole, executor.normal(theta, threads=2))
        chisqr = float((tree.residual(theta) ** 2).sum())
        assert executor.normal(theta, form="value")[-1] == pytest.approx(chisqr, rel=1e-12)
        strips = executor.normal(theta, in_strips=True)
        np.testing.assert_allclose(strips, whole, rtol=1e-8, atol=1e-6 * abs(whole).max())
    found, expected = (
        fit_model(model, Measurement(data)),
        fit_model(model, Measurement(data), "interpreted"),
    )
    assert found.chisqr == pytest.approx(expected.chisqr, rel=1e-8)
