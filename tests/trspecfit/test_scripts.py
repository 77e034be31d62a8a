"""Ten scripts as users of trspecfit write them run with the import changed, and agree with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from support.later import later

from bench.peers.compare_scripts import NAMES, SCRIPTS, compare, has_trspecfit, with_package
from bench.problems.script_data import prepare

later("pandas")
pytest.importorskip("matplotlib")
pytest.importorskip("h5py")
later("emcee")

pytestmark = pytest.mark.usefixtures("quick_figures")

PEER = os.environ.get("PYSPEC_TRSPECFIT", sys.executable)


@pytest.mark.parametrize("name", NAMES)
def test_a_script_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, name)
    for path in SCRIPTS.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    source = SCRIPTS / f"{name}.py"
    space: dict[str, object] = {"__name__": "__main__"}
    exec(compile(source.read_text(), str(source), "exec"), space)
    answers, pictures = space["answers"], space["pictures"]
    assert isinstance(answers, dict)
    assert isinstance(pictures, dict)
    assert answers
    for draw in pictures.values():
        assert draw().axes
    if isinstance(measured := space.get("measured"), np.lib.npyio.NpzFile):
        measured.close()
    if name == "basic":
        table = answers["2d"].set_index("name")
        for par, truth in {"GLP_01_A": 20.0, "GLP_01_x0": 84.2}.items():
            assert abs(table.loc[par, "value"] - truth) < 5 * table.loc[par, "stderr"]
    for answer in answers.values():
        if hasattr(answer, "columns") and "stderr" in answer:
            assert np.isfinite(answer["value"]).all()
            assert (answer.loc[answer["vary"].astype(bool), "stderr"] > 0).all()


def test_only_the_import_is_changed() -> None:
    for name in NAMES:
        ours = (SCRIPTS / f"{name}.py").read_text().splitlines()
        theirs = with_package("\n".join(ours), "trspecfit").splitlines()
        changed = {line for line in theirs if line not in ours}
        assert all(line.startswith("from trspecfit") for line in changed)
        assert len([line for line in ours if line not in theirs]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_both_packages_give_the_same_answers(name: str) -> None:
    if not has_trspecfit(PEER):
        pytest.skip("needs trspecfit: set PYSPEC_TRSPECFIT to an interpreter that has it")
    bad = [found for found in compare(name, PEER) if not found[1] <= 1]
    assert bad == []
