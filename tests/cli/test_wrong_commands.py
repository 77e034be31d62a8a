"""Commands that cannot be done: one line says what is wrong, in the syntax of the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.commands.new import example_texts, write_folder
from pyspec.cli.shell import word

SEVERAL = """
parameters:
  onset: [0, True, -1, 1]
  zero: ["onset + 0.1 * (1 - 500 / energy)"]
peak: {Gauss: {A: [1, True], x0: [0, True], SD: [1, True]}}
above: {Gauss: {A: [1, True], x0: [0, True], SD: [1, True]}, Shirley: {pShirley: [0.1, True]}}
chirped: {expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: ["zero"]}}
"""
FADE = "fade: {expFun: {A: [5, True], tau: [4, True], t0: [0, False]}}\n"
AXES = "simulate models.yaml --energy 0:20:50 --time -5:20:30"
WRONG = [
    ("fit job.yaml --method nelde", "--method: unknown fit method 'nelde'; did you mean 'nelder'?"),
    ("fit job.yaml --type slice", "not 'slice'; did you mean 'slices'?"),
    ("fit job.yaml -o data.csv", "data.csv: is a file; the output is a folder"),
    ("fit scan.npz", "'pyspec show' looks at data"),
    ("explain scan.npz", "; a model file is YAML"),
    ("demo -o data.csv", "data.csv: is a file; the output is a folder"),
    ("demo --backend comp -o x", "--backend: unknown backend 'comp'"),
    ("ops glp", "no function 'glp'; did you mean 'GLP'?"),
    # data
    ("show job.yaml", "job.yaml: is YAML, no data; 'pyspec fit' runs a job"),
    ("show dta.csv", "did you mean 'data.csv'"),
    ("show data.csv -o none/look.png", "look.png: the folder 'none' is missing"),
    ("show data.csv -o .", ".: is a folder; give the name of a picture"),
    ("show data.csv --select energy=3", "--at energy=3 for the position"),
    ("show data.csv --select energy=300", "no value of the axis"),
    ("show data.csv --select energi=3", "did you mean 'energy'"),
    (
        "show data.csv --select time=a",
        "--select time=a: write axis=value, axis=position or axis=from:to, such as x=0.09, ",
    ),
    ("show data.csv --at time=1.5", "--at time=1.5: write axis=position, from 0"),
    ("show data.csv --mean x", "has no axis 'x'"),
    ("show data.csv --to nm", "say --units energy=eV or another of"),
    ("show data.csv --units eV", "--units eV: write axis=unit"),
    ("show data.csv --delimiter ';'", "no line holds numbers only with the delimiter ';'; leave "),
    # models
    ("explain job.yaml --after shar", "--after: 'shar' is no pass; did you mean 'share'?"),
    ("explain job.yaml --picture none/g.svg", "the folder 'none' is missing"),
    ("explain models.yaml --model dublet", "did you mean 'doublet'"),
    ("explain models.yaml --dynamics GLP_01_A", "write PARAMETER=MODEL"),
    ("explain models.yaml --dynamics GLP_01_A=fade@x", "write PARAMETER=MODEL"),
    ("explain models.yaml --dynamics GLP_01=fade", "did you mean 'GLP_01_"),
    (
        "explain models.yaml --dynamics GLP_01_A=fade@0.2",
        "as none,fade@0.25, or leave '@' out",
    ),
    (
        "explain several.yaml --model above",
        "Shirley: reads what stands below it, and nothing does; move it above Gauss_01",
    ),
    ("explain several.yaml --model chirped --plan", "zero: depends on the energy"),
    ("diff several.yaml several.yaml", "say which: --model NAME"),
    ("diff several.yaml none.yaml --model peak", "No such file"),
    # simulated data
    ("simulate models.yaml", "which energies? give --energy"),
    ("simulate models.yaml --energy 0:20", "write from:to:points"),
    ("simulate models.yaml --energy 0:20:9 --dynamics GLP_01_A=fade", "give --time"),
    # It was silently ignored.
    ("simulate models.yaml --energy 0:20:9 --aux 0:3:5", "has a profile along it; add one, --prof"),
    (f"{AXES} --noise white:3", "write gaussian:0.02"),
    (f"{AXES} --noise poisson:0", "counts must be above 0"),
    (f"{AXES} --set GLP_01_A", "write PARAMETER=VALUE"),
    # It spoke of clean_data and generate_clean_data().
    (f"{AXES} --set GLP_01_F=-1", "GLP_01_F = -1, but F > 0 is needed"),
    (f"{AXES} -o x.xls", "choose one of them"),
    ("simulate job.yaml --model a", "is a job"),
    ("simulate laws.yaml", "fade moves; give --time from:to:points"),
    ("simulate laws.yaml --energy 0:9:5", "leave --energy out, or name a model of spectra"),
    # first jobs
    ("new data.csv", "is a file, and the job needs a folder; write: pyspec new my_fit data.csv"),
    ("new 'my scan.csv'", f"write: pyspec new my_fit {word('my scan.csv')}"),
    ("new 'x y' --peaks 2", f"pyspec new {word('x y')} DATA"),
    ("new au ' '", "DATA is empty; name a file, or leave it out for an example"),
    ("new au job.yaml", "job.yaml: is YAML, no data; 'pyspec fit' runs a job"),
    ("new au none.csv", "no such file"),
    ("new au --units energy=eV", "--units is for data that are read; name their file"),
    ("new au --data data.csv", "name their file: pyspec new au data.csv"),
    ("new au spectrum.csv --peaks 9", "for 4 peaks at most"),
    ("new au spectrum.csv --survey", "is no survey (a spectrum); leave --survey out"),
    ("new au spectrum.csv --select energy=3:3.2", "and a peak on a background needs"),
    (
        "new au spectrum.csv --rename energy=time --peaks 1",
        "is for spectra; spectrum.csv: is a tra",
    ),
    (
        "new au spectrum.csv --rename energy=time --select energy=3:3.15",
        "laws of time are read off",
    ),
    ("new au spectrum.csv --units energy=ps", "say --rename energy=time if these"),
    ("new au map.npz --units energy=fs", "say --rename energy=time time=energy if"),
    ("new au map.npz --rename time=x", "take one place, --at x=1, or --mean x"),
    ("new au map.npz", "has values at 5 energies, and a peak on a background needs 7 at least"),
    ("new au bad.npz", "has values at 0 energies"),
    ("new au wide.csv", "choose with --columns x y, by name or number from 0, and --errors"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An example, models and data, in a folder with a space and an umlaut."""
    folder = tmp_path_factory.mktemp("Gold Probe ä")
    write_folder(folder, example_texts(), force=False)
    (folder / "several.yaml").write_text(SEVERAL)
    (folder / "laws.yaml").write_text(FADE)
    (folder / "scan.npz").write_bytes(b"PK\x03\x04\x00\xff")
    (folder / "my scan.csv").write_text("1,2\n")
    (folder / "wide.csv").write_text("BE,a,b,s\n" + "".join(f"{k},1,3,2\n" for k in range(9)))
    x = np.linspace(0, 15, 301)
    np.savetxt(folder / "spectrum.csv", np.c_[x, np.exp(-((x - 7) ** 2))], "%.4f", ",")
    axes = {"energy": np.arange(5.0), "time": np.arange(3.0)}
    np.savez(folder / "map.npz", data=np.ones((3, 5)), **axes)
    np.savez(folder / "bad.npz", data=np.full((3, 5), np.nan), **axes)
    return folder


@pytest.mark.parametrize(("command", "says"), WRONG)
def test_the_answer_says_what_to_write(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    says: str,
) -> None:
    monkeypatch.chdir(home)
    before = sorted(home.iterdir())
    assert main(shlex.split(command)) == 1
    assert says in capsys.readouterr().err
    assert sorted(home.iterdir()) == before
