"""The tree with every step rounded another way: what it then says differently, nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.executor import tree as walked
from pyspec.formula.rules import UFUNCS
from pyspec.functions import reference
from pyspec.functions.quadrature import convolve
from pyspec.model.build.inputs import function_of

Array = npt.NDArray[np.float64]

#: Steps whose result is exact.
_EXACT = {
    np.negative,
    np.positive,
    np.absolute,
    np.maximum,
    np.minimum,
    np.floor,
    np.ceil,
    np.rint,
    np.sign,
    np.copysign,
    np.conjugate,
}

#: Instructions of expressions that differ in their last bit from one library to the next.
_TRANSCENDENTAL = ("POW", "EXP", "LOG", "SIN", "COS", "TAN")


def _shaken(value: Any, rng: np.random.Generator) -> Any:
    """Each number changed by at most its last bit; real and imaginary part on their own."""
    value = np.asarray(value)
    if value.dtype.kind == "c":
        return _shaken(value.real, rng) + 1j * _shaken(value.imag, rng)
    return value * (1.0 + 2.0**-52 * rng.uniform(-1.0, 1.0, value.shape))


class _Rounded(np.ndarray):
    """An array whose ufuncs round in a random way, and give such an array."""

    rng: np.random.Generator

    def __array_finalize__(self, source: Any) -> None:
        self.rng = getattr(source, "rng", None) or np.random.default_rng(0)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, _Rounded) else x for x in inputs]
        target = options.pop("out", None)
        result = getattr(ufunc, method)(*plain, **options)
        if np.asarray(result).dtype.kind not in "fc":
            return result
        if ufunc not in _EXACT:
            result = _shaken(result, self.rng)
        if target is not None:
            np.copyto(np.asarray(target[0]), result)
            return target[0]
        return _rounded(result, self.rng)


def _rounded(value: Any, rng: np.random.Generator) -> Any:
    result = np.asarray(value).view(_Rounded)
    result.rng = rng
    return result


@contextmanager
def rounded(rng: np.random.Generator) -> Iterator[None]:
    """Within, the tree rounds each step of each function in a random way, and a convolution in
    the last bits of the largest value that it convolves: C ends gaussCONV at 9 SD, where it is
    3e-18 of its peak. A line that is blurred in panels, and a FermiEdge, are known in the last
    bits of their heights, for the same reason, and C has no exponentials below 1e-308. Expressions
    have one order of operations in every executor: there only what no executor rounds exactly,
    such as a sine, is another number, the same for the same operands."""
    known: dict[tuple[str, bytes], Any] = {}

    def function(op: OpDef | str, inputs: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        own = function_of(op, inputs) if inputs and isinstance(op, OpDef) else reference(op)
        named = op if isinstance(op, OpDef) else OPS[op]
        is_sum = "in panels" in str(own.__doc__) or named.name.startswith("FermiEdge")
        where = named.params.index("x0") if is_sum else 0

        def run(x: Array, *rest: Any) -> Any:
            value = own(_rounded(x, rng), *rest)
            if is_sum:
                top = np.abs(own(np.broadcast_to(rest[where], (1,)), *rest)).max()
                value = value + 2.0**-52 * top * rng.uniform(-1.0, 1.0, np.shape(value))
            return _rounded(np.where(np.abs(value) < 1e-290, 0.0 * value, value), rng)

        return run

    def convolved(name: str, t: Array, y: Array, parameter: float) -> Array:
        largest = np.abs(y[np.isfinite(y)]).max(initial=0.0)
        noise = 2.0**-52 * largest * rng.uniform(-1.0, 1.0, t.size)
        return np.asarray(convolve(name, t, y, parameter) + noise)

    def instruction(name: str) -> Callable[..., Any]:
        ufunc = UFUNCS[name]

        def run(*operands: Any) -> Any:
            key = name, np.array(operands, dtype=np.float64).tobytes()
            if key not in known:
                known[key] = _shaken(ufunc(*operands), rng)[()]
            return known[key]

        return run

    with (
        mock.patch.multiple(walked, reference=function, function_of=function, convolve=convolved),
        mock.patch.dict(UFUNCS, {name: instruction(name) for name in _TRANSCENDENTAL}),
    ):
        yield
