"""Intervals by profile likelihood: their ends are where chi² has risen by what was asked for."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.special import erf, fdtri

from pyspec import (
    Measurement,
    Model,
    ModelWarning,
    fit_joint,
    fit_model,
    load_model,
    load_time_model,
)
from pyspec.errors import CallError, FitError
from pyspec.fit.findings.kinds import Kind

LEVELS = erf(np.array([1.0, 2.0, 3.0]) / np.sqrt(2))


def model_at(vary: str = "true", low: float = -100, high: float = 100) -> Model:
    """A line on an offset; the bounds are those of the offset."""
    return load_model(
        f"""
m:
  Offset: {{y0: [3, {vary}, {low}, {high}]}}
  Gauss: {{A: [9, {vary}], x0: [0.05, {vary}], SD: [0.5, {vary}, 0.1, 2]}}
""",
        "m",
    )


def spectrum() -> tuple[Any, Any]:
    energy = np.linspace(-5, 5, 201)
    clean = 3 + 10 * np.exp(-((energy / 0.6) ** 2) / 2)
    return energy, clean + 0.5 * np.random.default_rng(8).normal(size=201)


def fitted(sigma: float | None = None, high: float = 100, **options: Any) -> Any:
    model, (energy, data) = model_at(high=high), spectrum()
    model.set_axes(energy=energy)
    weight = None if sigma is None else 1 / sigma
    return fit_model(model, Measurement(data, weight=weight), scale_covar=not sigma, **options)


def held(result: Any, name: str, value: float) -> float:
    """The least chi² with a parameter held, by an ordinary fit of the others."""
    model = result.model.copy()
    model.set(name, value=value, vary=False)
    return float(fit_model(model, result.problem.measurement).chisqr)


@pytest.mark.parametrize("sigma", [None, 0.5, 1.5])
def test_chi2_has_risen_at_every_end_by_what_the_level_asks(sigma: float | None) -> None:
    result = fitted(sigma=sigma)
    intervals = result.conf_interval()
    assert list(intervals) == list(result.free_names)
    rest = result.n_data - result.n_free
    rises = np.array([9.0, 4.0, 1.0, 0.0, 1.0, 4.0, 9.0])
    if sigma is None:
        rises = fdtri(1, rest, [*LEVELS[::-1], 0, *LEVELS]) * result.chisqr / rest
    for name, pairs in intervals.items():
        assert [p for p, _ in pairs] == pytest.approx([*LEVELS[::-1], 0, *LEVELS])
        assert pairs[3][1] == result.values[name]
        assert np.all(np.diff([value for _, value in pairs]) > 0)
        found = [held(result, name, value) - result.chisqr for _, value in pairs]
        assert found == pytest.approx(rises, rel=1e-4, abs=1e-7 * result.chisqr)


def test_intervals_print_as_a_table_and_stay_a_dict() -> None:
    """They printed as a dict of lists of pairs of 16 digits."""
    found = fitted().conf_interval(sigmas=[1, 2])
    head, _, *rows = str(found).splitlines()
    assert head.split() == ["parameter", "value", "68.27", "%", "95.45", "%"]
    for row, (name, pairs) in zip(rows, found.items(), strict=True):
        first, best, *ends = row.replace("…", " ").split()
        assert first == name
        numbers = [pair[1] for pair in pairs]
        shown = [float(one) for one in (ends[2], ends[0], best, ends[1], ends[3])]
        step = 10.0 ** -len(best.partition(".")[2])
        np.testing.assert_allclose(shown, numbers, atol=0.51 * step)
        assert step < 0.2 * (numbers[3] - numbers[2])
    assert found._repr_html_().count("<tr>") == 5
    for same in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert str(same) == str(found)


def test_an_end_at_a_bound_is_the_bound() -> None:
    free = fitted(sigma=0.5).conf_interval("Offset_y0")["Offset_y0"]
    between = 0.5 * (free[5][1] + free[6][1])
    bounded = fitted(sigma=0.5, high=between).conf_interval("Offset_y0")["Offset_y0"]
    assert bounded[6] == (pytest.approx(LEVELS[2]), between)
    assert [v for _, v in bounded[:6]] == pytest.approx([v for _, v in free[:6]], abs=1e-6)


def test_a_side_on_which_chi2_never_rises_so_much_is_infinite() -> None:
    """A decay that is barely there: beyond some time constant all are alike."""
    model = load_time_model(
        "d: {expFun: {A: [1, true], tau: [3, true, 0.01, .inf], t0: [0, false], y0: [0, false]}}",
        "d",
    )
    time = np.linspace(0.01, 1, 40)
    model.set_axes(time=time)
    data = np.exp(-time / 5) + 0.2 * np.random.default_rng(1).normal(size=40)
    result = fit_model(model, Measurement(data, weight=5.0), scale_covar=False)
    (tau,) = (name for name in result.free_names if name.endswith("tau"))
    pairs = result.conf_interval(tau, sigmas=[1, 3])[tau]
    assert pairs[-1][1] == np.inf
    assert 0.01 < pairs[0][1] < pairs[1][1] < result.values[tau]


def test_counts_rise_by_twice_the_log_likelihood() -> None:
    model = model_at(low=0.0)
    energy, _ = spectrum()
    model.set_axes(energy=energy)
    mean = 0.3 + 3 * np.exp(-((energy / 0.6) ** 2) / 2)
    counts = np.random.default_rng(3).poisson(mean).astype(float)
    model.set("Offset_y0", value=0.3)
    result = fit_model(model, Measurement(counts, loss="poisson"))
    pairs = result.conf_interval("Gauss_01_A", sigmas=[1, 2])["Gauss_01_A"]
    for z, (_, value) in zip((2, 1, 0, 1, 2), pairs, strict=True):
        assert held(result, "Gauss_01_A", value) - result.chisqr == pytest.approx(z**2, abs=1e-4)


def test_files_fitted_together_have_common_intervals() -> None:
    """Two halves of one spectrum, all shared: as the whole spectrum."""
    energy, data = spectrum()
    halves = []
    for part in (slice(None, 100), slice(100, None)):
        model = model_at(vary="project")
        model.set_axes(energy=energy[part])
        halves.append((model, Measurement(data[part], weight=2.0)))
    joint = fit_joint(halves, scale_covar=False)
    found = joint.conf_interval(sigmas=[1, 2])
    whole = fitted(sigma=0.5).conf_interval(sigmas=[1, 2])
    assert list(found) == list(whole)
    for name, pairs in whole.items():
        assert [v for _, v in found[name]] == pytest.approx([v for _, v in pairs], rel=1e-5)
    with pytest.raises(FitError, match="ask the joint result"):
        joint[0].conf_interval()


def test_a_fit_away_from_its_optimum_says_where_a_better_one_is() -> None:
    stopped = fitted(max_nfev=1)
    with pytest.raises(
        FitError, match=r"not at its best optimum.*fit again, from there: Offset_y0"
    ):
        stopped.conf_interval()


DOUBLET = """
m:
  Offset: {y0: [3, true]}
  Gauss: {A: [10, true, 0, 1000], x0: [84.7, true, 80, 90], SD: [0.5, true, 0.1, 3]}
  Gauss: {A: [10, true, 0, 1000], x0: [85.3, true, 80, 90], SD: [0.5, true, 0.1, 3]}
