"""The plan: rows, order of resolution, slots, packing, and what the library refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.zoo import ZOO, make_model

from pyspec._library import CONSTANTS, OPS
from pyspec.errors import PlanError
from pyspec.executor import make_plan
from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, NodeKind, build_graph, verify
from pyspec.plan import (
    PackedPlan,
    can_lower_1d,
    can_lower_2d,
    check,
    pack,
    schedule_1d,
    schedule_2d,
)
from pyspec.plan.slots import assign_slots


@pytest.mark.parametrize("name", ZOO)
def test_rows_are_free_then_fixed_then_computed(name: str) -> None:
    model = make_model(name)
    plan = make_plan(model)
    assert plan.opt_param_names == model.opt_param_names
    assert plan.fixed_names == model.fixed_names
    n_inputs = len(plan.opt_param_names) + len(plan.fixed_names)
    assert plan.row_names[:n_inputs] == plan.opt_param_names + plan.fixed_names
    assert not plan.row_moves[:n_inputs].any()


@pytest.mark.parametrize("name", ZOO)
def test_every_row_is_resolved_before_it_is_read(name: str) -> None:
    plan = make_plan(make_model(name))
    known = set(range(len(plan.opt_param_names) + len(plan.fixed_names)))
    for kind, index in zip(plan.resolution_kinds, plan.resolution_indices, strict=True):
        if kind == 0:
            subs = slice(plan.dyn_group_indptr[index], plan.dyn_group_indptr[index + 1])
            read = set(plan.dyn_sub_param_rows[subs].ravel().tolist()) - {-1}
            read.add(int(plan.dyn_group_base_row[index]))
            known_after = int(plan.dyn_group_target_row[index])
        else:
            code = plan.expr_code[plan.expr_indptr[index] : plan.expr_indptr[index + 1]]
            read = {int(operand) for instruction, operand in code if instruction == 1}
            known_after = int(plan.expr_target_rows[index])
        assert read <= known
        known.add(known_after)
    assert set(plan.op_param_indices.tolist()) - {-1} <= known


@pytest.mark.parametrize("name", ZOO)
def test_a_list_of_components_needs_one_slot(name: str) -> None:
    slots = assign_slots(build_graph(make_model(name)))
    assert slots.n_slots == 1
    assert all(op.node is not None for op in slots.ops)


def test_a_sum_read_twice_keeps_its_slot() -> None:
    """Two Shirleys over the same peaks, as a drawn graph may have them."""
    b = GraphBuilder()
    p = [b.node(NodeKind.OPT_PARAM, f"p{k}", value=1.0, vary=True) for k in range(5)]
    gauss = b.node(NodeKind.COMPONENT_EVAL, "Gauss_01", function_name="Gauss", package="energy")
    for position in range(3):
        b.edge(p[position], gauss, EdgeKind.PARAM_INPUT, position)
    peaks = b.sum("peaks", [gauss])
    fed = []
    for k in (3, 4):
        fed.append(
            b.node(NodeKind.SPECTRUM_FED_OP, f"S{k}", function_name="Shirley", package="energy")
        )
        b.edge(p[k], fed[-1], EdgeKind.PARAM_INPUT, 0)
        b.edge(peaks, fed[-1], EdgeKind.SPECTRUM_INPUT)
    b.sum("total", [peaks, *fed])
    graph = b.build(DomainKind.ENERGY_1D, np.linspace(-3, 3, 50), None, "drawn")
    verify(graph)
    plan = schedule_1d(graph)
    assert plan.n_slots == 2
    from pyspec.executor import CompiledExecutor, InterpretedExecutor

    theta = np.array([2.0, 0.1, 0.5, 0.01, 0.02])
    compiled = CompiledExecutor(plan).run(theta)
    peak = 2.0 * np.exp(-(((plan.energy - 0.1) / 0.5) ** 2) / 2)
    expected = peak + 0.03 * np.cumsum(peak[::-1])[::-1]
    np.testing.assert_allclose(compiled, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(InterpretedExecutor(plan).run(theta), expected, atol=1e-13)


@pytest.mark.parametrize("name", ZOO)
def test_plan_is_immutable_picklable_hashable(name: str) -> None:
    plan = make_plan(make_model(name))
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    assert hash(again) == hash(plan)
    with pytest.raises(ValueError, match="read-only"):
        plan.theta[0] = 0.0


@pytest.mark.parametrize("name", ZOO)
def test_packed_nodes_say_what_the_plan_says(name: str) -> None:
    plan = make_plan(make_model(name))
    packed = pack(plan)
    nodes = packed.nodes()
    components = nodes[nodes["step"] == CONSTANTS["STEP_COMPONENT"]]
    np.testing.assert_array_equal(components["op"], plan.op_kinds)
    assert (nodes["step"] == CONSTANTS["STEP_LAW"]).sum() == plan.dyn_sub_func_id.size
    assert (nodes["step"] == CONSTANTS["STEP_EXPRESSION"]).sum() == plan.expr_target_rows.size
    assert not packed.memory.flags.writeable


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
    b.node(NodeKind.FREE_VECTOR, "mine")
    b.sum("total", [])
    drawn = b.build(DomainKind.ENERGY_TIME_2D, np.arange(3.0), np.arange(2.0), "drawn")
    reasons = can_lower_2d(drawn).reasons
    assert [(reason.node, reason.rule) for reason in reasons] == [
        ("mine", "FREE_VECTOR has no schedule")
    ]
    with pytest.raises(PlanError, match="mine: FREE_VECTOR has no schedule"):
        schedule_2d(drawn)


def test_parameters_left_out_have_no_row() -> None:
    plan = make_plan(make_model("biexponential"))
    position = OPS["expFun"].params.index("y0")
    # Reverse file order: the second law, with its y0, comes first.
    assert plan.dyn_sub_param_rows[0, position] >= 0
    assert plan.dyn_sub_param_rows[1, position] == -1
