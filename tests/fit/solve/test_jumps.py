"""Parameters that move a jump over the samples: found from afar, reported as an interval."""

from __future__ import annotations

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import FitResult, Measurement, fit_joint, fit_model, fit_trace
from pyspec.fit.findings.kinds import Kind
from pyspec.model import Model, load_dynamics, load_model, load_profile, load_time_model
from pyspec.plan.places import differences, interval

MODELS = """
functions:
  Edge:
    parameters: a, b, x0
    formula: where(x > x0, a, b)
  Box:
    parameters: A, x0, w > 0
    formula: where(abs(x - x0) <= w / 2, A, 0)
edge:
  Edge: {a: [5, true, 0, 100], b: [1, true, 0, 100], x0: [START, true, 0, 10]}
box:
  Box: {A: [3, true, 0, 100], x0: [4.5, true, 0, 10], w: [2.0, true, 0.01, 10]}
  Offset: {y0: [1, true]}
"""
ENERGY = np.linspace(0.0, 10.0, 101)
EDGE = np.where(ENERGY > 6.234, 5.0, 1.0)


def model(name: str, start: float = 5.0) -> Model:
    return loaded(MODELS.replace("START", str(start)), name, energy=ENERGY)


def noisy(data: np.ndarray, seed: int = 0) -> Measurement:
    return Measurement(data=data + np.random.default_rng(seed).normal(0.0, 0.1, data.shape))


def has(result: FitResult, name: str, low: float, high: float) -> None:
    assert result.success, result.message
    assert result.intervals[name] == pytest.approx((low, high))
    assert low < result.values[name] < high
    assert result.stderr[name] is None
    assert result.redchi == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize("start", [6.2, 2.0, 9.9])
def test_an_edge_is_found_from_afar(start: float) -> None:
    """It stayed where it began, and the message said that the data do not determine it."""
    result = fit_model(model("edge", start), noisy(EDGE))
    has(result, "Edge_01_x0", 6.2, 6.3)
    assert "Edge_01_x0 moves a jump: it lies above 6.2, up to 6.3" in result.message
    assert result.values["Edge_01_a"] == pytest.approx(5.0, abs=5 * result.stderr["Edge_01_a"])


def test_a_method_that_does_not_search_an_edge_says_which_does() -> None:
    """Finite differences see no edge between two samples: it stays where it began."""
    result = fit_model(model("edge"), noisy(EDGE), method="leastsq")
    assert not result.success
    assert result.without_effect == ("Edge_01_x0",)
    assert "Edge_01_x0 moves a jump over the samples that was not searched: method='native'" in (
        result.message
    )


@pytest.mark.parametrize("n", [101, 333])
def test_a_box_of_unknown_place_and_width(n: int) -> None:
    """Where one edge is wrong, place and width have to move together."""
    energy = np.linspace(0.0, 10.0, n)
    made = model("box")
    made.set_axes(energy=energy)
    result = fit_model(made, noisy(np.where(abs(energy - 5.11) <= 1.55, 5.0, 0.0) + 1.0))
    assert result.success, result.message
    assert result.redchi == pytest.approx(0.01, rel=0.4)
    assert set(result.intervals) == {"Box_01_x0", "Box_01_w"}
    found = abs(energy - result.values["Box_01_x0"]) <= result.values["Box_01_w"] / 2
    np.testing.assert_array_equal(found, abs(energy - 5.11) <= 1.55)


def test_files_that_share_an_edge() -> None:
    """Their samples lie elsewhere: together they tell more."""
    energy = ENERGY + 0.05
    models = []
    for axis in (ENERGY, energy):
        one = loaded(
            MODELS.replace("[START, true, 0, 10]", "[3, project, 0, 10]"), "edge", energy=axis
        )
        models.append(one)
    data = [noisy(EDGE), noisy(np.where(energy > 6.234, 5.0, 1.0), 1)]
    result = fit_joint(list(zip(models, data, strict=True)))
    assert result.success, result.message
    assert result.intervals["Edge_01_x0"] == pytest.approx((6.2, 6.25))


