"""The plan: rows, order of resolution, slots, packing, and what the library refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.zoo import ZOO, make_model

from pyspec import components as c
from pyspec.errors import PlanError
from pyspec.executor import CompiledExecutor, InterpretedExecutor, make_executor, make_plan
from pyspec.functions.external import forget_function, register_function
from pyspec.ir import (
    DomainKind,
    EdgeKind,
    GraphBuilder,
    NodeKind,
    build_graph,
    parse_graph,
    print_graph,
)
from pyspec.model import Measurement, Model, load_dynamics, load_model
from pyspec.plan import (
    PackedPlan,
    can_lower_1d,
    can_lower_2d,
    check,
    pack,
    schedule_1d,
    schedule_2d,
)

ENERGY = np.linspace(-3, 3, 21)
PEAK = np.exp(-(((ENERGY - 0.1) / 0.5) ** 2) / 2)
#: The peak, and what two Shirleys of 0.01 and 0.02 make of it.
TWICE = PEAK + 0.03 * np.cumsum(PEAK[::-1])[::-1]


def test_a_sum_read_twice_keeps_its_slot() -> None:
    """Two Shirleys over the same peak, as a drawn graph may have them."""
    b = GraphBuilder()
    p = [b.node(NodeKind.OPT_PARAM, f"p{k}", value=1.0, vary=True) for k in range(5)]
    gauss = b.node(NodeKind.COMPONENT_EVAL, "Gauss_01", function_name="Gauss", package="energy")
    for position in range(3):
        b.edge(p[position], gauss, EdgeKind.PARAM_INPUT, position)
    peaks = b.sum("peaks", [gauss])
    shirley = {"function_name": "Shirley", "package": "energy"}
    fed = [b.node(NodeKind.SPECTRUM_FED_OP, f"S{k}", **shirley) for k in range(2)]
    for node, fraction in zip(fed, p[3:], strict=True):
        b.edge(fraction, node, EdgeKind.PARAM_INPUT, 0)
        b.edge(peaks, node, EdgeKind.SPECTRUM_INPUT)
    b.sum("total", [peaks, *fed])
    plan = schedule_1d(b.build(DomainKind.ENERGY_1D, ENERGY, None, "drawn"))
    assert plan.n_slots == 2
    theta = np.array([2.0, 0.1, 0.5, 0.01, 0.02])
    for executor in (CompiledExecutor(plan), InterpretedExecutor(plan)):
        np.testing.assert_allclose(executor.run(theta), 2.0 * TWICE, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ZOO)
def test_plan_is_immutable_picklable_hashable(name: str) -> None:
    plan = make_plan(make_model(name))
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    with pytest.raises(ValueError, match="read-only"):
        plan.theta[0] = 0.0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("step", 99, r"step = 99: unknown step"),
        ("op", 10_000, r"op = 10000: unknown op"),
        ("n_params", 2, r"n_params = 2: the number of parameters"),
        ("params", 1 << 40, r"params = \d+: an offset points outside"),
        ("target", 7, r"target = 7: a spectrum slot is out of range"),
        ("n_guards", 1000, r"n_guards = 1000: a guard names"),
    ],
)
def test_library_names_node_and_field(field: str, value: int, message: str) -> None:
    packed = pack(make_plan(make_model("simple_energy")))
    memory = packed.memory.copy()
    bad = PackedPlan(memory, packed.labels)
    bad.nodes()[field][0] = value
    with pytest.raises(PlanError, match=r"node 0 \(GLP_02\), field " + message):
        check(bad, "simple_energy")


def test_lowering_says_why_not() -> None:
    graph = build_graph(make_model("biexponential"))
    assert can_lower_2d(graph)
    answer = can_lower_1d(graph)
    assert not answer
    assert "its domain is ENERGY_TIME_2D" in str(answer)
    with pytest.raises(PlanError, match="cannot be lowered"):
        schedule_1d(graph)
    b = GraphBuilder()
    b.node(NodeKind.FREE_VECTOR, "mine", axis="time")
    b.sum("total", [])
    drawn = b.build(DomainKind.ENERGY_TIME_2D, np.arange(3.0), np.arange(2.0), "drawn")
    reasons = can_lower_2d(drawn).reasons
    assert [(reason.node, reason.rule) for reason in reasons] == [
        ("mine", "is free along time, and no plan has a value for it")
    ]
    with pytest.raises(PlanError, match=r"mine: is free along time, .*; fit it to times and en"):
        schedule_2d(drawn)


@pytest.mark.parametrize("own", [True, False])
def test_a_law_in_python_may_be_the_only_program_of_a_plan(own: bool) -> None:
    """Without an expression in the model its trace had no stack: "an expression program is
    malformed"."""
    law = "A, tau>0"
    register_function("Mine", lambda t, A, tau: A * np.exp(-np.abs(t) / tau), law, domain="time")
    try:
        moved = c.moving(3, [c.registered("Mine", 2, 3)])
        height, quantities = (moved, {}) if own else (c.expr("q"), {"q": moved})
        model = Model("m", [c.Gauss(height, 84, 1)], quantities=quantities)
        model.set_axes(np.linspace(80, 90, 21), np.linspace(-1, 3, 9))
        assert not make_plan(model).expr_depth.size
        np.testing.assert_allclose(model.evaluate("compiled"), model.evaluate("tree"), rtol=1e-13)
    finally:
        forget_function("Mine")


