"""Slots of drawn graphs: spectra that several sums read, in whatever order and place."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from pyspec.executor import CompiledExecutor, InterpretedExecutor
from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, GraphIR, NodeKind, verify
from pyspec.memory import FITS, ORDERS, Choice
from pyspec.passes import neutral, run
from pyspec.plan import schedule
from pyspec.plan.slots import assign_slots

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(-3.0, 3.0, 50)
CHOICES = [Choice(*choice) for choice in product(ORDERS, FITS, (True, False))]


class Drawn:
    """A graph with its spectra, worked out beside it in NumPy; the theta at which they are."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.builder = draw, GraphBuilder()
        self.values: dict[int, Array] = {}
        self.theta: list[float] = []
        self.free: list[int] = []
        sums = 0
        for _ in range(draw.randrange(2, 10)):
            kind = draw.random()
            if kind < 0.4 or not self.values:
                self._gauss()
            elif kind < 0.6 and sums:
                self._shirley()
            else:
                self._sum(f"sum{sums}", draw.choices(list(self.values), k=draw.randrange(1, 4)))
                sums += 1
        # Whatever is not read is added to the end.
        self._sum("total", list(self.values))

    def _parameter(self, value: float) -> int:
        number = self.builder.node(
            NodeKind.OPT_PARAM, f"p{len(self.theta)}", value=value, vary=True
        )
        self.theta.append(value)
        return number

    def _gauss(self) -> None:
        given = [self.draw.uniform(*span) for span in ((1, 3), (-2, 2), (0.3, 1))]
        number = self.builder.node(
            NodeKind.COMPONENT_EVAL, f"G{len(self.theta)}", function_name="Gauss", package="energy"
        )
        for position, value in enumerate(given):
            self.builder.edge(self._parameter(value), number, EdgeKind.PARAM_INPUT, position)
        height, centre, width = given
        self.values[number] = height * np.exp(-(((ENERGY - centre) / width) ** 2) / 2)

    def _shirley(self) -> None:
        source = self.draw.choice(self.sums())
        number = self.builder.node(
            NodeKind.SPECTRUM_FED_OP, f"S{len(self.theta)}", function_name="Shirley",
            package="energy",
        )  # fmt: skip
        value = self.draw.uniform(0.01, 0.05)
        self.builder.edge(self._parameter(value), number, EdgeKind.PARAM_INPUT, 0)
        self.builder.edge(source, number, EdgeKind.SPECTRUM_INPUT)
        self.values[number] = value * np.cumsum(self.values[source][::-1])[::-1]

    def _sum(self, name: str, addends: list[int]) -> None:
        number = self.builder.sum(name, addends)
        self.free.append(number)
        self.values[number] = np.sum([self.values[addend] for addend in addends], axis=0)

    def sums(self) -> list[int]:
        """The sums so far, which a background may read."""
        return self.free

    def graph(self) -> GraphIR:
        """The graph, verified."""
        made = self.builder.build(DomainKind.ENERGY_1D, ENERGY, None, "drawn")
        verify(made)
        return made


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_drawn_graphs_have_their_values(count: int) -> None:
    draw = random.Random(2)
    fewer = 0
    for _ in range(count):
        drawn = Drawn(draw)
        graph = drawn.graph()
        expected = drawn.values[drawn.free[-1]]
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
