"""A result that is saved and loaded is the same result, field by field."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fit_cases import data_1d, data_2d, series, spectrum

from pyspec import (
    FitResult,
    JointResult,
    Measurement,
    Model,
    fit_joint,
    fit_model,
    fit_slices,
    fit_trace,
    load_dynamics,
    load_fit,
    load_fits,
    load_model,
    load_profile,
    save_fit,
)
from pyspec.io import load_archive, record_of
from pyspec.io.archive.problems import RecordedFiles
from pyspec.io.archive.results import result_of

#: What every result says, and what it says of itself in words.
SAID = (
    "method", "backend", "settings", "start", "seconds", "nfev", "success", "interrupted",
    "started_from", "starts", "fit_type", "file_name", "target", "message", "n_data", "n_free",
    "model_name", "theta", "at_bound", "without_effect", "intervals", "_expressions",
    "is_trace", "axis", "data", "fit", "residual", "values", "free_names", "stderr",
    "correl", "statistics", "level", "diagnosed", "findings", "labels", "units", "keep", "sigma",
    "data_sha256", "label", "chisqr", "redchi", "mcmc", "weighted_residual",
)  # fmt: skip


ONSET = """
m:
  Offset: {y0: [10, True]}
  Gauss: {A: [20, True], x0: [84, True, 82, 86], SD: [1.0, True, 0.2, 3]}
decay:
  expFun: {A: [5, True, 0, 50], tau: [4, True, 0.5, 20], t0: [0.1, True, -3, 3]}
"""
QUANTITY = """# Größe µ
parameters:
  area: ['Gauss_01_A * Gauss_01_SD']
m:
  Gauss: {A: [3, True, 0, 9], x0: [0.1, True, -1, 1], SD: [1.1, True, 0.1, 3]}
"""


def same(one: Any, other: Any, where: str = "") -> None:
    """Two values are the same to the last bit, NaN the same as NaN."""
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=where)
    elif isinstance(one, dict):
        assert {*one} == {*other}, where
        for key in one:
            same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), where
        for mine, its in zip(one, other, strict=True):
            same(mine, its, where)
    elif isinstance(one, float):
        np.testing.assert_equal(one, other, err_msg=where)
    elif type(one).__name__ == "MCMCResult":
        for name in ("names", "chain", "acceptance_fraction", "settings", "derived", "cautions"):
            same(getattr(one, name), getattr(other, name), name)
    else:
        assert one == other, where


def same_result(one: FitResult, other: FitResult) -> None:
    assert type(other) is type(one)
    of_one_file = {"axis"} if isinstance(one, JointResult) else set()
    for name in {*SAID} - of_one_file:
        same(getattr(one, name), getattr(other, name), name)
    for field in fields(one.ending):
        same(getattr(one.ending, field.name), getattr(other.ending, field.name), field.name)
    same(one.table.to_dict(), other.table.to_dict(), "table")
    same(one.correlations.matrix, other.correlations.matrix, "correlations")
    same(one.to_dict(), other.to_dict(), "to_dict")
    assert (str(one), repr(one), one._repr_html_()) == (
        str(other),
        repr(other),
        other._repr_html_(),
    )
    assert one.fit_report() == other.fit_report()
    for found in (one, other):
        assert found.lmfit.aic == pytest.approx(found.statistics["aic"], rel=1e-12)
        assert found.lmfit.bic == pytest.approx(found.statistics["bic"], rel=1e-12)


def bound() -> FitResult:
    model = spectrum()
    model.set("GLP_01_A", 5, min=0, max=10)
    model.parameters["GLP_02_A"].formula = None
    model.parameters["GLP_02_A"].value = 8.0
    return fit_model(model, Measurement(data=data_1d()), n_starts=4, seed=3)


def lost() -> FitResult:
    model = spectrum()
    model.set("GLP_01_m", vary=True)
    model.set("Shirley_pShirley", 0.0, vary=True, min=0.0, max=1.0)
    model.set("GLP_01_A", 0.0, vary=False)
    return fit_model(model, Measurement(data=data_1d()))


def weighted() -> FitResult:
    keep = np.ones((36, 81), dtype=bool)
    keep[3, 4] = False
    given = Measurement(
        data=data_2d(), rows=(1, 35), weight=np.full(81, 2.0), keep=keep,
        labels={"energy": "binding energy"}, units={"energy": "eV"},
    )  # fmt: skip
    found = fit_model(series(), given, scale_covar=False).diagnose()
    found.fit_type, found.file_name, found.label = "2d", "sample 7", "the good one"
    return found


def nelder() -> FitResult:
    """Its report was one of "Nelder-Mead", and of "nelder" once it was loaded."""
    return fit_model(spectrum(), Measurement(data=data_1d()), method="nelder")


def onset() -> FitResult:
    """With an interval of its own, of a time zero where the law jumps."""
    model = load_model(ONSET, "m")
    model.add_dynamics("Gauss_01_A", load_dynamics(ONSET, "decay", "Gauss_01_A"))
    model.set_axes(energy=np.linspace(80, 90, 41), time=np.linspace(-5, 20, 60))
    noise = np.random.default_rng(0).normal(0, 0.5, (60, 41))
    found = fit_model(model, Measurement(data=model.evaluate() + noise))
    assert found.intervals
    return found


def counts() -> FitResult:
    drawn = np.random.default_rng(2).poisson(spectrum().evaluate() * 20) / 20
    return fit_model(spectrum(), Measurement(data=drawn, loss="poisson", loss_scale=20.0))


def trace() -> FitResult:
    time = np.linspace(0, 10, 40)
    values = 1.8 * np.exp(-time / 2.5) + np.random.default_rng(3).normal(0, 0.01, 40)
    return fit_trace(ONSET, "decay", time, values, 0.01, time_limits=(1, 9))


def methods_in_turn() -> FitResult:
    """Two methods, a quantity of its own, and letters beyond ASCII in the model's text."""
    model = load_model(QUANTITY, "m")
    energy = np.linspace(-4, 4, 41)
    model.set_axes(energy=energy)
    data = 4 * np.exp(-(energy**2) / 2) + np.random.default_rng(0).normal(0, 0.01, 41)
    return fit_model(model, Measurement(data=data), method=("nelder", "native"))


