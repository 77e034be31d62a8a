"""pyspec explain, simulate and show, as a person calls them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.graphs import node_ids

from pyspec._library import DTYPES
from pyspec.cli import main
from pyspec.io import read
from pyspec.ir import parse_graph
from pyspec.passes import PASSES

pytest.importorskip("matplotlib")


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


MODELS = """
parameters:
  onset: [0, True, -1, 1]
  zero: ["onset + 0.1 * (1 - 500 / energy)"]
peak:
  Gauss: {A: [1, True], x0: [0, True], SD: [1, True]}
still:
  Gauss: {A: [1, False], x0: [0, False], SD: [1, False]}
loss:
  Shirley: {pShirley: [0.1, True]}
  Gauss: {A: [1, True], x0: [0, True], SD: [1, True]}
law:
  gaussCONV: {SD: [0.5, True]}
  expFun: {A: [1, True], tau: [5, True], t0: [0, False]}
irf:
  gaussIRF: {SD: [1.0e-13, False]}
up:
  stepFun: {A: [1, False], t0: [0, True]}
down:
  expFun: {A: [1, False], tau: [1.0e-12, False], t0: [0, True]}
chirped:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: ["zero"]}
plain:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: [0, True]}
seen:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  gaussIRF: {SD: [0.4, True, 0.01, 1], share: [0.2, True, 0, 1]}
  gaussIRF: {SD: [0.8, True, 0.01, 1], share: [0.1, True, 0, 1], shift: [0.1, True]}
  expFun: {A: [1, True], tau: [3, True, 0.1, 30], t0: [0, True]}
  stepFun: {A: [1, True], t0: [0, True]}
free:
  gaussIRF: {SD: [0.1, True, 0.01, 1]}
  gaussIRF: {SD: [0.4, True, 0.01, 1], share: [0.2, True, 0, 1]}
  expFun: {A: {free: energy}, tau: [3, True, 0.1, 30], t0: [0, True]}
"""
FADE = "doublet --dynamics GLP_01_A=fade"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("loss --dynamics Gauss_01_x0=law", [r"S = Gauss_01", r"gaussCONV ∗ \(expFun_01\)"]),
        (f"{FADE} --jacobian", [
            r"^column +class +form +reason$", r"^Offset_y0 +constant +static",
            r"^GLP_01_A_expFun_01_tau +structured +outer product",
            r"^  outer product: trace\(t\) × shape\(e\)",
        ]),
        ("still --jacobian", ["Jacobian: no parameter is free"]),
        ("still --jacobian --dynamics Gauss_01_A=irf,up,down@1e12",
         [r"stepFun_01_t0  structured  outer product, convolved"]),
        ("still --jacobian --dynamics Gauss_01_A=down",
         [r"fallback  finite differences  Gauss_01_A_expFun_01: "]),
        (f"{FADE} --linear", [
            r"a fit can eliminate them \(linear='eliminate'\)",
            r"^GLP_01_A_expFun_01_A +linear *$",
            r"^GLP_01_A_expFun_01_tau +the model is not linear in it$",
        ]),
        ("still --linear", ["Linear parameters: no parameter is free"]),
        ("plain --linear", ["free along an axis, are solved for in every fit"]),
        ("chirped", ["one for each energy"]),
        ("chirped --graph", ['= AXIS "energy" @']),
        ("plain --plan", ["expFun_gaussIRF"]),
        ("peak --dynamics Gauss_01_A=seen",
         [r"\(gaussIRF \+ gaussIRF_02 \+ gaussIRF_03\) ∗ \(expFun_01 \+ stepFun_01\)"]),
        ("free --graph --plan --jacobian", [
            "share = 1 - gaussIRF_02_share$", "share = gaussIRF_02_share$",
            '= DYNAMICS_TRACE "expFun_01', r"^gaussIRF_02_share +structured",
        ]),
        ("free --after=expand", [r"\(1 - gaussIRF_02_share\) \* \(expFun_01_A\)"]),
    ],
)  # fmt: skip
def test_explain_says(
    folder: Path, capsys: pytest.CaptureFixture[str], words: str, says: list[str]
) -> None:
    name, *more = words.split()
    path = folder / ("models.yaml" if name == "doublet" else "several.yaml")
    (folder / "several.yaml").write_text(MODELS)
    assert main(["explain", str(path), "--model", name, *more]) == 0
    text = capsys.readouterr().out
    assert [part for part in says if not re.search(part, text, re.MULTILINE)] == []
    assert "nan" not in text


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


def test_laws_alone_are_simulated_as_a_trace(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were refused with "load them with load_dynamics", a call of Python's."""
    out = folder / "trace.csv"
    (folder / "laws.yaml").write_text(
        "fade:\n  expFun: {A: [5, True], tau: [4, True], t0: [0, False]}\n"
    )
    command = ["simulate", str(folder / "laws.yaml"), "--noise", "none", "-o", str(out)]
    assert main([*command, "--time", "-2:8:21", "--picture"]) == 0
    found = read(out)
    np.testing.assert_allclose(found.time, np.linspace(-2, 8, 21), atol=1e-9)
    expected = np.where(found.time < 0, 0.0, 5 * np.exp(-found.time / 4))
    np.testing.assert_allclose(found.data, expected, atol=1e-8)
    assert out.with_suffix(".png").is_file()


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, picture = str(folder / "data.csv"), folder / "look.png"
    assert main(["show", data, "-o", str(picture)]) == 0
    assert "time 60 × energy 160" in capsys.readouterr().out
    assert picture.is_file()
    assert main(["show", data, "--no-picture", "--select", "energy=5:8", "--mean", "time"]) == 0
    assert "energy 2" in capsys.readouterr().out
    assert main(["show", data, "--no-picture", "--select", "energy=100"]) == 0


