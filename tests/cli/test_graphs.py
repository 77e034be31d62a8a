"""pyspec diff, and the picture of pyspec explain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspec.cli import main

MODELS = """\
one:
  Offset: {y0: [1, True]}
  Gauss: {A: [9, True, 0, 50], x0: [84, True], SD: [1, True]}
  Gauss: {A: ["2/4 * Gauss_01_A"], x0: [86, True], SD: [1, True]}
two:
  Offset: {y0: [1, True]}
  Gauss: {A: [8, True, 0, 40], x0: [84, True], SD: [1, True]}
  Gauss: {A: ["1/2 * Gauss_01_A"], x0: [86, True], SD: [1, True]}
three:
  Gauss: {A: [9, False], x0: [84, True], SD: [1, True]}
fade:
  expFun: {A: [2, True], tau: [3, True], t0: [0, False]}
"""


@pytest.fixture
def models(tmp_path: Path) -> str:
    path = tmp_path / "models.yaml"
    path.write_text(MODELS, encoding="utf-8")
    return str(path)


def test_diff_names_values_and_expressions(models: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["diff", models, models, "--model", "one", "--other", "two"]
    assert main(named) == 0
    assert capsys.readouterr().out.splitlines() == [
        "name: one -> two",
        "~ Gauss_01_A: value 9.0 -> 8.0, bounds [0.0, 50.0] -> [0.0, 40.0]",
        "~ Gauss_02_A: expr_string 2/4 * Gauss_01_A -> 1/2 * Gauss_01_A",
        "",
        "another structure: each has a plan of its own",
    ]
    assert main([*named, "--after", "fold"]) == 0
    text = capsys.readouterr().out
    assert "expr_string" not in text
    assert "the same structure: one compiled plan serves both" in text


def test_diff_of_what_moves(models: str, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["diff", models, models, "--model", "one", "--dynamics", "Gauss_01_x0=fade"]
    assert main([*named, "--other", "three"]) == 0
    text = capsys.readouterr().out
    assert "- OPT_PARAM Offset_y0" in text
    assert "~ Gauss_01_A: kind OPT_PARAM -> STATIC_PARAM, value" not in text
    assert "~ Gauss_01_A: kind OPT_PARAM -> STATIC_PARAM, vary True -> False" in text
    assert main(named) == 0
    assert capsys.readouterr().out == "no difference\n"


@pytest.mark.parametrize("ending", ["svg", "dot"])
def test_a_picture_of_the_graph(
    models: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"graph.{ending}"
    named = ["explain", models, "--model", "one", "--dynamics", "Gauss_01_x0=fade"]
    assert main([*named, "--picture", str(picture)]) == 0
    assert f"Picture of the graph: {picture}" in capsys.readouterr().out
    assert picture.stat().st_size > 1000
    if ending == "dot":
        assert "Gauss_02_A\\n2/4 * Gauss_01_A" in picture.read_text(encoding="utf-8")
        assert main([*named, "--picture", str(picture), "--after", "fold"]) == 0
        assert "Gauss_02_A\\n0.5 * Gauss_01_A" in picture.read_text(encoding="utf-8")
