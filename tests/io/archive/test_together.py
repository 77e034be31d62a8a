"""Joint fits in an archive: found by their files, whole or file by file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import (
    File,
    FitResult,
    FitResults,
    JointResult,
    Measurement,
    Project,
    fit_joint,
    load_fit,
    load_fits,
    load_model,
    save_fit,
)
from pyspec.errors import ArchiveWarning, DataError, FitError, ModelWarning
from pyspec.fit.findings.kinds import Kind
from pyspec.io import load_archive, save_archive
from pyspec.io.sources.arrays import HDF5Source
from tests.support.findings import kinds

h5py = pytest.importorskip("h5py")

ENERGY = np.linspace(1.5, 3.0, 20)
PLAIN = """
m:
  Offset: {y0: [0, true]}
  Gauss: {A: [1, true], x0: [2.1, project], SD: [0.2, project, 0.01, 2]}
"""
SPECTRA = """
m:
  expFun: {A: {free: energy, vary: project}, tau: [1.5, project, 0.1, 100], t0: [0, false]}
"""


def fitted(folder: Path) -> tuple[Project, JointResult]:
    """Two files that are fitted alone, then together, and saved to "joint.h5"."""
    (folder / "m.yaml").write_text(PLAIN)
    project, rng = Project(folder, show_output=False), np.random.default_rng(1)
    for name in "ab":
        data = np.exp(-(((ENERGY - 2) / 0.3) ** 2)) + 0.05 * rng.normal(size=(30, 20))
        file = File(project, name=name, data=data, energy=ENERGY, time=np.arange(30.0))
        file.load_model("m.yaml", "m")
        file.define_baseline(0, 5)
        file.fit_baseline("m")
        file.fit_slice_by_slice("m")
    joint = project.fit_2d(model_name="m")
    project.save_fits("joint.h5")
    return project, joint


def without_names(n_files: int, text: str = PLAIN) -> JointResult:
    rng, parts = np.random.default_rng(1), []
    for k in range(n_files):
        model = load_model(text, "m")
        time = np.linspace(0.1, 5 + k, 30)
        model.set_axes(energy=ENERGY, time=time)
        data = np.outer(np.exp(-time / 2), np.exp(-(((ENERGY - 2) / 0.3) ** 2)))
        parts.append((model, Measurement(data + 0.05 * rng.normal(size=data.shape))))
    return fit_joint(parts)


def test_a_project_saves_a_joint_fit_as_one(tmp_path: Path) -> None:
    """It was one fit for each file, without the covariance across files."""
    project, joint = fitted(tmp_path)
    stored = load_fits(tmp_path / "joint.h5")
    assert [fit.fit_type for fit in stored] == ["baseline", "sbs"] * 2 + ["2d"]
    for name in "ab":
        again = load_fit(tmp_path / "joint.h5", file=name)
        assert isinstance(again, JointResult)
        np.testing.assert_array_equal(again.ending.covariance, joint.ending.covariance)
        assert (str(again), str(again[name])) == (str(joint), str(joint[name]))
    path = project.save_fits("one.h5", file="b", fit_type="2d")
    assert len(load_fit(path)) == 2
    (part,) = load_fits(project[1].save_fit("part.h5", fit_type="2d"))
    assert type(part) is FitResult
    assert (part.joint, str(part)) == (None, str(joint["b"]))


def test_a_project_loads_its_files(tmp_path: Path) -> None:
    project, joint = fitted(tmp_path)
    fits = project.load_fits("joint.h5")
    assert [str(fit) for fit in fits.find(fit_type="2d")] == [str(part) for part in joint]
    assert str(fits.get_joint(files=["a", "b"])) == str(joint)
    only = FitResults.load(tmp_path / "joint.h5", file="b", fit_type="2d")
    assert [fit.file_name for fit in only] == ["b"]
    assert len(only.joint) == 1
    with pytest.raises(DataError, match=r"such fit of file .c.; it has: .*2d fit of m to a, b"):
        FitResults.load(tmp_path / "joint.h5", file=["b", "c"])


def test_each_file_may_have_data_of_its_own(tmp_path: Path) -> None:
    joint, path = without_names(2, SPECTRA), tmp_path / "joint.h5"
    save_fit(path, joint, with_data=False)
    stored, data = load_fit(path), [part.measurement.data for part in joint]
    assert str(stored) == str(joint)
    for ask in (
        lambda: stored.data,
        lambda: stored[1].fit,
        stored.conf_interval,
        stored.refit,
        stored.diagnose,
    ):
        with pytest.raises(DataError, match="saved without data; hand them over"):
            ask()
    again = load_fit(path, data=data)
    np.testing.assert_array_equal(again.fit, joint.fit)
    assert again.refit().values == stored.refit(data).values == joint.refit().values
    for given in (data[0], data[:1]):
        with pytest.raises(DataError, match="joint fit of 2 files takes a list with the data of e"):
            load_fit(path, data=given)
        with pytest.raises(DataError, match="joint fit of 2 files takes a list with the data of e"):
            stored.refit(given)
    with pytest.raises(FitError, match=r"a joint fit has a model for each file"):
        joint.refit(model=joint[0].model)


@pytest.mark.parametrize(
    "files",
    [3.0, [], [1.5, "x"], [{}, {}], {"names": []}, {"free_names": ["Gauss_01_D"]}, {"left": {}}],
)
def test_a_joint_fit_that_others_changed_is_one_error(tmp_path: Path, files: Any) -> None:
    path = tmp_path / "joint.h5"
    save_fit(path, without_names(2))
    (record,), arrays, _ = load_archive(path)
    changed = [{**own, **files} for own in record["files"]] if isinstance(files, dict) else files
    save_archive(path, {**record, "files": changed}, arrays=arrays, mode="replace")
    for model in (None, "m"):
        with pytest.raises(DataError, match=r"a fit in it (is not as save_fit writes it|has no)"):
            load_fits(path, model=model)


def test_a_file_whose_data_are_damaged_has_none(tmp_path: Path) -> None:
    joint, path = without_names(2), tmp_path / "joint.h5"
    save_fit(path, joint)
    with h5py.File(path, "r+") as file:
        file["arrays"][joint[1].data_sha256][3, 4] = 1.0
    with pytest.warns(ArchiveWarning, match="its sha256 differs"):
        again = load_fit(path, damaged="skip")
    assert str(again) == str(joint)
    np.testing.assert_array_equal(again[0].measurement.data, joint[0].measurement.data)
    with pytest.raises(DataError, match="saved without data"):
        again.refit()


def test_data_by_reference(tmp_path: Path) -> None:
    """The statistics of such a joint fit were an error about the shape of theta."""
    joint, referred = without_names(2), []
    for k, part in enumerate(joint):
        with h5py.File(tmp_path / f"{k}.h5", "w") as file:
            file["data"] = part.measurement.data
        source = HDF5Source(tmp_path / f"{k}.h5", "data")
        referred.append((part.problem.model, Measurement(source)))
    found = fit_joint(referred)
    assert found.statistics == pytest.approx(joint.statistics, rel=1e-9, nan_ok=True)
    save_fit(tmp_path / "joint.h5", found)
    again = load_fit(tmp_path / "joint.h5")
    assert str(again) == str(found)
    assert again.statistics == pytest.approx(found.statistics, rel=0, nan_ok=True)


def test_one_file_by_itself(tmp_path: Path) -> None:
    """Shared parameters of one file that was fitted again became others without a word."""
    _, joint = fitted(tmp_path)
    told = r"result\.joint\.refit\(\), or load_fit\(path\)\.refit\(\) of an archive: .* Gauss_01_x0"
    for part in (joint[0], load_fit(tmp_path / "joint.h5")[0]):
        with pytest.warns(ModelWarning, match=told):
            again = part.refit()
        assert Kind.REFITTED_ALONE in kinds(again)
        assert part.joint is not None
        assert part.joint.refit().values == joint.refit().values
    file = File(Project(tmp_path), data=joint[0].data, energy=ENERGY, time=np.arange(30.0))
    file.load_model("m.yaml", "m")
    file.fit_2d("m")
    (stored,) = load_fits(file.save_fit("alone.h5"))
    assert isinstance(stored, FitResult)
    assert Kind.REFITTED_ALONE not in kinds(stored.refit())


def test_shared_spectra_of_one_file_need_the_others(tmp_path: Path) -> None:
    joint = without_names(2, SPECTRA)
    save_fit(tmp_path / "part.h5", joint[0])
    stored = load_fit(tmp_path / "part.h5")
    assert str(stored) == str(joint[0])
    with pytest.raises(FitError, match="data of several files, of which this is one"):
        _ = stored.fit
