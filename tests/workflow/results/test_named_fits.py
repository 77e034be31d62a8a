"""Which fit a label or the beginning of a handle means; intervals of a fit as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.two_lines import ENERGY, MODELS

from pyspec import File, FitError, JointResult, Project
from pyspec.workflow.results.identity import handle_of


def made(folder: Path) -> Project:
    """Two files of four spectra each."""
    (folder / "models.yaml").write_text(MODELS)
    project = Project(folder, "named", show_output=0)
    line = 1.0 + 5.0 * np.exp(-((ENERGY - 84.3) ** 2) / 2.0)
    for seed in (1, 2):
        noise = np.random.default_rng(seed).normal(0.0, 0.2, (4, ENERGY.size))
        file = File(project, f"scan_{seed}", data=line + noise, energy=ENERGY, time=np.arange(4.0))
        file.define_baseline(0, 3)
    for name in ("one", "shared"):
        project.load_models(model_yaml="models.yaml", model_info=name)
    return project


def fit_lines(file: File, n: int) -> None:
    """Fits that differ in a bound, and have handles of their own by that."""
    for k in range(n):
        file.models["one"].set("Gauss_01_SD", max=3.0 + k)
        file.fit_baseline("one")


def with_joint_fit(folder: Path) -> tuple[Project, JointResult, str]:
    project = made(folder)
    joint = project.fit_2d(model_name="shared")
    return project, joint, handle_of(joint.joint)


def test_a_label_is_no_beginning_of_the_handle_of_a_joint_fit(tmp_path: Path) -> None:
    """The joint fit was dropped instead."""
    project, joint, handle = with_joint_fit(tmp_path)
    fit_lines(project[0], 1)
    project.results.set_label(handle_of(project[0].results[-1]), handle[0])
    folder = project.export_fit(handle[0], pictures=False)
    assert folder.parent.name == "one"
    project.drop_fits(handle[0])
    assert project.joint_results == [joint]
    assert [fit.model_name for fit in project.results] == ["shared", "shared"]


def test_the_beginning_of_several_handles_names_no_joint_fit(tmp_path: Path) -> None:
    """It was the joint fit that was dropped."""
    project, _, handle = with_joint_fit(tmp_path)
    for turn in range(1, 40):
        fit_lines(project[0], 10)
        if any(handle_of(fit)[0] == handle[0] for fit in project[0].results[1:]):
            break
        project[0].models["one"].set("Gauss_01_x0", max=88.0 + turn)
    with pytest.raises(FitError, match="names several fits"):
        project.drop_fits(handle[0])
    project.drop_fits(handle)
    assert project.joint_results == []
