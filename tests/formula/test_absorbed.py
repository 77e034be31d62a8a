"""What is the same for a row leaves the slopes of a formula, and the numbers stay."""

from __future__ import annotations

import numpy as np
import pytest

from bench.inside.absorb import both
from bench.inside.formulas import as_formula
from bench.problems.formula_texts import TEXTS
from pyspec.formula import Definition, define
from pyspec.formula.program.absorbed import absorbed
from pyspec.formula.program.encode import Program, encode

LORENTZ = "energy Line(A, x0, w > 0): A / (1 + ((x - x0) / w) ** 2)"


def definition(text: str) -> Definition:
    own = define(text).own
    assert isinstance(own, Definition)
    return own


def listed(program: Program) -> list[str]:
    """The instructions of a program, those for a row first; x is the axis, p0 a parameter, y0 the
    value, y1 its first slope, others are numbers for a row (r) or for each point (v)."""
    names = {k: f"p{k}" for k in range(program.n_params)}
    for k, value in enumerate(program.constants, program.n_params):
        names[k] = f"{value:g}"
    for k in range(program.n_params + len(program.constants), program.n_rows):
        names[k] = f"r{k}"
    names[program.n_rows] = "x"
    for k in range(1, program.n_vectors):
        names[program.n_rows + k] = f"v{k}"
    end = program.n_rows + program.n_vectors
    names |= {end + k: f"y{k}" for k in range(program.n_params + 1)}
    return [
        f"{names[one.target]} = {one.code}({', '.join(names[k] for k in one.operands)})"
        for one in (*program.row_code, *program.code)
    ]


BEFORE = [
    "r4 = DIV(1, p2)",
    "v1 = SUB(x, p1)",
    "v2 = MUL(v1, r4)",
    "v1 = MULADD(v2, v2, 1)",
    "y1 = DIV(1, v1)",
    "y0 = MUL(p0, y1)",
    "v1 = CHAIN3(y1, y0, v2)",
    "v3 = NEG(v1)",
    "v4 = SUB(v3, v1)",
    "v1 = CHAIN3(v2, v4, r4)",
    "y3 = NEG(v1)",
    "v1 = CHAIN(r4, v4)",
    "y2 = NEG(v1)",
]
AFTER = [
    "r5 = DIV(1, p2)",
    "v1 = SUB(x, p1)",
    "v2 = MUL(v1, r5)",
    "v1 = MULADD(v2, v2, 1)",
    "y1 = DIV(1, v1)",
    "y0 = MUL(p0, y1)",
    "v1 = CHAIN3(y1, y0, v2)",
    "v3 = MUL(v1, 2)",
    "y3 = CHAIN3(v2, v3, r5)",
    "y2 = CHAIN(r5, v3)",
]


def test_before_and_after() -> None:
    """Signs and the two equal terms of a square leave the slopes by place and width."""
    own = definition(LORENTZ)
    work = own.work(own.value)
    assert listed(encode(work, absorb=False)) == BEFORE
    assert listed(encode(work)) == AFTER
    counts = absorbed(own)
    assert (counts.points, counts.points_without) == (9, 12)
    assert str(counts) == (
        "Line: value and 3 slopes take 9 instructions at each point and 1 for a row, without this "
        "pass 12 and 1"
    )


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_stay_and_nothing_is_added_at_the_points(name: str) -> None:
    """The value to the last bit, slopes to rounding; NaN at the same places."""
    calls, (one, other) = both(name)
    for call in calls:
        call.run()
    assert np.array_equal(one[0], other[0], equal_nan=True)
    assert np.array_equal(np.isnan(one), np.isnan(other))
    largest = np.nanmax(np.abs(one), axis=(1, 2), keepdims=True)
    assert np.all((np.abs(one - other) <= 1e-14 * largest) | np.isnan(one))
    own = as_formula(name).own
    assert isinstance(own, Definition)
    counts = absorbed(own)
    assert counts.points <= counts.points_without


@pytest.mark.parametrize(
    ("text", "is_compiled"),
    [
        (LORENTZ, True),
        ("energy Share(A): A * sum(x)", False),
        ("kernel Box(w > 0): where(abs(d) < w, 1, 0)", False),
    ],
)
def test_what_a_kernel_runs_along_an_axis(text: str, is_compiled: bool) -> None:
    assert definition(text).is_compiled is is_compiled
