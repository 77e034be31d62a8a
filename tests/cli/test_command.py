"""The command pyspec: what it prints, what it writes, how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyspec import __version__
from pyspec._library import OPS
from pyspec.cli import arguments, main
from pyspec.cli.jobs.job import JOB_TYPES
from pyspec.executor import BACKENDS
from pyspec.passes import PASSES


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"pyspec {__version__}\n"


def test_what_fits_nothing_imports_nothing() -> None:
    """Help, version and wrong arguments took 0.7 s: all of pyspec was imported first."""
    code = (
        "import sys, contextlib\nfrom pyspec.cli import main\n"
        "for words in (['--version'], ['fit', '--help'], ['fit']):\n"
        "    with contextlib.suppress(SystemExit):\n        main(words)\n"
        "    assert not {'numpy', 'pyspec.io', 'pyspec.model'} & set(sys.modules), words\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out
    assert ("expand", *PASSES) == arguments.PASSES
    assert arguments.BACKENDS == BACKENDS
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    *most, last = JOB_TYPES
    assert f"--type TYPE {', '.join(most)} or {last} " in " ".join(capsys.readouterr().out.split())


def test_ops_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    text = capsys.readouterr().out
    for name, op in OPS.items():
        shown = any(line.startswith(f"{name} ") and op.formula in line for line in text.split("\n"))
        assert shown is not op.derived, name  # what a model cannot name is not in the list
    assert main(["ops", "GLP"]) == 0
    assert "A, x0, F > 0, m" in capsys.readouterr().out


def test_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from pyspec.cli import main; sys.exit(main(['ops']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    output = tmp_path / "out"
    assert main(["demo", "--output", str(output)]) == 0
    shown = capsys.readouterr()
    assert "evaluations" in shown.err
    assert "Every parameter lies within" in shown.out
    assert "pull: (fit - truth) / standard error" in shown.out
    assert " in 0.00 s" not in shown.out  # a fit of 4 ms took no time
    assert shown.out.splitlines()[-1].startswith(f"Open {output / 'report.html'}")
    names = {path.name for path in output.iterdir()}
    assert names == {"demo.png", "report.html", "report.txt", "models.yaml", "models_time.yaml"}
    page = (output / "report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in page
    assert "<script" not in page
    assert "GLP_02_x0_expFun_01_tau" in page
    assert "://" not in page


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*given: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pyspec.cli.commands.ops.run", press)
    assert main(["ops"]) == 130


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
