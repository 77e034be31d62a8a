"""Formulas and models whose memory is planned in each way: the same bits."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from fuzz.definitions import random_text

from pyspec._library import CONSTANTS, LIBRARY
from pyspec._library.memory import address, aligned
from pyspec.errors import ModelError
from pyspec.formula import Definition, define
from pyspec.formula.program.encode import encode
from pyspec.memory import FITS, ORDERS, Choice

Array = npt.NDArray[np.float64]

#: In place or not matters to models alone, and there to few.
CHOICES = [Choice(*choice) for choice in product(ORDERS, FITS)]
CHOICES.append(Choice(in_place=False))

#: Formulas with parts of the Faddeeva function, whose registers lie four together.
VOIGTS = (
    "energy V(A, x0, s, w): A * wofz_real((x - x0) / s, w / s) * wofz_imag((x - x0) / w, s)",
    "energy V(A, x0, s): u = (x - x0) / s; v = wofz_imag(u, s) + wofz_real(u, s);"
    " A * v * exp(-u * u) + wofz_real(v, A) * wofz_real(x, x0)",
)


def definitions(count: int) -> list[Definition]:
    """Functions that the compiled library runs."""
    draw, found = random.Random(11), []
    for text in VOIGTS:
        own = define(text).own
        assert isinstance(own, Definition)
        found.append(own)
    while len(found) < count:
        try:
            own = define(random_text(draw)).own
        except ModelError:
            continue
        assert isinstance(own, Definition)
        found.append(own)
    return found


def call(words: npt.NDArray[np.int64], own: Definition, *, slopes: bool) -> Array:
    """Value and, if asked for, partials of a program over a few rows."""
    draw = np.random.default_rng(3)
    n_rows, n_x, n = 9, 50, len(own.params)
    x = np.linspace(0.5, 3.0, n_x)
    params = draw.uniform(0.2, 2.0, (n, n_rows))
    inputs = draw.uniform(0.2, 2.0, (max(len(own.inputs), 1), n_x))
    registers = aligned(int(LIBRARY.pyspec_formula_size(address(words), words.size)))
    registers[:] = np.nan
    out = np.zeros((1 + n, n_rows, n_x))
    rows = np.array([address(out[k + 1]) for k in range(n)], np.int64)
    status = LIBRARY.pyspec_formula(
        address(words), words.size, CONSTANTS["ISA_BASELINE"], n_rows, n_x, address(x),
        address(params), address(inputs), address(registers), address(out[0]),
        address(rows) if slopes and n else None,
    )  # fmt: skip
    assert status == 0
    return out if slopes else out[0]


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_formulas_have_the_same_bits(count: int) -> None:
    smaller = 0
    for own in definitions(count):
        work = own.work(own.value)
        apart = encode(work, Choice("given", "apart"))
        expected = call(apart.words(), own, slopes=True)
        sizes = set()
        for choice in CHOICES:
            program = encode(work, choice)
            words = program.words()
            for slopes in (True, False):
                found = call(words, own, slopes=slopes)
                np.testing.assert_array_equal(found, expected if slopes else expected[0], own.text)
            if choice.fit != "apart":
                sizes.add(program.n_vectors)
        smaller += max(sizes) < apart.n_vectors
    assert smaller > count / 3
