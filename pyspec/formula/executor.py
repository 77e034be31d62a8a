"""Evaluates formulas in NumPy, node by node or tree by tree, with all values to look at.

state = State({a: 4, b: 2})
evaluate_dag(state, ir.compile_trees(*forest.partition(c, d)))
state.get_node_value(c)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pyspec._library import RPN
from pyspec.errors import BackendError, ModelError
from pyspec.formula.flags import BREAK, COMPARE, DUMP, JIT, TRACE, Flags, from_environment
from pyspec.formula.forest import Tree, is_leaf
from pyspec.formula.ir import DAG
from pyspec.formula.node import Node, constant, placeholder
from pyspec.formula.operations import line, literal, perform
from pyspec.formula.program.machine import run_rpn
from pyspec.formula.rules import Value

Array = npt.NDArray[Value]

#: How far two evaluators may be apart under COMPARE, relative to the largest value.
SAME = 1e-12


@dataclass(eq=False)
class State:
    """The values known so far. Those given, of placeholders or of any other node, are used as they
    are: no node is computed twice.

    `functions` are those that nodes call by name, on arrays. `flags` default to those of the
    variable ``PYSPEC_FLAGS``. With BREAK, `hook(node, value)` is called after each node; without a
    hook the debugger starts.
    """

    values: dict[Node, Value] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Value]] = field(default_factory=dict)
    flags: Flags = field(default_factory=from_environment)
    hook: Callable[[Node, Array], object] | None = None

    def __post_init__(self) -> None:
        self.values = {node: np.asarray(value) for node, value in self.values.items()}

    def get_node_value(self, node: Node) -> Array:
        """The value. Raises :class:`ModelError` where it is not known yet."""
        if node not in self.values:
            raise ModelError(
                f"{node.label} has no value yet: {node}; evaluate it, or give its value"
            )
        value: Array = self.values[node]
        return value

    def set_node_value(self, node: Node, value: Value) -> None:
        """Gives a node its value."""
        self.values[node] = np.asarray(value)


def evaluate_dag(state: State, dag: DAG) -> Array | None:
    """Evaluates all nodes or trees of a DAG; the value of the last one, None where there is none.

    Raises :class:`ModelError` that names the placeholders without a value.
    """
    if DUMP in state.flags:
        print(dag, end="\n\n")
    leaves = (*dag.placeholders, *dag.constants)
    _take_inputs(state, leaves)
    for leaf in leaves:
        _show(state, leaf, literal(state.values[leaf]))
    value = evaluate_nodes(state, dag.nodes)
    for tree in dag.trees:
        value = evaluate_tree(state, tree)
    return value


def _take_inputs(state: State, nodes: Iterable[Node], tree: str = "") -> None:
    """Numbers and default values need not be given. Raises :class:`ModelError` that names all other
    nodes without a value; they are inputs of a `tree`, if that is given."""
    missing = []
    for node in nodes:
        value = node.value if isinstance(node, constant) else None
        if isinstance(node, placeholder):
            value = node.default_value
        if node not in state.values and value is None:
            missing.append(node.label)
        elif node not in state.values:
            state.set_node_value(node, value)
    if missing:
        remedy = "evaluate the trees before it" if tree else "give the placeholder a default_value"
        raise ModelError(
            f"no value for {', '.join(missing)}{tree}; give the State values={{node: value}}, or "
            f"{remedy}"
        )


def evaluate_tree(state: State, tree: Tree) -> Array:
    """Evaluates one tree; the value of its root.

    Raises :class:`ModelError` that names the inputs without a value.
    """
    _take_inputs(state, tree.inputs, f", which the tree t{tree.root.id} needs")
    if JIT in state.flags and tree.root not in state.values and not is_leaf(tree.root):
        _compiled(state, tree)
    else:
        evaluate_nodes(state, tree.nodes)
    return state.get_node_value(tree.root)


def evaluate_nodes(state: State, nodes: Iterable[Node]) -> Array | None:
    """Evaluates nodes that stand in order; the value of the last."""
    value = None
    for node in nodes:
        if node not in state.values:
            operands = [state.get_node_value(operand) for operand in node.operands]
            state.values[node] = _value(state, node, operands)
            _show(state, node, line(node, operands))
        elif node.operands:
            _show(state, node, literal(state.values[node]))
        value = state.values[node]
    return value


def _value(state: State, node: Node, operands: list[Array]) -> Array:
    if is_leaf(node):
        _take_inputs(state, [node])
        return state.get_node_value(node)
    with np.errstate(all="ignore"):
        value: Array = perform(node, operands, state.functions)
    if COMPARE in state.flags and node.instruction:
        arrays = np.broadcast_arrays(*operands)
        traces = np.stack([array.ravel() for array in arrays]).astype(np.float64)
        code = [(RPN["PARAM"].index, k) for k in range(len(arrays))]
        program = np.array([*code, (RPN[node.instruction].index, 0)], np.int64)
        other: Array = run_rpn(program, traces).reshape(arrays[0].shape)
        _compare(node, value, other, "the stack machine")
    return value


def _show(state: State, node: Node, code: str) -> None:
    value = state.values[node]
    if TRACE in state.flags:
        text = str(value).replace("\n", "\n# ")
        print(f"# {node}\nn{node.id} = {code}")
        print(f"# shape: {value.shape}\n# dtype: {value.dtype}\n# value:\n# {text}\n")
    if BREAK in state.flags:
        if state.hook is None:
            sys.breakpointhook()
        else:
            state.hook(node, value)


def _compare(node: Node, value: Array, other: Array, backend: str) -> None:
    finite = np.abs(value[np.isfinite(value)])
    scale = SAME * finite.max(initial=0.0)
    if not np.allclose(value, other, rtol=0.0, atol=scale, equal_nan=True):
        raise BackendError(f"{node.label}: NumPy gives {value}, {backend} {other}: {node}")


def _compiled(state: State, tree: Tree) -> None:
    """The root of a tree by Numba; the nodes on the way have no value then."""
    from pyspec.formula.jit import run_compiled

    values: list[Value] = [state.values[node] for node in tree.inputs]
    state.values[tree.root] = np.asarray(run_compiled(tree, *values))
    if COMPARE in state.flags:
        plain = {node: state.values[node] for node in tree.inputs}
        apart = State(plain, state.functions, Flags.NONE)
        evaluate_nodes(apart, tree.nodes)
        _compare(tree.root, apart.get_node_value(tree.root), state.values[tree.root], "Numba")
    arguments = ", ".join(f"n{node.id}" for node in tree.inputs)
    _show(state, tree.root, f"t{tree.root.id}({arguments})")
