"""pyspec new, fit, explain, simulate and show, as a person calls them."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from pyspec.cli import main
from pyspec.cli.new import JOB, MODELS, TRUTH, example_data
from pyspec.io import load_fit, read
from pyspec.ir import parse_graph
from pyspec.passes import PASSES

pytest.importorskip("matplotlib")

HAS_H5PY = True
try:
    import h5py  # noqa: F401
except ImportError:
    HAS_H5PY = False


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["new", str(tmp_path / "n")]) == 0
    capsys.readouterr()
    return tmp_path / "n"


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
    expected = {"report.html", "report_baseline.html", "parameters.csv", "parameters.json"}
    assert names == expected | {"fit.png"} | ({"fits.h5"} if HAS_H5PY else set())
    with (folder / "results" / "parameters.csv").open() as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    for name, truth in TRUTH.items():
        pull = (float(rows[name]["value"]) - truth) / float(rows[name]["stderr"])
        assert abs(pull) < 4, name
    assert json.loads((folder / "results" / "parameters.json").read_text())["parameters"]
    if HAS_H5PY:
        stored = load_fit(folder / "results" / "fits.h5", fit_type="2d")
        assert stored.values["ratio"] == float(rows["ratio"]["value"])


def test_new_keeps_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "job.yaml").write_text("mine")
    assert main(["new", str(folder)]) == 1
    assert "holds job.yaml, models.yaml, data.csv already" in capsys.readouterr().err
    assert (folder / "job.yaml").read_text() == "mine"
    assert main(["new", str(folder), "--force"]) == 0
    assert (folder / "job.yaml").read_text() == JOB
    assert main(["new", str(folder / "job.yaml" / "x")]) == 1


def test_check_fits_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(folder / "job.yaml"), "--check"]) == 0
    assert "all is well" in capsys.readouterr().out
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("pairs", "arguments"),
    [
        ((("type: 2d", "type: slices"),), []),
        ((), ["--type", "baseline"]),
        ((("type: 2d", "spectrum: 3.0"), ("dynamics:", "# dynamics:"), ("  - {p", "#  - {p")), []),
        ((("type: 2d", "spectrum: [1.0, 5.0]"),), []),
        (
            (("type: 2d", "stages: 1\n  options: {tolerance: 1.0e-6}"),),
            ["--backend", "interpreted"],
        ),
        ((("baseline: [-10, -1]", "noise: {type: poisson, scale: 25}"),), []),
        ((("output: results ", "output: {folder: results, archive: false}  "),), []),
    ],
)
def test_kinds_of_fits(
    folder: Path, pairs: tuple[tuple[str, str], ...], arguments: list[str]
) -> None:
    job = change(folder, *pairs)
    out = str(folder / "results")
    assert main(["fit", job, "-q", "-o", out, *arguments]) == 0
    assert "<img" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    archived = (folder / "results" / "fits.h5").exists()
    assert archived == (HAS_H5PY and "archive" not in str(pairs))


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


def test_a_fit_that_does_not_converge_ends_with_3(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = change(folder, ("method: native", "max_evaluations: 2"))
    assert main(["fit", job]) == 3
    shown = capsys.readouterr()
    assert "did not converge" in shown.out
    assert "NOT converged" in shown.out
    page = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "not converged" in page


def test_ctrl_c_keeps_the_best_point_and_ends_with_130(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspec.fit.evaluations import Evaluations

    def press(self: Evaluations) -> None:
        if self.count:
            raise KeyboardInterrupt

    monkeypatch.setattr(Evaluations, "check_end", press)
    job = change(folder, ("baseline: [-10, -1]", "# baseline: [-10, -1]"))
    assert main(["fit", job]) == 130
    assert "interrupted" in (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "results" / "parameters.json").read_text())["interrupted"] is True


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((("type: 2d", "type: spectrum"),), "which spectrum? write"),
        ((("type: 2d", "type: baseline"), ("baseline: [", "# b: [")), "type baseline needs"),
        ((("type: 2d", "options: {ftoll: 1}"),), "ftoll"),
        (
            (("output: results ", "output: job.yaml "),),
            "job.yaml: is a file; the output is a folder",
        ),
    ],
)
def test_mistakes_have_one_line(
    folder: Path,
    pairs: tuple[tuple[str, str], ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fit", change(folder, *pairs), "-q"]) == 1
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert main(["fit", str(folder / "job.yaml"), "--type", "3d"]) == 1


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
    for line, message in (
        ("fit: {type: 2d}", "needs a time axis"),
        ("fit: {spectrum: 3}", "leave 'spectrum:' out"),
        ("limits: {time: [0, 1]}", "leave 'time:' out"),
        ("baseline: [0, 1]", "leave it out"),
        ("dynamics: {parameter: GLP_01_A, model: fade}", "nothing moves in time"),
    ):
        job.write_text(f"data: {{path: one.csv}}\nmodels: models.yaml\nmodel: doublet\n{line}\n")
        assert main(["fit", str(job)]) == 1
        assert message in capsys.readouterr().err


def test_without_matplotlib_all_but_the_pictures(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["fit", str(folder / "job.yaml")]) == 0
    assert "pip install 'pyspec[plot]'" in capsys.readouterr().out
    assert not (folder / "results" / "fit.png").exists()
    assert main(["show", str(folder / "data.csv"), "-o", str(folder / "d.png")]) == 0
    assert "No picture" in capsys.readouterr().out


def test_explain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = str(folder / "models.yaml")
    assert main(["explain", models, "--dynamics", "GLP_01_A=fade", "--plan", "--graph"]) == 0
    text = capsys.readouterr().out
    assert "S = GLP_01 + GLP_02" in text
    assert "GLP_01_A(t) = GLP_01_A + expFun_01" in text
    assert "GLP_02_A moves with GLP_01_A" in text
    assert "1. GLP_02_A = ratio * GLP_01_A" in text
    assert 'graph "doublet" ENERGY_TIME_2D' in text
    assert "GLP_01_A_resolved" in text
    assert main(["explain", str(folder / "job.yaml")]) == 0
    assert "expFun_01" in capsys.readouterr().out
    for arguments, message in (
        (["--dynamics", "GLP_01_A"], "write PARAMETER=MODEL"),
        (["--dynamics", "GLP_01_A=fade@x"], "write PARAMETER=MODEL"),
        (["--dynamics", "GLP_01=fade"], "did you mean 'GLP_01_"),
        (["--model", "dublet"], "did you mean 'doublet'"),
    ):
        assert main(["explain", models, *arguments]) == 1
        assert message in capsys.readouterr().err
    assert main(["explain", str(folder / "job.yaml"), "--model", "doublet"]) == 1


def test_explain_names_kernels_and_empty_shirleys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "a:\n  Gauss: {A: [1, True], x0: [0, True], SD: [1, True]}\n"
        "  Shirley: {pShirley: [0.1, True]}\n"
        "law:\n  gaussCONV: {SD: [0.5, True]}\n"
        "  expFun: {A: [1, True], tau: [5, True], t0: [0, False]}\n"
    )
    assert main(["explain", str(path), "--dynamics", "Gauss_01_x0=law"]) == 0
    text = capsys.readouterr().out
    assert "S = nothing: no component stands below it" in text
    assert "gaussCONV ∗ (expFun_01)" in text


def test_explain_the_jacobian(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = str(folder / "models.yaml")
    assert main(["explain", models, "--dynamics", "GLP_01_A=fade", "--jacobian"]) == 0
    text = capsys.readouterr().out
    head = re.search(r"^column +class +form +reason$", text, re.MULTILINE)
    assert head is not None
    assert re.search(r"^Offset_y0 +constant +static", text, re.MULTILINE)
    assert re.search(r"^GLP_01_A_expFun_01_tau +structured +outer product", text, re.MULTILINE)
    assert "  outer product: trace(t) × shape(e)" in text
    assert "row-scaled:" not in text
    assert main(["explain", str(folder / "job.yaml"), "--jacobian"]) == 0
    assert "columns\ncolumn " in capsys.readouterr().out


def test_explain_the_jacobian_of_fast_cycles_and_of_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "a:\n  Gauss: {A: [1, False], x0: [0, False], SD: [1, False]}\n"
        "irf:\n  gaussIRF: {SD: [1.0e-13, False]}\n"
        "up:\n  stepFun: {A: [1, False], t0: [0, True]}\n"
        "down:\n  expFun: {A: [1, False], tau: [1.0e-12, False], t0: [0, True]}\n"
    )
    named = ["explain", str(path), "--model", "a", "--jacobian"]
    assert main(named) == 0
    assert "Jacobian: no parameter is free" in capsys.readouterr().out
    assert main([*named, "--dynamics", "Gauss_01_A=irf,up,down@1e12"]) == 0
    assert "stepFun_01_t0  structured  outer product, convolved" in capsys.readouterr().out
    assert main([*named, "--dynamics", "Gauss_01_A=down"]) == 0
    assert "fallback  finite differences  Gauss_01_A_expFun_01: " in capsys.readouterr().out


def test_simulate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, out = str(folder / "models.yaml"), folder / "s.npz"
    common = ["simulate", models, "--energy", "0:20:50", "--time", "-5:20:30", "--seed", "1"]
    law = ["--dynamics", "GLP_01_A=fade"]
    picture = ["--picture", "-o", str(out)]
    assert main([*common, *law, "--set", "GLP_01_A=40", *picture]) == 0
    dataset = read(out)
    assert dataset.shape == (30, 50)
    assert dataset.data.max() > 35
    assert out.with_suffix(".png").is_file()
    for noise, word in (("counts:1e5", "counting"), ("poisson:20", "20 counts"), ("none", "no n")):
        assert main([*common, *law, "--noise", noise, "-o", str(folder / "s.csv")]) == 0
        assert word in capsys.readouterr().out
    assert main(["simulate", str(folder / "job.yaml"), "-o", str(folder / "j.csv")]) == 0
    np.testing.assert_allclose(
        read(folder / "j.csv").time, read(folder / "data.csv").time, atol=1e-9
    )
    job = ["simulate", str(folder / "job.yaml"), "--energy", "0:20:9", "--time", "0:1:4"]
    assert main([*job, "-o", str(folder / "k.csv")]) == 0
    assert read(folder / "k.csv").shape == (4, 9)
    capsys.readouterr()
    for arguments, message in (
        (["simulate", models], "which energies? give --energy"),
        (["simulate", models, "--energy", "0:20"], "write from:to:points"),
        (["simulate", models, "--energy", "0:20:9", *law], "give --time"),
        ([*common, "--noise", "white:3"], "write gaussian:0.02"),
        ([*common, "--noise", "poisson:0"], "counts must be above 0"),
        ([*common, "--set", "GLP_01_A"], "write PARAMETER=VALUE"),
        ([*common, "-o", "x.xls"], "choose one of them"),
        (["simulate", str(folder / "job.yaml"), "--model", "a"], "is a job"),
    ):
        assert main(arguments) == 1
        assert message in capsys.readouterr().err


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, picture = str(folder / "data.csv"), folder / "look.png"
    assert main(["show", data, "-o", str(picture)]) == 0
    assert "time 60 × energy 160" in capsys.readouterr().out
    assert picture.is_file()
    assert main(["show", data, "--no-picture", "--select", "energy=5:8", "--mean", "time"]) == 0
    assert "energy 2" in capsys.readouterr().out
    for arguments, message in (
        (["--select", "energy=a"], "write axis=value"),
        (["--select", "energi=3"], "did you mean 'energy'"),
        (["--select", "energy=3"], "can be a value or a position"),
        (["--select", "energy=300"], "no value of the axis"),
        (["--mean", "x"], "has no axis 'x'"),
    ):
        assert main(["show", data, *arguments]) == 1
        assert message in capsys.readouterr().err
    assert main(["show", data, "--no-picture", "--select", "energy=100"]) == 0
    assert main(["show", str(folder / "dta.csv")]) == 1
    assert "did you mean 'data.csv'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "new", "show", "explain", "simulate", "ops", "demo"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert command == "demo" or f"pyspec {command}" in text.split("examples:")[1]


def test_an_unexpected_error_says_whose_mistake_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> int:
        raise ZeroDivisionError("x")

    monkeypatch.setattr("pyspec.cli.ops.print_ops", broken)
    assert main(["ops"]) == 1
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        main(["ops", "--traceback"])


def test_example_data_are_the_same_every_time() -> None:
    assert example_data() == example_data()


def test_explain_the_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["explain", str(folder / "models.yaml"), "--dynamics", "GLP_01_A=fade"]
    assert main([*named, "--passes"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^(\w+): \d+", text, re.MULTILINE) == list(PASSES)
    assert "GLP_01: only its height moves; depends on" in text
    for name in PASSES:
        assert main([*named, f"--after={name}"]) == 0
        text = capsys.readouterr().out
        left_out = re.findall(r"^(\w+): left out$", text, re.MULTILINE)
        assert left_out == list(PASSES)[list(PASSES).index(name) + 1 :]
        graph = parse_graph(text.partition(f"Graph after {name}:\n\n")[2].rstrip("\n"))
        assert ("GLP_02_F" in graph.node_by_name) == (name in ("fold", "drop"))


def test_explain_after_no_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(folder / "models.yaml"), "--after=shares"]) == 1
    assert "after: 'shares' is no pass; did you mean 'share'?" in capsys.readouterr().err


def test_explain_the_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row of the axis stage takes a double, and one for each slope."""
    models = str(folder / "models.yaml")
    assert main(["explain", models, "--dynamics", "GLP_01_A=fade", "--memory"]) == 0
    assert "Axis stage: empty" in capsys.readouterr().out
    path = folder / "kernel.yaml"
    path.write_text(
        "m:\n  Gauss: {A: [9, True], x0: [3, True], SD: [1, False]}\n"
        "law:\n  gaussCONV: {SD: [1, True]}\n"
        "  expFun: {A: [2, True], tau: [3, True], t0: [0, False]}\n"
    )
    assert main(["explain", str(path), "--dynamics", "Gauss_01_A=law", "--memory"]) == 0
    text = capsys.readouterr().out
    rows = re.findall(r"^ *(\S+) +(\d+) +(\d+)$", text, re.MULTILINE)
    assert rows
    assert all(int(size) == 8 * (1 + int(slopes)) for _, slopes, size in rows)
    each = re.search(r"each further time, scratch of the kernels included: (\d+) bytes", text)
    assert each is not None
    assert int(each[1]) > sum(int(size) for _, _, size in rows)
