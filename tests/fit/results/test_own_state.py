"""What results and models hand out is theirs: changing it changes no other number."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pyspec import (
    MC,
    FitResult,
    Measurement,
    Model,
    ParameterSweep,
    bootstrap,
    fit_joint,
    fit_many,
    fit_model,
    fit_slices,
    load_model,
)
from pyspec.errors import DataError, FitError, NoSuchKeyError
from pyspec.simulate import Simulator

ENERGY = np.linspace(80.0, 90.0, 101)
TEXT = """
m:
  Offset: {y0: [10, false]}
  Gauss: {A: [20, true], x0: [84, true, 82, 86], SD: [1, true, 0.2, 3]}
"""
FREE = """
m:
  expFun: {A: {free: energy}, tau: [4, true, 0.1, 50], t0: [0, false], y0: [0, false]}
"""


def model() -> Model:
    found = load_model(TEXT, "m")
    found.set_axes(energy=ENERGY)
    return found


def noisy(n: int = 1) -> Any:
    data = model().evaluate() + np.random.default_rng(0).normal(size=(n, ENERGY.size))
    return data[0] if n == 1 else data


def free_fit() -> Any:
    found = load_model(FREE, "m")
    time = np.linspace(0.0, 20.0, 40)
    found.set_axes(energy=ENERGY, time=time)
    line = np.exp(-((ENERGY - 85) ** 2))
    data = 20 * np.outer(np.exp(-time / 3), line)
    return fit_model(found, Measurement(data + np.random.default_rng(0).normal(size=data.shape)))


def test_the_model_of_a_result_is_at_its_best_values() -> None:
    """It was at the start values, so that its curve was not the fit, and its file not what was
    found."""
    result = fit_model(model(), Measurement(noisy()), seeds={"Gauss_01_x0": 85.0})
    np.testing.assert_array_equal(result.model.evaluate(), result.fit)
    assert result.model.values == result.values != result.start
    written = load_model(result.model.to_yaml(), "m").values
    assert written == pytest.approx(result.values, rel=1e-12)
    spectra = free_fit()
    assert spectra.model.values["expFun_01_tau"] == spectra.values["expFun_01_tau"]


def test_the_model_of_a_result_has_the_values_that_its_fit_held_fixed() -> None:
    """One of many fits, or of slices, may fix a parameter elsewhere than the model does."""
    held = [{"Offset_y0": 9.0}, {"Offset_y0": 11.0}]
    slices = fit_slices(model(), Measurement(noisy(2)), seeds=held)
    many = fit_many(model(), Measurement(noisy()), held)
    for k, one in enumerate(held):
        for result in (slices[k].result, many.result(k)):
            assert result is not None
            assert result.values["Offset_y0"] == one["Offset_y0"]
            assert result.model.values == result.values
            np.testing.assert_array_equal(result.model.evaluate(), result.fit)


def test_free_spectra_in_two_threads() -> None:
    """Evaluations share arrays; each thread used to get numbers of the other."""
    result = free_fit()
    wanted = [result.curve("start").copy(), result.curve().copy()]

    def worst(k: int) -> float:
        at = ("start", "best")[k]
        return max(float(np.abs(result.curve(at) - wanted[k]).max()) for _ in range(300))

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(worst, (0, 1))) == [0.0, 0.0]


def test_basis_functions_stay_those_of_the_best_point() -> None:
    """They used to be arrays that the next evaluation filled."""
    result = free_fit()
    before = result.amplitudes.basis["expFun_01_A"].copy()
    result.curve("start")
    np.testing.assert_array_equal(result.amplitudes.basis["expFun_01_A"], before)


@pytest.mark.slow
def test_starts_do_not_depend_on_workers() -> None:
    """A worker used to count its slices from 0, and drew other starts."""
    measured = Measurement(noisy(6))
    one = fit_slices(model(), measured, n_starts=3)
    two = fit_slices(model(), measured, n_starts=3, n_workers=2)
    many = [Measurement(row) for row in noisy(6)]
    alone = fit_many(model(), many, n_starts=3)
    shared = fit_many(model(), many, n_starts=3, n_workers=2)
    for k in range(6):
        starts = [[s.start for s in fits[k].result.starts] for fits in (one, two)]
        assert starts[0] == starts[1]
        assert dict(alone[k].values) == dict(shared[k].values)
        assert alone[k].nfev == shared[k].nfev


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


def test_copies_have_their_own_labels_and_units() -> None:
    first = model()
    first.units["energy"] = "eV"
    first.copy().units["energy"] = "meV"
    fit_model(first, Measurement(noisy())).model.labels["energy"] = "X"
    assert first.units == {"energy": "eV"}
    assert first.labels == {}


def test_best_values_are_read_only() -> None:
    result = fit_model(model(), Measurement(noisy()))
    with pytest.raises(ValueError, match="read-only"):
        result.theta[0] = 99.0
    slow = fit_model(model(), Measurement(noisy()), method="leastsq")
    with pytest.raises(ValueError, match="read-only"):
        slow.theta[0] = 99.0


@pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_best_values_of_a_copy_are_read_only(copied: Callable[[FitResult], FitResult]) -> None:
    """NumPy copies arrays with leave to write: the values of a fit that came from a process could
    be changed, and its model and table then said something else."""
    result = fit_model(model(), Measurement(noisy()))
    first = result.theta
    again = copied(result)
    np.testing.assert_array_equal(again.theta, first)
    with pytest.raises(ValueError, match="read-only"):
        again.theta[0] = 99.0


def test_a_sweep_keeps_its_values_and_its_seed() -> None:
    values = np.array([1.0, 2.0])
    sweep = ParameterSweep(seed=np.int64(3)).add_range("Offset_y0", values)  # type: ignore[arg-type]
    values[0] = 77.0
    assert [one["Offset_y0"] for one in sweep] == [1.0, 2.0]
    assert type(sweep.seed) is int
    with pytest.raises(DataError, match="seed must be a whole number"):
        ParameterSweep(seed=1.5)  # type: ignore[arg-type]


def test_a_refused_type_of_noise_changes_nothing() -> None:
    simulator = Simulator(model(), noise_type="gaussian", noise_level=0.05, seed=1)
    with pytest.raises(DataError, match="noise_type must be one of"):
        simulator.set_noise_type("gausian")
    assert simulator.noise_model["noise_type"] == "gaussian"


@pytest.mark.parametrize("backend", ["compiled", "interpreted", "tree"])
def test_weights_of_counts_are_in_the_errors_of_every_backend(backend: str) -> None:
    counts = np.random.default_rng(0).poisson(model().evaluate()).astype(float)
    half = fit_model(model(), Measurement(counts, weight=0.5, loss="poisson"), backend=backend)
    whole = fit_model(model(), Measurement(counts, loss="poisson"), backend=backend)
    for name in half.free_names:
        assert half.stderr[name] == pytest.approx(2 * whole.stderr[name], rel=1e-4)


@pytest.mark.parametrize("scaled", [None, True, False])
def test_one_information_criterion(scaled: bool | None) -> None:
    """It used to be another one in `statistics` than in `lmfit`, where weights were given."""
    result = fit_model(model(), Measurement(noisy(), weight=2.0), scale_covar=scaled)
    assert result.statistics["aic"] == pytest.approx(result.lmfit.aic)
    assert result.statistics["bic"] == pytest.approx(result.lmfit.bic)


def test_whole_numbers_of_any_type() -> None:
    """3.0 passed the check, and ended in an error of NumPy's."""
    measured = Measurement(noisy())
    fits = [fit_model(model(), measured, n_starts=n, seed=s) for n, s in ((3, 1), (3.0, 1.0))]  # type: ignore[arg-type]
    assert [one.start for one in fits[0].starts] == [one.start for one in fits[1].starts]
    settings = MC(use_mc=1, steps=20.0, nwalkers=20.0, burn=2.0, thin=2.0, seed=1.0)  # type: ignore[arg-type]
    assert [type(settings.steps), type(settings.seed)] == [int, int]


