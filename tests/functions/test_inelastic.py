"""Tougaard backgrounds against Tougaard's equation, written out as matrices."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernel_calls import call_function

from pyspec import Model
from pyspec._library import supported_isas
from pyspec.components import GLP, Offset, Tougaard, Tougaard3, fixed, linFun, moving
from pyspec.executor import make_executor
from pyspec.functions import reference
from pyspec.model import Measurement, load_model

#: Descending binding energies with steps of two widths, and lines near the upper end.
BINDING = np.concatenate([np.arange(300.0, 250.0, -1.0), np.arange(250.0, 200.0, -0.25)])
LINES = np.exp(-((BINDING - 214) ** 2) / 4) + 0.5 * np.exp(-((BINDING - 226) ** 2) / 8)


def equation(x: np.ndarray, cross_section: np.ndarray) -> np.ndarray:
    """1 - K: rows are where electrons arrive, columns where they come from."""
    weight = np.abs(np.gradient(x))
    weight[[0, -1]] /= 2
    return np.asarray(np.eye(x.size) - np.triu(cross_section, 1) * weight)


@pytest.mark.parametrize(
    ("name", "params"), [("Tougaard", (2866.0, 1643.0)), ("Tougaard3", (325.0, 542.0, 275.0))]
)
def test_what_is_measured_obeys_the_equation(name: str, params: tuple[float, ...]) -> None:
    loss = np.abs(BINDING[:, np.newaxis] - BINDING)
    B, C, *rest = params
    below = (C - loss**2) ** 2 + rest[0] * loss**2 if rest else (C + loss**2) ** 2
    measured = np.linalg.solve(equation(BINDING, B * loss / below), LINES)
    columns = np.array(params)[:, np.newaxis]
    for isa in supported_isas():
        found = call_function(name, BINDING, columns, LINES[np.newaxis], isa=isa)[0][0]
        np.testing.assert_allclose(found, measured - LINES, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        reference(name)(BINDING, *params, LINES), measured - LINES, rtol=1e-12, atol=1e-15
    )


def test_a_static_shirley_meets_both_ends() -> None:
    """And between them falls by the area of the lines; without lines it is straight."""
    found = call_function("StaticShirley", BINDING, np.array([[9.0], [2.0]]), LINES[np.newaxis])
    value = found[0][0]
    assert (value[0], value[-1]) == (9.0, 2.0)
    middle = np.abs(np.diff(BINDING)) * (LINES[1:] + LINES[:-1]) / 2
    np.testing.assert_allclose(np.diff(value), -7.0 * middle / middle.sum(), atol=1e-14)
    params = np.array([[9.0], [2.0]])
    straight = call_function("StaticShirley", BINDING, params, 0 * LINES[np.newaxis])[0][0]
    np.testing.assert_allclose(straight, np.interp(-BINDING, [-300, -200.25], [9, 2]), rtol=1e-14)


@pytest.mark.parametrize("name", ["Tougaard", "Tougaard3"])
def test_even_axes_take_weights_by_distance(name: str) -> None:
    """As the reference, which knows no such short cut, and as on an axis that is not quite even;
    the slopes too, for rows in lanes and for energies in lanes."""
    params = np.array([[2866.0], [1643.0]] if name == "Tougaard" else [[300.0], [400.0], [300.0]])
    for n in (127, 128, 129, 200, 391):
        even = np.linspace(850.0, 700.0, n)
        uneven = even.copy()
        uneven[1] += 1e-8
        fed = np.random.default_rng(n).random((9, n))
        for rows in (1, 9):
            given = np.repeat(params, rows, axis=1)
            value, slopes = call_function(name, even, given, fed[:rows], partials=True)
            alone, _ = call_function(name, even, given, fed[:rows])
            _, others = call_function(name, uneven, given, fed[:rows], partials=True)
            np.testing.assert_array_equal(value, alone)
            expected = reference(name)(even, *params[:, :1], fed[:rows])
            np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-13 * expected.max())
            assert slopes is not None
            assert others is not None
            for slope, near in zip(slopes, others, strict=True):
                np.testing.assert_allclose(slope, near, rtol=1e-6, atol=1e-8 * abs(near).max())


@pytest.mark.parametrize("height", [1e-299, 1e-303])
def test_a_static_shirley_of_a_tiny_area_has_the_slopes_of_any_other(height: float) -> None:
    """Its shape does not depend on the height of its lines, nor does the slope by their place."""
    x = np.linspace(700.0, 790.0, 181)
    columns = []
    for size in (5.0, height):
        text = "m:\n  StaticShirley: {left: [9, true], right: [2, true]}\n"
        text += f"  Gauss: {{A: [{size:.17e}, false], x0: [740, true], SD: [4, true]}}\n"
        model = load_model(text, "m")
        model.set_axes(energy=x)
        executor = make_executor(model, Measurement(data=np.zeros(x.size)))
        found = executor.jacobian(model.theta())
        columns.append(found[model.opt_param_names.index("Gauss_01_x0")])
    own = 5.0 * reference("Gauss")(x, 1.0, 740.0, 4.0) * (x - 740.0) / 16.0
    np.testing.assert_allclose(columns[1], columns[0] + own, atol=1e-9 * np.abs(columns[0]).max())


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
