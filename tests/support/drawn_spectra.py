"""Drawn graphs in which sums and backgrounds read one another, with their spectra in NumPy."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from pyspec.ir import DomainKind, EdgeKind, GraphBuilder, GraphIR, NodeKind, verify

Array = npt.NDArray[np.float64]

ENERGY = np.linspace(-3.0, 3.0, 50)


class Drawn:
    """A graph with its spectra, worked out beside it in NumPy; the theta at which they are."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.builder = draw, GraphBuilder()
        self.values: dict[int, Array] = {}
        self.theta: list[float] = []
        self.sums: list[int] = []
        self.read: set[int] = set()
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
        # What nothing reads is added in the end.
        self._sum("total", [number for number in self.values if number not in self.read])

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
        source = self.draw.choice(self.sums)
        self.read.add(source)
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
        self.sums.append(number)
        self.read.update(addends)
        self.values[number] = np.sum([self.values[addend] for addend in addends], axis=0)

    def graph(self) -> GraphIR:
        """The graph, verified."""
        made = self.builder.build(DomainKind.ENERGY_1D, ENERGY, None, "drawn")
        verify(made)
        return made