def test_a_jump_that_other_parameters_make_up_for_has_a_wide_interval() -> None:
    """The mean over the auxiliary points tells the product of height and share alone."""
    text = """
functions:
  Deep:
    domain: profile
    parameters: a, z0
    formula: where(x > z0, a, 0)
line:
  Gauss: {A: [5, true], x0: [4.5, true, 0, 10], SD: [1, true, 0.1, 4]}
deep:
  Deep: {a: [4, false], z0: [START, true, 0, 4]}
"""
    found = []
    for free, start in (("true", "1.0"), ("true", "3.3"), ("false", "1.0"), ("false", "3.3")):
        changed = text.replace("START", start).replace("a: [4, false]", f"a: [4, {free}]")
        made = load_model(changed.replace("A: [5, true]", "A: [5, false]"), "line")
        made.add_profile("Gauss_01_A", load_profile(changed, "deep", "Gauss_01_A"))
        made.set_axes(energy=ENERGY, aux=np.linspace(0.0, 4.0, 21))
        data = (5.0 + 4.0 * 8 / 21) * np.exp(-((ENERGY - 4.5) ** 2) / 2)
        found.append(fit_model(made, noisy(data)).intervals["Gauss_01_A_Deep_01_z0"])
    for low, high in found[:2]:
        assert low < 1.0
        assert high > 3.2
    assert found[2] == found[3] == pytest.approx((2.4, 2.6))


def test_an_edge_in_noise_may_lie_further() -> None:
    """The interval of the best fit was all that was said, however low the edge."""
    made = model("edge", 6.0)
    for seed in range(4):
        low = noisy(np.where(ENERGY > 6.234, 1.05, 1.0), seed)
        result = fit_model(made, low)
        (said,) = [one for one in result.findings if one.kind is Kind.INTERVAL_ONLY]
        ends = said.numbers["low"], said.numbers["high"]
        interval = result.intervals["Edge_01_x0"]
        assert ends[0] <= interval[0] + 1e-6 < interval[1] - 1e-6 <= ends[1]
        assert ends[1] - ends[0] > 1.5 * (interval[1] - interval[0])
        for end in ends[0] + 0.05, ends[1] - 0.05:
            theta = result.theta.copy()
            theta[result.free_names.index("Edge_01_x0")] = end
            assert result.problem.chisqr_at(theta) < result.chisqr + result.redchi
    assert not fit_model(made, noisy(EDGE)).findings


TIME = np.linspace(0.0, 10.0, 101)
LAW = """
functions:
  Step:
    domain: time
    parameters: a, b, t0, d
    formula: FORMULA
step:
  Step: {a: [5, true, 0, 99], b: [1, true, 0, 99], t0: [START, true, 0, 10], d: [0.37, false]}
"""


@pytest.mark.parametrize("start", [5.0, 6.2])
@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("where(t > t0, a, b) + d", 6.2, 6.3),
        ("where(t >= t0, a, b) + d", 6.2, 6.3),
        ("where(t >= t0 + d, a, b)", 6.23, 6.33),
        ("where(abs(t - t0) <= d, a, b)", 6.23, 6.27),
        ("where(2 * t >= t0, a, b) + d", 6.2, 6.4),
        ("where(t ** 2 >= t0, a, b) + d", 5.76, 6.25),
    ],
)
def test_the_interval_of_a_law_by_formula(
    formula: str, low: float, high: float, start: float
) -> None:
    """It follows from what the formula compares, also from a start on a sample."""
    text = LAW.replace("FORMULA", formula).replace("START", str(start))
    truth = load_time_model(text.replace(f"t0: [{start}", "t0: [6.234"), "step")
    truth.set_axes(time=TIME)
    values = np.asarray(truth.evaluate("tree", None))
    noise = np.random.default_rng(0).normal(0.0, 0.1, TIME.size)
    has(fit_trace(text, "step", TIME, values + noise), "Step_01_t0", low, high)