"""


def doublet(seed: int) -> Any:
    """Two lines 1.6 standard deviations apart, 20 and 16 of the noise high."""
    energy, model = np.linspace(80, 90, 201), load_model(DOUBLET, "m")
    data = 3 + np.random.default_rng(seed).normal(0, 0.5, energy.size)
    for height, place in ((10, 84.6), (8, 85.4)):
        data += height * np.exp(-0.5 * ((energy - place) / 0.5) ** 2)
    model.set_axes(energy=energy)
    return fit_model(model, Measurement(data, weight=2.0), scale_covar=False)


@pytest.mark.parametrize("seed", [5, 15])  # of 200 fits 13 are not at their best optimum
def test_where_a_better_optimum_turns_up_intervals_are_about_the_fit(seed: int) -> None:
    """About the better optimum, with a narrow and low line, they would never hold the truth."""
    result = doublet(seed)
    assert result.success
    before = result.findings
    for _ in range(2):
        with pytest.warns(ModelWarning, match=r"fit again from Offset.*there is a better optimum"):
            intervals = result.conf_interval()
    (said,) = intervals.findings
    assert said.kind is Kind.BETTER_OPTIMUM
    assert result.findings == before
    assert all(pairs[3][1] == result.values[name] for name, pairs in intervals.items())
    for pairs in intervals.values():
        assert np.all(np.diff([value for _, value in pairs]) >= 0)
    again = result.model.copy()
    values = [float(f"{value:.6g}") for value in said.numbers["values"]]  # as it is told
    again.set_values(dict(zip(said.places, values, strict=True)))
    chisqr = said.numbers["chisqr"]
    assert fit_model(again, result.measurement).chisqr <= chisqr < result.chisqr


TWO_LINES = """
m:
  Offset: {y0: [3, true]}
  Gauss: {A: [2, true, 0, 1000], x0: [84.2, true, 80, 84.3], SD: [0.3, true, 0.1, 3]}
