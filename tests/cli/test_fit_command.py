"""pyspec new and fit, as a person calls them."""

from __future__ import annotations

import csv
import json
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.commands.new import JOB, MODELS, TRUTH
from pyspec.io import load_fit, load_fits

pytest.importorskip("matplotlib")
pytest.importorskip("h5py")


def change(folder: Path, *pairs: tuple[str, str]) -> str:
    text = JOB
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (folder / "job.yaml").write_text(text, encoding="utf-8")
    return str(folder / "job.yaml")


def test_new_runs_at_once_and_finds_the_truth(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(folder / "job.yaml"), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert "GLP_01_A_expFun_01_tau" in shown.out
    assert shown.err == ""
    names = {path.name for path in (folder / "results").iterdir()}
    assert names == {
        "report.html", "report_baseline.html", "parameters.csv", "parameters.json", "fit.png",
        "fits.h5",
    }  # fmt: skip
    with (folder / "results" / "parameters.csv").open() as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    for name, truth in TRUTH.items():
        pull = (float(rows[name]["value"]) - truth) / float(rows[name]["stderr"])
        assert abs(pull) < 4, name
    assert json.loads((folder / "results" / "parameters.json").read_text())["parameters"]
    stored = load_fit(folder / "results" / "fits.h5", fit_type="2d")
    assert stored.values["ratio"] == float(rows["ratio"]["value"])


@pytest.mark.slow
def test_files_of_an_earlier_fit_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An old das.csv stood beside the tables of a new fit as if it were one of them."""
    job, results = str(folder / "job.yaml"), folder / "results"
    assert main(["fit", job, "--quiet"]) == 0
    assert "Of an earlier fit" not in capsys.readouterr().out
    for name in ("das.csv", "eas_k_01.csv", "amplitudes.csv", "notes.csv"):
        (results / name).write_text("mine")
    job = change(folder, ALONE)
    assert main(["fit", job, "--quiet"]) == 0
    older = "amplitudes.csv, das.csv, eas_k_01.csv, report_baseline.html"
    said = f"Of an earlier fit, not of this one: {older}; remove what is old\n"
    assert said in capsys.readouterr().out
    assert (results / "das.csv").read_text() == "mine"
    assert main(["fit", job, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["older"] == older.split(", ")


def test_new_keeps_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "job.yaml").write_text("mine")
    assert main(["new", str(folder)]) == 1
    assert "holds job.yaml, models.yaml, data.csv already" in capsys.readouterr().err
    assert (folder / "job.yaml").read_text() == "mine"
    assert main(["new", str(folder), "--force"]) == 0
    assert (folder / "job.yaml").read_text(encoding="utf-8") == JOB
    assert main(["new", str(folder / "job.yaml" / "x")]) == 1


def test_check_fits_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(folder / "job.yaml"), "--check"]) == 0
    assert "all is well" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["fit", str(folder / "job.yaml"), "-o", ""])
    assert {path.name for path in folder.iterdir()} == {"job.yaml", "models.yaml", "data.csv"}


#: A job that fits no baseline before, and draws one report.
ALONE = ("baseline: [-10, -1]", "# baseline: [-10, -1]")
#: A job of one spectrum, which no law moves.
SPECTRUM = (("type: 2d", "spectrum: 3.0"), ("dynamics:", "# dynamics:"), ("  - {p", "#  - {p"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "arguments", "types"),
    [
        ((("type: 2d", "type: slices"), ALONE), [], ["sbs"]),
        ((), ["--type", "baseline"], ["baseline"]),
        ((*SPECTRUM, ALONE), ["--linear", "eliminate", "--backend", "tree"], ["spectrum"]),
        ((("output: results ", "output: {folder: results, archive: false}  "), ALONE), [], []),
    ],
)
def test_kinds_of_fits(
    folder: Path, pairs: tuple[tuple[str, str], ...], arguments: list[str], types: list[str]
) -> None:
    """The archive of slices held the baseline alone, and without one there was none."""
    out = folder / "results"
    assert main(["fit", change(folder, *pairs), "-q", "-o", str(out), *arguments]) == 0
    assert "<img" in (out / "report.html").read_text(encoding="utf-8")
    assert (out / "fits.h5").exists() == bool(types)
    assert [one.fit_type for one in (load_fits(out / "fits.h5") if types else [])] == types


def test_subcycles_and_profiles_from_a_job(folder: Path) -> None:
    laws = (
        MODELS + "none:\n  none: {}\n"
        "up:\n  linFun:\n    m: [0.1, True, -2, 2]\n    t0: [0, False]\n"
        "depth:\n  pLinear:\n    m: [0.1, True, -1, 1]\n    b: [0, False]\n"
    )
    (folder / "models.yaml").write_text(laws)
    job = change(
        folder,
        ("model: fade}", "model: [none, fade, up], frequency: 0.02}"),
        ("limits:", "profiles:\n  - {parameter: GLP_01_x0, model: depth}\n"
         "auxiliary: {values: [0, 1, 2], weights: [3, 2, 1]}\nlimits:"),
    )  # fmt: skip
    assert main(["fit", job, "--check"]) == 0
    assert main(["explain", job, "--plan"]) == 0


@pytest.mark.slow
def test_a_fit_that_does_not_converge_ends_with_3(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = change(folder, ("method: native", "max_evaluations: 2"), ALONE)
    assert main(["fit", job]) == 3
    shown = capsys.readouterr()
    assert "did not converge" in shown.out
    assert "NOT converged" in shown.out
    page = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "not converged" in page


def test_ctrl_c_keeps_the_best_point_and_ends_with_130(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspec.fit.solve.native import NativeSolver

    run_parts = NativeSolver.run_parts

    def pressed(self: NativeSolver, parts: Any, watch: Any, each: bool) -> None:
        def press(*given: Any) -> None:
            signal.raise_signal(signal.SIGINT)
            watch(*given)

        run_parts(self, parts, press, each)

    monkeypatch.setattr(NativeSolver, "run_parts", pressed)
    job = change(folder, ALONE, *SPECTRUM)
    assert main(["fit", job]) == 130
    assert "interrupted" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "results" / "parameters.json").read_text())["interrupted"] is True


@pytest.mark.usefixtures("numbers_alone")
def test_one_spectrum_needs_no_more_than_data_and_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--energy", "0:20:100", "--noise", "gaussian:0.01", "--seed", "1"]
    data = folder / "one.csv"
    model = ["simulate", str(folder / "models.yaml"), "--model", "doublet"]
    assert main([*model, *arguments, "-o", str(data)]) == 0
    job = folder / "one.yaml"
    job.write_text("data: {path: one.csv}\nmodels: models.yaml\nmodel: doublet\n")
    assert main(["fit", str(job)]) == 0
    assert "spectrum fit of doublet" in capsys.readouterr().out


@pytest.mark.filterwarnings("default:no picture")
def test_without_matplotlib_all_but_the_pictures(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["fit", str(folder / "job.yaml")]) == 0
    assert "pip install 'pyspec-fit[plot]'" in capsys.readouterr().err
    assert not (folder / "results" / "fit.png").exists()
    assert main(["show", str(folder / "data.csv"), "-o", str(folder / "d.png")]) == 0
    assert "warning: no picture" in capsys.readouterr().err


def test_an_unexpected_error_says_whose_mistake_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> int:
        raise ZeroDivisionError("x")

    monkeypatch.setattr("pyspec.cli.commands.ops.run", broken)
    assert main(["ops"]) == 1
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err
    for words in (["ops", "--traceback"], ["--traceback", "ops"]):
        with pytest.raises(ZeroDivisionError):
            main(words)


@pytest.mark.usefixtures("numbers_alone")
def test_ctrl_c_in_the_baseline_says_what_was_not_begun(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyspec.cli.commands.fit as command

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_fit_main", pressed)
    assert main(["fit", str(folder / "job.yaml"), "-q"]) == 130
    assert "Not begun: the fit of all spectra together." in capsys.readouterr().out


@pytest.mark.usefixtures("numbers_alone")
def test_a_curve_that_misses_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.linspace(0, 10, 201)
    data = np.exp(-((x - 4) ** 2)) + 0.5 * np.exp(-((x - 6) ** 2))
    noise = np.random.default_rng(1).normal(0, 0.01, x.size)
    np.savetxt(tmp_path / "d.csv", np.c_[x, data + noise], delimiter=",")
    (tmp_path / "m.yaml").write_text("m: {Gauss: {A: [1, True], x0: [4, True], SD: [1, True]}}\n")
    (tmp_path / "job.yaml").write_text("data: {path: d.csv}\nmodels: m.yaml\n")
    main(["fit", str(tmp_path / "job.yaml"), "-q"])
    said = "The curve misses something, or the noise is no white one: look at the residual"
    assert said in capsys.readouterr().out
