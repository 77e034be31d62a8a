"""The parser, evaluation, derivatives and programs of formulas."""

from __future__ import annotations

import math
import pickle
import random

import numpy as np
import pytest
from scipy import special

from pyspec._library import RPN
from pyspec.errors import ModelError, PlanError
from pyspec.formula import (
    disassemble,
    parse,
    parse_given,
    run_rpn,
)
from pyspec.formula.parser import MAX_DEPTH
from pyspec.formula.remedies import INSTEAD

ENV = {"a": 1.7, "b": -0.6, "c": 2.3, "GLP_01_x0": 84.1}


def random_text(rng: random.Random, depth: int = 5) -> str:
    """A formula that Python reads in the same way."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["a", "b", "c", "GLP_01_x0", "2", "0.5", "3.", ".25", "1e-1", "2E+1"])
    kind = rng.random()
    if kind < 0.15:
        return rng.choice("-+") + random_text(rng, depth - 1)
    if kind < 0.35:
        return f"({random_text(rng, depth - 1)})"
    space = rng.choice(["", " ", "  "])
    operator = space + rng.choice(["+", "-", "*", "/", "**"]) + space
    return random_text(rng, depth - 1) + operator + random_text(rng, depth - 1)


TEXTS = [random_text(random.Random(seed)) for seed in range(300)]


def same(value: float, expected: float) -> bool:
    close = math.isclose(value, expected, rel_tol=1e-13, abs_tol=0.0)
    return close or value == expected or (math.isnan(value) and math.isnan(expected))


def test_reads_like_python() -> None:
    env, compared = {name: np.float64(value) for name, value in ENV.items()}, 0
    for text in TEXTS[:150]:
        with np.errstate(all="ignore"):
            try:
                expected = eval(text, {"__builtins__": {}}, env)
            except (ZeroDivisionError, OverflowError):
                continue  # Python's own numbers overflow or divide by zero here
        if isinstance(expected, complex):
            expected = math.nan  # Python goes complex here
        assert same(float(parse(text).evaluate(ENV)), float(expected)), text
        compared += 1
    assert compared > 100


def test_program_gives_the_same_bits() -> None:
    names = list(ENV)
    traces = np.array([[ENV[name], ENV[name] + 0.25, -ENV[name]] for name in names])
    for text in TEXTS:
        formula = parse(text)
        code = formula.rpn({name: row for row, name in enumerate(names)})
        assert code.dtype == np.int64
        assert code.shape[1] == 2
        expected = formula.evaluate(dict(zip(names, traces, strict=True)))
        value = run_rpn(code, traces)
        assert value.shape == (3,)
        np.testing.assert_array_equal(value, np.broadcast_to(expected, 3), text)
        height = deepest = 0
        for line in disassemble(code, names).splitlines():
            height += 1 - RPN[line.split()[0]].arity
            deepest = max(deepest, height)
        assert (height, deepest) == (1, formula.depth), text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2 ** 2", -4.0),
        ("2 ** 3 ** 2", 512.0),
        ("-a ** -2 * 2", -0.5),
        (" a\n + 1\t", 3.0),
        ("1/0", math.inf),
        ("(a - a)/0", math.nan),
        ("(-8) ** (1/3)", math.nan),
        ("10 ** 400", math.inf),
    ],
)
def test_values(text: str, value: float) -> None:
    assert same(float(parse(text).evaluate({"a": 2.0})), value)


ERRORS = [
    ("", 0, "empty"),
    ("a ^ 2", 2, r"write \*\*"),
    ("a // b", 2, "floor division"),
    ("a % b", 2, "remainder"),
    ("(a + b", 0, "never closed"),
    ("a + b)", 5, r"no '\(' before it"),
    ("a +", 3, "ends where"),
    ("* a", 0, r"'\*' stands where"),
    ("a b", 2, "operator is missing before 'b'"),
    ("a + exp()", 4, r"exp takes 1 argument\(s\), not 0"),
    ("2a", 1, r"write 2 \* a"),
    ("1e999", 0, "too large"),
    ("1,5", 1, "decimal point"),
    ("sqroot(a)", 0, "not a known function"),
    ("2 * sin", 4, r"'sin' is a function; write sin\( \.\.\. \)"),
    ("a = 2", 2, "'=' is not an operator"),
    ("a ! b", 2, "write != to compare"),
    ("a < b < c", 6, "cannot be chained"),
    ("(a == b) & c", 9, "condition \\* condition"),
    ("1 if a > b else 0", 2, "'if' is not available; write where"),
    ("where(a > 0, b)", 0, "takes 3 argument"),
    ("arctn(a)", 0, "did you mean 'arctan'"),
    ("a[0]", 1, "brackets"),
    ("a.b", 1, "stands only within numbers"),
    ("2 * np.exp(a)", 6, "without a library; write exp alone"),
    ("step (x - x0)", 0, "write where\\(a >= 0, 1, 0\\); a product is written with \\*"),
    ("tanh(a)", 0, r"'tanh' is not a known function; write 1 - 2 / \(exp\(2 \* a\) \+ 1\)\n"),
    ("a\u2212b", 1, "formulas are of ASCII characters"),
    ("\u00e9 + 1", 0, "has no meaning"),
    ("'a'", 0, "quotes have no meaning"),
    ("__import__('os')", 11, "quotes have no meaning"),
    ("a\0b", 1, "has no meaning"),
    ("(" * 1000 + "a", None, "nested too deeply"),
    ("a+" * 1000 + "a", None, "too long"),
]


@pytest.mark.parametrize(("text", "caret", "message"), ERRORS, ids=range(len(ERRORS)))
def test_errors_show_the_place(text: str, caret: int | None, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        parse(text, "models.yaml:14: GLP_02.x0")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("models.yaml:14: GLP_02.x0: expression ")
    assert lines[-1].strip() == "^"
    if caret is not None:
        assert lines[-1].index("^") - 4 == caret
    assert max(len(line) for line in lines) < 300


def test_deep_formulas_still_work() -> None:
    """Just below the limit, every walk stays clear of Python's recursion limit."""
    text = "(" * (MAX_DEPTH - 1) + "a" + ")" * (MAX_DEPTH - 1)
    assert parse(text).evaluate({"a": 2.0}) == 2.0
    long = parse("+".join(["a"] * (MAX_DEPTH - 1)))
    assert long.gradient({"a": 1.0}) == (MAX_DEPTH - 1, {"a": MAX_DEPTH - 1})
    assert pickle.loads(pickle.dumps(long)) == long


