"""What a file declares of a function by formula must be what follows from the formula."""

from __future__ import annotations

import pytest

from pyspec.errors import ModelError
from pyspec.model import Model, load_model

HEAD = "functions:\n  F:\n    parameters: A, x0, w > 0\n    formula: "
BODY = "\nm:\n  F: {A: [2, True], x0: [5, True], w: [1, True]}\n"
STEP = "A * (x > x0) / w"
BELL = "A * exp(-((x - x0) / w) ** 2)"


def load(formula: str, *declared: str) -> Model:
    return load_model(HEAD + formula + "".join(f"\n    {line}" for line in declared) + BODY, "m")


def test_what_follows_may_be_declared() -> None:
    for formula, declared in (
        (BELL, "linear: A"),
        (BELL, "jumps: []"),
        (STEP, "jumps: x0"),
        ("A * x + x0 * x ** 2 + w", "linear: w, A, x0"),
    ):
        found, known = load(formula, declared).components[0].op, load(formula).components[0].op
        assert (found.linear, found.jumps) == (known.linear, known.jumps)


@pytest.mark.parametrize(
    ("formula", "declared", "said"),
    [
        (BELL, "linear: A, x0", "linear in are A; mend one of the two"),
        ("exp(-(A + x0 * x) / w)", "linear: A", "linear in are none"),
        (BELL, "jumps: x0", "move a jump of the formula are none"),
        (STEP, "jumps: []", "move a jump of the formula are x0"),
    ],
)
def test_a_declaration_that_contradicts_is_refused(formula: str, declared: str, said: str) -> None:
    key = declared.partition(":")[0]
    with pytest.raises(ModelError, match=rf"<text>:5: functions\.F\.{key}: contradicts .*{said}"):
        load(formula, declared)


def test_jumps_of_a_kernel() -> None:
    text = (
        "functions:\n  K:\n    domain: kernel\n    parameters: w > 0\n"
        "    formula: where(abs(d) <= w / 2, 1, 0)\n    jumps: {}\n"
        "m:\n  Offset: {{y0: [1, True]}}\nlaw:\n  K: {{w: [1, True]}}\n"
    )
    load_model(text.format("w"), "m")
    with pytest.raises(ModelError, match="move a jump of the formula are w"):
        load_model(text.format("[]"), "m")
