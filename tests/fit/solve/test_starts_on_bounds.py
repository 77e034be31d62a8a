"""Start values on a bound: how far inside a fit begins follows from data and axes. It followed from
the interval of the bounds: a height of 0 in [0, 1e6] began at 1000, and the fit was lost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from support.fit_cases import agree, loaded

from pyspec.fit import FitResult, fit_model
from pyspec.fit.bounds import at_bound
from pyspec.model import Measurement, Model, load_dynamics

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(80.0, 90.0, 200)
TIME = np.linspace(-2.0, 20.0, 45)
LOG_TIME = np.concatenate([np.linspace(-1.0, 1.0, 21), np.geomspace(1.1, 1e6, 60)])

LINE = """
line:
  Offset: {y0: [5, True, 0, 50]}
  Shirley: {pShirley: [1e-3, True, 0, 0.1]}
  GLP: {A: [30, True, 0, 100], x0: [83.5, True, 82, 85], F: [1, True, 0.1, 5], m: [0.4, True, 0, 1]}
  GLP: {A: [15, True, 0, 100], x0: [86.5, True, 85, 88], F: ["GLP_01_F"], m: ["GLP_01_m"]}
"""
HEIGHTS = ("Offset_y0", "GLP_01_A", "GLP_02_A")


def line(scale: float = 1.0, changed: dict[str, tuple[float, float, float]] | None = None) -> Model:
    """Two lines whose values and bounds suit the data, but for those that are changed."""
    model = loaded(LINE, "line", energy=ENERGY)
    for name in HEIGHTS:
        model.set(name, scale * model.values[name], max=scale * model.parameters[name].max)
    for name, (value, low, high) in (changed or {}).items():
        model.set(name, value, min=low, max=high)
    return model


def measured(model: Model, sigma: float, seed: int = 0) -> Measurement:
    clean = model.evaluate()
    noise = np.random.default_rng(seed).normal(0.0, sigma, clean.shape)
    return Measurement(data=clean + noise, weight=np.full(clean.shape, 1.0 / sigma))


MILLION, ABSURD = (0.0, 0.0, 1e6), (0.0, 0.0, 1e15)
WIDE = {
    "one height": {"GLP_01_A": MILLION},
    "both heights": {"GLP_01_A": MILLION, "GLP_02_A": MILLION},
    "heights of an absurd interval": {"GLP_01_A": ABSURD, "GLP_02_A": ABSURD},
    "all heights": dict.fromkeys(HEIGHTS, MILLION),
    "a height from above": {"GLP_01_A": (1e6, 0.0, 1e6)},
    "a background": {"Offset_y0": (0.0, 0.0, 1e9)},
    "a loss": {"Shirley_pShirley": MILLION},
    "a width": {"GLP_01_F": (0.4, 0.4, 1e6)},
    "a place": {"GLP_01_x0": (83.0, 83.0, 1e6)},
    "a place from above": {"GLP_01_x0": (84.0, -1e6, 84.0)},
    "a mixing": {"GLP_01_m": (0.0, 0.0, 1e3)},
    "most": {"GLP_01_A": MILLION, "GLP_01_F": (0.4, 0.4, 1e6), "GLP_01_m": (0.0, 0.0, 1.0)},
}


@pytest.fixture(scope="module")
def wanted() -> FitResult:
    """The fit between usual bounds."""
    return fit_model(line(), measured(line(), 0.5))


#: Of these lmfit's transformation has no digits, or leaves the domain at once.
NATIVE_ALONE = ("heights of an absurd interval", "a mixing")


@pytest.mark.parametrize(
    ("case", "method"),
    [
        *((case, "native") for case in WIDE),
        *((case, "leastsq") for case in WIDE if case not in NATIVE_ALONE),
    ],
)
def test_a_wide_interval_ends_where_a_usual_one_does(
    case: str, method: str, wanted: FitResult
) -> None:
    result = fit_model(line(1.0, WIDE[case]), measured(line(), 0.5), method=method)
    assert wanted.success
    assert result.success, result.message
    agree(result, wanted, 1e-2, 0.02)
    assert not result.at_bound


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_size_of_the_data_counts(scale: float) -> None:
    data = measured(line(scale), 0.5 * scale)
    result = fit_model(line(scale, WIDE["heights of an absurd interval"]), data)
    assert result.success, result.message
    begins = 1e-3 * float(np.max(data.data))
    assert result.start["GLP_01_A"] == result.start["GLP_02_A"] == pytest.approx(begins)
    assert abs(result.values["GLP_01_A"] / scale - 30.0) < 4 * result.stderr["GLP_01_A"] / scale


@pytest.mark.parametrize("height", [1e6, 1e12])
def test_a_quantity_begins_as_what_takes_it(height: float) -> None:
    def made(value: float) -> Model:
        text = LINE.replace("[30, True, 0, 100]", '["q"]')
        quantity = f"parameters: {{q: [{value}, True, 0, {height}]}}\n"
        return loaded(text + quantity, "line", energy=ENERGY)

    result = fit_model(made(0.0), measured(made(30.0), 0.5))
    assert result.success, result.message
    assert 0.02 < result.start["q"] < 0.05
    assert abs(result.values["q"] - 30.0) < 4 * result.stderr["q"]


LAW = """
law:
  expFun:
    A: [{A}, True, {low}, {high}]
    tau: [{tau}, True, 0.3, 1e9]
    t0: [0, False]
"""


def moving(target: str, A: float, low: float, high: float, tau: float, time: Array) -> Model:
    model = line()
    for name in ("GLP_02_A", "GLP_02_x0", "Shirley_pShirley", "GLP_01_m"):
        model.set(name, vary=False)
    text = LAW.format(A=A, low=low, high=high, tau=tau)
    model.add_dynamics(target, load_dynamics(text, "law", target))
    model.set_axes(energy=ENERGY[::4], time=time)
    return model


@pytest.mark.parametrize("time", [TIME, LOG_TIME], ids=["even", "logarithmic"])
@pytest.mark.parametrize(("target", "A"), [("GLP_01_A", 12.0), ("GLP_01_x0", 0.6)])
def test_laws_begin_by_what_they_move_and_their_axis(target: str, A: float, time: Array) -> None:
    truth = moving(target, A, 0.0, 1e9, 3.0, time)
    seen = measured(truth, 0.3)
    result = fit_model(moving(target, 0.0, 0.0, 1e9, 0.3, time), seen)
    assert result.success, result.message
    tau = f"{target}_expFun_01_tau"
    assert abs(result.values[tau] - 3.0) < 4 * result.stderr[tau]
    assert 0.3 < result.start[tau] < 0.5
    size = np.ptp(ENERGY[::4]) if target == "GLP_01_x0" else np.max(seen.data)
    assert result.start[f"{target}_expFun_01_A"] == pytest.approx(1e-3 * size)


def test_a_value_far_from_the_end_of_a_wide_interval_is_at_no_bound() -> None:
    """A width of 1 in [0.1, 1e6] was said to have ended at its lower bound."""
    assert at_bound(1.0, 0.1, 1e6, 0.5) == ""
    assert at_bound(0.1 + 1e-8, 0.1, 1e6, 0.5) == "min"
    assert at_bound(1e6, 0.1, 1e6, 0.5) == "max"
    assert at_bound(1e-7, 0.0, 1.0, 0.5) == "min"
    assert at_bound(84.0 - 1e-7, 83.0, 84.0, 83.5) == "max"
    assert at_bound(84.0 - 1e-5, 83.0, 84.0, 83.5) == ""
    assert at_bound(0.0, 0.0, np.inf, 0.0) == "min"
