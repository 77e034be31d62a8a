"""Stumbles of a first hour at the command line: what is wrong is said before anything is read or
fitted, where it stands, in the syntax of where one is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyspec.cli import arguments, main
from pyspec.executor import BACKENDS
from pyspec.passes import PASSES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new job in a folder with a space and an umlaut, from within."""
    home = tmp_path / "Gold Probe ä"
    assert main(["new", str(home)]) == 0
    monkeypatch.chdir(home)
    return home


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    """What a command that fails says."""
    capsys.readouterr()
    assert main(list(words)) == code
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--method", "nelde"], "--method: unknown fit method 'nelde'; did you mean 'nelder'?"),
        (["--type", "slice"], "--type must be one of 2d, spectrum, baseline, slices, trace, not "
         "'slice'; did you mean 'slices'?"),
        (["-o", "data.csv"], "data.csv: is a file; the output is a folder"),
    ],
)  # fmt: skip
def test_arguments_of_a_fit_are_refused_before_anything_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    Path("data.csv").write_text("not read\n")
    for check in ([], ["--check"]):
        assert says in answer(capsys, "fit", "job.yaml", *words, *check)


@pytest.mark.parametrize(
    ("command", "says"),
    [("fit", "'pyspec show' looks at data"), ("explain", "; a model file is YAML")],
)
def test_data_in_the_place_of_a_job_or_model(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, says: str
) -> None:
    """Binary data were to be saved with UTF-8."""
    Path("scan.npz").write_bytes(b"PK\x03\x04\x00\xff")
    said = answer(capsys, command, "scan.npz")
    assert "scan.npz: is a binary file; " in said
    assert says in said


def test_an_output_folder_is_made_by_the_fit_alone(folder: Path) -> None:
    assert main(["fit", "job.yaml", "--check", "-o", "a/b"]) == 0
    assert not Path("a").exists()
    with pytest.raises(SystemExit):
        main(["fit", "job.yaml", "-o", ""])
    assert not Path("parameters.csv").exists()


JOB = "data: {path: data.csv}\nmodels: models.yaml\nmodel: doublet\n"


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (JOB + "fit: {options: {n_starts: many}}", "t.yaml:4: fit.options.n_starts: give a whole"),
        (JOB + "fit: {options: {linear: eliminat}}", "t.yaml:4: fit.options.linear"),
        (JOB + "fit: {options: {n_start: 3}}", "t.yaml:4: fit.options.n_start: fit: fits have no"),
        (JOB + "dynamics: [{parameter: GLP_01_A, model: fad}]", "t.yaml:4: dynamics[0].model: "),
        (JOB + "dynamics: [GLP_01_A: fade]", "t.yaml:4: dynamics[0].GLP_01_A: write '-"),
        (JOB.replace("data.csv}", "data.csv, to: nm}"), "say units: {energy: eV} or another of"),
        (JOB + "fit: {options: {n_starts: 0}}", "t.yaml:4: fit.options.n_starts: n_starts must"),
        (JOB + "fit: {options: {seed: -1}}", "t.yaml:4: fit.options.seed: seed must be a whole"),
        (JOB + "fit: {options: {max_seconds: -1}}", "t.yaml:4: fit.options.max_seconds: "),
        (JOB + "noise: {sigma: true}", "t.yaml:4: noise.sigma: give a finite number"),
        (JOB + "noise: {sigma: errors.csv}", "errors.csv"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_job(
    folder: Path, capsys: pytest.CaptureFixture[str], job: str, says: str
) -> None:
    Path("t.yaml").write_text(job + "\n")
    for check in ([], ["--check"]):
        assert says in answer(capsys, "fit", "t.yaml", "-q", *check)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "data.csv", "-o", "none/look.png"], "look.png: the folder 'none' is missing"),
        (["show", "data.csv", "-o", "."], ".: is a folder; give the name of a picture"),
        (["show", "data.csv", "--select", "energy=3"], "--at energy=3 for the position"),
        (["show", "data.csv", "--select", "time=a"], "--select time=a: write axis=value, "
         "axis=position or axis=from:to, such as x=0.09, x=10 or energy=281:292"),
        (["show", "data.csv", "--at", "time=1.5"], "--at time=1.5: write axis=position, from 0"),
        (["show", "data.csv", "--to", "nm"], "say --units energy=eV or another of"),
        (["show", "data.csv", "--units", "eV"], "--units eV: write axis=unit"),
        (["show", "data.csv", "--delimiter", ";"], "no line holds numbers only with the delimiter "
         "';'; leave that out"),
        (["show", "job.yaml"], "job.yaml: is YAML, no data; 'pyspec fit' runs a job"),
        (["explain", "job.yaml", "--after", "shar"], "--after: 'shar' is no pass; did you mean "
         "'share'?"),
        (["explain", "models.yaml", "--dynamics", "GLP_01_A=fade@0.2"], "as none,fade@0.25, or "
         "leave '@' out"),
        (["explain", "job.yaml", "--picture", "none/g.svg"], "the folder 'none' is missing"),
        (["demo", "-o", "data.csv"], "data.csv: is a file; the output is a folder"),
        (["demo", "--backend", "comp", "-o", "x"], "--backend: unknown backend 'comp'"),
    ],
)  # fmt: skip
def test_hints_of_other_commands(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert says in answer(capsys, *words)
    assert not list(folder.glob("*.png"))


def test_help_lists_the_passes_and_backends_that_there_are() -> None:
    assert ("expand", *PASSES) == arguments.PASSES
    assert arguments.BACKENDS == BACKENDS


def test_ctrl_c_while_the_command_is_loaded() -> None:
    code = (
        "import sys\n"
        "class Press:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pyspec.cli.dispatch': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Press())\n"
        "from pyspec.cli import main\n"
        "sys.exit(main(['ops']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "pyspec: interrupted\n")


@pytest.mark.usefixtures("numbers_alone")
def test_ctrl_c_in_the_baseline_says_what_was_not_begun(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyspec.cli.commands.fit as command

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_fit_main", pressed)
    assert main(["fit", "job.yaml", "-q"]) == 130
    assert "Not begun: the fit of all spectra together." in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_goes_away_loses_no_fit(folder: Path) -> None:
    # pyspec fit job.yaml | head -1 ended before the results were written.
    code = "import sys; from pyspec.cli import main; sys.exit(main(['fit', 'job.yaml']))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    assert {path.name for path in Path("results").iterdir()} >= {"report.html", "parameters.json"}
