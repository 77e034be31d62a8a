"""Sessions of several files: shared parameters, values of each, a fit of all, and what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec import File, JointResult, Project
from pyspec.build.state import models_state
from pyspec.cli.arguments import build_parser
from pyspec.cli.commands.build import session_of
from pyspec.errors import DataError
from pyspec.workflow.session.document import Refusal
from pyspec.workflow.session.edits import (
    Add,
    DropLaw,
    Exclude,
    Include,
    Law,
    NewModel,
    Remove,
    Set,
    Window,
    Yaml,
)
from pyspec.workflow.session.session import Session

TEXT = """\
# Two temperatures.
line:
  Offset: {y0: [5, True, 0, 50]}  # the level
  GLP: {A: [18, True, 0, 100], x0: [84, True, 80, 90], F: [1.1, True, .1, 5], m: [0, False]}
shift:
  expFun: {A: [.5, True, -3, 3], tau: [3, project, .1, 50], t0: [0, False]}
attached: {line: {GLP_01_x0: {dynamics: [shift]}}}
"""
ENERGY, TIME = np.linspace(80.0, 90.0, 61), np.linspace(-2.0, 8.0, 31)
TAU = "GLP_01_x0_expFun_01_tau"


def file(place: float, height: float, name: str, seed: int) -> File:
    """A line that returns with 2."""
    rng = np.random.default_rng(seed)
    at = place + np.where(TIME >= 0, 0.6 * np.exp(-TIME / 2.0), 0.0)[:, None]
    data = 5.0 + height * np.exp(-4 * np.log(2) * (ENERGY - at) ** 2)
    return File(
        data=data + 0.3 * rng.standard_normal(data.shape), energy=ENERGY, time=TIME, name=name
    )


def session(text: str = TEXT) -> Session:
    return Session([file(84.0, 20.0, "cold", 1), file(84.3, 12.0, "warm", 2)], text)


def values(found: Session) -> list[dict[str, float]]:
    """Those of each file."""
    shown, seen = found.document.file, []
    for number in range(2):
        assert found.choose(number)
        seen.append(dict(found.model.values))
    assert found.choose(shown)
    return seen


def test_a_fit_of_all_gives_each_file_its_values() -> None:
    found = session()
    result = found.fit("joint")
    assert isinstance(result, JointResult)
    assert models_state(found)["all"][0]["n_free"] == 11
    cold, warm = values(found)
    assert cold[TAU] == warm[TAU] == result.joint.values[TAU] == pytest.approx(2.0, abs=0.1)
    assert cold["GLP_01_x0"] == result[0].values["GLP_01_x0"] == pytest.approx(84.0, abs=0.02)
    assert warm["GLP_01_x0"] == result[1].values["GLP_01_x0"] == pytest.approx(84.3, abs=0.02)
    for number in range(2):
        assert found.choose(number)
        shown = found.document.result
        assert shown.stderr[TAU] == result.joint.stderr[TAU]
        assert "# the level" in found.text
    project = Project()
    for one in (file(84.0, 20.0, "cold", 1), file(84.3, 12.0, "warm", 2)):
        File(project, name=one.name, data=one.data, energy=ENERGY, time=TIME)
    project.load_models(model_yaml=TEXT, model_info="line")
    whole = project.fit_2d(model_name="line")
    assert result.joint.chisqr == pytest.approx(whole.joint.chisqr, rel=1e-9)


def test_a_value_is_that_of_one_file_and_a_shared_one_of_all() -> None:
    found = session()
    assert found.edit(Set("GLP_01_x0", "value", 85.0), Set(TAU, "value", 4.0))
    assert found.choose("warm")
    assert found.edit(Set("GLP_01_x0", "value", 86.0), Set(TAU, "value", 5.0))
    cold, warm = values(found)
    assert (cold["GLP_01_x0"], warm["GLP_01_x0"]) == (85.0, 86.0)
    assert cold[TAU] == warm[TAU] == 5.0
    assert found.edit(Window(energy=(82, 88)), Exclude("time", -0.5, 0.2))
    assert found.choose("cold")
    assert found.document.energy_limits is None
    assert found.document.excluded == ()
    assert found.edit(Set("GLP_01_x0", "max", 85.5))  # beyond the value of the other file
    assert values(found)[1]["GLP_01_x0"] == 85.5
    assert found.undo()
    assert found.undo()
    assert found.document.file == 1  # where that step was made
    assert found.document.energy_limits is None
    refused = found.choose("hot")
    assert isinstance(refused, Refusal)
    assert "cold, warm" in refused.message


def test_structure_is_that_of_all_files() -> None:
    found = session()
    assert found.edit(Add("GLP", {"energy": 87.0, "height": 2.0, "width": 1.0}))
    assert found.edit(Law("GLP_02_A", "stepFun"), Law("GLP_02_A", "expFun"))
    assert found.edit(Set("GLP_02_A_expFun_01_A", "value", 0.25))
    assert found.choose("warm")
    assert found.edit(Set("GLP_02_x0", "value", 88.0), Set("GLP_02_A_expFun_01_A", "value", 0.5))
    assert found.edit(NewModel("other", copy_of="line"))
    assert found.edit(DropLaw("GLP_02_A", "stepFun_01"), DropLaw("GLP_01_x0"), Remove("GLP_01"))
    cold, warm = values(found)
    assert (cold["GLP_01_x0"], warm["GLP_01_x0"]) == (87.0, 88.0)  # they moved up
    assert (cold["GLP_01_A_expFun_01_A"], warm["GLP_01_A_expFun_01_A"]) == (0.25, 0.5)
    assert found.edit(Yaml(found.text.replace("# Two", "# Three")))
    assert values(found) == [cold, warm]
    while found.undo():
        pass
    assert found.text == TEXT


def test_what_cannot_be_fitted_together_is_refused() -> None:
    found = session(TEXT.replace("project", "True"))
    refused = found.fit("joint")
    assert isinstance(refused, Refusal)
    assert "no parameter is shared" in refused.message
    assert found.edit(Set(TAU, "vary", "project"))
    assert found.fit("joint")
    with pytest.raises(DataError, match="one spectrum"):
        Session([file(84.0, 1.0, "one", 1), File(data=np.ones(61), energy=ENERGY, name="two")])


def test_a_saved_session_of_several_files_has_the_same_bits(tmp_path: Path) -> None:
    found = session()
    assert found.choose("warm")
    assert found.edit(Exclude("time", -0.5, 0.5), Exclude("energy", 81.0, 82.0))
    assert found.edit(Exclude("energy", 88.0, 89.0), Include("energy", 81.5, 81.6))
    result = found.fit("joint")
    assert isinstance(result, JointResult)
    assert result[1].n_data < result[0].n_data
    folder = found.save(tmp_path / "out")
    space: dict[str, Any] = {"__file__": str(folder / "fit.py")}
    exec(compile((folder / "fit.py").read_text(), str(folder / "fit.py"), "exec"), space)
    assert space["result"].joint.values == result.joint.values
    again = session_of(build_parser().parse_args(["build", str(folder)]))
    assert values(again) == values(found)
    assert again.choose("warm")
    assert again.document.excluded == (("energy", 88.0, 89.0), ("time", -0.5, 0.5))
    shown = again.document.result
    assert shown.stderr == result[1].stderr
    jobs = sorted(str(one) for one in folder.rglob("job.yaml"))
    assert len(jobs) == 2
    begun = session_of(build_parser().parse_args(["build", *jobs]))
    assert [one.file.name for one in begun.grounds] == ["cold", "warm"]
