"""Small wrong changes to sources in C and in Python: the mutants that tests must notice."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes
    ----------
    line : where it is, from 1
    change : what was changed, for people
    source : the file as changed
    """

    line: int
    change: str
    source: str

    @property
    def label(self) -> str:
        return f"{self.line}: {self.change}"


#: What stands in place of an operator of C.
_C_SWAPS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("*",),
    "!": ("",),
    "&": ("|",),
    "|": ("&",),
    "|=": ("&=", "="),
    "+=": ("-=",),
}
_C_TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*\#(?:\\\n|[^\n])*)"""
    r"|(?P<number>\b\d+\b)|(?P<word>\w+)|(?P<op>->|\+\+|--|<<|>>|[<>=!|+&-]=|&&|\|\||[-+*/%<>!&|])",
    re.DOTALL | re.MULTILINE,
)
#: What a binary operator follows.
_OPERAND = re.compile(r"[\w)\]]$")
_CAST = re.compile(r"\((?:const |unsigned )*(?:\w+_t|int|char|double|pyspec_\w+)(?: \*)?\)$")
_TYPE = re.compile(
    r"(?:\b(?:const|char|int|double|void|\w+_t|pyspec_(?!words)\w+|op_row|checker))$"
)
_REQUIRE = re.compile(r"^ +REQUIRE(?:_NODE|_PLAN|_PROBLEM)?\((?:[^;]|\n)*?\);\n", re.MULTILINE)


def c_mutants(source: str) -> Iterator[Mutant]:
    """Operators exchanged, numbers one larger, checks left out."""
    for match in _C_TOKEN.finditer(source):
        before = source[: match.start()].rstrip()
        found = match.group()
        if match.lastgroup == "number":
            yield _replaced(source, match.start(), match.end(), str(int(found) + 1))
        elif match.lastgroup == "op" and found in _C_SWAPS:
            is_binary = bool(_OPERAND.search(before)) and not _CAST.search(before)
            if found == "*" and _TYPE.search(before):
                continue
            if found in "+-*&" and not is_binary:
                continue
            for other in _C_SWAPS[found]:
                yield _replaced(source, match.start(), match.end(), other)
    for match in _REQUIRE.finditer(source):
        begin = match.start() + len(match.group()) - len(match.group().lstrip())
        # An empty statement keeps the `if` before it whole.
        yield _replaced(source, begin, match.end() - 1, ";", "left out: ")


def _replaced(source: str, begin: int, end: int, text: str, what: str = "") -> Mutant:
    line = source.count("\n", 0, begin) + 1
    row = source.rfind("\n", 0, begin) + 1
    place = f"column {begin - row + 1}, " if not what else ""
    old = " ".join(source[begin:end].split())
    change = what + old if what else f"{place}{old} -> {text or 'nothing'}"
    return Mutant(line, change, source[:begin] + text + source[end:])


_PY_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_PY_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def py_mutants(source: str) -> Iterator[Mutant]:
    """Comparisons, `and` and `or`, `not`, numbers and conditions changed; statements left out."""
    tree = ast.parse(source)
    nodes, types = list(ast.walk(tree)), _types(tree)
    for place, node in enumerate(nodes):
        for kind in () if node in types else _py_changes(node):
            changed = copy.deepcopy(tree)
            target = list(ast.walk(changed))[place]
            before = ast.unparse(target).splitlines()[0]
            _PY_APPLY[kind](target)
            after = ast.unparse(target).splitlines()[0]
            yield Mutant(
                getattr(node, "lineno", 0), f"{before} -> {after}"[:140], ast.unparse(changed)
            )


def _types(tree: ast.AST) -> set[ast.AST]:
    """What stands in annotations, which are never run, and imports for checkers of types."""
    given = [
        getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")
    ]
    given += [node for node in ast.walk(tree) if isinstance(node, ast.If) and _is_typing(node)]
    return {inner for one in given if one is not None for inner in ast.walk(one)}


def _is_typing(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _py_changes(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare) and len(node.ops) >= 1 and type(node.ops[0]) in _PY_COMPARE:
        yield "compare"
        if len(node.ops) > 1:
            yield "compare last"
    if isinstance(node, ast.BoolOp):
        yield "bool"
    if isinstance(node, ast.BinOp) and type(node.op) in _PY_BINARY:
        yield "binary"
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "always"
        yield "never"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number"
    if isinstance(node, (ast.Raise, ast.Continue)):
        yield "pass"
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Yield, ast.YieldFrom, ast.Call)):
        yield "left out"


def _compare(node: ast.Compare, place: int = 0) -> None:
    node.ops[place] = _PY_COMPARE.get(type(node.ops[place]), ast.NotEq)()


def _bool(node: ast.BoolOp) -> None:
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _binary(node: ast.BinOp) -> None:
    node.op = _PY_BINARY[type(node.op)]()


def _become(node: ast.AST, other: ast.AST) -> None:
    node.__class__ = other.__class__  # type: ignore[assignment]
    node.__dict__.clear()
    node.__dict__.update(other.__dict__)


_PY_APPLY = {
    "compare": _compare,
    "compare last": lambda node: _compare(node, -1),
    "bool": _bool,
    "binary": _binary,
    "always": lambda node: setattr(node, "test", ast.Constant(True)),
    "never": lambda node: setattr(node, "test", ast.Constant(False)),
    "not": lambda node: _become(node, node.operand),
    "number": lambda node: setattr(node, "value", node.value + 1),
    "pass": lambda node: _become(node, ast.Pass()),
    "left out": lambda node: setattr(node, "value", ast.Constant(None)),
}
