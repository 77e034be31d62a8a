"""Trees compiled by Numba, an optional library: ``pip install 'pyspec-fit[jit]'``.

Each node becomes a function from the values so far, a tuple, to these and its own. Numba compiles
the chain of these functions as one, for the types that it is called with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import BackendError
from pyspec.formula.forest import Tree
from pyspec.formula.node import Node
from pyspec.formula.program.values import COMPARISONS

Array: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = tuple[Array, ...]

#: Values so far → these and that of one node more.
Step: TypeAlias = Callable[[Values], Values]

#: What NumPy has no function for, as functions of numbers, which Numba applies to each point.
_OF_NUMBERS: dict[str, Callable[..., float]] = {
    "ERF": lambda a: math.erf(a),
    "ERFC": lambda a: math.erfc(a),
    "WHERE": lambda a, b, c: b if a != 0 else c,
    "CHAIN": lambda a, b: 0.0 if a == 0 or b == 0 else a * b,
}


def run_compiled(tree: Tree, *values: npt.ArrayLike) -> Array:
    """The value of the root of a tree for those of its inputs, in their order.

    Raises :class:`BackendError` without Numba, or where it does not know an operation.
    """
    arrays = [np.asarray(value, np.float64) for value in values]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    with np.errstate(all="ignore"):
        result = _compiled(tree)(tuple(np.atleast_1d(array) for array in arrays))
    return np.broadcast_to(result, shape if shape else (1,)).reshape(shape)


@lru_cache(maxsize=256)
def _compiled(tree: Tree) -> Callable[[Values], Array]:
    try:
        numba = import_module("numba")
    except ImportError:
        raise BackendError(
            "trees are compiled by Numba, which is not installed: "
            "pip install 'pyspec-fit[jit]'; or leave out the flag 'jit'"
        ) from None
    place = {node: k for k, node in enumerate(tree.inputs)}
    chain = numba.njit(lambda values: values)
    for node in tree.nodes:
        chain = _behind(numba, chain, _step(numba, node, place))
        place[node] = len(place)
    last = place[tree.root]
    whole: Callable[[Values], Array] = numba.njit(lambda values: chain(values)[last])
    return whole


def _behind(numba: ModuleType, first: Step, second: Step) -> Step:
    both: Step = numba.njit(lambda values: second(first(values)))
    return both


def _by_numpy(node: Node) -> Callable[..., Array] | None:
    """NumPy's function of the name of the node, for whole arrays; None where it has none."""
    function = getattr(np, type(node).__name__, None)
    if not isinstance(function, np.ufunc):
        return None
    if node.instruction in COMPARISONS:
        return lambda a, b: function(a, b) * 1.0
    return (lambda a: function(a)) if function.nin == 1 else (lambda a, b: function(a, b))


def _step(numba: ModuleType, node: Node, place: dict[Node, int]) -> Step:
    """A tuple of values → the same with that of the node behind it."""
    of_arrays = _by_numpy(node)
    if of_arrays is not None:
        work = numba.njit(of_arrays)
    elif node.instruction in _OF_NUMBERS:
        work = numba.vectorize(_OF_NUMBERS[node.instruction])
    else:
        raise BackendError(f"{node.label}: Numba cannot compile {node}; leave out the flag 'jit'")
    i, j, k, *_ = [place[operand] for operand in node.operands] + [0, 0]
    steps: dict[int, Step] = {
        1: lambda values: values + (work(values[i]),),  # noqa: RUF005
        2: lambda values: values + (work(values[i], values[j]),),  # noqa: RUF005
        3: lambda values: values + (work(values[i], values[j], values[k]),),  # noqa: RUF005
    }
    step: Step = numba.njit(steps[len(node.operands)])
    return step
