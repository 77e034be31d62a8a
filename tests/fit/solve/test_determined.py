"""What the data determine: one rule for every method."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec.fit import FitResult, fit_model
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.solve.determined import Point, described, judge
from pyspec.model import Measurement

ENERGY = np.linspace(80.0, 90.0, 201)
LINE = """
m:
  Offset: {y0: [20, True, 0, 100]}
  Gauss: {A: [150, True, 0, 1000], x0: [%s, True, 80, 90], SD: [0.5, True, 0.1, 3]}
"""


def line_data(noise: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(3)
    clean = 20.0 + 200.0 * np.exp(-(((ENERGY - 84.0) / 0.5) ** 2) / 2)
    return np.asarray(clean + noise * rng.standard_normal(clean.shape))


def fit(text: str, data: np.ndarray, method: str = "native", **measure: object) -> FitResult:
    model = loaded(text, "m", energy=ENERGY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_model(model, Measurement(data=data, **measure), method=method)


@pytest.mark.parametrize("method", ["native", "leastsq"])
def test_a_line_started_beside_its_data_is_no_success(method: str) -> None:
    # Used to end with A = 0 and x0, SD at their bounds, success, and nothing named.
    result = fit(LINE % 89, line_data(), method)
    assert not result.success
    assert result.without_effect
    assert {"Gauss_01_x0", "Gauss_01_SD"} <= set(result.without_effect)
    assert "The data do not determine" in result.message
    assert all(result.stderr[name] is None for name in result.without_effect)


def test_two_lines_at_one_place_are_named_as_a_combination() -> None:
    text = """
m:
  Gauss: {A: [100, True, 0, 1000], x0: [84, False], SD: [0.5, False]}
  Gauss: {A: [100, True, 0, 1000], x0: [84, False], SD: [0.5, False]}
"""
    result = fit(text, line_data() - 20.0)
    assert not result.success
    assert set(result.without_effect) == {"Gauss_01_A", "Gauss_02_A"}
    assert "Gauss_01_A up, Gauss_02_A down" in result.message


def test_an_error_larger_than_its_bounds_is_a_caution() -> None:
    text = """
m:
  Offset: {y0: [20, True, 0, 100]}
  GLP:
    {A: [150, True, 0, 999], x0: [84, True, 83, 85], F: [1.2, True, 0.1, 5], m: [0.4, True, 0, 1]}
"""
    result = fit(text, line_data(120.0))
    assert result.success
    assert result.stderr["GLP_01_m"] is None
    told = next(one for one in result.findings if one.kind is Kind.ERROR_BEYOND_BOUNDS)
    assert told.places == ("GLP_01_m",)
    assert str(told) in str(result)


# the rule on its own


def point(root: np.ndarray, residual: np.ndarray, **given: object) -> Point:
    n = root.shape[1]
    values = {
        "theta": np.zeros(n),
        "lower": np.full(n, -np.inf),
        "upper": np.full(n, np.inf),
        "sides": np.zeros(n, dtype=np.int64),
        "sizes": np.ones(n),
        "variance": 1.0,
        "chisqr": 0.0,
    }
    return Point(root=root, downhill=root.T @ residual, **{**values, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("residual", "sides", "distance"),
    [((3, 4, 7), (0, 0), 2.5), ((-3, 0, 7), (-1, 0), 0.0), ((3, 0, 7), (-1, 0), 1.5)],
)
def test_the_distance_is_the_projection_of_the_residual(
    residual: tuple[int, ...], sides: tuple[int, ...], distance: float
) -> None:
    """Without what a bound holds, at 0 here."""
    root = np.array([[1.0, 0.0], [0.0, 100.0], [0.0, 0.0]])
    lower = np.where(np.array(sides) < 0, 0.0, -np.inf)
    end = point(root, np.array(residual), lower=lower, sides=np.array(sides), variance=4.0)
    verdict = judge(end, lambda at: np.inf)
    assert verdict.distance == pytest.approx(distance)
    assert verdict.lost == ()


def test_a_weak_direction_is_walked() -> None:
    root = np.array([[1.0, 1.0], [0.0, 1e-6]])
    flat = judge(point(root, np.zeros(2)), lambda at: 1e-3)
    assert flat.lost == (0, 1)
    assert described(flat, ["a", "b"]) == (
        "χ² hardly changes when these change together: a up, b down"
    )
    assert judge(point(root, np.zeros(2)), lambda at: 1.0).lost == ()
    assert judge(point(root, np.zeros(2)), lambda at: np.nan).lost == ()


def test_of_directions_that_are_lost_each_parameter_at_a_bound_has_one() -> None:
    """The second pair is lost, the first is held by chi², which rises along it."""
    root = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    zero, top = np.zeros(4), np.full(4, 9.0)
    lower, sides = np.array([0.0, -9, 0, -9]), np.array([-1, 0, -1, 0])
    end = point(root, np.zeros(2), theta=zero, lower=lower, upper=top, sides=sides)

    def chisqr(theta: np.ndarray) -> float:
        return float((theta[0] + theta[1]) ** 2 + (theta[2] + theta[3]) ** 2 + theta[0] ** 2)

    verdict = judge(end, chisqr)
    assert verdict.lost == (2, 3)
    assert [sorted(k for k, _ in members) for members in verdict.combinations] == [[2, 3]]


EDGE = """
m:
  Offset: {y0: [5, True]}
  FermiEdge: {A: [300, True], x0: [0, True, -1, 1], T: [250, False], SD: [0.05, True, 0, 0.5],
              mBelow: [0, False], mAbove: [0, False]}
"""


@pytest.mark.parametrize(("method", "seed"), [("native", 3), ("leastsq", 26)])
def test_a_resolution_of_0_is_an_optimum(method: str, seed: int) -> None:
    """The sign of SD has no effect: at 0, where 35 of 60 such edges end, it has no slope."""
    energy = np.linspace(-0.6, 0.6, 121)
    bare = 5 + 300 / (1 + np.exp((energy - 0.01) / (8.617333262e-5 * 250)))
    model = loaded(EDGE, "m", energy=energy)
    data = bare + np.random.default_rng(seed).normal(0, 3, energy.size)
    result = fit_model(model, Measurement(data), method=method)
    assert result.values["FermiEdge_SD"] < 1e-6
    assert result.success, result.message
    assert result.at_bound == {"FermiEdge_SD": "min"}
    assert result.stderr["FermiEdge_SD"] is None
    assert result.stderr["FermiEdge_x0"] == pytest.approx(4e-4, rel=0.3)


def test_a_column_of_zeros_at_a_bound_is_held_where_chi_square_rises_from_there() -> None:
    root = np.array([[1.0, 0.0], [0.0, 0.0]])
    end = point(root, np.zeros(2), lower=np.zeros(2), upper=np.ones(2), sides=np.array([0, -1]))
    assert judge(end, lambda at: float(10.0 * at[1] ** 2)).lost == ()
    assert judge(end, lambda at: float(at[1] ** 2 * (at[1] - 0.2))).lost == ()  # by 1e-3 only
    assert judge(end, lambda at: float(100.0 * at[1] ** 2 * (at[1] - 0.2))).lost == (1,)
    assert judge(end, lambda at: 1e-3).lost == (1,)
    assert judge(end, lambda at: float(10.0 * at[1] ** 4)).lost == ()
    assert judge(end, lambda at: float(10.0 * max(at[1] - 0.4, 0.0))).lost == (1,)