def test_explain_the_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["explain", str(folder / "models.yaml"), "--dynamics", "GLP_01_A=fade"]
    assert main([*named, "--passes"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^(\w+): \d+", text, re.MULTILINE) == ["expand", *PASSES]
    assert "GLP_01: only its height moves; depends on" in text
    for number, name in enumerate(["expand", *PASSES]):
        assert main([*named, f"--after={name}"]) == 0
        text = capsys.readouterr().out
        left_out = re.findall(r"^(\w+): left out$", text, re.MULTILINE)
        assert left_out == list(PASSES)[number:]
        graph = parse_graph(text.partition(f"Graph after {name}:\n\n")[2].rstrip("\n"))
        assert ("GLP_02_F" in node_ids(graph)) == (name in ("expand", "fold", "drop"))


FORMULAS = """
functions:
  Line: {parameters: "A, x0, w > 0", formula: A / (1 + ((x - x0) / w) ** 2)}
  Share: {parameters: A, formula: A * sum(x)}
m:
  Line: {A: [1, True], x0: [3, True], w: [2, True]}
  Line: {A: [1, True], x0: [4, True], w: [2, True]}
  Share: {A: [1, True]}
"""


def test_explain_what_is_absorbed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once for a function, however many components it has; not of what NumPy runs."""
    path = folder / "formulas.yaml"
    path.write_text(FORMULAS)
    assert main(["explain", str(path), "--passes"]) == 0
    said = capsys.readouterr().out.partition("\nabsorb: programs of formulas\n")[2]
    assert said == (
        "  Line: value and 3 slopes take 9 instructions at each point and 1 for a row, without "
        "this pass 12 and 1\n"
    )


def test_explain_the_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row of the axis stage takes a double, and one for each slope; phases of work memory."""
    path = folder / "kernel.yaml"
    path.write_text(
        "functions:\n  Bell:\n    parameters: A, x0, w > 0\n"
        "    formula: A * exp(-((x - x0) / w) ** 2)\n"
        "m:\n  Gauss: {A: [9, True], x0: [3, True], SD: [1, False]}\n"
        "  Bell: {A: [9, True], x0: [3, True], w: [1, True]}\n"
        "law:\n  gaussCONV: {SD: [1, True]}\n"
        "  expFun: {A: [2, True], tau: [3, True], t0: [0, False]}\n"
    )
    assert main(["explain", str(path), "--dynamics", "Gauss_01_A=law", "--memory"]) == 0
    text = capsys.readouterr().out
    rows = re.findall(r"^ *(\S+) +(\d+) +(\d+)$", text, re.MULTILINE)
    assert rows
    assert all(int(size) == 8 * (1 + int(slopes)) for _, slopes, size in rows)
    found = re.search(r"Work, for each thread: ([\d,]+) bytes.*one behind the other ([\d,]+)", text)
    assert found is not None
    size, apart = (int(one.replace(",", "")) for one in found.groups())
    parts = re.findall(r"^(?:all|while|sums).* ([\d,]+)$", text, re.MULTILINE)
    phases = [int(one.replace(",", "")) for one in parts]
    assert sum(phases) == apart
    assert size == phases[0] + max(phases[1] + phases[2], phases[3], phases[4])


def test_explain_the_nodes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fields of nodes, programs of expressions, and those of formulas with what runs late."""
    path = folder / "own.yaml"
    path.write_text(
        "functions:\n  Bell:\n    parameters: A, x0, w > 0\n"
        "    formula: A * exp(-((x - x0) / w) ** 2)\n"
        "  Seen:\n    parameters: A, x0, w > 0\n    formula: A * wofz_real(x - x0, w)\n"
        "m:\n  Bell: {A: [9, True], x0: [3, True], w: [1, True]}\n"
        "  Seen: {A: ['Bell_01_A / 3 + 1'], x0: [2, True], w: [1, True]}\n"
    )
    assert main(["explain", str(path), "--nodes"]) == 0
    text = capsys.readouterr().out
    assert "Nodes: 3 of 96 bytes" in text
    head = next(line.split() for line in text.splitlines() if line.split()[:2] == ["node", "step"])
    assert head[1:-1] == [name for name in DTYPES["pyspec_node"].names or () if name != "label"]
    assert "Program of Seen_01_A\n  PARAM Bell_01_A\n  CONST 3.0\n  DIV\n  CONST 1.0\n  ADD" in text
    bell = text[text.index("Program of Bell\n") :].split("\n\n")[0]
    assert re.search(r"^  (v\d+) = SUB x, x0$", bell, re.MULTILINE)
    assert re.search(r"^  value = MUL .*A", bell, re.MULTILINE)
    late = [line for line in bell.splitlines() if line.endswith("# for derivatives")]
    assert any("d_w" in line for line in late)
    assert not any("value =" in line for line in late)
    seen = text[text.index("Program of Seen\n") :]
    assert re.search(r"v\d+, v\d+, v\d+, v\d+ = W v\d+, w", seen)
