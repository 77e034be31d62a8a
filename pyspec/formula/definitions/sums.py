"""Formulas with sums over the energies, run by NumPy: checks, dependencies and derivatives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.formula.definitions.formulas import Formulas
from pyspec.formula.rules import SLOPES, SUM_UFUNCS, UFUNCS, Value, chain_product
from pyspec.formula.syntax import SUMS, Apply, Name, Node, Number, postorder


def used_names(own: Formulas) -> set[str]:
    """The names on which the result depends."""
    if not own.sums:
        values, root = own.values
        used = values.reachable([root])
        return {name for name in (*own.params, *own.inputs) if values.input(name) in used}
    lines = dict(own.lines)
    names: set[str] = set()
    waiting = list(own.value.names)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += lines[name].names if name in lines else ()
    return names


def check_sums(own: Formulas, start: str) -> None:
    """What is summed must have a value at each energy."""
    along = {own.axis, *own.inputs}
    for name, line in own.lines:
        if _differs(line.root, along):
            along.add(name)
    for formula in (own.value, *(line for _, line in own.lines)):
        for node in postorder(formula.root):
            if not isinstance(node, Apply) or node.instruction not in SUMS.values():
                continue
            if not _differs(node.operands[0], along):
                raise ModelError(
                    f"{start}the formula of {own.name} sums what is the same at all energies; "
                    f"sum what depends on {own.axis!r}, or write a product"
                )


def _differs(node: Node, along: Collection[str]) -> bool:
    """Whether a value differs from energy to energy; `along` are the names whose values do."""
    if isinstance(node, Name):
        return node.name in along
    if isinstance(node, Number) or node.instruction == SUMS["sum"]:
        return False
    return any(_differs(operand, along) for operand in node.operands)


class _Value(NamedTuple):
    """A value, and its derivative by each parameter that it depends on."""

    value: Value
    slopes: Mapping[int, Value] = {}


def sum_slopes(
    own: Formulas, x: Value, params: Sequence[Value], inputs: Mapping[str, Value]
) -> list[npt.NDArray[np.float64]]:
    """The exact derivatives at x by all parameters, in NumPy, each of the shape of the value: that
    of a sum is the sum of the derivatives. `params` are numbers, or arrays that broadcast."""
    arrays = {own.axis: x, **inputs}
    by_name = {name: _Value(np.asarray(array, np.float64)) for name, array in arrays.items()}
    for k, (name, value) in enumerate(zip(own.params, params, strict=True)):
        by_name[name] = _Value(np.asarray(value, np.float64)[()], {k: np.float64(1.0)})
    with np.errstate(all="ignore"):
        for name, line in own.lines:
            by_name[name] = _forward(line.root, by_name)
        slopes = _forward(own.value.root, by_name).slopes
    shape = np.broadcast_shapes(*(np.shape(operand.value) for operand in by_name.values()))
    return [np.broadcast_to(slopes.get(k, 0.0), shape) for k in range(len(params))]


def _forward(node: Node, by_name: Mapping[str, _Value]) -> _Value:
    """A syntax tree with its derivatives, from the leaves to the root."""
    if isinstance(node, Number):
        return _Value(np.float64(node.value))
    if isinstance(node, Name):
        return by_name[node.name]
    operands = [_forward(operand, by_name) for operand in node.operands]
    if node.instruction in SUM_UFUNCS:
        ((value, slopes),) = operands
        add, shape = SUM_UFUNCS[node.instruction], np.shape(value)
        summed = {k: add(np.broadcast_to(slope, shape)) for k, slope in slopes.items()}
        return _Value(add(value), summed)
    values = [operand.value for operand in operands]
    result = UFUNCS[node.instruction](*values)
    env = {**dict(zip("abc", values, strict=False)), "v": result}
    derivatives: dict[int, Value] = {}
    for operand, partial in zip(operands, SLOPES[node.instruction], strict=True):
        factor = partial(env) if operand.slopes else 0.0
        for k, slope in operand.slopes.items():
            derivatives[k] = derivatives.get(k, 0.0) + chain_product(factor, slope)
    return _Value(result, derivatives)