def test_rename_touches_names_only() -> None:
    formula = parse("a*ab - (a) ** a2 + 2e1").rename({"a": "GLP_01_A", "e1": "no", "b": "no"})
    assert formula.text == "GLP_01_A*ab - (GLP_01_A) ** a2 + 2e1"
    assert formula.names == ("GLP_01_A", "ab", "a2")
    swapped = parse("a - b").rename({"a": "b", "b": "a"})
    assert swapped.text == "b - a"


def test_malformed_programs_are_refused() -> None:
    traces = np.ones((1, 2))
    add = RPN["ADD"].index
    for words in ([[add, 0]], [[99, 0]], [[-1, 0]], [[1, 0], [1, 0]], []):
        code = np.array(words, dtype=np.int64).reshape(-1, 2)
        with pytest.raises(PlanError, match="program"):
            run_rpn(code, traces)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a + 1 / 0", 6),
        ("2 / (a * 0 + 1) / -0.0", 16),
        ("a / (3 - 1 - 2)", 2),
        ("exp(a / sin(0))", 6),
    ],
)
def test_a_division_by_0_is_refused_where_a_person_wrote_it(text: str, at: int) -> None:
    assert parse(text).text == text
    with pytest.raises(ModelError) as caught:
        parse_given(text, "m.yaml:3")
    first, shown, caret = str(caught.value).split("\n")
    assert first == (
        f"m.yaml:3: expression {text!r}: this divides by 0, whatever the parameters are"
    )
    assert shown.strip() == text
    assert caret.index("^") - 4 == at


def test_what_is_written_instead_of_a_function_gives_what_it_gives() -> None:
    a, b = np.array([-0.9, -0.3, 1e-3, 0.5]), np.array([0.4, -1.2, 3.0, 0.1])
    same_as = {
        **{name: getattr(np, name) for name in INSTEAD if hasattr(np, name)},
        **{"acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "atan2": np.arctan2},
        **{"acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh},
        **{"expit": special.expit, "sigmoid": special.expit, "ln": np.log, "sgn": np.sign},
        "sech": lambda a: 1 / np.cosh(a),
        "step": lambda a: np.heaviside(a, 1),
        "heaviside": lambda a: np.heaviside(a, 1),
    }
    assert set(INSTEAD) - set(same_as) == {"voigt", "voigt_profile"}
    with np.errstate(invalid="ignore"):
        for name in INSTEAD.keys() & same_as:
            formula, function = parse(INSTEAD[name]), same_as[name]
            wanted = function(*(a, b)[: len(formula.names)])
            found = formula.evaluate({"a": a, "b": b})
            np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)
    for at in ({"a": 0.0, "b": 2.0}, {"a": 0.0, "b": -2.0}, {"a": 1e-8, "b": -1.0}):
        angle = parse(INSTEAD["arctan2"]).evaluate(at)
        assert angle == pytest.approx(np.arctan2(at["a"], at["b"]), rel=1e-15)
    found = parse(INSTEAD["voigt"]).evaluate({"x": a, "s": 0.3, "g": 0.2})
    np.testing.assert_allclose(found, special.voigt_profile(a, 0.3, 0.2), rtol=1e-13)
