"""References run on mpmath numbers: their modules see mpmath's elementary functions in place of
those of NumPy and SciPy, so that the living definition is the only formula there is. And what they
are compared with: all builds of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import mpmath
import numpy as np

from pyspec._library import OPS, OpDef, supported_isas
from pyspec.functions import reference
from support.exact_lines import NUMERIC
from support.kernel_calls import call_function

LIFT = np.frompyfunc(mpmath.mpf, 1, 1)
#: NumPy's names of what mpmath calls differently.
NAMES = {"arctan": "atan", "arcsin": "asin", "arccos": "acos", "arctan2": "atan2"}


def wofz(z: Any) -> SimpleNamespace:
    """exp(-z^2) erfc(-iz), with digits to spare for a real part far below the imaginary one."""

    def one(at: Any) -> Any:
        with mpmath.workdps(80):
            at = mpmath.mpc(at)
            if abs(at) > 40:
                return series(at)
            return mpmath.exp(-at * at) * mpmath.erfc(-1j * at)

    def series(at: Any) -> Any:
        term, total, k = mpmath.mpc(1), mpmath.mpc(1), 0
        while abs(term) > mpmath.mpf(10) ** -60 * abs(total):
            k += 1
            term *= (2 * k - 1) / (2 * at * at)
            total += term
        pole = mpmath.exp(-at * at) if abs(mpmath.im(at)) < 1 else 0
        return 1j * total / (mpmath.sqrt(mpmath.pi) * at) + pole

    w = np.frompyfunc(one, 1, 1)(z)
    real, imag = np.frompyfunc(mpmath.re, 1, 1), np.frompyfunc(mpmath.im, 1, 1)
    return SimpleNamespace(real=real(w), imag=imag(w))


#: Modules that packages take references from.
HOMES = {"doniach"}


class Exact:
    """A module whose elementary functions are mpmath's, element by element."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name == "pi":
            return +mpmath.pi
        if name == "wofz":
            return wofz
        known = getattr(mpmath, NAMES.get(name, name), None)
        theirs = getattr(self._module, name)
        if known is None or not isinstance(theirs, np.ufunc):
            return theirs
        return np.frompyfunc(known, theirs.nin, 1)


@contextmanager
def exact_functions(digits: int = 50) -> Iterator[Callable[..., Any]]:
    """``exact(op, x, params, spectrum)``: the reference in so many digits, an object array; of a
    function whose reference is a sum of limited accuracy, a sum without such a limit."""
    patches = []
    for package in {op.package for op in OPS.values()} | HOMES:
        module = import_module(f"pyspec.functions.{package}")
        for name in ("np", "special"):
            if hasattr(module, name):
                patches.append(patch.object(module, name, Exact(getattr(module, name))))

    def run(op: OpDef, x: Any, params: Any, spectrum: Any = None) -> Any:
        fed = [] if spectrum is None else [LIFT(spectrum)]
        given = [value if isinstance(value, mpmath.mpf) else mpmath.mpf(value) for value in params]
        if op.name in NUMERIC:
            return np.array([NUMERIC[op.name](at, *given) for at in LIFT(x)], dtype=object)
        value = reference(op.name)(LIFT(x), *given, *fed)
        return LIFT(np.broadcast_to(value, np.shape(x)))

    for each in patches:
        each.start()
    try:
        with mpmath.workdps(digits):
            yield run
    finally:
        for each in patches:
            each.stop()


def builds(
    op: OpDef, x: np.ndarray, params: Sequence[float]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(which, value, (n_params, n_x) slopes) of each build, of one row and of nine in lanes: all
    rows have the same bits, and the value has those without slopes."""
    for isa in supported_isas():
        for n_rows in (1, 9):
            columns = np.repeat(np.array(params)[:, np.newaxis], n_rows, axis=1)
            value, slopes = call_function(op.name, x, columns, partials=True, isa=isa)
            bare, _ = call_function(op.name, x, columns, isa=isa)
            np.testing.assert_array_equal(bare, value)
            np.testing.assert_array_equal(value, value[:1].repeat(n_rows, axis=0))
            np.testing.assert_array_equal(slopes, slopes[:, :1].repeat(n_rows, axis=1))
            yield f"{isa}, {n_rows} rows", value[0], slopes[:, 0]


def exact_slopes(
    function: Callable[..., Any], x: np.ndarray, params: Sequence[Any], steps: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """The value (n_x,) of ``function(x, *params)`` in mpmath, and its derivatives, (n_params, n_x),
    by differences over these steps."""
    given = [mpmath.mpf(value) for value in params]

    def at(k: int = 0, shift: Any = 0) -> np.ndarray:
        moved = [*given[:k], given[k] + shift, *given[k + 1 :]]
        return np.array([function(mpmath.mpf(float(place)), *moved) for place in x])

    slopes = [(at(k, h) - at(k, -h)) / (2 * h) for k, h in enumerate(steps)]
    return at().astype(float), np.array(slopes).astype(float)
