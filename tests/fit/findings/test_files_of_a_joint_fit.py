"""What a joint fit says of each of its files."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.fit_cases import loaded

from pyspec import (
    FitError,
    Measurement,
    Model,
    ModelWarning,
    fit_joint,
    load_dynamics,
)
from pyspec.components import Gauss, Offset
from pyspec.fit.findings.kinds import Kind
from pyspec.io import load_fits, save_fit
from tests.support.findings import kinds

ENERGY, TIME = np.linspace(80, 90, 41), np.linspace(-5, 20, 60)
DECAY = """
decay:
  expFun: {A: [5, True, 0, 50], tau: [4, True, 0.5, 20], t0: [0.1, True, -3, 3]}
"""
LINE = """
m:
  Offset: {y0: [1, True, 0, 5]}
  Gauss: {A: [8, True, 0, 20], x0: [84, ENTRY], SD: [1, True, 0.1, 3]}
"""


def spectrum() -> Model:
    model = Model("au", [Offset(10), Gauss(A=20, x0=(84, 82, 86), SD=(1.0, 0.2, 3))])
    model.set_axes(energy=ENERGY)
    return model


def series() -> Model:
    model = spectrum()
    model.set_axes(energy=ENERGY, time=TIME)
    model.add_dynamics("Gauss_01_A", load_dynamics(DECAY, "decay", "Gauss_01_A"))
    return model


def measured(model: Model, seed: int) -> Measurement:
    clean = model.evaluate()
    return Measurement(data=clean + np.random.default_rng(seed).normal(0, 0.5, clean.shape))


def test_intervals_are_those_of_the_joint_fit() -> None:
    """The files had none, and said of the onset only that it has no error."""
    joint = fit_joint([(series(), measured(series(), seed)) for seed in (0, 1)])
    name = "Gauss_01_A_expFun_01_t0"
    assert len(joint.intervals) == 2
    for index, file in enumerate(joint):
        assert file.intervals == {name: joint.intervals[f"file{index:02d}_{name}"]}
        assert file.to_dict()["intervals"] == {name: list(file.intervals[name])}
    assert [joint.fit_type, *(file.fit_type for file in joint)] == ["2d"] * 3


@pytest.mark.parametrize(
    ("method", "weight", "scaled"),
    [("native", None, None), ("native", 2.0, False), ("leastsq", 2.0, None)],
)
def test_a_file_has_one_aic(method: str, weight: float | None, scaled: bool | None) -> None:
    """result.lmfit had that of all files."""
    parts = [(spectrum(), replace(measured(spectrum(), seed), weight=weight)) for seed in (0, 1)]
    for file in fit_joint(parts, method=method, scale_covar=scaled):
        assert file.lmfit.aic == pytest.approx(file.statistics["aic"], rel=1e-12)
        assert file.lmfit.bic == pytest.approx(file.statistics["bic"], rel=1e-12)


def shared(entry: str) -> tuple[Model, Measurement]:
    model = loaded(LINE.replace("ENTRY", entry), "m", energy=ENERGY)
    return model, measured(model, len(entry))


@pytest.mark.parametrize(
    ("entry", "says"),
    [("True, 82, 86", "in file 1 it is free for"), ("False", "in file 1 it is fixed for")],
)
def test_a_parameter_that_one_file_alone_shares_is_named(entry: str, says: str) -> None:
    """Nothing was said, and each file had a value of its own."""
    parts = [shared("project, 82, 86"), shared(entry)]
    with pytest.warns(
        ModelWarning, match=f"Gauss_01_x0, or in neither: file 0 shares it with the project, {says}"
    ):
        joint = fit_joint(parts)
    assert kinds(joint) == [Kind.SHARED_AND_OWN]


def test_a_joint_fit_refuses_what_belongs_to_one_file() -> None:
    """predict() was a KeyError of a parameter, moving() and linear were None."""
    joint = fit_joint([shared("project, 82, 86"), shared("project, 82, 86")])
    for ask in ("predict", "moving", "components", "eval_components"):
        with pytest.raises(FitError, match=rf"own {ask}\(\); ask one of them: joint\[0\]\.{ask}"):
            getattr(joint, ask)()
    assert joint.amplitudes is None


def test_a_file_says_what_is_said_of_all_and_not_what_is_said_of_others(tmp_path: Path) -> None:
    """Archives hold the files of a joint fit alone."""
    pytest.importorskip("h5py")
    text = LINE.replace("ENTRY", "project, 80, 90")
    parts = []
    for seed, sigma in ((0, 0.2), (1, 2.0)):
        model = loaded(text, "m", energy=ENERGY)
        if seed:  # the level is 1, and was held below
            model.set("Offset_y0", value=0.4, max=0.5)
        clean = loaded(text, "m", energy=ENERGY)
        noise = np.random.default_rng(seed).normal(0, sigma, ENERGY.size)
        parts.append((model, Measurement(clean.evaluate() + noise)))
    joint = fit_joint(parts, names=["quiet", "loud"])
    joint = joint.diagnose()
    places = [one.places for one in joint.findings if one.kind is Kind.AT_BOUND]
    assert places == [("file01_Offset_y0",)]
    quiet, loud = joint
    for file in joint:
        (differs,) = [one.numbers for one in file.findings if one.kind is Kind.NOISE_VARIES]
        assert [differs[name] for name in ("axis", "at", "from")] == ["file", "loud", "quiet"]
    assert ("Offset_y0",) in [one.places for one in loud.findings]
    assert Kind.AT_BOUND not in kinds(quiet)
    assert "At a bound: file01_Offset_y0 (max)" in joint.message
    assert loud.message == quiet.message == joint.message
    assert pickle.loads(pickle.dumps(quiet)).findings == quiet.findings
    save_fit(tmp_path / "joint.h5", list(joint))
    assert [one.findings for one in load_fits(tmp_path / "joint.h5")] == [
        one.findings for one in joint
    ]


def shares_its_place() -> Model:
    model = spectrum()
    model.parameters["Gauss_01_x0"].scope = "project"
    return model


def test_files_may_count_otherwise_or_the_refusal_says_which() -> None:
    rng = np.random.default_rng(3)
    clean = spectrum().evaluate()
    counted = Measurement(data=rng.poisson(clean).astype(float), loss="poisson")
    weighed = Measurement(data=rng.normal(clean, 0.5), weight=np.full(clean.shape, 2.0))
    joint = fit_joint([(shares_its_place(), counted), (shares_its_place(), weighed)])
    assert joint.success
    assert joint.chisqr == pytest.approx(sum(file.chisqr for file in joint), rel=1e-12)
    error = joint.stderr["Gauss_01_x0"]
    assert error is not None
    assert abs(joint.values["Gauss_01_x0"] - 84) < 4 * error
    with pytest.raises(FitError, match=r"noise of some files is known \(file 0, file 2\)"):
        fit_joint([(spectrum(), one) for one in (weighed, measured(spectrum(), 1), counted)])


def test_one_expression_under_two_names_is_no_share_of_two_models() -> None:
    """Both models begin with a Gauss: a share of their areas was 0.5 with an error of 1e-19."""
    text = """
parameters:
  area_C: ["Gauss_01_A * Gauss_01_SD"]
  area_O: ["Gauss_01_A * Gauss_01_SD"]
  height: ["Gauss_01_A"]
  share: ["area_C / (area_C + area_O)"]
C1s: {Gauss: {A: [8, True], x0: [84, True], SD: [1, True, 0.1, 3]}}
O1s: {Gauss: {A: [5, True], x0: [85, True], SD: [1, True, 0.1, 3]}}
"""
    parts = []
    for name in ("C1s", "O1s"):
        model = loaded(text, name, energy=ENERGY)
        parts.append((model, measured(model, 0)))
    with pytest.warns(ModelWarning, match="area_C and area_O are one expression, and Gauss_01_A"):
        joint = fit_joint(parts)
    assert kinds(joint).count(Kind.SAME_TWICE) == 1
    fit_joint([parts[0], parts[0]])  # two spectra of one model: no warning
