"""What the passes know of each node of a graph. The scheduler and the packer read it.

Facts hold of one graph: a pass that makes a new one begins again with :func:`neutral` facts. They
claim nothing: every computed value moves in time and depends on every free parameter. A plan made
of them gives the same numbers as any other, with more work.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from pyspec.ir import GraphIR
from pyspec.ir.rewrite import INPUTS


class Pace(IntEnum):
    """How a spectrum changes from time to time, in the order of what a kernel may save."""

    STATIC = 0  # not at all: one line serves all times, and stays until an input changes
    HEIGHT = 1  # only the height of a peak: a line at height 1, times the height
    SEPARABLE = 2  # one shape times a trace, such as a Shirley background of one moving peak
    MOVING = 3  # the shape moves, or nothing is known


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts of every node, by id.

    Attributes
    ----------
    moves : whether the value differs from time to time
    thetas : the free parameters on which the value depends, as places in theta, rising. The
        value stays where neither these nor fixed values change
    paces : of a node that is a spectrum, how it changes in time; MOVING for any other
    onsets : ids of parameters: before the earliest of them the value is the same at all times.
        Empty for a value that never changes; None if nothing is known
    separable : whether every spectrum is a sum of shapes that stand still, each times a trace
    """

    moves: tuple[bool, ...]
    thetas: tuple[tuple[int, ...], ...]
    paces: tuple[Pace, ...]
    onsets: tuple[frozenset[int] | None, ...]
    separable: bool = False


def neutral(graph: GraphIR) -> Facts:
    """Facts that claim nothing of what is computed. Parameters are numbers whatever is known: a
    free one depends on itself alone, a fixed one on nothing."""
    n, every = len(graph.nodes), tuple(range(len(graph.free)))
    moves, thetas = [graph.time is not None] * n, [every] * n
    onsets: list[frozenset[int] | None] = [None] * n
    for node in graph.nodes:
        if node.kind in INPUTS:
            moves[node.id], thetas[node.id], onsets[node.id] = False, (), frozenset()
    for place, node in enumerate(graph.free):
        thetas[node.id] = (place,)
    return Facts(tuple(moves), tuple(thetas), (Pace.MOVING,) * n, tuple(onsets))
