"""``pyspec diff A B``: what differs between two models, as the compiler understands them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from pyspec.cli.commands.models import chosen_model, give_axes, passes_behind
from pyspec.ir import GraphIR, build_graph, diff
from pyspec.passes import run as run_passes


def run(args: Namespace) -> int:
    """Prints the differences, with ``--after`` those behind that pass; returns the exit code."""
    behind = None if args.after is None else passes_behind(args.after)

    def graph_of(path: Path, name: str | None) -> GraphIR:
        model = chosen_model(path, name, args.dynamics, args.profile)
        give_axes(model)
        graph = build_graph(model)
        return graph if behind is None else run_passes(graph, behind)[0]

    before, now = graph_of(args.old, args.model), graph_of(args.new, args.other or args.model)
    lines = diff(before, now)
    one_plan = before.structure == now.structure
    args.facts.update(equal=not lines, same_structure=one_plan, differences=lines)
    for line in lines:
        print(line)
    if not lines:
        print("no difference")
    elif one_plan:
        print("\nthe same structure: one compiled plan serves both")
    else:
        print("\nanother structure: each has a plan of its own")
    return 0