def test_lowering_names_functions_and_traces_that_cannot_be() -> None:
    register_function("Mine", lambda x, A: A * x, "A")
    model = load_model("m: {Mine: {A: [1, True]}}\n", "m")
    model.set_axes(energy=np.arange(3.0))
    graph = build_graph(model)
    note = "Mine_01 runs in NumPy: Mine is a registered function"
    assert str(can_lower_1d(graph)) == f"can be lowered; {note}"
    forget_function("Mine")
    unknown = "Mine_01: the function Mine is Python and not registered in this process; call"
    assert unknown in str(can_lower_1d(graph))
    peak = c.Gauss(c.moving(3, [c.gaussCONV(1), c.gaussD1Fun(1, 2, 0)]), 84, 1)
    moved = Model("m", [peak])
    moved.set_axes(np.arange(3.0), np.arange(4.0))
    text = print_graph(build_graph(moved))
    instrument = text.replace('"gaussCONV", "package"', '"gaussIRF", "package"')
    assert "there is no exact response of Gauss_01_A_gaussD1Fun_01; use gaussCONV" in str(
        can_lower_2d(parse_graph(instrument))
    )
    (edge,) = [line for line in text.splitlines() if "TRACE_INPUT" in line and "%9" in line]
    twice = parse_graph(text.replace(edge, f"{edge}\n{edge.replace('[0]', '[1]')}"))
    answer = str(can_lower_2d(twice))
    assert "Gauss_01_A_gaussCONV: is not the first of a sum; sum its trace first" in answer
    assert "Gauss_01_A_gaussCONV: feeds two sums; give each sum its own convolution" in answer


@pytest.mark.parametrize("alone", ["gaussIRF: {SD: [0.3, False]}", "gaussCONV: {SD: [0.3, False]}"])
@pytest.mark.parametrize("name", ["Shirley_pShirley", "Gauss_01_x0"])
def test_what_an_instrument_without_laws_moves_takes_the_general_walk(
    name: str, alone: str
) -> None:
    """It is 0, but resolved with the laws, so that sums apart must not take it for a number."""
    text = f"""
m:
  Shirley: {{pShirley: [0.01, True]}}
  Gauss: {{A: [3, True], x0: [84, True], SD: [0.6, True]}}
law:
  expFun: {{A: [1, True], tau: [2, True], t0: [0, False], y0: [0.1, True]}}
alone:
  {alone}
"""
    model = load_model(text, "m")
    model.set_axes(energy=np.linspace(80, 88, 21), time=np.linspace(-1, 5, 7))
    model.add_dynamics("Gauss_01_A", load_dynamics(text, "law", "Gauss_01_A"))
    still = model.copy()
    model.add_dynamics(name, load_dynamics(text, "alone", name))
    plan = make_plan(model)
    assert plan.separable
    assert pack(plan).header["separable"] == -1
    assert pack(make_plan(still)).header["separable"] >= 0
    data = Measurement(np.ones((7, 21)))
    sums = [make_executor(one, data).normal(None, in_strips=True) for one in (model, still)]
    np.testing.assert_allclose(sums[0], sums[1], rtol=1e-12, atol=1e-12 * np.abs(sums[1]).max())