def sampled() -> FitResult:
    pytest.importorskip("emcee")
    found = fit_model(spectrum(), Measurement(data=data_1d()))
    with pytest.warns():  # a chain this short
        found.sample(steps=30, burn=10, seed=1)
    return found


def profile() -> FitResult:
    model = spectrum()
    text = "depth: {pExpDecay: {A: [1, True], tau: [2, False]}}\n"
    model.add_profile("GLP_01_A", load_profile(text, "depth", "GLP_01_A"))
    model.set_axes(aux=np.linspace(0.0, 3.0, 4), aux_weights=[1.0, 2.0, 1.0, 0.0])
    model.set("GLP_01_A", vary=False)
    return fit_model(model, Measurement(data=data_1d()))


MAKERS = [
    bound,
    lost,
    weighted,
    nelder,
    onset,
    counts,
    trace,
    methods_in_turn,
    sampled,
    profile,
]


@pytest.mark.parametrize("make", MAKERS)
def test_a_result_is_the_same_again(tmp_path: Path, make: Any) -> None:
    one = make()
    save_fit(tmp_path / "a.h5", one)
    other = load_fit(tmp_path / "a.h5")
    same_result(one, other)
    save_fit(tmp_path / "a.h5", other)  # one record is one result: it is there already
    records, arrays, _ = load_archive(tmp_path / "a.h5")
    assert len(records) == 1
    same_result(one, result_of(records[0], arrays[one.data_sha256]))  # type: ignore[arg-type]
    again, expected = other.refit(start="initial"), one.refit(start="initial")
    same(
        [again.values, again.stderr, again.nfev], [expected.values, expected.stderr, expected.nfev]
    )


def together(text: str, n_files: int = 2, scale: float = 0.0) -> list[tuple[Model, Measurement]]:
    """Files of a line that decays; with a `scale` counts."""
    noise, parts = np.random.default_rng(1), []
    energy = np.linspace(1.5, 3.0, 20)
    for k in range(n_files):
        time = np.linspace(0.1, 5.0 + k, 30)
        data = np.outer(np.exp(-time / 2.0), np.exp(-(((energy - 2.0) / 0.3) ** 2)))
        data = noise.poisson(scale * data) if scale else data + 0.05 * noise.normal(size=data.shape)
        model = load_model(text, "m")
        model.set_axes(energy=energy, time=time)
        loss = "poisson" if scale else "squares"
        parts.append((model, Measurement(np.asarray(data, np.float64), loss=loss)))
    return parts


SHARED = """
parameters:
  area: ['Gauss_01_A * Gauss_01_SD']
m:
  Offset: {y0: [0.1, True, 0, 100]}
  Gauss: {A: [1, True, 0, 99], x0: [2.1, project], SD: [0.2, project, 0.01, 2]}
"""
SPECTRA = """
m:
  expFun: {A: {free: energy, vary: project}, tau: [1.5, project, 0.1, 100], t0: [0, False]}
"""
#: Each area lies in a model of its own.
APART = """
parameters:
  area_c: ["Gauss_01_A * Gauss_01_SD"]
  area_o: ["Lorentz_01_A * Lorentz_01_W"]
  share: ["area_c / (area_c + area_o)"]
c: {Gauss: {A: [9, True, 0, 15], x0: [5.2, True, 4, 6], SD: [1, True, 0.1, 5]}}
o: {Lorentz: {A: [9, True, 0, 15], x0: [5.2, True, 4, 6], W: [1, True, 0.1, 5]}}
"""


