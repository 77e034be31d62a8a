"""What the table of slopes says about a function, against the function itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.guarded import drawn

from pyspec._library import OPS, OpDef
from pyspec.formula import parse
from pyspec.functions import reference
from pyspec.functions.quadrature import convolve
from pyspec.functions.slopes import amplitude, arguments, interacting

AXIS = np.linspace(-2.95, 3.05, 31)
#: Not what a resolution makes of a function without a closed form: it depends on each of its
#: arguments as the function does, and its reference takes its time.
NAMES = [
    name
    for name, op in OPS.items()
    if op.params and op.kind != "IRF" and not op.external and not op.formula.startswith("int ")
]


def function(op: OpDef) -> Callable[..., Any]:
    """The function of its arguments, what it reads included."""
    if op.kind == "KERNEL":
        return lambda parameter, signal: convolve(op.name, AXIS, signal, parameter)
    return lambda *values: reference(op.name)(AXIS, *values)


def draw(op: OpDef, rng: np.random.Generator) -> list[Any]:
    """Arguments inside of the function's domain."""
    values: list[Any] = drawn(op, rng, 1, lambda _: rng.uniform(0.3, 2.0, 1))[:, 0].tolist()
    if "T" in op.params:  # kT in electronvolts, as the axis
        values[op.params.index("T")] *= 11604.5
    return values + [rng.normal(size=AXIS.size) for _ in arguments(op)[len(op.params) :]]


def second_difference(op: OpDef, i: int, k: int, rng: np.random.Generator) -> float:
    """How far the change with one argument depends on another, or on itself, relative."""
    call, here, there = function(op), draw(op, rng), draw(op, rng)

    def at(*changes: tuple[int, float]) -> Any:
        values = list(here)
        for index, share in changes:
            values[index] = here[index] + share * (there[index] - here[index])
        return call(*values)

    if i == k:
        parts = [at((i, 0.0)), -2.0 * at((i, 0.5)), at((i, 1.0))]
    else:
        parts = [at((i, 1.0), (k, 1.0)), -at((i, 1.0)), -at((k, 1.0)), at()]
    return float(np.abs(sum(parts)).max() / max(np.abs(part).max() for part in parts))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_derivative_reads(name: str) -> None:
    """Every pair of arguments: named where, and only where, one changes the slope by the other."""
    op, rng = OPS[name], np.random.default_rng(3)
    table = interacting(op)
    for i in range(len(table)):
        for k in range(i, len(table)):
            named = k in table[i]
            assert named == (i in table[k])
            found = [second_difference(op, i, k, rng)]
            while len(found) < 4 and not (named and found[-1] > 1e-4):
                found.append(second_difference(op, i, k, rng))
            where = f"{name}: {arguments(op)[i]}, {arguments(op)[k]}: {max(found):.2g}"
            assert max(found) > 1e-4 if named else max(found) < 1e-10, where


def test_what_scales_a_function() -> None:
    """The only linear parameter scales all of it."""
    for name in NAMES:
        op, rng = OPS[name], np.random.default_rng(4)
        scale = amplitude(op)
        if scale is None:
            continue
        values = draw(op, rng)
        whole = function(op)(*values)
        values[scale] *= -2.5
        found = function(op)(*values)
        np.testing.assert_allclose(found, -2.5 * whole, rtol=1e-12, atol=1e-12, err_msg=name)


#: Changes below this are no jump.
SMALLEST = 1e-5


def largest_jump(op: OpDef, index: int, values: list[Any], low: float, high: float) -> float:
    """The value's largest change over an interval of an argument that is halved until it changes
    by less than SMALLEST, or is a few last bits wide."""

    @cache
    def at(x: float) -> Any:
        return function(op)(*values[:index], x, *values[index + 1 :])

    ends = np.linspace(low, high, 13)
    spectra = [at(x) for x in ends]
    changes = [np.abs(after - before).max() for before, after in pairwise(spectra)]
    found = 0.0
    for interval in np.argsort(changes)[-2:]:
        a, b = ends[interval : interval + 2]
        place = np.argmax(np.abs(at(b) - at(a)))
        while np.abs(at(b) - at(a)).max() > SMALLEST and a < (a + b) / 2 < b and b - a > 1e-14:
            middle = (a + b) / 2
            left, right = (abs(at(middle) - at(end))[place] for end in (a, b))
            a, b = (a, middle) if left > right else (middle, b)
        found = max(found, float(np.abs(at(b) - at(a)).max()))
    return found


#: What may be 0 without being one: a law then starts without a jump.
ZEROS = ("phi", "y0")
SPECIAL = [name for name in NAMES if OPS[name].domain == "TIME" and {*ZEROS} & {*OPS[name].params}]


@pytest.mark.parametrize(
    ("name", "special"),
    [*((name, False) for name in NAMES), *((name, True) for name in SPECIAL)],
    ids=lambda value: {False: "any", True: "phi = y0 = 0"}.get(value, value),
)
def test_what_jumps(name: str, special: bool) -> None:
    """Only what the table names jumps, and as high as it says."""
    op, rng = OPS[name], np.random.default_rng(5)
    values = draw(op, rng)
    if special:
        values = [
            0.0 if argument in ZEROS else value
            for argument, value in zip(arguments(op), values, strict=True)
        ]
    for index, param in enumerate(op.params):
        centre = values[index]
        found = largest_jump(op, index, values, centre - 0.2 * abs(centre), centre + 0.25)
        height = dict(op.jumps).get(param)
        if height is None:
            assert found < SMALLEST, (param, found)
        elif op.kind == "KERNEL":
            assert found > 1e-2
            edge = centre / float(height)
            ends = np.array([0.5, 1 - 1e-12, 1 + 1e-12, 1.5]) * edge
            assert np.array_equal(reference(name)(ends, centre) > 1e-5, [True, True, False, False])
        else:
            expected = abs(parse(height).evaluate(dict(zip(op.params, values, strict=True))))
            assert found == pytest.approx(expected, abs=SMALLEST)


def test_every_entry_is_a_parameter_of_the_function() -> None:
    for op in OPS.values():
        assert set(dict(op.jumps)) <= set(op.params), op.name
        assert set(dict(op.reads)) <= set(arguments(op)), op.name
        assert all(set(reads) <= set(arguments(op)) for _, reads in op.reads), op.name
