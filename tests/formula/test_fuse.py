"""Programs in fewer passes: the values and slopes of the rules, wherever these hold something."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from support.kernel_calls import KernelCall

from bench.inside.formulas import as_formula
from bench.problems.formula_texts import KINDS, NOT_FORMULAS, TEXTS, missing
from pyspec._library import FUSED, OPS, supported_isas
from pyspec.formula import Definition, define, parse
from pyspec.formula.program.encode import Program, encode

Array = npt.NDArray[np.float64]


def called(text: str, x: Array, params: Array, isa: str, slopes: bool = True) -> Array:
    """Value and slopes of a definition, (1 + n_params, n_rows, n_x)."""
    op = define(text)
    found = np.full((1 + len(op.params), params.shape[1], x.size), -77.0)
    partials = found[1:] if slopes else None
    KernelCall(op, x, np.ascontiguousarray(params), found[0], partials, isa=isa).run()
    return found


def by_rules(text: str, x: Array, params: Array) -> Array:
    """The same by the rules of the table, in NumPy."""
    op = define(text)
    formula = parse(op.formula)
    rows = params[:, :, np.newaxis]
    env = dict(zip(op.params, rows, strict=True)) | {"x": x}
    shape = (params.shape[1], x.size)
    value, slopes = formula.gradient({key: np.broadcast_to(one, shape) for key, one in env.items()})
    return np.array([value, *(slopes[name] for name in op.params)])


def program(text: str) -> Program:
    """The instructions of a definition."""
    own = define(text).own
    assert isinstance(own, Definition)
    return encode(own.work(own.value))


BASES = [
    0.0,
    -0.0,
    1e-320,
    1e-300,
    1e-200,
    1e-9,
    0.3,
    1.0,
    2.5,
    1e9,
    1e200,
    1e300,
    -2.0,
    -0.5,
    -1e-3,
]
EXPONENTS = [-3.0, -2.5, -1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 1e3, -1e3]


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize(
    "text", ["energy F(a, b): (a + 0 * x) ** b", "energy F(a, b): (a * x) ** b"]
)
def test_powers_and_their_slopes(text: str, isa: str) -> None:
    """At any base and exponent, also where the power leaves the range and its slope does not."""
    pairs = np.array(list(itertools.product(BASES, EXPONENTS))).T
    x = np.ones(9)
    found, expected = called(text, x, pairs, isa), by_rules(text, x, pairs)
    # Denormal powers are flushed to 0.
    expected[np.abs(expected) < 1e-306] = 0.0
    found[np.abs(found) < 1e-306] = 0.0
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    # A power has the error of its exponent to e, and b - 1 is rounded in the rule.
    with np.errstate(all="ignore"):
        size = 1.0 + (1.0 + np.abs(pairs[1])) * np.abs(np.log(np.abs(pairs[0]) + (pairs[0] == 0)))
    for one, other in zip(found, expected, strict=True):
        one, other = one[:, 0], other[:, 0]
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        with np.errstate(all="ignore"):
            near = np.abs(one / other - 1.0) < 8e-16 * size
        assert (same | near).all(), pairs[:, ~(same | near)]


#: Texts with what fuses, and where zeros, infinities and cancellation meet.
DIFFICULT = (
    "energy F(a, b): sqrt(x * x - a * a) + b",
    "energy F(a, b): log(x * x + a * a) * b",
    "energy F(a, b): b / (1 + a * x * x)",
    "energy F(a, b): where(x * x > a * a, a * x + b, a * x - b)",
    "energy F(a, b): a * exp(-x ** 2 * b) * x",
    "energy F(a, b): a * exp(1e3 * x) / (1 + exp(1e3 * x)) + b",
    "energy F(a, b): sin(1e7 * a * x) * cos(1e7 * a * x) + b",
    "energy F(a, b): a * x + b * x ** 2 + a * b * x ** 3 - a * a * x ** 4",
    "energy F(a, b): a - b * x - (a - x) * (b - x)",
    "energy F(a, b): (x / a) / b + a / (x * b) - b / a",
    "energy F(a, b): max(x - a, 0) ** b",
    "energy F(a, b): abs(x * x - a * a) * b",
    "energy F(a, b): where(x * x - a * a, a * x, b)",
    "energy F(a, b): (x * x - a * a) ** b",
    "energy F(a, b): sin(a) * x + cos(a) * b + b ** a * x",
    "energy F(a, b): a * sin(x) / b + cos(x)",
    "energy F(a, b): tan(a * x) + b ** x",
    "energy F(a, b): wofz_real(x * a, b) + wofz_imag(x * a, b)",
)


#: Formulas that are shortened for the program.
SHORTENED = (
    "-a + b * x", "x * a - -b", "0 - a * x * b", "a * x * b + 0", "a * x + a * x + b",
    "a * 1 + b * x", "-1 * a * x + b", "2 * (3 * a) * x * b", "-(-a) * x + b",
    "where(x / b > 1, a, b) * x",
    "where(1 > 0, a, b) * x + b", "where(0 > 1, a, b) * x + a", "where(x > 1, a, a) * b",
    "a * b * x / 1", "(a * b * x) / 4", "-a / (x + b)", "1 / (x * a + b)", "a * (x + b) ** -2",
    "a * (b * x) ** 0.5", "a * (x + b) ** 1", "a * (b * x) ** 2.5", "a * b ** x",
    "where(x > 1, 1, 0) * a * exp(b * x)", "where(x > 1, 0, 1) * a * exp(b * x)",
    "exp(a * where(x > 1, 1, 0) + b)", "exp(a * where(x > 1, 0, 1) * x + b)",
    "exp(a * (x > 1) + b * (x < 0.5))", "0 * a * x + b * a", "-a * -b * x", "a - a + b * x * a",
    "wofz_real(x * a, b)", "wofz_imag(x * a, b)", "wofz_imag(a, b) + wofz_real(a, b) * x",
    "abs(a - x) * b", "max(a * x, b) + min(a, b * x)",
)  # fmt: skip


@pytest.mark.parametrize("isa", supported_isas())
@pytest.mark.parametrize("text", [*DIFFICULT, *(f"energy F(a, b): {one}" for one in SHORTENED)])
def test_fused_programs_have_the_values_and_slopes_of_the_rules(text: str, isa: str) -> None:
    # Where x is one of the parameters, differences of rounded squares are exactly 0.
    x = np.concatenate([np.linspace(-2.0, 2.0, 33), [0.1, 0.7, 1.3, -0.1, -0.7, -1.3]])
    params = np.array(list(itertools.product([0.1, 0.7, 1.3], [0.3, 0.75, 2.0]))).T
    found, expected = called(text, x, params, isa), by_rules(text, x, params)
    alone = called(text, x, params, isa, slopes=False)[0]
    np.testing.assert_array_equal(alone, found[0])
    np.testing.assert_array_equal(np.isfinite(found[0]), np.isfinite(expected[0]))
    finite = np.isfinite(expected[0])
    for one, other in zip(found[:, finite], expected[:, finite], strict=True):
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        size = np.nanmax(np.abs(other))
        np.testing.assert_allclose(one / size, other / size, rtol=1e-12, atol=1e-14)


def test_every_fused_instruction_is_made() -> None:
    """A row of fused.def that no formula becomes is a row too many."""
    texts = (*DIFFICULT, "energy F(A, a, b): A * (x / a) ** -b", "energy F(a, b): a * x - b * x")
    made = {one.code for text in texts for one in program(text).code}
    made |= {one.code for name in TEXTS if OPS[name].domain == "ENERGY" for one in codes_of(name)}
    assert set(FUSED) <= made


def codes_of(name: str) -> list[object]:
    own = as_formula(name).own
    assert own is not None
    return list(program(own.text).code)


@pytest.mark.parametrize("name", TEXTS)
def test_functions_of_the_table_as_formulas(name: str) -> None:
    """To 1e-12 of the peak, with slopes, at parameters on both sides of those of the bench."""
    op, own = OPS[name], as_formula(name)
    params = np.array(list(TEXTS[name].values.values()))[:, np.newaxis] * np.linspace(0.9, 1.1, 11)
    x = np.linspace(75.0, 93.0, 97) if op.domain == "ENERGY" else np.linspace(-1.0, 10.0, 97)
    shape = (1 + len(op.params), 11, x.size)
    one, other = np.empty(shape), np.empty(shape)
    KernelCall(op, x, np.ascontiguousarray(params), one[0], one[1:]).run()
    KernelCall(own, x, np.ascontiguousarray(params), other[0], other[1:]).run()
    size = np.abs(one).max(axis=(1, 2), keepdims=True)
    assert (np.abs(other - one) <= 1e-12 * np.where(size, size, 1.0)).all()


def test_every_function_is_a_formula_or_known_to_be_none() -> None:
    assert missing() == []
    assert set(NOT_FORMULAS) <= {name for name, op in OPS.items() if op.kind in KINDS}
