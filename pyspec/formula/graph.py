"""Formulas as graphs of typed nodes, written as one writes NumPy.

    from pyspec.formula import graph
    from pyspec.formula.graph import Energy

    x = graph.placeholder[Energy]("x")
    width = graph.placeholder("width")
    peak = graph.exp(-((x / width) ** 2))

A node is an operation on other nodes. It prints as the line of Python that makes it. Annotations
are optional: nodes of different axes do not mix, in a type checker and in
:func:`pyspec.formula.linearize.verify`; what is not annotated fits every axis. Comparisons, == too,
are nodes, 1 or 0; nodes are told apart by identity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pyspec.formula.node import (
    BY_NUMPY_NAME,
    Aux,
    Energy,
    Node,
    Operand,
    T,
    Time,
    as_node,
    constant,
    placeholder,
)


class _Unary(Node[T]):
    fields = ("node",)

    def __init__(self, node: Operand[T], name: str = "") -> None:
        self.node: Node[T] = as_node(node)
        super().__init__(name)


class _Binary(Node[T]):
    fields = ("left", "right")

    def __init__(self, left: Operand[T], right: Operand[T], name: str = "") -> None:
        self.left: Node[T] = as_node(left)
        self.right: Node[T] = as_node(right)
        super().__init__(name)


class add(_Binary[T], instruction="ADD"):
    """left + right."""


class subtract(_Binary[T], instruction="SUB"):
    """left - right."""


class multiply(_Binary[T], instruction="MUL"):
    """left * right."""


class divide(_Binary[T], instruction="DIV"):
    """left / right."""


class power(_Binary[T], instruction="POW"):
    """left ** right."""


class minimum(_Binary[T], instruction="MIN"):
    """The smaller of two; NaN where either is."""


class maximum(_Binary[T], instruction="MAX"):
    """The larger of two; NaN where either is."""


class _Comparison(_Binary[T]):
    is_condition = True


class less(_Comparison[T], instruction="LT"):
    """1 where left < right, else 0; the other comparisons alike."""


class less_equal(_Comparison[T], instruction="LE"):
    """left <= right."""


class greater(_Comparison[T], instruction="GT"):
    """left > right."""


class greater_equal(_Comparison[T], instruction="GE"):
    """left >= right."""


class equal(_Comparison[T], instruction="EQ"):
    """left == right."""


class not_equal(_Comparison[T], instruction="NE"):
    """left != right."""


class wofz_real(_Binary[T], instruction="W_RE"):
    """The real part of the Faddeeva function at left + i right."""


class wofz_imag(_Binary[T], instruction="W_IM"):
    """The imaginary part of the Faddeeva function at left + i right."""


class wofz_real_x(_Binary[T], instruction="W_REX"):
    """The derivative of :class:`wofz_real` by left."""


class wofz_real_y(_Binary[T], instruction="W_REY"):
    """The derivative of :class:`wofz_real` by right."""


class chain_product(_Binary[T], instruction="CHAIN"):
    """left * right, 0 where either is 0 even if the other is infinite: in derivatives."""


class negative(_Unary[T], instruction="NEG"):
    """-node."""


class exp(_Unary[T], instruction="EXP"):
    """The exponential; the functions below alike, with NumPy's and SciPy's names."""


class log(_Unary[T], instruction="LOG"):
    """The natural logarithm."""


class sqrt(_Unary[T], instruction="SQRT"):
    """The square root."""


class sin(_Unary[T], instruction="SIN"):
    """The sine."""


class cos(_Unary[T], instruction="COS"):
    """The cosine."""


class tan(_Unary[T], instruction="TAN"):
    """The tangent."""


class arctan(_Unary[T], instruction="ATAN"):
    """The inverse of the tangent."""


class abs(_Unary[T], instruction="ABS"):
    """The magnitude."""


class erf(_Unary[T], instruction="ERF"):
    """The error function."""


class erfc(_Unary[T], instruction="ERFC"):
    """1 - erf(node)."""


class erfcx(_Unary[T], instruction="ERFCX"):
    """exp(node ** 2) erfc(node)."""


class where(Node[T], instruction="WHERE"):
    """`then` where the condition is not 0, `otherwise` elsewhere."""

    fields = ("condition", "then", "otherwise")

    def __init__(
        self, condition: Operand[T], then: Operand[T], otherwise: Operand[T], name: str = ""
    ) -> None:
        self.condition: Node[T] = as_node(condition)
        self.then: Node[T] = as_node(then)
        self.otherwise: Node[T] = as_node(otherwise)
        super().__init__(name)


class cumsum(_Unary[T]):
    """Running sums along the last axis of the array."""


class total(_Unary[Any]):
    """The sum over the last axis of the array, which stays as one point."""


class function_call(Node[T]):
    """A call of a function that is given by name when the formula is evaluated."""

    def __init__(self, function: str, /, *args: Operand[Any], **kwargs: Operand[Any]) -> None:
        self.function = function
        self.args = tuple(as_node(operand) for operand in args)
        self.kwargs = {key: as_node(operand) for key, operand in kwargs.items()}
        super().__init__("")

    @property
    def operands(self) -> tuple[Node, ...]:
        return (*self.args, *self.kwargs.values())

    def arguments(self) -> str:
        return ", ".join([repr(self.function), self.call_arguments()]).removesuffix(", ")

    def call_arguments(self) -> str:
        """The operands as the function gets them."""
        named = [f"{key}=n{node.id}" for key, node in self.kwargs.items()]
        return ", ".join([*(f"n{node.id}" for node in self.args), *named])


# ---- NumPy's and SciPy's functions, called on nodes -------------------------------------------


def _condition(node: Operand) -> Node:
    made = as_node(node)
    return made if made.is_condition else not_equal(made, 0)


def _voigt(node: Operand, sd: Operand, hwhm: Operand) -> Node:
    width = math.sqrt(2) * as_node(sd)
    return wofz_real(node / width, hwhm / width) / (width * math.sqrt(math.pi))


_SAME: tuple[Callable[..., Node], ...] = (
    add, subtract, multiply, divide, power, minimum, maximum, less, less_equal, greater,
    greater_equal, equal, not_equal, negative, exp, log, sqrt, sin, cos, tan, arctan, erf, erfc,
    erfcx, where,
)  # fmt: skip
BY_NUMPY_NAME.update({made.__name__: made for made in _SAME})
BY_NUMPY_NAME.update(
    absolute=abs,
    fabs=abs,
    float_power=power,
    positive=as_node,
    square=lambda node: as_node(node) ** 2,
    reciprocal=lambda node: 1 / as_node(node),
    log2=lambda node: log(node) / math.log(2),
    log10=lambda node: log(node) / math.log(10),
    exp2=lambda node: power(2, node),
    cosh=lambda node: (exp(node) + exp(-as_node(node))) / 2,
    sinh=lambda node: (exp(node) - exp(-as_node(node))) / 2,
    tanh=lambda node: 1 - 2 / (exp(2 * as_node(node)) + 1),
    hypot=lambda a, b: sqrt(as_node(a) ** 2 + as_node(b) ** 2),
    clip=lambda node, low, high: minimum(maximum(node, low), high),
    sign=lambda node: greater(node, 0) - less(node, 0),
    heaviside=lambda node, half: where(greater(node, 0), 1, where(less(node, 0), 0, half)),
    logical_and=lambda a, b: _condition(a) & _condition(b),
    logical_or=lambda a, b: _condition(a) | _condition(b),
    logical_not=lambda node: ~_condition(node),
    zeros_like=lambda node: constant(0.0),
    ones_like=lambda node: constant(1.0),
    full_like=lambda node, value: as_node(value),
    expit=lambda node: 1 / (1 + exp(-as_node(node))),
    voigt_profile=_voigt,
    cumsum=cumsum,
    sum=total,
)

__all__ = [
    "Aux",
    "Energy",
    "Node",
    "Operand",
    "T",
    "Time",
    "constant",
    "cumsum",
    "function_call",
    "placeholder",
    "total",
    "wofz_imag",
    "wofz_real",
    "wofz_real_x",
    "wofz_real_y",
    *(made.__name__ for made in _SAME),
]
