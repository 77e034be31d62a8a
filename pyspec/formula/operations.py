"""What each node does in NumPy: the function, and the line of Python that says the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pyspec.errors import ModelError, suggest
from pyspec.formula.graph import cumsum, function_call, power, total
from pyspec.formula.node import Node, number_text
from pyspec.formula.program.values import COMPARISONS
from pyspec.formula.rules import UFUNCS, Value

#: Functions that a State knows by name.
Functions = Mapping[str, Callable[..., Value]]

#: Instructions whose line is not np.NAME(...) of the name of the node.
_LINES = {
    "WHERE": "np.where(np.not_equal({}, 0), {}, {})",
    "ERF": "special.erf({})",
    "ERFC": "special.erfc({})",
    "ERFCX": "special.erfcx({})",
    "W_RE": "special.wofz({0} + 1j * {1}).real",
    "W_IM": "special.wofz({0} + 1j * {1}).imag",
    "W_REX": "(2j / np.sqrt(np.pi) - 2 * ({0} + 1j * {1}) * special.wofz({0} + 1j * {1})).real",
    "W_REY": "-(2j / np.sqrt(np.pi) - 2 * ({0} + 1j * {1}) * special.wofz({0} + 1j * {1})).imag",
    "CHAIN": "np.where(np.equal({0}, 0) | np.equal({1}, 0), 0.0, np.multiply({0}, {1}))",
}


def perform(node: Node, operands: list[Value], functions: Functions) -> Value:
    """The value of a node.

    Raises :class:`ModelError` for a call of a function that is not known.
    """
    if isinstance(node, function_call):
        if node.function not in functions:
            hint = suggest(node.function, list(functions))
            raise ModelError(
                f"{node.label}: no function {node.function!r}{hint}; give it to the State: "
                f"functions={{{node.function!r}: ...}}"
            )
        n = len(node.args)
        named = dict(zip(node.kwargs, operands[n:], strict=True))
        return np.asarray(functions[node.function](*operands[:n], **named))
    if isinstance(node, cumsum):
        return np.cumsum(operands[0], axis=-1)
    if isinstance(node, total):
        return np.sum(operands[0], axis=-1, keepdims=True)
    if isinstance(node, power) and _whole(operands):
        return np.float_power(*operands)
    return np.asarray(UFUNCS[node.instruction](*map(np.asarray, operands)))


def _whole(operands: list[Value]) -> bool:
    """Whether NumPy would refuse a negative power: of whole numbers."""
    return all(np.asarray(operand).dtype.kind in "iub" for operand in operands)


def line(node: Node, operands: list[Value]) -> str:
    """What :func:`perform` does, as Python with `np` and `scipy.special`."""
    names = [f"n{operand.id}" for operand in node.operands]
    if isinstance(node, function_call):
        return f"{node.function}({node.call_arguments()})"
    if isinstance(node, cumsum):
        return f"np.cumsum({names[0]}, axis=-1)"
    if isinstance(node, total):
        return f"np.sum({names[0]}, axis=-1, keepdims=True)"
    if isinstance(node, power) and _whole(operands):
        return f"np.float_power({', '.join(names)})"
    if node.instruction in _LINES:
        return _LINES[node.instruction].format(*names)
    text = f"np.{type(node).__name__}({', '.join(names)})"
    return f"{text} * 1.0" if node.instruction in COMPARISONS else text


def literal(value: Value) -> str:
    """A value as Python that gives the same bits and type."""
    array = np.asarray(value)
    if array.size == 0:
        return f"np.zeros({array.shape}, np.{array.dtype.name})"
    text = _numbers(array.tolist())
    plain = np.asarray(array.tolist()).dtype == array.dtype
    return f"np.asarray({text})" if plain else f"np.asarray({text}, np.{array.dtype.name})"


def _numbers(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_numbers(element) for element in value)}]"
    return number_text(value)
