"""A joint fit from an archive: its files put together again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import (
    File,
    FitResult,
    JointResult,
    Measurement,
    Project,
    fit_joint,
    load_fits,
    load_model,
    refit_joint,
    save_fit,
)  # fmt: skip
from pyspec.errors import CallError, DataError, ModelWarning
from pyspec.fit.findings.kinds import Kind
from tests.support.findings import kinds

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


TIME = np.arange(30.0)
DATA = np.exp(-(((ENERGY - 2) / 0.3) ** 2)) + 0.05 * np.random.default_rng(1).normal(size=(30, 20))


def fitted(folder: Path, text: str) -> JointResult:
    """Three files fitted together, and saved to "joint.h5"."""
    rng = np.random.default_rng(1)
    (folder / "m.yaml").write_text(text)
    project = Project(folder, show_output=False)
    line = np.exp(-(((ENERGY - 2) / 0.3) ** 2))
    for k in range(3):
        time = np.linspace(0.1, 5 + k, 30)
        decay = np.exp(-time / 2) if text is SPECTRA else np.full(30, 1.0 + k)
        data = np.outer(decay, line)
        noisy = data + 0.05 * rng.normal(size=data.shape)
        file = File(project, name="abc"[k], data=noisy, energy=ENERGY, time=time)
        file.load_model("m.yaml", "m")
    joint = project.fit_2d(model_name="m")
    project.save_fits("joint.h5")
    return joint


@pytest.mark.parametrize("text", [PLAIN, SPECTRA], ids=["plain", "spectra"])
def test_the_joint_fit_comes_back(tmp_path: Path, text: str) -> None:
    """A part alone has no covariance across files, and no spectra that files share."""
    joint = fitted(tmp_path, text)
    again = refit_joint(load_fits(tmp_path / "joint.h5"))
    assert list(again.names) == ["a", "b", "c"]
    assert again.success
    assert again.nfev <= 2
    assert again.findings == joint.findings
    for name, value in joint.values.items():
        assert again.values[name] == pytest.approx(value, rel=1e-6)
    for name, error in joint.stderr.items():
        assert again.stderr[name] == (error and pytest.approx(error, rel=1e-5))
    np.testing.assert_allclose(again[1].fit, joint[1].fit, atol=1e-6)
    if text is SPECTRA:
        amplitudes = [one.amplitudes["expFun_01_A"] for one in (again[0], joint[0])]
        np.testing.assert_allclose(*amplitudes, atol=1e-6)


def test_other_fits_of_the_archive_are_left_out(tmp_path: Path) -> None:
    """With a baseline beside it the joint fit was refused: two files of one name."""
    (tmp_path / "m.yaml").write_text(PLAIN)
    project = Project(tmp_path, show_output=False)
    rng = np.random.default_rng(1)
    for name in "ab":
        data = np.exp(-(((ENERGY - 2) / 0.3) ** 2)) + 0.05 * rng.normal(size=(30, 20))
        file = File(project, name=name, data=data, energy=ENERGY, time=np.arange(30.0))
        file.load_model("m.yaml", "m")
        file.define_baseline(0, 5)
        file.fit_baseline("m")
        file.fit_slice_by_slice("m")
    project.fit_2d(model_name="m", max_nfev=1)
    joint = project.fit_2d(model_name="m")
    project.save_fits("joint.h5")
    stored = load_fits(tmp_path / "joint.h5")
    again = refit_joint(stored)
    assert (len(stored), len(again)) == (8, 2)
    assert again.chisqr == pytest.approx(joint.chisqr, rel=1e-9)
    assert again.nfev <= 2
    (tmp_path / "n.yaml").write_text(PLAIN.replace("m:", "n:"))
    project.load_models(model_yaml="n.yaml", model_info="n")
    project.fit_2d(model_name="n")
    project.save_fits("joint.h5")
    with pytest.raises(DataError, match=r"3 joint fits.* 'n of a, b'; .*, model='n'\)"):
        refit_joint(load_fits(tmp_path / "joint.h5"))
    assert len(refit_joint(load_fits(tmp_path / "joint.h5", model="n"))) == 2


def test_files_without_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(3):
        model = load_model(PLAIN, "m")
        model.set_axes(energy=ENERGY)
        data = np.exp(-(((ENERGY - 2) / 0.3) ** 2)) + 0.05 * rng.normal(size=20)
        parts.append((model, Measurement(data)))
    joint = fit_joint(parts)
    save_fit(tmp_path / "joint.h5", joint)
    save_fit(tmp_path / "joint.h5", fit_joint(parts))  # both made one fit of six files
    again = refit_joint(load_fits(tmp_path / "joint.h5"))
    assert len(again) == 3
    assert again.chisqr == pytest.approx(joint.chisqr, rel=1e-9)


def test_the_last_joint_fit_may_have_fewer_files(tmp_path: Path) -> None:
    """The file that was left out since came back."""
    path = tmp_path / "joint.h5"
    three = fitted(tmp_path, PLAIN)
    of_each = [[one] for one in three]
    parts = [(one.problem.model, one.measurement) for one in three]
    two = fit_joint(parts[:2], names=["a", "b"])
    for one, later in zip(of_each, two, strict=False):
        one.append(later)
    save_fit(path, [fit for one in of_each for fit in one], mode="replace")
    again = refit_joint(load_fits(path))
    assert list(again.names) == ["a", "b"]
    assert again.chisqr == pytest.approx(two.chisqr, rel=1e-9)
    save_fit(path, fit_joint(parts[1:], names=["c", "d"]))
    with pytest.raises(DataError, match=r"'m of a, b, c', 'm of a, b', 'm of c, d'; give those of"):
        refit_joint(load_fits(path))


def test_parts_of_a_joint_fit(tmp_path: Path) -> None:
    """Shared parameters of one file that was fitted again became others without a word."""
    fitted(tmp_path, PLAIN)
    parts = load_fits(tmp_path / "joint.h5")
    assert Kind.MOVED in kinds(refit_joint(parts[:2]))
    with pytest.raises(DataError, match="those of all files"):
        refit_joint(parts[:1])
    with pytest.raises(CallError, match="takes the fits of load_fits"):
        refit_joint([parts[0], tmp_path])  # type: ignore[list-item]
    with pytest.warns(ModelWarning, match="refit_joint"):
        again = parts[0].refit()
    (told,) = [str(one) for one in again.findings if one.kind is Kind.REFITTED_ALONE]
    assert "Gauss_01_x0" in told
    file = File(Project(tmp_path, show_output=False), data=DATA, energy=ENERGY, time=TIME)
    file.load_model("m.yaml", "m")
    file.fit_2d("m")
    (stored,) = load_fits(file.save_fit("alone.h5"))
    assert isinstance(stored, FitResult)
    assert Kind.REFITTED_ALONE not in kinds(stored.refit())
