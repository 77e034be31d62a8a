"""What each instruction of the RPN table means in NumPy, and how it is differentiated.

Both tables are keyed by the instruction's name. `PARTIALS` holds, for each operand, the
partial derivative of the result: a function of the operands and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Partial: TypeAlias = Callable[[Sequence[Any], Any], Any]


def _power_by_base(operands: Sequence[Any], result: Any) -> Any:
    """``b a^(b - 1)``; 0 for b = 0, where the result is 1 for every a."""
    a, b = operands
    return np.where(b == 0, 0.0, b * np.power(a, b - 1.0))


def _power_by_exponent(operands: Sequence[Any], result: Any) -> Any:
    """``a^b ln a``; 0 for a = 0 and b > 0, where the result stays 0."""
    a, b = operands
    return np.where((a == 0) & (b > 0), 0.0, result * np.log(a))


def _chosen(comparison: Callable[[Any, Any], Any]) -> Partial:
    """1 where the comparison of the operands holds: at a tie the first operand is chosen."""
    return lambda operands, result: np.where(comparison(*operands), 1.0, 0.0)


UFUNCS: dict[str, Callable[..., Any]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.true_divide,
    "NEG": np.negative,
    "POW": np.power,
    "EXP": np.exp,
    "LOG": np.log,
    "SQRT": np.sqrt,
    "SIN": np.sin,
    "COS": np.cos,
    "TAN": np.tan,
    "ABS": np.abs,
    "MIN": np.minimum,
    "MAX": np.maximum,
}

PARTIALS: dict[str, tuple[Partial, ...]] = {
    "ADD": (lambda operands, result: 1.0, lambda operands, result: 1.0),
    "SUB": (lambda operands, result: 1.0, lambda operands, result: -1.0),
    "MUL": (lambda operands, result: operands[1], lambda operands, result: operands[0]),
    "DIV": (
        lambda operands, result: 1.0 / operands[1],
        lambda operands, result: -result / operands[1],
    ),
    "NEG": (lambda operands, result: -1.0,),
    "POW": (_power_by_base, _power_by_exponent),
    "EXP": (lambda operands, result: result,),
    "LOG": (lambda operands, result: 1.0 / operands[0],),
    "SQRT": (lambda operands, result: 0.5 / result,),
    "SIN": (lambda operands, result: np.cos(operands[0]),),
    "COS": (lambda operands, result: -np.sin(operands[0]),),
    "TAN": (lambda operands, result: 1.0 + result**2,),
    "ABS": (lambda operands, result: np.sign(operands[0]),),
    "MIN": (_chosen(np.less_equal), _chosen(np.greater)),
    "MAX": (_chosen(np.greater_equal), _chosen(np.less)),
}
