"""Samples of the posterior: against what is known of it in closed form."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from pyspec import (
    MC,
    File,
    FitError,
    Measurement,
    Project,
    fit_model,
    load_fit,
    load_model,
    save_fit,
)

pytest.importorskip("emcee")

ENERGY = np.linspace(80.0, 90.0, 51)
TEXT = """
line:
  Offset: {y0: [1.0, True, -10, 10]}
  LinBack: {m: [0.1, True, -5, 5], b: [0, False], xStart: [80, False], xStop: [90, False]}
"""


def straight(sigma: float | None) -> object:
    """A straight line: its posterior is Gaussian, as the fit says."""
    model = load_model(TEXT, "line")
    model.set_axes(energy=ENERGY)
    data = 2.0 + 0.3 * (ENERGY - 80.0) + np.random.default_rng(3).normal(0, 0.2, 51)
    weight = None if sigma is None else np.full(51, 1.0 / sigma)
    return fit_model(model, Measurement(data, weight=weight), scale_covar=sigma is None)


def test_a_gaussian_posterior_is_that_of_the_fit() -> None:
    result = straight(0.2)
    samples = result.sample(steps=1500, burn=100, seed=1)
    assert result.mcmc is samples
    assert samples.names == ("Offset_y0", "LinBack_m")
    assert samples.lnsigma is None
    assert samples.chain.shape == (1400, 20, 2)
    for name in samples.names:
        error = result.stderr[name]
        assert samples.values[name] == pytest.approx(result.values[name], abs=0.1 * error)
        assert samples.stderr[name] == pytest.approx(error, rel=0.08)
    correlation = np.corrcoef(samples.flat.T)[0, 1]
    assert correlation == pytest.approx(result.correl["Offset_y0"]["LinBack_m"], abs=0.05)
    assert 0.3 < samples.acceptance_fraction.mean() < 0.9


def test_noise_that_was_not_declared_is_sampled_too() -> None:
    result = straight(None)
    samples = result.sample(steps=1500, burn=100, seed=1)
    assert samples.names[-1] == "__lnsigma"
    # With a flat prior of ln σ the posterior of a parameter is a t distribution of n - 2 degrees
    # of freedom, as wide as the scaled standard error of the fit.
    for name in samples.names[:2]:
        assert samples.stderr[name] == pytest.approx(result.stderr[name], rel=0.1)
    rms = math.log(math.sqrt(result.chisqr / 49))
    assert samples.lnsigma == pytest.approx(rms, abs=0.05)


def test_bounds_cut_the_posterior_and_seeds_repeat_it() -> None:
    result = straight(0.2)
    result.problem.parameters["Offset_y0"].max = result.values["Offset_y0"]
    first, again = (result.sample(steps=300, burn=50, seed=5) for _ in range(2))
    assert np.array_equal(first.chain, again.chain)
    assert first.flat[:, 0].max() <= result.values["Offset_y0"]
    assert pickle.loads(pickle.dumps(result)).mcmc.names == first.names


def test_tables_and_picture(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    import pyspec.plot  # noqa: F401

    samples = straight(0.2).sample(steps=200, seed=1)
    table = samples.table
    assert list(table.columns) == [
        "par[v]/sigma[>]", "-3", "-2", "-1", "best fit", "+1", "+2", "+3",
    ]  # fmt: skip
    assert (np.diff(table.iloc[:, 1:].to_numpy(), axis=1) > 0).all()
    assert list(samples.flatchain.columns) == list(samples.names)
    figure = samples.plot(save_path=tmp_path / "chain.png")
    assert len(figure.axes) == 4


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"use_mc": 3}, "use_mc is 0, 1 or 2"),
        ({"steps": 0}, "steps is a whole number from 1 on"),
        ({"burn": 200, "steps": 100}, "leaves nothing of steps"),
        ({"ntemps": 2}, "ntemps is 1"),
        ({"sigma_ini": 2.0, "sigma_min": 3.0}, "positive and in this order"),
    ],
)
def test_settings_that_are_refused(given: dict[str, float], says: str) -> None:
    with pytest.raises(FitError, match=says):
        MC(**given)


def test_settings_that_contradict_the_fit() -> None:
    weighted, plain = straight(0.2), straight(None)
    with pytest.raises(FitError, match="sigma_ini: the noise of these data is declared"):
        weighted.sample(sigma_ini=0.1)
    with pytest.raises(FitError, match="is_weighted=True needs the noise"):
        plain.sample(is_weighted=True)
    with pytest.raises(FitError, match="nwalkers=3 is too few for 2 parameters; emcee needs 4"):
        weighted.sample(nwalkers=3)


def test_a_fit_of_a_file_with_mc_settings(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(TEXT)
    data = 2 + 0.3 * (ENERGY - 80) + np.random.default_rng(3).normal(0, 0.2, 51)
    file = File(Project(tmp_path, show_output=0), "a", data=data, energy=ENERGY)
    file.set_noise("gaussian", sigma=0.2)
    file.load_model("models.yaml", "line")
    settings = MC(use_mc=1, steps=60, seed=1)
    result = file.fit_spectrum("line", mc_settings=settings, try_ci=0)
    assert file.get_mcmc() is result.mcmc
    assert file.get_mcmc().settings.is_weighted
    assert file.project.results.get_mcmc(file="a").names == result.mcmc.names
    assert file.fit_spectrum("line", mc_settings=MC()).mcmc is None
    # Intervals are found here, so "only where there are none" samples nothing.
    assert file.fit_spectrum("line", mc_settings=MC(use_mc=2, steps=60)).mcmc is None
    with pytest.raises(FitError, match="has no samples; fit with mc_settings"):
        file.get_mcmc()
    with pytest.raises(FitError, match="mc_settings is 'yes'"):
        file.fit_spectrum("line", mc_settings="yes")


def test_samples_survive_an_archive(tmp_path: Path) -> None:
    """Chain, shares and settings, in the stored fit and in the result that it becomes."""
    result = straight(None)
    path = tmp_path / "line.h5"
    save_fit(path, result)
    assert load_fit(path).mcmc is None
    samples = result.sample(steps=30, burn=10, thin=2, seed=1)
    save_fit(path, result)
    stored = load_fit(path)
    for found in (stored.mcmc, stored.to_result().mcmc):
        assert found.names == samples.names
        assert found.settings == samples.settings
        np.testing.assert_array_equal(found.chain, samples.chain)
        np.testing.assert_array_equal(found.acceptance_fraction, samples.acceptance_fraction)
        assert found.values == samples.values
    loaded = Project(tmp_path).results.load(path)
    assert loaded.get_mcmc(model="line").values == samples.values
