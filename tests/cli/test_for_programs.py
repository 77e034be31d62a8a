"""What the command line says to programs: JSON, and hints in the syntax of where one
is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pyspec.cli.arguments import build_parser
from pyspec.cli.dispatch import main
from pyspec.cli.syntax_hints import for_fields, for_flags


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that a command prints, and nothing else."""
    capsys.readouterr()
    code = main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == arguments[0]
    assert found["exit_code"] == code
    return found


@pytest.mark.slow
def test_every_command_speaks_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("h5py")
    server = pytest.importorskip("pyspec.build.server")
    monkeypatch.chdir(tmp_path)

    def run_for_no_time(self: Any) -> None:
        self.socket.close()
        self.desk.close()

    monkeypatch.setattr(server.Server, "run", run_for_no_time)
    found = {
        "new": said(capsys, "new", "."),
        "show": said(capsys, "show", "data.csv", "-o", "look.png"),
        "explain": said(capsys, "explain", "models.yaml", "--graph"),
        "diff": said(capsys, "diff", "models.yaml", "models.yaml"),
        "simulate": said(capsys, "simulate", "models.yaml", "--energy", "0:20:50", "--seed", "1"),
        "fit": said(capsys, "fit", "job.yaml", "--quiet"),
        "ops": said(capsys, "ops"),
        "verify": said(capsys, "verify", "results/fits.h5"),
        "demo": said(capsys, "demo", "--quiet", "--seed", "3"),
        "build": said(capsys, "build", "job.yaml", "--no-browser"),
    }
    (commands,) = (one.choices for one in build_parser()._actions if isinstance(one.choices, dict))
    assert set(found) == set(commands)
    assert found["show"]["axes"]["energy"] == {"from": 0.0, "to": 20.0, "points": 160}
    assert Path(found["show"]["picture"]).stat().st_size > 1000
    assert [one["name"] for one in found["explain"]["components"]][:2] == ["Offset", "Shirley"]
    assert found["explain"]["graph"]["nodes"]
    assert (found["diff"]["equal"], found["diff"]["differences"]) == (True, [])
    assert found["simulate"]["shape"] == [50]
    assert [one["fit_type"] for one in found["fit"]["results"]] == ["baseline", "2d"]
    assert found["verify"]["archives"][0]["intact"] is True
    assert all(abs(line["pull"]) < 5 for line in found["demo"]["truth"])
    written = json.loads(Path("results/parameters.json").read_text(encoding="utf-8"))
    assert written == found["fit"]["results"][1]
    assert written["success"] is True
    assert written["interrupted"] is False
    assert set(written["statistics"]) >= {"chi2_raw", "aic", "bic", "r2"}
    assert written["versions"]["pyspec"]
    assert re.fullmatch("[0-9a-f]{64}", written["data_sha256"])
    checked = said(capsys, "fit", "job.yaml", "--check")
    assert checked["type"] == "2d"
    assert checked["data"]["shape"] == [60, 160]


def test_an_error_is_json_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = said(capsys, "fit", "nothing.yaml")
    assert found["exit_code"] == 1
    assert found["error"].startswith("nothing.yaml: cannot be read")


def test_wrong_arguments_are_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["fit"], "required: JOB.yaml"),
        (["fti"], "did you mean 'fit'?"),
        (["ops", "--jsn"], "did you mean '--json'?"),
        ([], "--json; write it behind the command"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*words, "--json"])
        assert stopped.value.code == 2
        printed = capsys.readouterr()
        found = json.loads(printed.out)
        assert (found["command"], found["exit_code"]) == (words[0] if words else None, 2)
        assert said in found["error"]
        assert said in printed.err
    assert main(["ops", "glp"]) == 1
    assert "no function 'glp'; did you mean 'GLP'?" in capsys.readouterr().err


def test_an_option_of_another_command_is_said_to_be_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # "write it behind the command", where it stood; "did you mean '--layout'?" for --plot.
    for words, said in (
        (["ops", "--data", "scan.csv"], "'pyspec ops' has no such option, 'pyspec new' has"),
        (["--quiet", "fit", "job.yaml"], "--quiet; write it behind the command"),
        (["show", "scan.csv", "--layuot", "data"], "did you mean '--layout'?"),
        (["--layuot"], "did you mean '--layout'?"),
        (["explain", "models.yaml", "doublet"], "by --model NAME"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("python", "flags", "fields"),
    [
        ("leave layout= out", "leave --layout out", "leave layout: out"),
        ("say transpose=True", "say --transpose", "say transpose: true"),
        (
            "give it as read(..., time=..., energy=...): the path",
            "give it as --time ... --energy ...: the path",
            "give it as time: ..., energy: ... below 'data:': the path",
        ),
        ("take energy_scale='binding'", "take --energy-scale 'binding'",
         "take energy_scale: 'binding'"),
        ("say read('a.csv', energy='e.csv')", "say --energy 'e.csv'",
         "say energy: 'e.csv' below 'data:'"),
        ("chi2 == 3, x=4", "chi2 == 3, x=4", "chi2 == 3, x=4"),
        # of an axis on the command line, which no file is read for: was "as read(path --sort) does"
        ("leave one out, or average the data of both, as read(path, sort=True) does",
         "leave one out", "leave one out"),
        ("read(..., units={'energy': 'meV'}, to='eV')", "units={'energy': 'meV'} --to 'eV'",
         "units: {'energy': 'meV'}, to: 'eV' below 'data:'"),
    ],
)  # fmt: skip
def test_hints(python: str, flags: str, fields: str) -> None:
    assert for_flags(python) == flags
    assert for_fields(python) == fields
