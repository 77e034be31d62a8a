"""Formulas as graphs of nodes: how they print, what order they have, and what they give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from pyspec._library import RPN
from pyspec.errors import BackendError, ModelError
from pyspec.formula import forest, graph, ir, linearize
from pyspec.formula.executor import State, evaluate_dag, evaluate_nodes, evaluate_tree
from pyspec.formula.flags import BREAK, COMPARE, DUMP, JIT, TRACE, Flags, from_environment
from pyspec.formula.graph import Aux, Energy, Node, Time, constant, placeholder
from pyspec.formula.linearize import verify
from pyspec.formula.node import OPERATIONS
from pyspec.formula.symbolic import derivative

WORKED = Path(__file__).parent / "worked"
ROOT = Path(__file__).parents[2]
SPACE = {"np": np, "special": special, "graph": graph}


@pytest.mark.parametrize("name", ["basic", "calls"])
def test_the_worked_examples_print_what_they_should(name: str) -> None:
    """In a process of their own: nodes are numbered from 1 there."""
    env = {**os.environ, "PYSPEC_FLAGS": "trace,compare", "PYTHONPATH": str(ROOT)}
    script = [sys.executable, str(WORKED / f"{name}.py")]
    done = subprocess.run(script, env=env, capture_output=True, text=True, check=True)
    found, wanted = done.stdout.split("\n"), (WORKED / f"{name}.txt").read_text().split("\n")
    for one, other in zip(found, wanted, strict=True):
        # The last digit of exp is that of the processor.
        assert one == other or float(one[2:]) == pytest.approx(float(other[2:]), rel=1e-14)


def run(code: str, **more: Any) -> dict[str, Any]:
    """What printed Python defines."""
    space = {**SPACE, **more}
    exec(compile(code, "printed", "exec"), space)
    return space


#: Arguments at which every operation is finite, and not at a kink.
FIRST, SECOND = np.array([0.3, 0.8, 1.7]), np.array([0.9, 0.4, 1.1])
THIRD = np.array([2.0, -1.0, 0.5])
ALL = [name for name, row in RPN.items() if row.arity]


@pytest.mark.parametrize("instruction", ALL)
def test_a_trace_run_as_python_gives_the_same_values(
    instruction: str, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [placeholder[Any](name) for name in "abc"[: RPN[instruction].arity]]
    node = OPERATIONS[instruction](*inputs)
    state = State(dict(zip(inputs, (FIRST, SECOND, THIRD), strict=False)), flags=TRACE | COMPARE)
    dag = ir.compile_nodes(*linearize.forest(node))
    value = evaluate_dag(state, dag)
    text = capsys.readouterr().out
    again = run(text)[f"n{node.id}"]
    np.testing.assert_array_equal(again, value)
    literals = [line for line in text.splitlines() if "np.asarray(" in line]
    assert len(literals) == len(inputs)
    # The node of the printed DAG gives the same.
    named = run(str(dag))
    twin = named[f"n{node.id}"]
    order = linearize.forest(twin)
    twins = [one for one in order if isinstance(one, placeholder)]
    given = dict(zip(sorted(twins, key=lambda one: one.name), (FIRST, SECOND, THIRD), strict=False))
    np.testing.assert_array_equal(evaluate_nodes(State(given), order), value)


@pytest.mark.parametrize("instruction", ALL)
def test_derivatives_are_those_of_differences(instruction: str) -> None:
    inputs = [placeholder[Any](name) for name in "abc"[: RPN[instruction].arity]]
    node = OPERATIONS[instruction](*inputs)
    values = dict(zip(inputs, (FIRST, SECOND, THIRD), strict=False))
    for one in inputs:
        slope = derivative(node, one)
        found = evaluate_nodes(State(values), linearize.forest(slope))
        above, below = (
            evaluate_nodes(State({**values, one: values[one] + h}), linearize.forest(node))
            for h in (1e-5, -1e-5)
        )
        assert above is not None
        np.testing.assert_allclose(
            np.broadcast_to(found, FIRST.shape), (above - below) / 2e-5, rtol=1e-8, atol=1e-9
        )


def test_operators_and_numpy_make_the_same_nodes() -> None:
    a, b = placeholder[Any]("a"), placeholder[Any]("b")
    values = {a: FIRST, b: SECOND}
    cases: list[tuple[Any, Any]] = [
        (a + b, FIRST + SECOND), (2 + a, 2 + FIRST), (a - b, FIRST - SECOND), (2 - a, 2 - FIRST),
        (a * b, FIRST * SECOND), (2 * a, 2 * FIRST), (a / b, FIRST / SECOND), (2 / a, 2 / FIRST),
        (a**b, FIRST**SECOND), (2**a, 2**FIRST), (-a, -FIRST), (+a, FIRST), (abs(-a), FIRST),
        (a < b, [1, 0, 0]), (a <= b, [1, 0, 0]), (a > b, [0, 1, 1]), (a >= b, [0, 1, 1]),
        (a == b, [0, 0, 0]), (a != b, [1, 1, 1]), (np.float64(2) * a, 2 * FIRST),
        (np.array(2.0) - a, 2 - FIRST), (np.where(a < b, a, 0), [0.3, 0, 0]),
        (np.clip(a, 0.5, 1), np.clip(FIRST, 0.5, 1)), (np.tanh(a), np.tanh(FIRST)),
        (np.square(a), FIRST**2), (np.reciprocal(a), 1 / FIRST), (np.log2(a), np.log2(FIRST)),
        (np.log10(a), np.log10(FIRST)), (np.exp2(a), np.exp2(FIRST)), (np.cosh(a), np.cosh(FIRST)),
        (np.sinh(a), np.sinh(FIRST)), (np.hypot(a, b), np.hypot(FIRST, SECOND)),
        (np.cumsum(a), np.cumsum(FIRST)), (np.sum(a), [FIRST.sum()]),
        (special.erf(a), special.erf(FIRST)),
        (np.maximum(a, b), np.maximum(FIRST, SECOND)), (np.float_power(a, 2), FIRST**2),
    ]  # fmt: skip
    for node, expected in cases:
        found = evaluate_nodes(State(values), linearize.forest(node))
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=str(node))


def test_what_numpy_does_that_nodes_do_not() -> None:
    a = placeholder[Any]("a")
    for make in (np.arcsin, np.mean, np.add.outer):
        with pytest.raises((ModelError, TypeError)):
            make(a, a) if make is np.add.outer else make(a)
    with pytest.raises(ModelError, match=r"a node has no value yet.*where\(condition"):
        assert a < 1
    with pytest.raises(ModelError, match="arrays are inputs"):
        a + np.array([1.0, 2.0])
    with pytest.raises(ModelError, match="is no real number"):
        constant("three")


# ---- order --------------------------------------------------------------------------------


def test_a_circle_names_its_nodes() -> None:
    a = placeholder[Any]("a")
    b = graph.exp(a, name="b")
    c = graph.sin(b, name="c")
    b.node = c
    with pytest.raises(ModelError, match=rf"circle: n{c.id} 'c' <- n{b.id} 'b' <- n{c.id} 'c'"):
        linearize.forest(a + c)


def test_axes_that_mix_are_refused() -> None:
    x, t, p = placeholder[Energy]("x"), placeholder[Time]("t"), placeholder[Any]("p")
    axes = verify(linearize.forest(x * p + 1, graph.total(x) * t, constant[Aux](2.0) + p))
    assert set(axes.values()) == {Energy, Time, Aux, None}
    for mixed in (x + t, graph.where(x * p > 0, t, 1)):
        with pytest.raises(ModelError, match=r"mixes n\d+.* along Energy and n\d+ 't' along Time"):
            ir.compile_nodes(*linearize.forest(mixed))
        with pytest.raises(ModelError, match="bring them to one axis"):
            forest.partition(mixed)


# ---- evaluation ---------------------------------------------------------------------------


def test_missing_inputs_are_named() -> None:
    a, b, c = placeholder[Any]("a"), placeholder[Any]("b"), placeholder[Any]("c", 2.0)
    product = b * c
    root = a + product
    with pytest.raises(ModelError, match=rf"no value for n{a.id} 'a', n{b.id} 'b'; give"):
        evaluate_dag(State(), ir.compile_nodes(*linearize.forest(root)))
    assert evaluate_dag(State({a: 1, b: 2}), ir.compile_nodes(*linearize.forest(root))) == 5
    inner, outer = forest.partition(product, root)
    with pytest.raises(
        ModelError, match=rf"no value for n{inner.root.id}, which the tree t{root.id} needs"
    ):
        evaluate_tree(State({a: 1}), outer)
    with pytest.raises(ModelError, match=rf"n{root.id} has no value yet"):
        State().get_node_value(root)
    with pytest.raises(ModelError, match="no value for"):
        evaluate_nodes(State(), [a])
    assert evaluate_nodes(State(), [c]) == 2
    assert evaluate_dag(State(), ir.compile_nodes()) is None
    call = graph.function_call("reduce", a)
    state = State({a: 1}, functions={"reduced": np.sum})
    with pytest.raises(ModelError, match="no function 'reduce'; did you mean 'reduced'"):
        evaluate_nodes(state, [call])


def test_each_node_is_computed_once_and_may_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[float] = []

    def counted(value: Any) -> Any:
        calls.append(float(value))
        return value * 2

    a = placeholder[Any]("a")
    b = graph.function_call("counted", a)
    trees = forest.partition(b + 1, b * b)
    state = State({a: 3}, functions={"counted": counted})
    evaluate_dag(state, ir.compile_trees(*trees))
    evaluate_dag(state, ir.compile_trees(*trees))
    assert calls == [3.0]
    given = State({a: 3, b: 10.0}, functions={"counted": counted}, flags=TRACE)
    assert evaluate_dag(given, ir.compile_trees(*trees)) == 100
    assert calls == [3.0]
    assert run(capsys.readouterr().out)[f"n{b.id}"] == 10
    state.set_node_value(a, 4)
    assert state.get_node_value(a) == 4


# ---- flags --------------------------------------------------------------------------------


def test_flags_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPEC_FLAGS", " trace, DUMP ,")
    assert from_environment() == TRACE | DUMP == State().flags
    monkeypatch.delenv("PYSPEC_FLAGS")
    assert State().flags is Flags.NONE
    monkeypatch.setenv("PYSPEC_FLAGS", "tracing")
    with pytest.raises(ModelError, match="'tracing' is no flag; did you mean 'trace'"):
        State()


def test_break_and_dump(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a = placeholder[Any]("a")
    root = a + 1
    seen: list[tuple[Node[Any], Any]] = []
    dag = ir.compile_nodes(*linearize.forest(root))
    state = State({a: 2}, flags=BREAK | DUMP, hook=lambda node, value: seen.append((node, value)))
    evaluate_dag(state, dag)
    assert [(node.id, float(value)) for node, value in seen] == [
        (a.id, 2.0),
        (root.right.id, 1.0),  # type: ignore[attr-defined]
        (root.id, 3.0),
    ]
    assert capsys.readouterr().out == f"{dag}\n\n"
    stops: list[int] = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(1))
    evaluate_dag(State({a: 2}, flags=BREAK), dag)
    assert len(stops) == 3


def test_compare_raises_where_the_two_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    a = placeholder[Any]("a")
    root = graph.sin(a)
    wrong = {"SIN": lambda value: np.sin(value) + 1e-9}
    monkeypatch.setattr("pyspec.formula.operations.UFUNCS", wrong)
    with pytest.raises(BackendError, match=rf"n{root.id}: NumPy gives .* the stack machine"):
        evaluate_nodes(State({a: 1.0}, flags=COMPARE), [root])
    evaluate_nodes(State({a: 1.0}), [root])


class StandIn:
    """What is used of Numba, without compiling anything: for environments that lack it."""

    njit = staticmethod(lambda function: function)
    vectorize = staticmethod(np.vectorize)


@pytest.mark.parametrize(
    "stand_in", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["stand-in", "numba"]
)
def test_compiled_trees(
    stand_in: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if stand_in:
        monkeypatch.setitem(sys.modules, "numba", StandIn)  # type: ignore[arg-type]
    else:
        pytest.importorskip("numba")
    a, b = placeholder[Any]("a"), placeholder[Any]("b")
    c = graph.exp(-(a**2)) + 55 / b
    d = graph.where(c > b, graph.erf(c), graph.chain_product(c, b)) * a
    trees = ir.compile_trees(*forest.partition(c, d, a))
    plain, fast = State({a: FIRST, b: 2}), State({a: FIRST, b: 2}, flags=JIT | COMPARE | TRACE)
    evaluate_dag(plain, trees)
    evaluate_dag(fast, trees)
    np.testing.assert_allclose(fast.values[d], plain.values[d], rtol=1e-14)
    assert f"n{d.id} = t{d.id}(n{a.id}, n{b.id}, n{c.id})" in capsys.readouterr().out
    assert evaluate_dag(State({a: 1, b: 2}, flags=JIT), trees) == 1
    assert evaluate_tree(State({a: 1.0, b: 2.0}, flags=JIT), forest.partition(d)[0]) == 1
    assert evaluate_tree(State(flags=JIT), forest.partition(placeholder("e", 2.0) - 1)[0]) == 1
    with pytest.raises(BackendError, match="Numba cannot compile"):
        evaluate_tree(State({a: 1.0}, flags=JIT), forest.partition(graph.erfcx(a))[0])


def test_compiled_trees_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    a = placeholder[Any]("a")
    with pytest.raises(BackendError, match=r"pip install 'pyspec-fit\[jit\]'"):
        evaluate_tree(State({a: 1.0}, flags=JIT), forest.partition(graph.exp(a))[0])


def test_sums_whole_powers_and_calls_in_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    a = placeholder[Any]("a")
    call = graph.function_call("scale", graph.cumsum(a), by=graph.total(a))
    root = call + a**-2
    scale = lambda node, by: node * by  # noqa: E731
    state = State({a: [1, 2, 4]}, functions={"scale": scale}, flags=TRACE | COMPARE)
    value = evaluate_dag(state, ir.compile_nodes(*linearize.forest(root)))
    np.testing.assert_array_equal(value, np.array([1, 3, 7]) * 7 + np.array([1, 1 / 4, 1 / 16]))
    np.testing.assert_array_equal(run(capsys.readouterr().out, scale=scale)[f"n{root.id}"], value)
