"""What random models have found, as small models: the executors mean the same there now."""

from __future__ import annotations

import numpy as np
import pytest

from pyspec.errors import DataError
from pyspec.executor import make_executor
from pyspec.model import Model, load_dynamics, load_model

ENERGY = np.linspace(80.0, 90.0, 9)
TIME = np.linspace(-4.7, 25.1, 12)
PEAK = "m:\n  Gauss:\n    A: [5.0, True]\n    x0: [85.0, True]\n    SD: [1.5, True]\n"


def moved(
    *parts: str,
    text: str = PEAK,
    target: str = "Gauss_01_SD",
    frequency: float = -1.0,
    time: np.ndarray = TIME,
) -> Model:
    """The peak, with dynamics of these parts."""
    model = load_model(text, "m")
    names = [f"d{k}" for k in range(len(parts))]
    laws = "".join(f"{name}:\n{part}" for name, part in zip(names, parts, strict=True))
    model.add_dynamics(target, load_dynamics(laws, names, target, frequency))
    model.set_axes(energy=ENERGY, time=time)
    return model


def agreed(model: Model, **values: float) -> np.ndarray:
    """The spectra, after tree, interpreted and compiled agreed on them."""
    theta = dict(zip(model.opt_param_names, model.theta().tolist(), strict=True))
    assert set(values) <= set(theta)
    return make_executor(model, None, "compare").run({**theta, **values})


def law(name: str, **values: float) -> str:
    lines = [f"    {key}: [{value!r}, True]\n" for key, value in values.items()]
    return f"  {name}:\n" + "".join(lines) if lines else f"  {name}:\n"


@pytest.mark.parametrize(
    ("late", "amplitude"),
    [
        (law("expFun", A=0.3, tau=0.1, t0=20.0), "expFun_01_A"),  # e^120 before its onset
        (law("linFun", m=0.3, t0=1e30), "linFun_01_m"),
    ],
)
def test_a_law_that_never_sets_in_within_its_sub_cycle_is_nothing(
    late: str, amplitude: str
) -> None:
    """It went on to its onset backwards, to 1e52, which took all digits from the other laws."""
    step = law("stepFun", A=0.4, t0=0.1)
    model = moved(law("gaussIRF", SD=0.5), late, step, frequency=0.05)
    without = agreed(model, **{f"Gauss_01_SD_{amplitude}": 0.0})
    np.testing.assert_allclose(agreed(model), without, rtol=1e-13)
    assert np.ptp(without, axis=0).max() > 0.1


def test_cycles_without_end_are_refused() -> None:
    parts = law("gaussIRF", SD=0.5), law("stepFun", A=0.3, t0=0.1)
    model = moved(*parts, frequency=1e6)
    for backend in ("tree", "interpreted", "compiled"):
        with pytest.raises(DataError, match="cycles of 1e-06 are too many"):
            make_executor(model, None, backend).run(model.theta())


@pytest.mark.parametrize(
    ("name", "values"), [("sqrtFun", {"A": 0.02}), ("sinDivX", {"A": 0.4, "f": 0.07})]
)
def test_a_narrow_instrument_shows_the_law(name: str, values: dict[str, float]) -> None:
    """The quadrature lost a width of 1e-6 of the time, and all of one of 1e-16."""
    late = np.linspace(2.0, 25.0, 12)
    expected = agreed(moved(law(name, **values, t0=1.0), time=late))
    for width in (1e-7, 1e-30):
        seen = agreed(moved(law("gaussIRF", SD=width) + law(name, **values, t0=1.0), time=late))
        np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-13)
