"""A formula: its text, its syntax tree, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import RPN
from pyspec.errors import ModelError, suggest
from pyspec.formula.parser import fault, parse_text
from pyspec.formula.rules import SLOPES, UFUNCS, Value, chain_product, prepared
from pyspec.formula.syntax import Apply, Name, Node, Number, has_sums, postorder

Environment: TypeAlias = Mapping[str, float | npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Formula:
    """An arithmetic formula over named parameters. Equal formulas have equal texts.

    `text` is what was written, `root` the syntax tree.
    """

    text: str
    root: Node = field(compare=False, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of their first use."""
        return tuple(dict.fromkeys(name for name, _ in self.uses))

    @cached_property
    def uses(self) -> tuple[tuple[str, int], ...]:
        """Every use of a name, and where it stands in the text."""
        nodes = postorder(self.root)
        return tuple((node.name, node.position) for node in nodes if isinstance(node, Name))

    @cached_property
    def depth(self) -> int:
        """Numbers on the stack at most, when the program runs."""
        height = deepest = 0
        for node in postorder(self.root):
            height += 1 - (len(node.operands) if isinstance(node, Apply) else 0)
            deepest = max(deepest, height)
        return deepest

    def evaluate(self, env: Environment) -> Value:
        """The value where the parameters have the values `env`: numbers, or arrays that
        broadcast. Dividing by zero gives inf or NaN, silently, as float64 does.

        Raises :class:`ModelError` if `env` lacks a name.
        """
        with np.errstate(all="ignore"):
            return self._value(self._values(env))

    def gradient(self, env: Environment) -> tuple[Value, dict[str, Value]]:
        """The value, and its exact derivative by every parameter, as the compiled program gives
        them: by the partials of the RPN table, from the root to the leaves.

        Derivatives have the shape of the value.
        """
        values = self._values(env)
        slopes = dict.fromkeys(self.names, 0.0)
        with np.errstate(all="ignore"):
            tree = _differentiate(self.root, values)
            _collect(tree, 1.0, slopes)
        if isinstance(tree.value, float):
            return tree.value, {name: np.float64(slope) for name, slope in slopes.items()}
        zero = np.zeros(np.shape(tree.value))
        return tree.value, {name: (zero + slope)[()] for name, slope in slopes.items()}

    @cached_property
    def _value(self) -> Callable[[Mapping[str, Value]], Value]:
        return prepared(self.root)

    def _values(self, env: Environment) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for name in self.names:
            if name not in env:
                raise ModelError(
                    f"expression {self.text!r}: {name!r} has no value{suggest(name, list(env))}"
                )
            values[name] = np.asarray(env[name], dtype=np.float64)[()]
        return values

    def rpn(self, row_of: Mapping[str, int]) -> npt.NDArray[np.int64]:
        """The program for the stack machine, (n, 2) int64: instruction and operand.

        The operand is the bits of a constant, or the trace row that `row_of` gives a name.
        """
        words: list[tuple[int, int]] = []
        for node in postorder(self.root):
            if isinstance(node, Number):
                words.append((RPN["CONST"].index, int(np.float64(node.value).view(np.int64))))
            elif isinstance(node, Name):
                if node.name not in row_of:
                    raise ModelError(
                        f"expression {self.text!r}: {node.name!r} has no trace row"
                        f"{suggest(node.name, list(row_of))}"
                    )
                words.append((RPN["PARAM"].index, int(row_of[node.name])))
            else:
                words.append((RPN[node.instruction].index, 0))
        return np.array(words, dtype=np.int64)

    def rename(self, mapping: Mapping[str, str]) -> Formula:
        """The same formula over other names; names that `mapping` lacks stay."""
        return parse(self.substitute(mapping))

    def substitute(self, texts: Mapping[str, str]) -> str:
        """The text with names replaced by other text, as it stands; not parsed again."""
        text = self.text
        for name, at in sorted(self.uses, key=lambda use: use[1], reverse=True):
            text = text[:at] + texts.get(name, name) + text[at + len(name) :]
        return text

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Value, ...]:
        return parse, (self.text, "", has_sums(self.root))

    def __copy__(self) -> Formula:
        return self

    def __deepcopy__(self, memo: Value) -> Formula:
        return self


def parse(text: str, where: str = "", sums: bool = False) -> Formula:
    """Reads a formula: numbers, names, ``+ - * / **``, a sign, parentheses, and calls of the
    functions of the RPN table; with `sums` also those over all points of an axis.

    Raises :class:`ModelError`, starting with `where`, with a caret under the fault.
    """
    return Formula(text, parse_text(text, where, sums))


def parse_given(text: str, where: str = "", sums: bool = False) -> Formula:
    """Like :func:`parse`, for text of a user: refuses a division by constants that make 0."""
    formula = parse(text, where, sums)
    for node in postorder(formula.root):
        if isinstance(node, Apply) and node.instruction == "DIV":
            divisor = Formula("", node.operands[1])
            is_number = not (divisor.names or has_sums(divisor.root))
            if is_number and divisor.evaluate({}) == 0.0:
                message = "this divides by 0, whatever the parameters are"
                raise fault(text, where, node.position, message)
    return formula


class _Value(NamedTuple):
    """A node with its value, and its operands with the partial derivative by each."""

    node: Node
    value: Value
    operands: tuple[tuple[Value, Value], ...] = ()


def _differentiate(node: Node, env: Mapping[str, Value]) -> _Value:
    """Values and partials of a tree. There is no partial by a literal: x ** 2 is smooth at
    negative x, though it is not smooth in the exponent."""
    if isinstance(node, Number):
        return _Value(node, np.float64(node.value))
    if isinstance(node, Name):
        return _Value(node, env[node.name])
    inner = [_differentiate(operand, env) for operand in node.operands]
    values = [operand.value for operand in inner]
    result = UFUNCS[node.instruction](*values)
    arguments = {**dict(zip("abc", values, strict=False)), "v": result}
    operands = tuple(
        (operand, None if isinstance(operand.node, Number) else slope(arguments))
        for operand, slope in zip(inner, SLOPES[node.instruction], strict=True)
    )
    return _Value(node, result, operands)


def _collect(tree: _Value, outer: Value, slopes: dict[str, Value]) -> None:
    """Adds the derivative of the root by each use of a name; `outer` is that by this node."""
    if isinstance(tree.node, Name):
        slopes[tree.node.name] = slopes[tree.node.name] + outer
    for operand, partial in tree.operands:
        if partial is not None:
            _collect(operand, chain_product(partial, outer), slopes)