def shared() -> JointResult:
    """Of which a file has a window, a mask, words of its own, and another start."""
    parts = together(SHARED)
    keep = np.ones((30, 20), dtype=bool)
    keep[3, 4] = False
    parts[0] = parts[0][0], replace(parts[0][1], rows=(2, 20), keep=keep, units={"energy": "eV"})
    joint = fit_joint(parts, names=["a", "b"]).diagnose()
    joint.label, joint[1].label, joint[1].started_from = "both", "the good one", "the baseline fit"
    return joint


def lost_spectra() -> JointResult:
    text = SPECTRA.replace("t0: [0, False]", "t0: [0, True, -1, 0.05]")
    return fit_joint(together(text), names=["a", "b"])


def shared_counts() -> JointResult:
    return fit_joint(together(SHARED, scale=50.0), names=["a", "b"])


def shared_in_python() -> JointResult:
    """The text does not say what the files share."""
    parts = together(SHARED.replace("project", "True"))
    for model, _ in parts:
        model.parameters["Gauss_01_x0"].scope = "project"
    return fit_joint(parts, names=["a", "b"], n_starts=3, seed=1)


def sampled_together() -> JointResult:
    pytest.importorskip("emcee")
    joint = fit_joint(together(SHARED), names=["a", "b"])
    with pytest.warns():  # a chain this short
        joint.sample(steps=30, burn=10, seed=1)
    return joint


def apart() -> JointResult:
    energy, noise, parts = np.linspace(0.0, 10.0, 61), np.random.default_rng(1), []
    for name, height in {"c": 8.0, "o": 5.0}.items():
        model = load_model(APART, name)
        model.energy = energy
        line = height * np.exp(-(((energy - 5.0) / 1.3) ** 2) / 2.0)
        weight = np.asarray(10.0)
        parts.append((model, Measurement(line + noise.normal(0.0, 0.1, 61), weight=weight)))
    return fit_joint(parts, names=["one", "two"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [
        shared, lost_spectra, shared_counts, shared_in_python, sampled_together,
        apart,
    ],
)  # fmt: skip
def test_a_joint_fit_is_the_same_again(tmp_path: Path, make: Any) -> None:
    one, path = make(), tmp_path / "a.h5"
    save_fit(path, one)
    (other,) = load_fits(path)
    assert isinstance(other, JointResult)
    same([str(other), *map(str, other)], [str(one), *map(str, one)])
    again = pickle.loads(pickle.dumps(load_fit(path, file=one[1].file_name)))
    assert isinstance(other._problem, RecordedFiles), "none of it needs the models"
    same_result(one, other)
    same(other.names, one.names)
    for mine, its, pickled in zip(one, other, again, strict=True):
        same_result(mine, its)
        assert its.joint is not None
        same([mine.curve("start"), mine.fit], [its.curve("start"), pickled.fit])
        if mine.amplitudes is not None:
            assert its.amplitudes is not None
            same(dict(mine.amplitudes.known), dict(its.amplitudes.known))
            same(dict(mine.amplitudes.stderr), dict(its.amplitudes.stderr))
    save_fit(path, other)  # one record is one result: it is there already
    assert len(load_archive(path)[0]) == 1
    for start in ("best", "initial"):
        once, expected = other.refit(start=start), one.refit(start=start)
        same([once.values, once.stderr, once.nfev], [expected.values, expected.stderr, once.nfev])
    assert other.diagnose().findings == one.diagnose().findings


def test_slices_are_the_same_again(tmp_path: Path) -> None:
    data = data_2d()[:5].copy()
    mask = np.zeros(data.shape, bool)
    mask[2] = True  # one that fails
    model = spectrum()
    model.set("GLP_01_A", 5, min=0, max=10)  # and all the others end at a bound
    one = fit_slices(model, Measurement(data, mask=mask), times=[-2, -1, 0, 1, 2]).diagnose()
    save_fit(tmp_path / "a.h5", one)
    other = load_fit(tmp_path / "a.h5")
    assert type(other) is type(one)
    same(one.to_dict(), other.to_dict())
    same(one.start, other.start)
    same([one.data, one.fit, one.time], [other.data, other.fit, other.time])
    assert one.findings == other.findings
    for mine, its in zip(one, other, strict=True):
        assert (mine.status, mine.message) == (its.status, its.message)
        if mine.result is not None:
            assert mine.result.findings == its.result.findings
            assert mine.result.at_bound == its.result.at_bound
            same(mine.result.statistics, its.result.statistics)
            same(mine.result.correlations.matrix, its.result.correlations.matrix)
            same(mine.result.predict().stderr, its.result.predict().stderr)
            assert mine.result.lmfit.success == its.result.lmfit.success
    first = record_of(other)
    same(record_of(result_of(first, np.asarray(other.measurement.data))), first)
    same(other.refit().values, one.values)
