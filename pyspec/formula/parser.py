"""The parser: text to syntax tree, by precedence climbing.

    sum    = unary { (+ | - | * | / | comparison) unary }   left to right: * and / before + and -,
                                                   these before one comparison, which is 1 or 0
    unary  = (- | +) unary | power
    power  = atom [ ** unary ]                     right to left, before a minus on its left
    atom   = number | name | function ( sum {, sum} ) | ( sum )

Operators and functions are the symbols of the RPN table; pi and e are numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import e, isfinite, pi

from pyspec._library import RPN, RpnDef
from pyspec.errors import ModelError, suggest
from pyspec.formula.remedies import CHARACTERS, INSTEAD, WORDS, of_character
from pyspec.formula.syntax import SUMS, Apply, Name, Node, Number

#: How tightly a left-associative operator binds.
PRECEDENCE = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 0),
    "+": 1,
    "-": 1,
    "*": 2,
    "/": 2,
}

#: Names that stand for a number; no parameter may have one of them.
CONSTANTS = {"pi": pi, "e": e}

#: Deepest nesting; keeps every walk over a tree far from Python's recursion limit.
MAX_DEPTH = 120

_SYMBOLS = [row for row in RPN.values() if row.symbol]
INFIX: dict[str, RpnDef] = {
    row.symbol: row for row in _SYMBOLS if row.arity == 2 and not row.symbol.isidentifier()
}
PREFIX: dict[str, RpnDef] = {
    row.symbol: row for row in _SYMBOLS if row.arity == 1 and not row.symbol.isidentifier()
}
FUNCTIONS: dict[str, RpnDef] = {
    name: row for row in _SYMBOLS for name in (row.symbol, *row.aliases) if name.isidentifier()
}

_OPERATORS = sorted({*INFIX, *PREFIX, "+"}, key=len, reverse=True)
_TOKEN = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<unknown>//|%|\^)"
    rf"|(?P<operator>{'|'.join(map(re.escape, _OPERATORS))})"
    r"|(?P<mark>[(),])"
    r"|(?P<end>$))"
)


@dataclass(frozen=True)
class Token:
    """One word of a formula."""

    kind: str
    text: str
    position: int


def parse_text(text: object, where: str = "", sums: bool = False) -> Node:
    """The syntax tree of `text`; `sums` allows those over all points of an axis.

    Raises :class:`ModelError` with a caret under the fault.
    """
    if not isinstance(text, str):
        start = f"{where}: " if where else ""
        raise ModelError(f"{start}an expression is text, not {type(text).__name__}; quote it")
    return _Parser(text, where, sums).parse()


#: Errors show so many characters of an expression at most.
MOST_SHOWN = 160


def fault(text: str, where: str, position: int, message: str) -> ModelError:
    """An error of a formula, with a caret under the fault."""
    shown = re.sub(r"\s", " ", text)
    if len(shown) > MOST_SHOWN:  # the part around the fault
        begin = max(0, min(position - MOST_SHOWN // 2, len(shown) - MOST_SHOWN))
        position -= begin - 1 if begin else 0
        end = "…" if begin + MOST_SHOWN < len(shown) else ""
        shown = ("…" if begin else "") + shown[begin : begin + MOST_SHOWN] + end
    start = f"{where}: " if where else ""
    return ModelError(f"{start}expression {shown!r}: {message}\n    {shown}\n    {' ' * position}^")


class _Parser:
    def __init__(self, text: str, where: str, sums: bool) -> None:
        self.text = text
        self.sums = sums
        self.where = where
        self.tokens: list[Token] = []
        self.index = self.depth = position = 0
        while not self.tokens or self.tokens[-1].kind != "end":
            match = _TOKEN.match(text, position)
            if match is None:
                rest = text[position:].lstrip(" \t\r\n")
                at = len(text) - len(rest)
                raise self.error(at, of_character(rest[0], text[:at], rest[1:]))
            kind, position = str(match.lastgroup), match.end()
            if kind == "unknown":
                raise self.error(match.start(kind), CHARACTERS[match[kind]])
            self.tokens.append(Token(kind, match[kind], match.start(kind)))

    def error(self, position: int, message: str) -> ModelError:
        return fault(self.text, self.where, position, message)

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def parse(self) -> Node:
        if self.token.kind == "end":
            raise self.error(0, "it is empty; write a formula such as GLP_01_x0 + 3.67")
        root = self.sum(0)
        self._expect_end()
        level: list[Node] = [root]
        for _ in range(MAX_DEPTH):
            level = [k for node in level if isinstance(node, Apply) for k in node.operands]
            if not level:
                return root
        raise self.error(level[0].position, "it is too long; split it over several parameters")

    def _expect_end(self) -> None:
        token, before = self.token, self.tokens[self.index - 1]
        if token.kind == "end":
            return
        message = f"an operator is missing before {token.text!r}; write + - * / or **"
        if token.text == ")":
            message = "this ')' has no '(' before it; remove it or add one"
        elif token.text == ",":
            message = "a comma has no meaning here; a decimal point is written ."
        elif token.text in ("if", "else", "and", "or", "not", "in", "is"):
            message = f"{token.text!r} is not available; write where(condition, then, otherwise)"
        elif token.kind == "name" and before.kind == "number":
            message = f"an operator is missing; write {before.text} * {token.text}"
        raise self.error(token.position, message)

    def sum(self, lowest: int) -> Node:
        self._enter()
        left = self.unary()
        while self.token.kind == "operator":
            precedence = PRECEDENCE.get(self.token.text, -1)
            if precedence < lowest:
                break
            operator = self.take()
            right = self.sum(precedence + 1)
            left = Apply(INFIX[operator.text].name, (left, right), operator.position)
            if precedence == 0:
                if PRECEDENCE.get(self.token.text) == 0:
                    chained = "comparisons cannot be chained; write (a < b) * (b < c) for a < b < c"
                    raise self.error(self.token.position, chained)
                break
        self.depth -= 1
        return left

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(
                self.token.position, "it is nested too deeply; split it over several parameters"
            )

    def unary(self) -> Node:
        if self.token.kind != "operator" or self.token.text not in {*PREFIX, "+"}:
            return self.power()
        self._enter()
        operator = self.take()
        operand = self.unary()
        self.depth -= 1
        if operator.text == "+":
            return operand
        return Apply(PREFIX[operator.text].name, (operand,), operator.position)

    def power(self) -> Node:
        base = self.atom()
        if self.token.text != "**":
            return base
        self._enter()
        operator = self.take()
        exponent = self.unary()
        self.depth -= 1
        return Apply(INFIX["**"].name, (base, exponent), operator.position)

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            value = float(token.text)
            if not isfinite(value):
                raise self.error(
                    token.position, f"the number {token.text} is too large; write a smaller one"
                )
            return Number(value, token.position)
        if token.kind == "name":
            return self._name(token)
        if token.text == "(":
            inner = self.sum(0)
            self._close(token)
            return inner
        if token.kind == "end":
            raise self.error(token.position, "it ends where a number, a name or '(' should follow")
        raise self.error(
            token.position, f"{token.text!r} stands where a number, a name or '(' should stand"
        )

    def _name(self, token: Token) -> Node:
        row = FUNCTIONS.get(token.text)
        if self.token.text != "(":
            if row is not None:
                raise self.error(
                    token.position, f"{token.text!r} is a function; write {token.text}( ... )"
                )
            if token.text in CONSTANTS:
                return Number(CONSTANTS[token.text], token.position)
            return Name(token.text, token.position)
        if token.text in SUMS and not self.sums:
            raise self.error(
                token.position,
                f"{token.text} runs over all energies, which only a function of energy in a "
                "section functions: sees; write the terms with +",
            )
        if token.text in SUMS:
            return self._applied(token, SUMS[token.text], 1)
        if row is not None:
            return self._applied(token, row.name, row.arity)
        remedy, product = f"write {INSTEAD.get(token.text)}", "; a product is written with *"
        if token.text not in INSTEAD:
            names = dict.fromkeys(row.symbol for row in FUNCTIONS.values() if row.symbol != "**")
            remedy = f"there are {', '.join(names)}{suggest(token.text, list(FUNCTIONS))}"
        elif token.text not in WORDS:
            product = ""
        raise self.error(
            token.position, f"{token.text!r} is not a known function; {remedy}{product}"
        )

    def _applied(self, token: Token, instruction: str, arity: int) -> Node:
        """A function on the operands that follow."""
        opening = self.take()
        operands: list[Node] = []
        if self.token.text != ")":
            operands.append(self.sum(0))
            while self.token.text == ",":
                self.take()
                operands.append(self.sum(0))
        self._close(opening)
        if len(operands) != arity:
            raise self.error(
                token.position,
                f"{token.text} takes {arity} argument(s), not {len(operands)}; write "
                f"{token.text}({', '.join('abc'[:arity])})",
            )
        return Apply(instruction, tuple(operands), token.position)

    def _close(self, opening: Token) -> None:
        if self.token.kind == "end":
            raise self.error(opening.position, "this '(' is never closed; add a ')'")
        if self.token.text != ")":
            self._expect_end()
        self.take()
