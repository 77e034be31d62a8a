"""The passes in their order, the choice of which run, and what they report."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pyspec.errors import PassError, suggest
from pyspec.ir import GraphIR, verify
from pyspec.passes.classify import classify
from pyspec.passes.drop import drop
from pyspec.passes.expand import expand
from pyspec.passes.facts import Facts, neutral
from pyspec.passes.fold import fold
from pyspec.passes.separable import separable
from pyspec.passes.share import share

Pass = Callable[[GraphIR, Facts], tuple[GraphIR, Facts, tuple[str, ...]]]

#: Every pass that can be left out, by name, in the order in which they run; expand goes first.
PASSES: dict[str, Pass] = {
    "fold": fold,
    "drop": drop,
    "share": share,
    "classify": classify,
    "separable": separable,
}

#: Environment variable that chooses the passes behind expand: "fold,share" runs these alone,
#: "-fold,-share" all others, "none" none of them.
VARIABLE = "PYSPEC_PASSES"


@dataclass(frozen=True)
class Step:
    """What one pass did: nodes of the graph before and after it, and its notes. A pass that was
    left out has none."""

    name: str
    ran: bool
    before: int
    after: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.ran:
            return f"{self.name}: left out"
        nodes = f"{self.before} nodes"
        if self.after != self.before:
            nodes = f"{self.before} -> {self.after} nodes"
        return "\n".join([f"{self.name}: {nodes}", *(f"  {note}" for note in self.notes)])


#: One step for expand and each of :data:`PASSES`.
Report = tuple[Step, ...]


def run(graph: GraphIR, without: Collection[str] | str = ()) -> tuple[GraphIR, Facts, Report]:
    """Runs the passes over a graph; :func:`~pyspec.ir.verify` runs after each that changes it.

    Parameters
    ----------
    without : names of :data:`PASSES` to leave out, besides those that the environment variable
        ``PYSPEC_PASSES`` leaves out. The numbers of the plan do not depend on it.

    Returns the last graph, the facts of its nodes, and what each pass did.

    Raises :class:`PassError` for a name that is no pass, and :class:`PlanError` where a pass breaks
    a rule of graphs.
    """
    skipped = _checked({without} if isinstance(without, str) else set(without), "without")
    skipped |= _skipped_by_environment()
    facts = neutral(graph)
    report = []
    for name, work in {"expand": expand, **PASSES}.items():
        if name in skipped:
            report.append(Step(name, False, len(graph.nodes), len(graph.nodes)))
            continue
        before = graph
        graph, facts, notes = work(before, facts)
        if graph is not before:
            verify(graph, given=False)
        report.append(Step(name, True, len(before.nodes), len(graph.nodes), notes))
    return graph, facts, tuple(report)


def after(name: str) -> frozenset[str]:
    """The passes after `name`, "expand" or one of :data:`PASSES`. Leave these out to see the graph
    as that pass leaves it.

    Raises :class:`PassError` for a name that is no pass.
    """
    if name == "expand":
        return frozenset(PASSES)
    _checked({name}, "after")
    names = list(PASSES)
    return frozenset(names[names.index(name) + 1 :])


def _skipped_by_environment() -> set[str]:
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return set()
    if text == "none":
        return set(PASSES)
    items = [item.strip() for item in text.split(",")]
    left_out = [item.startswith("-") for item in items]
    if any(left_out) and not all(left_out):
        raise PassError(
            f"{VARIABLE}={text!r} names passes to run and passes to leave out; write either "
            "'fold,share' or '-fold,-share'"
        )
    names = _checked({item.removeprefix("-") for item in items}, VARIABLE)
    return names if any(left_out) else set(PASSES) - names


def _checked(names: set[str], where: str) -> set[str]:
    for name in sorted(names - set(PASSES)):
        raise PassError(
            f"{where}: {name!r} is no pass{suggest(name, list(PASSES))}; there are "
            f"{', '.join(PASSES)}"
        )
    return names
