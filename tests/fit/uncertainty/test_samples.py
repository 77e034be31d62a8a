"""Samples of the posterior: against what is known of it in closed form."""

from __future__ import annotations

import math
import pickle
import re
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import (
    FitError,
    Measurement,
    bootstrap,
    fit_joint,
    fit_model,
    load_fit,
    load_model,
    load_time_model,
    save_fit,
)
from pyspec.errors import CallError, ModelWarning, NoSuchKeyError, TooLargeError
from pyspec.fit.uncertainty.autocorrelation import autocorrelation_times

emcee = pytest.importorskip("emcee")

#: Tests of other things than quantiles have short chains.
SHORT = pytest.mark.filterwarnings("ignore:.*steps:pyspec.errors.ModelWarning")

ENERGY = np.linspace(80.0, 90.0, 51)
TEXT = """
parameters:
  end: ["Offset_y0 + 10 * LinBack_m"]
  start_of_it: ["LinBack_xStart"]
line:
  Offset: {y0: [1.0, True, -10, 10]}
  LinBack: {m: [0.1, True, -5, 5], b: [0, False], xStart: [80, False], xStop: [90, False]}
"""


DATA = 2.0 + 0.3 * (ENERGY - 80.0) + np.random.default_rng(3).normal(0, 0.2, 51)


def straight(sigma: float | None, **options: Any) -> Any:
    """A straight line: its posterior is Gaussian, as the fit says."""
    model = loaded(TEXT, "line", energy=ENERGY)
    weight = None if sigma is None else np.full(51, 1.0 / sigma)
    return fit_model(model, Measurement(DATA, weight=weight), scale_covar=sigma is None, **options)


@pytest.fixture(scope="module")
def sampled() -> tuple[Any, Any]:
    """The fit of a straight line, and a chain that is long enough."""
    result = straight(0.2)
    return result, result.sample(steps=2500, burn=100, seed=1)


@SHORT
def test_bounds_cut_the_posterior_and_seeds_repeat_it() -> None:
    result = straight(0.2)
    result.problem.parameters["Offset_y0"].max = result.values["Offset_y0"]
    first, again = (result.sample(steps=60, burn=10, seed=5) for _ in range(2))
    assert np.array_equal(first.chain, again.chain)
    assert first.flat[:, 0].max() <= result.values["Offset_y0"]
    assert pickle.loads(pickle.dumps(result)).mcmc.names == first.names


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"steps": 10**13}, "10000000000000 steps of 20 walkers would take"),
        ({"steps": 0}, "steps is a whole number from 1 on"),
        ({"burn": 200, "steps": 100}, "leaves nothing of steps"),
        ({"steps": 100, "burn": 90, "thin": 11}, "thin=11 leaves nothing of the 10 steps after"),
        ({"sigma_ini": 2.0, "sigma_min": 3.0}, "positive and in this order"),
        ({"sigma_ini": 0.1}, "sigma_ini: the noise of these data is declared"),
        ({"nwalkers": 3}, "nwalkers=3 is too few for 2 parameters; emcee needs 4"),
    ],
)
def test_settings_that_are_refused(given: dict[str, float], says: str) -> None:
    with pytest.raises((FitError, TooLargeError), match=says):
        straight(0.2).sample(**given)


@SHORT
def test_followers_of_a_joint_fit() -> None:
    text = TEXT.replace("m: [0.1, True", "m: [0.1, project")
    parts = []
    for seed in range(2):
        model = loaded(text, "line", energy=ENERGY)
        noise = np.random.default_rng(seed).normal(0, 0.2, 51)
        parts.append((model, Measurement(model.evaluate() + noise, weight=5.0)))
    samples = fit_joint(parts, scale_covar=False).sample(steps=40, seed=1)
    assert samples.followers == ("file00_end", "file01_end")
    for one in ("file00", "file01"):
        end = samples.of(f"{one}_Offset_y0") + 10 * samples.of("LinBack_m")
        np.testing.assert_array_equal(samples.of(f"{one}_end"), end)


@pytest.mark.slow
def test_a_chain_that_is_too_short_says_so(sampled: tuple[Any, Any]) -> None:
    """It used to be taken as it was."""
    result, (_, enough) = straight(0.2), sampled
    with pytest.warns(
        ModelWarning, match="line: .*the chain of 250 steps after burn is shorter"
    ) as seen:
        samples = result.sample(steps=300, burn=50, seed=1)
    assert seen[0].filename == __file__
    (text,) = samples.cautions
    worst = max(samples.autocorr_time, key=samples.autocorr_time.__getitem__)
    assert f"of {worst} (τ = {samples.autocorr_time[worst]:.3g} steps)" in text
    assert text in repr(samples)
    assert enough.cautions == ()
    assert max(enough.autocorr_time.values()) < 2400 / 50
    with pytest.warns(ModelWarning, match="a chain of one step has no errors"):
        result.sample(steps=1, seed=1)
    with pytest.warns(ModelWarning, match="4 of 20 walkers did not move in 2 steps"):
        moved = result.sample(steps=2, seed=3)
    assert np.isfinite(list(moved.autocorr_time.values())).all()


