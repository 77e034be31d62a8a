"""``pyspec diff A B``: what differs between two models, as the compiler understands them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyspec.cli.chosen import chosen_model, give_axes, passes_behind
from pyspec.cli.facts import Facts
from pyspec.ir import GraphIR, build_graph, diff
from pyspec.passes import run

#: A file, and the model of it that is meant.
Named = tuple[Path, str | None]


def print_diff(
    old: Named,
    new: Named,
    dynamics: Sequence[str],
    profiles: Sequence[str],
    *,
    last: str | None,
    facts: Facts,
) -> int:
    """Prints the differences, with `last` those behind that pass; returns the exit code."""
    behind = None if last is None else passes_behind(last)

    def graph_of(path: Path, name: str | None) -> GraphIR:
        model = chosen_model(path, name, dynamics, profiles)
        give_axes(model)
        graph = build_graph(model)
        return graph if behind is None else run(graph, behind)[0]

    before, now = graph_of(*old), graph_of(*new)
    lines = diff(before, now)
    one_plan = before.structure == now.structure
    facts.update(equal=not lines, same_structure=one_plan, differences=lines)
    for line in lines:
        print(line)
    if not lines:
        print("no difference")
    elif one_plan:
        print("\nthe same structure: one compiled plan serves both")
    else:
        print("\nanother structure: each has a plan of its own")
    return 0
