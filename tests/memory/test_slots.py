"""Slots of drawn graphs: spectra that several sums read, in whatever order and place."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from support.drawn_spectra import ENERGY, Drawn

from bench.inside.memory import random_functions
from pyspec.executor import CompiledExecutor, InterpretedExecutor
from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, NodeKind
from pyspec.memory import FITS, ORDERS, Choice
from pyspec.passes import neutral, run
from pyspec.plan import schedule
from pyspec.plan.memory import registers
from pyspec.plan.slots import assign_slots

Array = npt.NDArray[np.float64]

CHOICES = [Choice(*choice) for choice in product(ORDERS, FITS, (True, False))]


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_drawn_graphs_have_their_values(count: int) -> None:
    draw = random.Random(2)
    fewer = 0
    for _ in range(count):
        drawn = Drawn(draw)
        graph = drawn.graph()
        expected = drawn.values[drawn.sums[-1]]
        theta = np.array(drawn.theta)
        sizes = {choice: assign_slots(graph, choice).n_slots for choice in CHOICES}
        fewer += sizes[Choice()] < sizes[Choice("given", "apart", in_place=False)]
        known: dict[type, Array] = {}
        for choice in draw.sample(CHOICES, 4):
            plan = schedule(graph, neutral(graph), choice)
            for executor in (CompiledExecutor, InterpretedExecutor):
                found = executor(plan).run(theta)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected.max())
                np.testing.assert_array_equal(known.setdefault(executor, found), found)
            slopes = CompiledExecutor(plan).jacobian(theta)
            np.testing.assert_array_equal(known.setdefault(Choice, slopes), slopes)
        shared, facts, _ = run(graph)
        np.testing.assert_allclose(
            CompiledExecutor(schedule(shared, facts)).run(theta), expected, rtol=0,
            atol=1e-12 * expected.max(),
        )  # fmt: skip
    assert fewer > count / 2


def test_a_spectrum_is_not_added_to_itself_in_place() -> None:
    """The C adds two different spectra."""
    b = GraphBuilder()
    p = [b.node(NodeKind.OPT_PARAM, f"p{k}", value=1.0, vary=True) for k in range(3)]
    gauss = b.node(NodeKind.COMPONENT_EVAL, "Gauss_01", function_name="Gauss", package="energy")
    for position in range(3):
        b.edge(p[position], gauss, EdgeKind.PARAM_INPUT, position)
    peaks = b.sum("peaks", [gauss])
    b.sum("total", [peaks, peaks])
    graph = b.build(DomainKind.ENERGY_1D, ENERGY, None, "drawn")
    plan = schedule(graph, neutral(graph))
    assert plan.n_slots == 2
    assert (plan.op_source_slot != plan.op_target_slot).all()
    np.testing.assert_allclose(
        CompiledExecutor(plan).run([2.0, 0.1, 0.5]),
        4.0 * np.exp(-(((ENERGY - 0.1) / 0.5) ** 2) / 2),
        rtol=1e-13,
    )


def test_the_default_order_is_the_best_for_random_functions() -> None:
    own = random_functions(60)
    needed = {how: sum(registers(one, Choice(how)) for one in own) for how in ORDERS}
    assert needed[Choice().order] == min(needed.values()) < needed["given"]