@pytest.mark.slow
def test_autocorrelation_times_are_those_of_emcee() -> None:
    thin = 3
    samples = straight(0.2).sample(steps=2500, thin=thin, seed=1)
    times = emcee.autocorr.integrated_time(samples.chain, tol=0)
    np.testing.assert_allclose(autocorrelation_times(samples.chain), times, rtol=1e-9)
    np.testing.assert_allclose([*samples.autocorr_time.values()], thin * times, rtol=1e-9)
    still = np.array(samples.chain)
    still[:, 0] = still[0, 0]  # of a walker that does not move emcee has NaN
    known = autocorrelation_times(still)
    np.testing.assert_allclose(known, autocorrelation_times(still[:, 1:]), rtol=1e-9)
    assert np.isnan(autocorrelation_times(still[:, :1])).all()


@pytest.mark.slow
def test_unknown_noise_beside_free_spectra() -> None:
    """Amplitudes that are free take points from the noise."""
    text = "decay:\n  expFun: {A: {free: energy}, tau: [3, True, 0.1, 100], t0: [0, False]}"
    model = load_model(text, "decay")
    time = np.array([0.0, 1.0, 4.0])
    model.set_axes(energy=ENERGY, time=time)
    spectrum = np.exp(-(((ENERGY - 85) / 2) ** 2))
    data = np.exp(-time / 3.0)[:, None] * spectrum
    data += np.random.default_rng(1).normal(0, 0.05, data.shape)
    result = fit_model(model, Measurement(data))
    samples = result.sample(steps=2500, burn=100, seed=1)
    assert samples.stderr["expFun_01_tau"] == pytest.approx(result.stderr["expFun_01_tau"], rel=0.1)
    assert math.exp(samples.lnsigma) == pytest.approx(math.sqrt(result.redchi), rel=0.02)


def press(done: int, steps: int) -> None:
    if done == 30:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@SHORT
def test_ctrl_c_keeps_the_steps_so_far(tmp_path: Path) -> None:
    """They were lost."""
    result = straight(0.2)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    whole = result.sample(steps=30, burn=5, seed=1)
    try:
        with pytest.warns(ModelWarning, match="sampling was interrupted after 30 of 5000 steps"):
            samples = result.sample(burn=5, seed=1, progress=press)
        assert result.mcmc is samples
        assert samples.interrupted
        assert not whole.interrupted
        np.testing.assert_array_equal(samples.chain, whole.chain)
        np.testing.assert_array_equal(samples.acceptance_fraction, whole.acceptance_fraction)
        assert samples.derived.shape[0] == 25
        assert samples.cautions[0] == "sampling was interrupted after 30 of 5000 steps"
        with pytest.raises(KeyboardInterrupt):  # nothing is left after burn
            result.sample(burn=40, seed=1, progress=press)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.mcmc is samples
    save_fit(tmp_path / "a.h5", result)
    stored = load_fit(tmp_path / "a.h5").mcmc
    assert stored.interrupted
    assert stored.cautions == samples.cautions


def test_a_fit_that_was_stopped_is_no_centre() -> None:
    """Samples around it came without a caution, and the bootstrap was four times too wide."""
    stopped = straight(None, max_nfev=1)
    assert not stopped.success
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        samples = stopped.sample(steps=20, seed=1)
    words = "did not converge (stopped after max_nfev = 1"
    assert words in samples.cautions[0]
    assert any(words in str(one.message) for one in seen)
    with pytest.raises(FitError, match=re.escape(words)):
        bootstrap(stopped, 4)


@pytest.mark.slow
def test_followers_have_samples_too(sampled: tuple[Any, Any]) -> None:
    """An area or a tied height was not among them."""
    result, samples = sampled
    assert samples.followers == ("end",)  # what follows fixed parameters alone is not sampled
    assert samples.derived.shape == (2400, 20, 1)
    end = samples.of("Offset_y0") + 10 * samples.of("LinBack_m")
    np.testing.assert_array_equal(samples.of("end"), end)
    assert samples.values["end"] == pytest.approx(np.median(end))
    assert samples.values["end"] == pytest.approx(result.values["end"], abs=0.01)
    assert samples.stderr["end"] == pytest.approx(result.stderr["end"], rel=0.08)
    assert list(samples.flatchain.columns) == ["Offset_y0", "LinBack_m", "end"]
    row = samples.table.iloc[-1]
    assert row.iloc[0] == "end"
    assert (row["+1"] - row["-1"]) / 2 == pytest.approx(samples.stderr["end"])
    with pytest.raises(NoSuchKeyError, match="no parameter 'ends'; did you mean 'end'"):
        samples.values["ends"]
    with pytest.raises(CallError, match="'ends' was not sampled; did you mean 'end'"):
        samples.of("ends")


