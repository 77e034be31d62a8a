"""What results and models hand out is theirs: changing it changes no other number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import (
    Measurement,
    Model,
    bootstrap,
    fit_joint,
    fit_many,
    fit_model,
    fit_slices,
    load_model,
)
from pyspec.errors import FitError, NoSuchKeyError

ENERGY = np.linspace(80.0, 90.0, 101)
TEXT = """
m:
  Offset: {y0: [10, false]}
  Gauss: {A: [20, true], x0: [84, true, 82, 86], SD: [1, true, 0.2, 3]}
"""


def model() -> Model:
    return loaded(TEXT, "m", energy=ENERGY)


def noisy(n: int = 1) -> Any:
    data = model().evaluate() + np.random.default_rng(0).normal(size=(n, ENERGY.size))
    return data[0] if n == 1 else data


def test_the_model_of_a_result_is_at_its_best_values() -> None:
    """At the start values its curve was not the fit, and its file not what was found."""
    result = fit_model(model(), Measurement(noisy()), seeds={"Gauss_01_x0": 85.0})
    np.testing.assert_array_equal(result.model.evaluate(), result.fit)
    assert result.model.values == result.values != result.start
    written = load_model(result.model.to_yaml(), "m").values
    assert written == pytest.approx(result.values, rel=1e-12)


def test_the_model_of_a_result_has_the_values_that_its_fit_held_fixed() -> None:
    """One of many fits, or of slices, may fix a parameter elsewhere than the model does."""
    held = [{"Offset_y0": 9.0}, {"Offset_y0": 11.0}]
    slices = fit_slices(model(), Measurement(noisy(2)), seeds=held)
    many = fit_many(model(), Measurement(noisy()), held)
    for k, one in enumerate(held):
        for result in (slices[k].result, many.result(k)):
            assert result.values["Offset_y0"] == one["Offset_y0"]
            assert result.model.values == result.values
            np.testing.assert_array_equal(result.model.evaluate(), result.fit)


def test_changing_a_handed_out_model_changes_no_fit() -> None:
    measured = Measurement(noisy(4))
    slices = fit_slices(model(), measured)
    before = slices.fit.copy()
    slices.model.set("Offset_y0", 100.0)
    slices[0].result.model.set("Offset_y0", 100.0)
    np.testing.assert_array_equal(slices.fit, before)
    result = fit_model(model(), Measurement(noisy()))
    drawn = bootstrap(result, 2)
    drawn.result(0).model.set("Offset_y0", 50.0)
    again = fit_model(model(), Measurement(noisy()))
    assert again.model.values["Offset_y0"] == 10.0
    np.testing.assert_array_equal(again.curve(whole=True), result.curve(whole=True))


#: What follows looks at other things than the quantiles of a chain.
SHORT = pytest.mark.filterwarnings("ignore:.*steps:pyspec.errors.ModelWarning")


@SHORT
def test_weights_that_only_compare_points_do_so_everywhere() -> None:
    """Errors are scaled by the scatter; draws and samples took the weights for the noise."""
    result = fit_model(model(), Measurement(noisy(), weight=1 / 300))
    error = result.stderr["Gauss_01_A"]
    drawn = bootstrap(result, 100, seed=0).spread("Gauss_01_A")
    assert drawn == pytest.approx(error, rel=0.2)
    pytest.importorskip("emcee")
    samples = result.sample(steps=250, burn=100, seed=0)
    assert samples.stderr["Gauss_01_A"] == pytest.approx(error, rel=0.3)


def test_a_part_of_a_joint_fit_is_not_drawn_or_sampled() -> None:
    """Its errors are those of all files; ten times too large ones came without a word."""
    text = TEXT.replace("x0: [84, true", "x0: [84, project")
    parts = []
    for seed in range(2):
        one = loaded(text, "m", energy=ENERGY)
        noise = np.random.default_rng(seed).normal(size=ENERGY.size)
        parts.append((one, Measurement(one.evaluate() + noise)))
    joint = fit_joint(parts, names=["a", "b"])
    with pytest.raises(FitError, match="bootstrap takes the fit of one file alone"):
        bootstrap(joint["a"], 5)
    with pytest.raises(FitError, match="sample the joint result"):
        joint["a"].sample(steps=5)
    with pytest.raises(FitError, match="two files are called 'a'"):
        fit_joint(parts, names=["a", "a"])


@SHORT
def test_counts_whose_errors_were_scaled() -> None:
    """Samples and draws take the scaled noise, too."""
    one = model()
    one.set("Offset_y0", 60.0)
    counts = 4.0 * np.random.default_rng(1).poisson(one.evaluate() / 4.0)
    result = fit_model(one, Measurement(counts, loss="poisson"), scale_covar=True)
    assert result.redchi == pytest.approx(4.0, rel=0.4)
    samples = result.sample(steps=300, burn=100, seed=0)
    error = result.stderr["Gauss_01_A"]
    assert samples.stderr["Gauss_01_A"] == pytest.approx(error, rel=0.3)
    with pytest.raises(FitError, match="errors of these counts were scaled by their scatter"):
        bootstrap(result, 5)
    known = fit_model(one, Measurement(counts, loss="poisson"))
    assert known.sample(steps=20, seed=0).lnsigma is None
    assert bootstrap(known, 5).success.all()


def test_a_correlation_is_of_two() -> None:
    table = fit_model(model(), Measurement(noisy())).correlations
    assert table["Gauss_01_A", "Gauss_01_A"] == pytest.approx(1.0)
    assert "+1.000" in table._repr_html_()
    with pytest.raises(NoSuchKeyError, match="with two of Gauss_01_A, "):
        table["Gauss_01_A"]  # type: ignore[index]
    with pytest.raises(NoSuchKeyError, match="no correlation "):
        table["Gauss_01_A", "nope"]