#: What follows looks at other things than the quantiles of a chain.
SHORT = pytest.mark.filterwarnings("ignore:.*steps:pyspec.errors.ModelWarning")


@SHORT
def test_free_spectra_are_not_sampled() -> None:
    pytest.importorskip("emcee")
    samples = free_fit().sample(steps=10, burn=2, nwalkers=20, seed=1)
    assert samples.chain.shape[1] == 20


def test_a_correlation_is_of_two() -> None:
    table = fit_model(model(), Measurement(noisy())).correlations
    assert table["Gauss_01_A", "Gauss_01_A"] == pytest.approx(1.0)
    with pytest.raises(NoSuchKeyError, match="that of two parameters"):
        table["Gauss_01_A"]  # type: ignore[index]
    with pytest.raises(NoSuchKeyError, match="no correlations"):
        table["Gauss_01_A", "nope"]


@SHORT
@pytest.mark.parametrize("weight", [1 / 3, 1 / 300])
def test_weights_that_only_compare_points_do_so_everywhere(weight: float) -> None:
    """Errors are scaled by the scatter; draws and samples took the weights for the noise."""
    result = fit_model(model(), Measurement(noisy(), weight=weight))
    error = result.stderr["Gauss_01_A"]
    drawn = bootstrap(result, 200, seed=0).spread("Gauss_01_A")
    assert drawn == pytest.approx(error, rel=0.2)
    pytest.importorskip("emcee")
    samples = result.sample(steps=600, burn=200, seed=0)
    assert samples.stderr["Gauss_01_A"] == pytest.approx(error, rel=0.3)


@SHORT
def test_counts_whose_errors_were_scaled() -> None:
    """Samples and draws took the roots of the counts for their noise all the same: their errors
    were half of the standard errors here."""
    one = model()
    one.set("Offset_y0", 60.0)
    counts = 4.0 * np.random.default_rng(1).poisson(one.evaluate() / 4.0)
    result = fit_model(one, Measurement(counts, loss="poisson"), scale_covar=True)
    assert result.redchi == pytest.approx(4.0, rel=0.4)
    samples = result.sample(steps=1200, burn=200, seed=0)
    error = result.stderr["Gauss_01_A"]
    assert samples.stderr["Gauss_01_A"] == pytest.approx(error, rel=0.3)
    with pytest.raises(FitError, match="errors of these counts were scaled by their scatter"):
        bootstrap(result, 5)
    known = fit_model(one, Measurement(counts, loss="poisson"))
    assert known.sample(steps=20, seed=0).lnsigma is None
    assert bootstrap(known, 5).success.all()


def test_a_part_of_a_joint_fit_is_not_drawn_or_sampled() -> None:
    """Its errors are those of all files; ten times too large ones came without a word."""
    text = TEXT.replace("x0: [84, true", "x0: [84, project")
    parts = []
    for seed in range(2):
        one = load_model(text, "m")
        one.set_axes(energy=ENERGY)
        noise = np.random.default_rng(seed).normal(size=ENERGY.size)
        parts.append((one, Measurement(one.evaluate() + noise)))
    joint = fit_joint(parts, names=["a", "b"])
    with pytest.raises(FitError, match="bootstrap takes the fit of one file alone"):
        bootstrap(joint["a"], 5)
    with pytest.raises(FitError, match="sample the joint result"):
        joint["a"].sample(steps=5)
    with pytest.raises(FitError, match="two files are called 'a'"):
        fit_joint(parts, names=["a", "a"])
