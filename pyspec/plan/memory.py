"""What the memory planner makes of a model: spectra and registers of formulas, for each choice."""

from __future__ import annotations

from typing import NamedTuple

from pyspec.formula import Definition, find_op
from pyspec.formula.program.encode import encode
from pyspec.ir import GraphIR
from pyspec.memory import FITS, ORDERS, Choice
from pyspec.plan.slots import assign_slots

#: The planner's choices: every order and fit, and the default without taking memory over.
CHOICES: tuple[Choice, ...] = (
    *(Choice(order, fit) for order in ORDERS for fit in FITS),
    Choice(in_place=False),
)


class Planned(NamedTuple):
    """The memory of one choice. `spectra` is the largest number of spectra that exist at the same
    time. `registers` are those of each formula for a chunk, including the axis and the inputs."""

    choice: Choice
    spectra: int
    registers: dict[str, int]


def planned(graph: GraphIR) -> list[Planned]:
    """What each of :data:`CHOICES` needs for a graph, as the passes leave it."""
    own = formulas(graph)
    return [
        Planned(
            choice,
            assign_slots(graph, choice).n_slots,
            {name: registers(definition, choice) for name, definition in own.items()},
        )
        for choice in CHOICES
    ]


def formulas(graph: GraphIR) -> dict[str, Definition]:
    """The functions by formula of a graph that run in C, by name. Of a kernel, its shape counts."""
    definitions = {}
    for node in graph.nodes:
        op = find_op(node.function_name)
        if op is not None and not op.external and isinstance(op.own, Definition):
            definitions[op.name] = op.own
    return definitions


def registers(own: Definition, choice: Choice | None = None) -> int:
    """Registers of a chunk that the value and the derivatives of a function need."""
    return encode(own.work(own.value), choice).n_vectors