"""


def test_an_end_lies_before_the_rise_that_parts_the_line_from_its_neighbour() -> None:
    """The place of a line ends at its bound; another line, 2.3 below, would do as well."""
    energy, model = np.linspace(80, 90, 201), load_model(TWO_LINES, "m")
    data = 3 + np.random.default_rng(58).normal(0, 0.5, energy.size)
    for height, place in ((1.5, 84.4), (1.2, 82.0)):
        data += height * np.exp(-0.5 * ((energy - place) / 0.3) ** 2)
    model.set_axes(energy=energy)
    result = fit_model(model, Measurement(data, weight=2.0), scale_covar=False)
    assert result.at_bound == {"Gauss_01_x0": "max"}
    pairs = result.conf_interval("Gauss_01_x0")["Gauss_01_x0"]
    assert [value for _, value in pairs[3:]] == [84.3] * 4
    model.set_values(result.values)
    places, rises = np.linspace(84.3, 83.9, 401)[1:], []
    for place in places:  # near enough to each other for the fit to follow
        model.set("Gauss_01_x0", value=float(place), vary=False)
        one = fit_model(model, result.measurement)
        model.set_values(one.values)
        rises.append(one.chisqr - result.chisqr)
    for z, (_, end) in zip((3, 2, 1), pairs[:3], strict=True):
        first = places[int(np.argmax(np.array(rises) >= z**2))]
        assert first <= end <= first + 0.0011


@pytest.mark.parametrize("sigmas", [[], [0], [-1], [np.nan], "two", [[1, 2]], [1, 9]])
def test_levels_that_are_none_are_refused(sigmas: Any) -> None:
    with pytest.raises((CallError, FitError, ValueError), match="sigmas"):
        fitted().conf_interval(sigmas=sigmas)


def test_data_without_scatter_need_a_declared_noise() -> None:
    model = load_model("m:\n  Offset: {y0: [1, true]}\n", "m")
    model.set_axes(energy=np.arange(5.0))
    with pytest.raises(FitError, match="declare the noise"):
        fit_model(model, Measurement(np.ones(5))).conf_interval()


def test_an_onset_without_an_instrument_has_its_interval() -> None:
    """Anywhere in its interval the onset fits alike."""
    model = load_time_model(
        "d: {expFun: {A: [1, true], tau: [3, true, 0.01, 100], t0: [0.2, true], y0: [0, true]}}",
        "d",
    )
    time = np.linspace(-3, 12, 60)
    model.set_axes(time=time)
    data = np.where(time > 0.13, 2 * np.exp(-(time - 0.13) / 2.5), 0)
    data = data + 0.1 * np.random.default_rng(0).normal(size=60)
    measurement = Measurement(data, weight=10.0)
    result = fit_model(model, measurement, scale_covar=False)
    before, after = time[time < 0.13][-1], time[time > 0.13][0]
    best = result.values["expFun_01_t0"]
    assert before < best <= after
    intervals = result.conf_interval(sigmas=[1, 2])
    onset = [value for _, value in intervals["expFun_01_t0"]]
    assert onset == pytest.approx([before, before, best, after, after], abs=1e-6)
    tau = [value for _, value in intervals["expFun_01_tau"]]
    assert (tau[3] - tau[1]) / 2 == pytest.approx(result.stderr["expFun_01_tau"], rel=0.1)
