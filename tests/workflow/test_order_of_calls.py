"""A working day: fits before and after dynamics are added, with shared quantities in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import DataError, File, FitError, Project
from pyspec.errors import ModelWarning, NoSuchKeyError

TEXT = """
parameters:
  tau: [5, True, 0.5, 100]
  onset: [0, True, -2, 2]
  area: ["GLP_01_A * GLP_01_F * 1.0645"]
  rate: ["1 / tau"]
peak:
  Offset: {y0: [3, True, 0, 100]}
  GLP: {A: [18, True, 0, 1000], x0: [84, True, 82, 86], F: [1, True, 0.1, 5], m: [0, False]}
loss:
  gaussIRF: {SD: [0.5, False]}
  expFun: {A: [-5, True, -50, 50], tau: ["tau"], t0: ["onset"]}
shift:
  gaussIRF: {SD: [0.5, False]}
  expFun: {A: [0.01, True, -2, 2], tau: ["tau"], t0: ["onset"]}
"""

ENERGY = np.linspace(81.0, 87.0, 61)
TIME = np.linspace(-5.0, 15.0, 41)
MOTIONS = (("GLP_01_A", "loss"), ("GLP_01_x0", "shift"))


def spectra(offset: float = 3.0) -> Any:
    gone = np.where(TIME > 0.1, np.exp(-(TIME - 0.1) / 4.0), 0.0)[:, np.newaxis]
    shape = np.exp(-4.0 * np.log(2.0) * ((ENERGY - 84.1 - 0.05 * gone) / 1.1) ** 2)
    noise = np.random.default_rng(1).normal(0.0, 0.05, (TIME.size, ENERGY.size))
    return offset + (20.0 - 6.0 * gone) * shape + noise


def scan(project: Project, name: str = "scan", offset: float = 3.0) -> File:
    file = File(project, name=name, data=spectra(offset), energy=ENERGY, time=TIME)
    file.define_baseline(-5, -1)
    return file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "models.yaml").write_text(TEXT)
    return Project(tmp_path, show_output=False)


def add_motion(file: File) -> None:
    for parameter, law in MOTIONS:
        file.add_time_dependence("peak", parameter, "models.yaml", law)


def static_fits(file: File) -> list[dict[str, float]]:
    """Baseline, spectrum and slices: the values of each, and of one slice."""
    found = [
        file.fit_baseline("peak", seed_source="model"),
        file.fit_spectrum("peak", time_point=-3, seed_source="model"),
    ]
    slices = file.fit_slice_by_slice("peak", seed_source="model", seed_adapt=None)
    assert all(result.success for result in found)
    assert slices.success.all()
    assert "tau" not in slices.names
    return [*(result.values for result in found), {n: v[3] for n, v in slices.values.items()}]


def test_both_how_tos_before_and_after_dynamics(project: Project) -> None:
    """A file with shared quantities used to stop every fit before dynamics, and dynamics every
    fit of one spectrum after them."""
    file = scan(project)
    file.load_model("models.yaml", "peak")
    before = static_fits(file)
    assert set(before[0]) == {*file.models["peak"].at_rest().parameters}
    assert file.fit_2d("peak").success
    add_motion(file)
    after = static_fits(file)
    for one, other in zip(before, after, strict=True):
        assert one == pytest.approx(other, rel=1e-6)
    moving = file.fit_2d("peak", seed_source="model")
    assert moving.values["tau"] == pytest.approx(4.0, abs=0.5)
    assert moving.values["rate"] == pytest.approx(1.0 / moving.values["tau"])

    other = scan(project, "other", offset=4.0)
    for each in (file, other):
        each.reset_models()
    path = project.path / "models.yaml"
    path.write_text(TEXT.replace("tau: [5, True", "tau: [5, project"))
    project.load_models(model_yaml="models.yaml", model_info="peak")
    assert all(result.success for result in project.fit_baselines(model_name="peak"))
    for parameter, law in MOTIONS:
        project.add_time_dependences(
            target_model="peak",
            target_parameter=parameter,
            dynamics_yaml="models.yaml",
            dynamics_model=law,
        )
    joint = project.fit_2d(model_name="peak")
    assert joint.success
    assert joint.names == ("scan", "other")
    assert joint["other"] is joint[1]
    assert joint["scan"].values["tau"] == joint["other"].values["tau"] == joint.values["tau"]
    assert joint.started_from == "the baseline fit"
    assert str(joint).splitlines()[1] == "file00_ is scan, file01_ is other"
    for each in joint:
        assert joint.stderr["tau"] == each.stderr["tau"]
        assert each.fit.shape == each.data.shape
    assert joint.chisqr == pytest.approx(sum(each.chisqr for each in joint), rel=1e-9)
    with pytest.raises(FitError, match=r"^no file 'othr'; did you mean 'other'\?"):
        joint["othr"]

    # The statistics of the joint fit compared the data of the first file with the fit of all.
    parts = [part.statistics["chi2_raw"] for part in joint]
    assert joint.statistics["chi2_raw"] == pytest.approx(sum(parts))
    assert joint.joint.data.shape == joint.joint.fit.shape == (2 * TIME.size * ENERGY.size,)
    assert joint.statistics["r2"] > 0.99
    with pytest.raises(FitError, match=r"joint\[0\]\.energy"):
        _ = joint.joint.energy
    other.set_noise("gaussian", sigma=0.05)
    with pytest.raises(FitError, match="call set_noise for all or none"):
        project.fit_2d(model_name="peak")


def test_spectra_are_fitted_together_by_fit_joint(project: Project) -> None:
    """The error named fit_spectrum, which fits each on its own."""
    for name in "ab":
        File(project, name=name, data=np.ones(30), energy=np.arange(30.0))
    project.load_models(model_yaml="models.yaml", model_info="peak")
    with pytest.raises(DataError, match=r"file 'a' holds one spectrum .* by fit_joint\(\[\(model"):
        project.fit_2d(model_name="peak")


def test_files_of_one_name_are_refused(project: Project) -> None:
    """Their results had the same name: "2d fit of peak to scan, scan"."""
    for offset in (3.0, 4.0):
        scan(project, offset=offset).load_model("models.yaml", "peak")
    with pytest.raises(FitError, match=r"^files 0 and 1 .* both called 'scan'; .*name="):
        project.fit_2d(model_name="peak")
    # The first one was taken, without a word: the one of the cell's first run.
    with pytest.raises(NoSuchKeyError, match=r"2 files .* called 'scan'; .* last is project\[1\]"):
        project["scan"]
    with pytest.raises(NoSuchKeyError, match="2 files of project"):
        project.save_fits("all.h5", file="scan")


def test_a_refit_says_where_it_starts(project: Project) -> None:
    """seed_source="model" used to start from the last fit, which had written into the model."""
    file = scan(project)
    file.load_model("models.yaml", "peak")
    first = file.fit_baseline("peak")
    assert (first.started_from, first.start["GLP_01_A"]) == ("the model's values", 18.0)
    second = file.fit_baseline("peak")
    assert second.started_from == "the last fit (baseline)"
    assert second.start["GLP_01_A"] == first.values["GLP_01_A"]
    assert "from the last fit (baseline)" in str(second)
    again = file.fit_baseline("peak", seed_source="model")
    assert again.start["GLP_01_A"] == 18.0
    add_motion(file)
    assert file.fit_2d("peak").started_from == "the baseline fit"
    fresh = file.fit_2d("peak", seed_source="model")
    assert (fresh.start["GLP_01_A"], fresh.start["tau"]) == (18.0, 5.0)
    file.models["peak"].set_values({"GLP_01_A": 17.0, "tau": 6.0})
    mine = file.fit_2d("peak", seed_source="model")
    assert (mine.start["GLP_01_A"], mine.start["tau"], mine.start["onset"]) == (17.0, 6.0, 0.0)
    with pytest.raises(FitError, match=r"seed_source must be 'model', not 'modle'; did you"):
        file.fit_baseline("peak", seed_source="modle")


def test_what_is_fixed_by_hand_stays_where_the_model_shows_it(project: Project) -> None:
    """The baseline used to take its place without a word: one fluence for all files of a series."""
    file = scan(project)
    file.load_model("models.yaml", "peak")
    there = file.fit_baseline("peak").values["GLP_01_F"]
    add_motion(file)
    model = file.select_model("peak")
    model.set("GLP_01_F", vary=False)
    assert file.fit_2d("peak").values["GLP_01_F"] == there
    model.set("GLP_01_F", 1.3)
    model.set("GLP_01_m", 0.2)  # the baseline had it fixed
    held, slices = file.fit_2d("peak"), file.fit_slice_by_slice("peak")
    assert held.started_from == "the baseline fit"
    assert (held.values["GLP_01_F"], held.values["GLP_01_m"]) == (1.3, 0.2)
    assert [set(slices.values[name]) for name in ("GLP_01_F", "GLP_01_m")] == [{1.3}, {0.2}]
    assert held.start["GLP_01_A"] == pytest.approx(20, abs=0.1)  # free: where the baseline ended
    model.set("GLP_01_F", vary=True)
    found = file.fit_2d("peak").values["GLP_01_F"]
    assert found != there
    model.set("GLP_01_F", found, vary=False)
    assert file.fit_2d("peak").values["GLP_01_F"] == found
    with pytest.warns(ModelWarning, match="replaces the one of that name"):
        model = file.load_model("models.yaml", "peak")
    model.set("GLP_01_F", 1.0, vary=False)  # as the file has it, where it is free
    assert file.fit_2d("peak").values["GLP_01_F"] == 1.0


def test_limits_may_be_open_and_ranges_excluded(project: Project) -> None:
    """[-0.15, None] used to be refused, and an energy range within could be masked only."""
    file = scan(project)
    file.set_fit_limits([82, None], time_limits=[None, 3])
    assert file.columns == (10, 61)
    assert file.rows == (0, 17)
    file.set_fit_limits(None, time_limits=[-0.15, None], exclude=[(83.2, 83.6), (86.5, None)])
    left_out = ((ENERGY >= 83.2) & (ENERGY <= 83.6)) | (ENERGY >= 86.5)
    assert file.keep is not None
    assert np.array_equal(~file.keep, np.broadcast_to(left_out, (TIME.size, ENERGY.size)))
    file.load_model("models.yaml", "peak")
    for result in (file.fit_baseline("peak"), file.fit_spectrum("peak", time_point=5)):
        assert np.array_equal(result.keep, ~left_out)
        assert result.n_data == np.count_nonzero(~left_out)
    file.set_fit_limits(None)
    assert file.keep is None
    for exclude, message in (
        ([(1, 2)], r"no point of the energy axis lies in \[1, 2\].*exclude_times="),
        ([(None, None)], "exclude= leaves no point of the window"),
    ):
        with pytest.raises(DataError, match=message):
            file.set_fit_limits(None, exclude=exclude)
    file.define_baseline(None, -1)
    assert file.baseline_rows == (0, 9)


def test_nothing_moves_in_a_file_of_one_spectrum(tmp_path: Path) -> None:
    """A time dependence was accepted there and had no effect."""
    (tmp_path / "m.yaml").write_text(TEXT)
    project = Project(tmp_path, show_output=0)
    series = File(project, "series", data=spectra(), energy=ENERGY, time=TIME)
    single = File(project, "single", data=spectra()[0], energy=ENERGY)
    for file in (series, single):
        file.load_model("m.yaml", "peak")
    before = list(series.models["peak"].parameters)
    with pytest.raises(DataError, match="file 'single' holds one spectrum, in which nothing moves"):
        single.add_time_dependence("peak", "GLP_01_A", "m.yaml", "loss")
    with pytest.raises(DataError, match="file 'single' holds one spectrum"):
        project.add_time_dependences(
            target_model="peak", target_parameter="GLP_01_A", dynamics_yaml="m.yaml",
            dynamics_model="loss",
        )  # fmt: skip
    assert list(series.models["peak"].parameters) == before
    assert single.fit_spectrum("peak").success
    empty = File(Project(tmp_path), "no data yet", energy=ENERGY, time=TIME)
    empty.load_model("m.yaml", "peak")
    empty.add_time_dependence("peak", "GLP_01_A", "m.yaml", "loss")
    assert empty.models["peak"].evaluate().shape == (TIME.size, ENERGY.size)


def test_a_file_that_is_not_there(project: Project) -> None:
    """project[7] was "list index out of range", project[1.5] had "no len()"."""
    with pytest.raises(IndexError, match=r"^no file 0 in project '.*'; there are none"):
        project[0]
    scan(project)
    with pytest.raises(IndexError, match=r"^no file 7 in project .*; there are scan$"):
        project[7]
    with pytest.raises(KeyError, match=r"no file 1\.5 in project .*; there are scan$"):
        project[1.5]  # type: ignore[index]
    assert project[np.int64(-1)] is project["scan"]  # type: ignore[index]
    assert [file.name for file in project] == ["scan"]
    assert len(project) == 1
    assert "scan" in project.describe()