@SHORT
def test_tables_and_their_levels() -> None:
    samples = straight(0.2).sample(steps=200, seed=1)
    assert list(samples.table.columns)[1:] == ["-3", "-2", "-1", "best fit", "+1", "+2", "+3"]
    assert (np.diff(samples.table.iloc[:, 1:].to_numpy(), axis=1) > 0).all()
    assert list(samples.quantiles(2).columns)[1:] == ["-2", "best fit", "+2"]
    for levels in (0, [1, -1], [np.nan], []):
        with pytest.raises(CallError, match=r"levels is .*give standard deviations such as"):
            samples.quantiles(levels)


@SHORT
def test_followers_without_a_value_at_some_samples() -> None:
    """Tables and pictures say where the nan comes from."""
    text = 'parameters: {root: ["sqrt(Offset_y0)"], ratio: ["1 / max(Offset_y0, 0)"]}\n'
    model = loaded(text + "m:\n  Offset: {y0: [0.1, True]}", "m", energy=ENERGY)
    data = 0.02 + np.random.default_rng(2).normal(0, 0.2, 51)
    result = fit_model(model, Measurement(data, weight=5.0), scale_covar=False)
    with pytest.warns(ModelWarning) as told:
        samples = result.sample(steps=100, seed=1)
    assert sum("root is not finite in" in str(warning.message) for warning in told) == 1
    assert math.isnan(samples.values["root"])
    assert samples.values["ratio"] > 0
    assert samples.table.shape == (3, 8)
    assert "root is not finite in" in "".join(samples.cautions)
    assert "ratio" in str(bootstrap(result, 40, seed=1))
    pytest.importorskip("matplotlib")
    from pyspec.plot import PlotError

    with pytest.raises(PlotError, match="'root' is not finite in all samples; leave it out of"):
        samples.plot(params=["Offset_y0", "root"])


# what the data limit on one side only: of a decay of 24 ± 7 the median used to be 330

TIME = np.linspace(0, 20, 41)
MODELS = """
m:
  expFun: {{A: [3, True], tau: [{0}, True, 0.1, 1000], t0: [0, False]}}
  constFun: {{A: [0.5, True]}}
"""
TAU = "expFun_01_tau"


def decay(tau: float, seed: int) -> tuple[Any, Any]:
    model = load_time_model(MODELS.format(tau), "m")
    model.set_axes(time=TIME)
    noise = np.random.default_rng([6, seed]).normal(0, 0.1, TIME.size)
    data = np.asarray(model.evaluate()) + noise
    return fit_model(model, Measurement(data, weight=10.0), scale_covar=False), data


def said(samples: Any) -> list[str]:
    return [text for text in samples.cautions if "do not hold the best values" in text]


def exact(data: Any) -> Any:
    """The middle 68 % of the posterior of the time: heights are integrated over by hand."""
    times, levels = np.geomspace(1, 1000, 2000), []
    for tau in times:
        q, r = np.linalg.qr(10 * np.stack([np.exp(-TIME / tau), np.ones(TIME.size)], 1))
        left = 10 * data - q @ (q.T @ (10 * data))
        levels.append(-0.5 * left @ left - np.log(abs(np.linalg.det(r))))
    density = np.exp(np.array(levels) - max(levels))
    sums = np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(times))
    return np.interp([0.1587, 0.8413], sums / sums[-1], times[1:])


@pytest.mark.filterwarnings("ignore::pyspec.errors.ModelWarning")
def test_samples_far_from_the_best_values_are_told() -> None:
    result, data = decay(25, 2)
    low, high = exact(data)
    assert low > result.values[TAU] + 0.5 * result.stderr[TAU]
    assert high > 700
    samples = result.sample(steps=1500, burn=400, seed=1)
    (text,) = said(samples)
    assert f"{TAU} = {result.values[TAU]:.4g} outside of " in text
    first, last = np.quantile(samples.of(TAU), [0.1587, 0.8413])
    assert first == pytest.approx(low, rel=0.5)
    assert last == pytest.approx(high, rel=0.2)


@pytest.mark.filterwarnings("ignore::pyspec.errors.ModelWarning")
def test_samples_about_the_best_values_are_not() -> None:
    result, _ = decay(4, 2)
    assert not said(result.sample(steps=300, burn=100, seed=1))
