"""fold: computes the parts of expressions that consist of numbers alone.

``3/4 * GLP_01_A`` becomes ``0.75 * GLP_01_A``, and an expression that names one without
parameters takes over its number. Fixed parameters are inputs of a plan, not literals: they stay.
Each operation is computed by the NumPy reference of expressions, in the order written. So + - * /
give the same bits as without this pass; exp and its kind may differ in the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pyspec._library import RPN
from pyspec.formula import Apply, Formula, Name, Number
from pyspec.formula import Node as Syntax
from pyspec.formula.program.values import COMPARISONS
from pyspec.ir import EdgeKind, GraphEdge, GraphIR, GraphNode, NodeKind
from pyspec.ir.rewrite import renumbered
from pyspec.passes.facts import Facts, neutral

#: How tightly an operator binds; what binds less than its place asks for is put in parentheses.
_COMPARISON, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = 0, 1, 2, 3, 4, 5
_BINDS = {
    **dict.fromkeys(COMPARISONS, _COMPARISON),
    "ADD": _SUM,
    "SUB": _SUM,
    "MUL": _PRODUCT,
    "DIV": _PRODUCT,
    "NEG": _SIGN,
    "POW": _POWER,
}


def fold(graph: GraphIR, facts: Facts) -> tuple[GraphIR, Facts, tuple[str, ...]]:
    """Folds literals. A note for each expression that changes."""
    changed: dict[int, GraphNode] = {}
    references: dict[int, list[GraphEdge]] = {}
    literals: dict[int, Number] = {}
    notes = []
    for number in graph.order:
        node = graph.nodes[number]
        if node.kind is not NodeKind.EXPRESSION:
            continue
        formula = node.formula
        edges = graph.inputs(number, EdgeKind.EXPR_REF)
        named = dict(zip(formula.names, (edge.source for edge in edges), strict=True))
        numbers = {name: literals[source] for name, source in named.items() if source in literals}
        root = _folded(formula.root, numbers)
        if _is_literal(root):
            literals[number] = _number(root)
        if root is formula.root:
            continue
        text = _tree_text(root)
        changed[number] = replace(node, expr_string=text)
        references[number] = [
            GraphEdge(number, EdgeKind.EXPR_REF, position, named[name])
            for position, name in enumerate(changed[number].formula.names)
        ]
        notes.append(f"{node.name}: {formula.text} = {text}")
    if not changed:
        return graph, facts, ()
    nodes = [changed.get(node.id, node) for node in graph.nodes]
    kept = [edge for edge in graph.edges if edge.target not in changed]
    kept += [edge for edges in references.values() for edge in edges]
    folded = renumbered(graph, nodes, kept)
    return folded, neutral(folded), tuple(notes)


def _folded(node: Syntax, numbers: Mapping[str, Number]) -> Syntax:
    """The tree with every operation on numbers replaced by its value; itself if there is none."""
    if isinstance(node, Name):
        return numbers.get(node.name, node)
    if isinstance(node, Number):
        return node
    operands = tuple(_folded(operand, numbers) for operand in node.operands)
    if all(new is old for new, old in zip(operands, node.operands, strict=True)):
        made = node
    else:
        made = Apply(node.instruction, operands, node.position)
    if _is_literal(made) or not all(_is_literal(operand) for operand in operands):
        return made
    value = float(Formula("", made).evaluate({}))
    return Number(value, node.position) if np.isfinite(value) else made


def _is_literal(node: Syntax) -> bool:
    """A number, or one with a sign."""
    if isinstance(node, Apply):
        return node.instruction == "NEG" and isinstance(node.operands[0], Number)
    return isinstance(node, Number)


def _number(node: Syntax) -> Number:
    if isinstance(node, Number):
        return node
    assert isinstance(node, Apply)
    inner = node.operands[0]
    assert isinstance(inner, Number)
    return Number(-inner.value, node.position)


def _tree_text(node: Syntax, least: int = _COMPARISON) -> str:
    """The text of a tree, with the parentheses that it needs and no others."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Number):
        signed = np.signbit(node.value) and least > _SIGN
        return f"({node.value!r})" if signed else repr(node.value)
    row, operands = RPN[node.instruction], node.operands
    binds = _BINDS.get(node.instruction)
    if binds is None:
        return f"{row.symbol}({', '.join(_tree_text(operand) for operand in operands)})"
    if binds == _SIGN:
        text = row.symbol + _tree_text(operands[0], _SIGN)
    elif binds == _POWER:
        text = f"{_tree_text(operands[0], _ATOM)} {row.symbol} {_tree_text(operands[1], _SIGN)}"
    else:
        left = max(binds, _SUM)  # comparisons are not chained
        text = f"{_tree_text(operands[0], left)} {row.symbol} {_tree_text(operands[1], binds + 1)}"
    return f"({text})" if binds < least else text
