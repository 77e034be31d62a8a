"""What each instruction of the RPN table means in NumPy, and how it is differentiated.

`UFUNCS` is the reference of the values: NumPy's or SciPy's function of that name. `PARTIALS` and
`READS` come from the partial derivatives of the table, which are formulas of the project's own
language: numbers, symbols and the compiled library take them from the same text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from pyspec._library import RPN, RpnDef
from pyspec.formula.parser import parse_text
from pyspec.formula.syntax import Name, Node, Number, postorder
from pyspec.functions import special

#: A value of a formula: a float64, or an array of float64.
Value: TypeAlias = Any

_ARITHMETIC = [row for row in RPN.values() if row.arity]


def chain_product(inner: Value, outer: Value) -> Value:
    """A product of the chain rule: 0 where either factor is 0, even if the other is infinite."""
    if isinstance(inner, float) and isinstance(outer, float):
        return 0.0 if inner == 0.0 or outer == 0.0 else float(inner) * float(outer)
    with np.errstate(all="ignore"):
        product = np.multiply(inner, outer)
    return np.where(np.equal(inner, 0) | np.equal(outer, 0), 0.0, product)


def _compare(ufunc: np.ufunc) -> Callable[..., Value]:
    return lambda a, b: ufunc(a, b).astype(np.float64)


def _where(condition: Value, then: Value, otherwise: Value) -> Value:
    return np.asarray(np.where(np.not_equal(condition, 0), then, otherwise))[()]


def _wofz(x: Value, y: Value) -> Value:
    return special.wofz(np.asarray(x) + 1j * np.asarray(y))


def _wofz_slope(x: Value, y: Value) -> Value:
    """w'(z) = 2i / sqrt(pi) - 2 z w(z)."""
    z = np.asarray(x) + 1j * np.asarray(y)
    return 2j / np.sqrt(np.pi) - 2 * z * special.wofz(z)


#: Instructions that NumPy does not know by the symbol that a formula writes. Operators of Python
#: call the same functions for arrays, and are ten times as fast for one number.
_OTHERWISE: dict[str, Callable[..., Value]] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": operator.truediv,
    "NEG": operator.neg,
    "POW": np.power,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "ERF": lambda a: special.erf(a),
    "ERFC": lambda a: special.erfc(a),
    "ERFCX": lambda a: special.erfcx(a),
    "LT": _compare(np.less),
    "LE": _compare(np.less_equal),
    "GT": _compare(np.greater),
    "GE": _compare(np.greater_equal),
    "EQ": _compare(np.equal),
    "NE": _compare(np.not_equal),
    "WHERE": _where,
    "W_RE": lambda x, y: _wofz(x, y).real[()],
    "W_IM": lambda x, y: _wofz(x, y).imag[()],
    "W_REX": lambda x, y: _wofz_slope(x, y).real[()],
    "W_REY": lambda x, y: -_wofz_slope(x, y).imag[()],
    "CHAIN": chain_product,
}

#: Sums over the last axis of an array, see :data:`pyspec.formula.syntax.SUMS`.
SUM_UFUNCS: dict[str, Callable[..., Value]] = {
    "CUMSUM": lambda a: np.cumsum(a, axis=-1),
    "SUM": lambda a: np.sum(a, axis=-1, keepdims=True),
}

UFUNCS: dict[str, Callable[..., Value]] = {
    row.name: _OTHERWISE.get(row.name) or getattr(np, row.symbol) for row in _ARITHMETIC
}

#: For each operand of an instruction the partial derivative of the result by it, a formula in the
#: operands a, b, c and the result v.
PARTIALS: dict[str, tuple[Node, ...]] = {
    row.name: tuple(parse_text(text, "rpn.def") for text in row.partials) for row in _ARITHMETIC
}


def prepared(node: Node) -> Callable[[Mapping[str, Value]], Value]:
    """The function of the values of names that a syntax tree is, in NumPy."""
    if isinstance(node, Number):
        value = np.float64(node.value)
        return lambda env: value
    if isinstance(node, Name):
        return operator.itemgetter(node.name)
    function = UFUNCS.get(node.instruction) or SUM_UFUNCS[node.instruction]
    operands = [prepared(operand) for operand in node.operands]
    return lambda env: function(*[operand(env) for operand in operands])


#: The same as functions of a mapping with a, b, c and v.
SLOPES = {name: tuple(prepared(one) for one in partials) for name, partials in PARTIALS.items()}


def _reads(partial: Node, arity: int) -> frozenset[int]:
    names = {node.name for node in postorder(partial) if isinstance(node, Name)}
    return frozenset(range(arity) if "v" in names else ("abc".index(name) for name in names))


#: For each operand the positions of the operands that the derivative by it depends on.
READS: dict[str, tuple[frozenset[int], ...]] = {
    row.name: tuple(_reads(partial, row.arity) for partial in PARTIALS[row.name])
    for row in _ARITHMETIC
}


def instruction_text(row: RpnDef, operands: Sequence[str]) -> str:
    """An instruction as the text of a formula: a call, or an operation in parentheses."""
    if row.symbol.isidentifier():
        return f"{row.symbol}({', '.join(operands)})"
    inner = f"{row.symbol}{operands[0]}" if row.arity == 1 else f" {row.symbol} ".join(operands)
    return f"({inner})"