HEIGHTS = """
functions:
  Two:
    parameters: A, B, x0, s
    formula: where(x < x0, A, B) * exp(-((x - x0) / s) ** 2)
two:
  Offset: {y0: [1, true]}
  Two:
    A: [8, true, 0, 99]
    B: [8.1, true, 0, 99]
    x0: [4.8, true, 2, 8]
    s: [1, true, 0.1, 5]
"""


@pytest.mark.parametrize("seed", range(2))
def test_a_place_that_slopes_tell_better_than_a_jump_keeps_its_error(seed: int) -> None:
    """The interval between two samples is twenty times as wide."""
    made = loaded(HEIGHTS, "two", energy=ENERGY)
    line = np.where(ENERGY < 5.03, 10.0, 10.5) * np.exp(-(((ENERGY - 5.03) / 1.5) ** 2))
    result = fit_model(made, noisy(1.0 + line, seed))
    assert result.success, result.message
    assert result.intervals == {}
    error = result.stderr["Two_01_x0"]
    assert 0.003 < error < 0.01
    assert result.values["Two_01_x0"] == pytest.approx(5.03, abs=4 * error)


# onsets and widths of laws

SPECTRUM = """
line:
  Offset: {y0: [1.0, true]}
  GLP: {A: [10.0, true], x0: [5.0, true, 0, 10], F: [1.2, true, 0.1, 5], m: [0.3, false]}
"""
LAWS = """
decay:
  expFun: {A: [1.0, true], tau: [4.0, true, 0.1, 100], t0: [PLACE, true, -5, 15]}
step:
  stepFun: {A: [1.0, true], t0: [PLACE, true, -5, 15]}
box:
  Box: {w: [PLACE, true, 0.1, 9]}
  expFun: {A: [1.0, true], tau: [4.0, true, 0.1, 100], t0: [0.1, false]}
functions:
  Box: {domain: kernel, parameters: w > 0, formula: "where(abs(d) <= w / 2, 1, 0)"}
"""
DELAYS = np.linspace(-5.0, 15.0, 81)


def moved(law: str, place: float) -> Model:
    text = LAWS.replace("PLACE", str(place))
    made = load_model(SPECTRUM, "line")
    made.add_dynamics("GLP_01_x0", load_dynamics(text, [law], "GLP_01_x0", -1))
    made.set_axes(energy=np.linspace(0.0, 10.0, 60), time=DELAYS)
    return made


def data_of(made: Model) -> np.ndarray:
    clean = np.asarray(made.evaluate("tree", None))
    return clean + np.random.default_rng(1).normal(0.0, 0.1, clean.shape)


@pytest.mark.parametrize(
    ("law", "start"), [("decay", 0.4), ("decay", 5.0), ("step", 1.6), ("step", -2.0)]
)
def test_onset_is_found_from_afar(law: str, start: float) -> None:
    kind = "expFun" if law == "decay" else "stepFun"
    name = f"GLP_01_x0_{kind}_01_t0"
    result = fit_model(moved(law, start), Measurement(data=data_of(moved(law, 1.63))))
    assert result.success, result.message
    assert result.intervals == {name: (1.5, 1.75)}
    assert result.stderr[name] is None
    assert "lies above 1.5, up to 1.75" in result.message
    assert all(result.stderr[free] for free in result.free_names if free != name)
    assert result.values["GLP_01_A"] == pytest.approx(10.0, abs=5 * result.stderr["GLP_01_A"])


def test_intervals_are_open_below_and_equal_places_are_one() -> None:
    ends = [interval(np.array([0.0, 1.0, 2.0]), value) for value in (-1.0, 1.0, 1.5, 3.0)]
    assert ends == [(-np.inf, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, np.inf)]
    np.testing.assert_allclose(differences(np.array([0.0, 0.1, 0.3])), [0.0, 0.1, 0.2, 0.3])


def test_width_of_a_box_by_formula() -> None:
    """It sums over the samples, and is searched for between them."""
    result = fit_model(moved("box", 1.2), Measurement(data=data_of(moved("box", 3.1))))
    low, high = result.intervals["GLP_01_x0_Box_w"]
    assert low < 3.1 <= high
    assert high - low == pytest.approx(0.5)
