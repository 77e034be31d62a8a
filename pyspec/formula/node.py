"""Nodes of formulas: what all have in common, inputs and numbers.

Operations are in :mod:`pyspec.formula.graph`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from operator import methodcaller
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.formula.remedies import INSTEAD

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

_NUMBERS = itertools.count(1)

#: The operation of each instruction of the RPN table, and what NumPy's functions are as nodes.
OPERATIONS: dict[str, Callable[..., Node]] = {}
BY_NUMPY_NAME: dict[str, Callable[..., Node]] = {}


def apply(instruction: str, *operands: object) -> Node:
    """The node of an instruction of the RPN table."""
    return OPERATIONS[instruction](*operands)


class Energy:
    """The axis of nodes along the energies."""


class Time:
    """The axis of nodes along the times."""


class Aux:
    """The axis of nodes along the auxiliary axis."""


#: Axes that a printed node names.
AXES: tuple[type, ...] = (Energy, Time, Aux)


class Node(Generic[T]):
    """A value of a formula. `id` is its number, unique in the process; `name` is for people."""

    #: Names of the operands; the instruction of the RPN table, a keyword of the class.
    fields: ClassVar[tuple[str, ...]] = ()
    instruction: ClassVar[str] = ""

    #: Whether it is a comparison, 1 or 0, or made of some by & | ~.
    is_condition: bool = False

    def __init_subclass__(cls, instruction: str = "") -> None:
        if instruction:
            cls.instruction = instruction
            OPERATIONS[instruction] = cls

    def __init__(self, name: str = "") -> None:
        self.id = next(_NUMBERS)
        self.name = name

    @property
    def operands(self) -> tuple[Node, ...]:
        """The nodes that this one is made of."""
        return tuple(getattr(self, field) for field in self.fields)

    @property
    def axis(self) -> type | None:
        """The axis that a placeholder or constant was given, None for no matter which."""
        arguments = get_args(getattr(self, "__orig_class__", None))
        # Any is a class from Python 3.11 on.
        classes = [
            argument for argument in arguments if isinstance(argument, type) and argument is not Any
        ]
        return classes[0] if classes else None

    @property
    def label(self) -> str:
        """How messages name it: number and name."""
        return f"n{self.id} {self.name!r}" if self.name else f"n{self.id}"

    def arguments(self) -> str:
        """The arguments of the printed line."""
        shown = [f"{field}=n{getattr(self, field).id}" for field in self.fields]
        return ", ".join([*shown, f"name={self.name!r}"])

    def __str__(self) -> str:
        axis = f"[graph.{self.axis.__name__}]" if self.axis in AXES and self.axis else ""
        return f"n{self.id} = graph.{type(self).__name__}{axis}({self.arguments()})"

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash(id(self))

    def __bool__(self) -> bool:
        raise ModelError(
            f"{self.label}: a node has no value yet, so nothing can be decided by it; write "
            "where(condition, then, otherwise) in place of if, and and or, and np.maximum in place "
            "of max"
        )

    def __add__(self, other: Operand[T]) -> Node[T]:
        return apply("ADD", self, other)

    def __radd__(self, other: Operand[T]) -> Node[T]:
        return apply("ADD", other, self)

    def __sub__(self, other: Operand[T]) -> Node[T]:
        return apply("SUB", self, other)

    def __rsub__(self, other: Operand[T]) -> Node[T]:
        return apply("SUB", other, self)

    def __mul__(self, other: Operand[T]) -> Node[T]:
        return apply("MUL", self, other)

    def __rmul__(self, other: Operand[T]) -> Node[T]:
        return apply("MUL", other, self)

    def __truediv__(self, other: Operand[T]) -> Node[T]:
        return apply("DIV", self, other)

    def __rtruediv__(self, other: Operand[T]) -> Node[T]:
        return apply("DIV", other, self)

    def __pow__(self, other: Operand[T]) -> Node[T]:
        return apply("POW", self, other)

    def __rpow__(self, other: Operand[T]) -> Node[T]:
        return apply("POW", other, self)

    def __neg__(self) -> Node[T]:
        return apply("NEG", self)

    def __pos__(self) -> Node[T]:
        return self

    def __abs__(self) -> Node[T]:
        return apply("ABS", self)

    def __lt__(self, other: Operand[T]) -> Node[T]:
        return apply("LT", self, other)

    def __le__(self, other: Operand[T]) -> Node[T]:
        return apply("LE", self, other)

    def __gt__(self, other: Operand[T]) -> Node[T]:
        return apply("GT", self, other)

    def __ge__(self, other: Operand[T]) -> Node[T]:
        return apply("GE", self, other)

    def __eq__(self, other: Operand[T]) -> Node[T]:  # type: ignore[override]
        return apply("EQ", self, other)

    def __ne__(self, other: Operand[T]) -> Node[T]:  # type: ignore[override]
        return apply("NE", self, other)

    def __and__(self, other: Operand[T]) -> Node[T]:
        return as_condition(apply("MUL", _compared(self), _compared(other)))

    def __or__(self, other: Operand[T]) -> Node[T]:
        return as_condition(apply("MAX", _compared(self), _compared(other)))

    def __invert__(self) -> Node[T]:
        return as_condition(apply("SUB", 1, _compared(self)))

    __rand__, __ror__ = __and__, __or__

    def astype(self, dtype: npt.DTypeLike) -> Node[T]:
        """The node itself: comparisons are numbers."""
        if np.dtype(dtype).kind == "f" or self.is_condition:
            return self
        raise ModelError(f"{self.label}: {np.dtype(dtype)} has no formula; leave astype out")

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> Node:
        make = BY_NUMPY_NAME.get(ufunc.__name__) if method == "__call__" and not kwargs else None
        return _refused(ufunc.__name__) if make is None else make(*inputs)

    def __array_function__(
        self,
        function: FunctionType,
        types: object,
        args: tuple[object, ...],
        kwargs: Mapping[str, npt.DTypeLike],
    ) -> Node:
        make, name = BY_NUMPY_NAME.get(function.__name__), function.__name__
        if make is None:
            return _refused(name)
        named = [key for key, value in kwargs.items() if key != "dtype" or np.dtype(value) != float]
        if named:
            raise ModelError(
                f"{name}: {', '.join(named)} cannot be named in a formula; write its arguments in "
                "their order, without options"
            )
        return make(*args)


def as_condition(node: Node) -> Node:
    """The node, of which it is known that it is 1 or 0."""
    node.is_condition = True
    return node


def _compared(value: object) -> object:
    if getattr(value, "is_condition", False):
        return value
    raise ModelError(
        f"{getattr(value, 'label', value)}: & | ~ are for comparisons, each in parentheses: "
        "(x > 0) & (x < 1)"
    )


#: What stands where a node is expected.
Operand: TypeAlias = Node[T] | float


def _refused(name: str) -> NoReturn:
    instead = f"write {INSTEAD[name]}; " if name in INSTEAD else ""
    raise ModelError(
        f"{name} has no formula; {instead}there are {', '.join(sorted(BY_NUMPY_NAME))}, each of "
        "whole arrays and without options"
    )


def _array_content(value: object) -> object:
    """What an array without axes holds; any other value itself."""
    return methodcaller("item")(value) if getattr(value, "shape", None) == () else value


def as_node(value: object) -> Node:
    """The node, also from an array that holds it, or a number as a constant."""
    held = _array_content(value)
    return held if isinstance(held, Node) else constant(held)


class placeholder(Node[T]):
    """An input. Its value is given when the formula is evaluated, or else `default_value`."""

    def __init__(self, name: str, default_value: float | None = None) -> None:
        super().__init__(name)
        self.default_value = default_value

    def arguments(self) -> str:
        return f"name={self.name!r}, default_value={self.default_value!r}"


class constant(Node[T]):
    """A number."""

    def __init__(self, value: object, name: str = "") -> None:
        number = _array_content(value)
        if isinstance(number, complex):
            raise ModelError(
                f"{number!r} is no real number; write real and imaginary part as formulas (a Voigt "
                "line is scipy.special.voigt_profile)"
            )
        if not isinstance(number, (int, float)):
            raise ModelError(
                f"{value!r} is no real number; arrays are inputs, write placeholder(name)"
            )
        super().__init__(name)
        self.value: float = number if type(number) in (bool, int) else float(number)

    def arguments(self) -> str:
        return f"value={number_text(self.value)}, name={self.name!r}"


def number_text(value: float) -> str:
    """A number as Python reads it."""
    text = repr(value)
    is_finite = text.lstrip("-")[:1].isdigit() or text in ("True", "False")
    return text if is_finite else f"float('{text}')"
