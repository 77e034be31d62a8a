"""What it saves to take out of the slopes of a formula what is the same for a row.

    python -m bench.inside.absorb [--only NAME ...]

Each row is a function of the table as a formula (bench/problems/formula_texts.py), in turns with
its program without that pass. One thread evaluates 440 abscissae for 32 sets of parameters: as in
a fit, what is written stays in the cache. The table counts instructions at each point and for a
row, with the pass and without. *J* is the time of value and all slopes without the pass over that
with it, by medians of processor times. Differences are relative to the largest value of each.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable

import numpy as np
from support.kernel_calls import KernelCall

from bench.inside.formulas import TIME, Array, as_formula, in_turns
from bench.problems.formula_texts import TEXTS
from pyspec._library import OpDef
from pyspec.formula.definitions.function import Definition
from pyspec.formula.program.encode import encode

#: Sets of parameters of a call, and calls in a row.
ROWS, CALLS = 32, 25


def repeated(call: KernelCall) -> Callable[[], None]:
    """A call as often as the clock needs it."""

    def run() -> None:
        for _ in range(CALLS):
            call.run()

    return run


def without(op: OpDef) -> OpDef:
    """The same function with a program that absorbs nothing."""
    own = op.own
    assert isinstance(own, Definition)
    plain = dataclasses.replace(own)
    plain.__dict__["words"] = encode(own.work(own.value), absorb=False).words()
    return dataclasses.replace(op, own=plain)


def both(name: str) -> tuple[tuple[KernelCall, KernelCall], tuple[Array, Array]]:
    """The calls of value and slopes, with the pass and without it, and where they write."""
    op = as_formula(name)
    values = np.array(list(TEXTS[name].values.values()))
    params = np.ascontiguousarray(values[:, np.newaxis] * np.linspace(0.98, 1.02, ROWS))
    x = TIME + TEXTS[name].values.get("x0", 0.0)  # a line lies within
    found = [np.empty((1 + values.size, ROWS, TIME.size)) for _ in range(2)]
    calls = [
        KernelCall(one, x, params, to[0], to[1:])
        for one, to in zip((op, without(op)), found, strict=True)
    ]
    return (calls[0], calls[1]), (found[0], found[1])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", nargs="*", choices=TEXTS)
    given = parser.parse_args()
    print(f"{'function':11}{'a point':>9}{'without':>9}{'a row':>9}{'without':>9}{'J':>7} differs")
    for name in given.only or TEXTS:
        own = as_formula(name).own
        assert isinstance(own, Definition)
        work = own.work(own.value)
        done, left = encode(work), encode(work, absorb=False)
        calls, (one, other) = both(name)
        ratio, _ = in_turns((repeated(calls[0]), repeated(calls[1])), given.repeats)
        sizes = np.abs(one).max(axis=(1, 2))
        errors = np.abs(one - other).max(axis=(1, 2)) / np.where(sizes, sizes, 1.0)
        print(
            f"{name:11}{len(done.code):9}{len(left.code):9}{len(done.row_code):9}"
            f"{len(left.row_code):9}{ratio:7.2f} {errors.max():7.0e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
