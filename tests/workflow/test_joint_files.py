"""Projects: several files as one fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import DataError, File, FitError, Project
from pyspec.fit import JointResult
from pyspec.model import load_dynamics, load_model

MODEL = """
peak:
  Offset:
    y0: [2, True, 0, 20]
  Gauss:
    A: [15, True, 0, 100]
    x0: [9.5, {scope}, 3, 18]
    SD: [1.1, True, 0.2, 5]
flat:
  Gauss:
    A: [15, True, 0, 100]
    x0: [9.5, True, 3, 18]
    SD: [1.1, True, 0.2, 5]
"""
LAWS = """
decay:
  expFun:
    A: [2, True, 0, 10]
    tau: [6, {scope}, 0.1, 100]
    t0: [0, False]
narrow:
  gaussCONV:
    SD: [0.3, False]
  expFun:
    A: [2, True, 0, 10]
    tau: [6, True, 0.1, 100]
    t0: [0, False]
none:
  none: {{}}
depth:
  pExpDecay:
    A: [1.5, True, 0, 10]
    tau: [2, False]
"""
TRUTH = {"Offset_y0": 3.0, "Gauss_01_SD": 1.2, "Gauss_01_x0": 9.0, "Gauss_01_x0_expFun_01_tau": 8.0}


def folder(path: Path, scope: str = "project") -> Path:
    (path / "m.yaml").write_text(MODEL.format(scope=scope))
    (path / "laws.yaml").write_text(LAWS.format(scope=scope))
    return path


def simulated(index: int, n_energy: int, n_time: int) -> dict[str, np.ndarray]:
    energy = np.linspace(0.0, 20.0 - index, n_energy)
    time = np.linspace(-5.0, 30.0 + index, n_time)
    model = load_model(MODEL.format(scope="True"), "peak")
    law = load_dynamics(LAWS.format(scope="True"), "decay", model.parameters["Gauss_01_x0"])
    model.add_dynamics("Gauss_01_x0", law)
    model.set_values({**TRUTH, "Gauss_01_A": 20.0 + index, "Gauss_01_x0_expFun_01_A": 2.0 + index})
    model.set_axes(energy=energy, time=time)
    clean = model.evaluate()
    noise = np.random.default_rng(index).normal(0.0, 0.4, clean.shape)
    return {"data": clean + noise, "energy": energy, "time": time}


def three_files(path: Path) -> Project:
    project = Project(folder(path), show_output=False)
    for index, shape in enumerate([(81, 36), (60, 40), (101, 25)]):
        File(project, name=f"scan {index}", **simulated(index, *shape))
    project.load_models(model_yaml="m.yaml", model_info="peak")
    project.add_time_dependences(
        target_model="peak",
        target_parameter="Gauss_01_x0",
        dynamics_yaml="laws.yaml",
        dynamics_model="decay",
    )
    return project


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_three_files_on_their_own_grids(tmp_path: Path, backend: str) -> None:
    project = three_files(tmp_path)
    joint = project.fit_2d(model_name="peak", backend=backend)
    assert isinstance(joint, JointResult)
    assert joint.success
    assert joint.backend == backend
    assert len(joint) == len(list(joint)) == 3
    shared = {"Gauss_01_x0", "Gauss_01_x0_expFun_01_tau"}
    assert {name for name in joint.free_names if not name.startswith("file")} == shared
    for name in shared:
        assert abs(joint.values[name] - TRUTH[name]) < 4 * joint.stderr[name]
    for index, result in enumerate(joint):
        assert result.file_name == f"scan {index}"
        assert project.files[index].get_result() is result
        assert result.values["Gauss_01_x0"] == joint.values["Gauss_01_x0"]
        assert result.stderr["Gauss_01_A"] == joint.stderr[f"file{index:02d}_Gauss_01_A"]
        assert abs(result.values["Gauss_01_A"] - 20 - index) < 4 * result.stderr["Gauss_01_A"]
        assert result.fit.shape == result.data.shape
        assert result.correl["Gauss_01_A"]["Gauss_01_SD"] < 0
    assert joint.chisqr == pytest.approx(sum(result.chisqr for result in joint), rel=1e-9)
    assert joint.n_data == sum(result.n_data for result in joint)
    # Errors of shared parameters combine: about those of the fits alone, summed in squares.
    alone = [f.fit_2d("peak", seed_source="model").stderr["Gauss_01_x0"] for f in project.files]
    assert joint.stderr["Gauss_01_x0"] < min(alone)
    assert "file02_Gauss_01_A" in str(joint)
    named = "file00_ is scan 0, file01_ is scan 1, file02_ is scan 2"
    assert str(joint).splitlines()[1] == named
    assert named in joint._repr_html_()
    assert "3 files together" in joint._repr_html_()
    np.testing.assert_allclose(joint.fit, np.concatenate([file.fit.ravel() for file in joint]))
    with pytest.raises(FitError, match="joint result"):
        joint[0].conf_interval()


def test_joint_noise(tmp_path: Path) -> None:
    project = three_files(tmp_path)
    unweighted = project.fit_2d(model_name="peak")
    project[0].set_noise("gaussian", sigma=0.4)
    with pytest.raises(FitError, match="call set_noise for all or none"):
        project.fit_2d(model_name="peak")
    for file in project.files:
        file.set_noise("gaussian", sigma=0.4)
    weighted = project.fit_2d(model_name="peak")
    assert weighted.redchi == pytest.approx(1.0, abs=0.06)
    for name in weighted.free_names:
        assert weighted.values[name] == pytest.approx(unweighted.values[name], rel=1e-5)
    ratio = unweighted.stderr["Gauss_01_x0"] / weighted.stderr["Gauss_01_x0"]
    assert ratio == pytest.approx(weighted.redchi**0.5, rel=1e-4)


def test_spectra_are_fitted_together_by_fit_joint(tmp_path: Path) -> None:
    """The error named fit_spectrum, which fits each on its own."""
    project = Project(folder(tmp_path), show_output=False)
    for name in "ab":
        File(project, name=name, data=np.ones(30), energy=np.arange(30.0))
    project.load_models(model_yaml="m.yaml", model_info="peak")
    with pytest.raises(DataError, match=r"file 'a' holds one spectrum .* by fit_joint\(\[\(model"):
        project.fit_2d(model_name="peak")
