"""The sections ``functions`` and ``include``: what they refuse, with file and line, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyspec import ModelError, load_model

USE = "m: {Line: {A: [2, True]}}\n"
LINE = "functions:\n  Line: {formula: A * x}\n"


@pytest.mark.parametrize(
    ("section", "line", "words"),
    [
        ("functions: 3\n", 1, "functions: this section holds functions by name, such as 'Skew: {"),
        ("functions:\n  Line: A * x\n", 2, "Line: write a formula below it, such as 'Skew: {"),
        (
            "functions:\n  Line:\n    formula: A * x\n    domian: time\n",
            4,
            "Line.domian: a function has no 'domian'; it has formula, parameters, lines, inputs, "
            "domain, doc, reach, tail, linear, jumps; "
            "did you mean 'domain'?",
        ),
        ("functions:\n  Line: {doc: nothing}\n", 2, "Line: has no formula; write 'formula: A * e"),
        ("functions:\n  Line: {formula: [A, x]}\n", 2, "Line.formula: must be text; quote it"),
        (
            "functions:\n  Line: {formula: A * where(x > 1, x, 2), doc: a kink}\n",
            2,
            "Line: a comma within { } ends a text; put the whole of it in quotes, "
            '"A * where(x > 1, x, 2)", or on a line of its own',
        ),
        (
            "functions:\n  Line: {formula: A * x, parameters: {A: , x0: 1}}\n",
            2,
            "Line.parameters: holds names, bounds and units, such as 'A, x0 [eV], w > 0'",
        ),
        (
            "functions:\n  Line:\n    parameters: A x0\n    formula: A * (x - x0)\n",
            4,
            "Line: cannot read the parameters 'A x0'; write them as 'A, x0 [eV], w > 0, 0",
        ),
        (
            "functions:\n  Line: {formula: A * x, lines: u}\n",
            2,
            "Line.lines: holds helper values by name, such as 'u: (x - x0) / w'",
        ),
        (
            LINE + "  Line: {formula: A}\n",
            3,
            "Line: given twice, first at <text>:2; rename one of the two",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(section: str, line: int, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(section + USE, "m")
    assert str(caught.value).startswith(f"<text>:{line}: functions"), caught.value
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("include", "other", "words"),
    [
        ("include: {a: b}", LINE, "include: names files of formulas, such as 'include: ours.yaml'"),
        ("include: other.yaml", LINE + USE, "other.yaml must hold a section 'functions:' and no"),
        ("include: absent.yaml", LINE, "absent.yaml"),
    ],
)
def test_mistakes_of_included_files(tmp_path: Path, include: str, other: str, words: str) -> None:
    (tmp_path / "other.yaml").write_text(other)
    (tmp_path / "m.yaml").write_text(f"{include}\n{USE}")
    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "m.yaml", "m")
    assert str(caught.value).startswith(f"{tmp_path / 'm.yaml'}:1: include: ")
    assert words in str(caught.value)


def test_formulas_of_another_file_may_be_given_again_if_they_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(LINE)
    path = tmp_path / "m.yaml"
    path.write_text("include: [other.yaml]\n" + LINE + USE)
    model = load_model(path, "m")
    model.set_axes(energy=[1.0, 2.0])
    np.testing.assert_array_equal(model.evaluate(), [2.0, 4.0])
    path.write_text("include: other.yaml\n" + LINE.replace("A * x", "A") + USE)
    with pytest.raises(ModelError, match=r"m\.yaml:3: functions\.Line: given twice, first at .*:2"):
        load_model(path, "m")


def test_a_function_may_have_no_parameters() -> None:
    text = "functions: {Square: {formula: x ** 2}}\nm: {Square: %s}\n"
    model = load_model(text % "{}", "m")
    model.set_axes(energy=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.evaluate(), [1.0, 4.0, 9.0])
    with pytest.raises(ModelError, match=r"Square has no parameter 'A'; it has none$"):
        load_model(text % "{A: [1, True]}", "m")
