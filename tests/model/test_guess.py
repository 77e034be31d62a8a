"""Start values read off a spectrum: fits from there end at the truth."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec import components as c
from pyspec.fit import fit_model
from pyspec.model import Measurement, Model

ENERGY = np.linspace(80, 100, 201)


def truth(kind: str, background: str, count: int) -> Model:
    """`count` peaks that overlap a little, on a background."""
    rng = np.random.default_rng([count, len(kind), len(background)])
    grounds = {
        "Offset": [c.Offset(12)],
        "LinBack": [c.LinBack(m=0.8, b=5, xStart=c.fixed(80), xStop=c.fixed(100))],
        "Shirley": [c.Offset(12), c.Shirley(3e-3)],
    }
    spacing = 14 / count
    places = 83 + spacing * (np.arange(count) + 0.5) + rng.uniform(-0.15, 0.15, count) * spacing
    heights = rng.uniform(40, 100, count)
    makers = {
        "Gauss": lambda a, x: c.Gauss(A=(a, 0, None), x0=x, SD=0.6),
        "Lorentz": lambda a, x: c.Lorentz(A=(a, 0, None), x0=x, W=1.1),
        "GLP": lambda a, x: c.GLP(A=(a, 0, None), x0=x, F=1.3, m=c.fixed(0.3)),
        "Voigt": lambda a, x: c.Voigt(A=(a, 0, None), x0=x, SD=0.4, W=c.fixed(0.4)),
        "LA": lambda a, x: c.LA(A=(a, 0, None), x0=x, W=1.2, alpha=c.fixed(1.3), beta=c.fixed(1.8)),
    }
    peaks = [makers[kind](float(a), float(x)) for a, x in zip(heights, places, strict=True)]
    model = Model("truth", [*grounds[background], *peaks])
    model.set_axes(ENERGY)
    return model


def forgetful(model: Model) -> Model:
    """The model with starts that say only in which order the peaks stand."""
    start = model.copy()
    for name in start.opt_param_names:
        rank = float(name.split("_")[1]) if name.endswith("_x0") else 1.0
        start.set(name, 1e-3 if name.endswith("pShirley") else rank)
    return start


#: Each kind of line on each background, with each number of lines on each.
CASES = [
    (kind, background, 1 + (j + k) % 4)
    for j, kind in enumerate(("Gauss", "Lorentz", "GLP", "Voigt", "LA"))
    for k, background in enumerate(("Offset", "LinBack", "Shirley"))
]


@pytest.mark.parametrize(("kind", "background", "count"), CASES)
def test_a_fit_from_the_guess_ends_at_the_truth(kind: str, background: str, count: int) -> None:
    model = truth(kind, background, count)
    exact = model.evaluate()
    data = exact + np.random.default_rng(count).normal(0, 1.0, exact.shape)
    start = forgetful(model)
    guessed = start.guess(data)
    assert guessed == {name: start.values[name] for name in guessed}
    result = fit_model(start, Measurement(data))
    assert result.success
    assert result.redchi < 1.5
    for name, value in model.values.items():
        if name.endswith("_x0"):
            assert abs(start.values[name] - value) < 0.7, f"guess of {name}"
            assert abs(result.values[name] - value) < 0.2, f"fit of {name}"


def test_a_tied_doublet_and_fixed_values() -> None:
    model = Model(
        "doublet",
        [
            c.Offset(c.fixed(10)),
            c.Gauss(A=50, x0=(88, 80, 100), SD=0.6),
            c.Gauss(A=c.expr("Gauss_01_A / 2"), x0=c.expr("Gauss_01_x0 + 3.67"), SD=0.6),
        ],
    )
    model.set_axes(ENERGY[::-1])
    data = model.evaluate()
    model.set("Gauss_01_x0", 95)
    model.set("Gauss_01_A", 1)
    guessed = model.guess(np.stack([data, data]))
    assert set(guessed) == {"Gauss_01_A", "Gauss_01_x0", "Gauss_01_SD", "Gauss_02_SD"}
    assert abs(guessed["Gauss_01_x0"] - 88) < 0.2
    assert abs(guessed["Gauss_01_A"] - 50) < 5


@pytest.mark.parametrize("axis", [ENERGY, ENERGY[::-1]])
def test_an_offset_under_a_line_is_left_at_zero(axis: np.ndarray) -> None:
    """Both together are not determined."""
    line = c.LinBack(m=0.8, b=5, xStart=c.fixed(80), xStop=c.fixed(100))
    model = Model("both", [c.Offset(3), line, c.Gauss(40, 89.5, 0.6)])
    model.set_axes(axis)
    found = model.guess(model.evaluate())
    assert found["Offset_y0"] == 0.0
    assert found["LinBack_b"] == pytest.approx(8, abs=1)
    assert found["LinBack_m"] == pytest.approx(0.8, rel=0.1)


def test_shapes_stay_as_they_are() -> None:
    """alpha and beta of LA are above 0 as widths are, and no widths."""
    model = Model("la", [c.Offset((2.0, 1.5, 9)), c.LA(A=1, x0=90, W=5.0, alpha=1.3, beta=2.0)])
    model.set_axes(ENERGY)
    line = c.LA(A=50, x0=91, W=1.0, alpha=1.3, beta=2.0)
    true = Model("true", [c.Offset(1.0), line])
    true.set_axes(ENERGY)
    found = model.guess(true.evaluate())
    assert "LA_01_alpha" not in found
    assert found["Offset_y0"] == 1.5  # its bound
    assert model.values["LA_01_alpha"] == 1.3
    assert model.values["LA_01_beta"] == 2.0
    assert found["LA_01_W"] == pytest.approx(1.0, rel=0.2)


def test_the_noise_of_a_broad_peak_makes_it_little_narrower() -> None:
    """It was read at the least smoothing that shows it: heights were 8 % too high, widths a fifth
    too small."""
    energy = np.linspace(0, 10, 400)
    model = Model("broad", [c.Gauss(A=1.0, x0=5.0, SD=0.5)])
    model.set_axes(energy)
    clean = np.exp(-(((energy - 5) / 1.27) ** 2) / 2)
    noises = (np.random.default_rng(k).normal(0, 0.1, 400) for k in range(50))
    found = np.array([list(model.guess(clean + noise).values()) for noise in noises])
    offs = np.sqrt(np.mean((found - [1.0, 5.0, 1.27]) ** 2, axis=0))
    assert (offs < [0.035, 0.16, 0.15]).all()
