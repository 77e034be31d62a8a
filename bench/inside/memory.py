"""What the memory planner saves: ``python -m bench.inside.memory --json FILE``.

Three tables of sizes, which no clock and no other work on the machine can change:

- the work memory of a thread for the problems of one model. Phases that are never there at the same
  time are laid over one another, or all stand one behind the other;
- registers of a chunk for functions by formula, value and all partials, for each order of the
  instructions and each way to find a place, and the bytes of the registers as they run;
- spectra at the same time for drawn graphs, in which several sums read one another, and without
  taking memory over in place.

A register of a chunk is one kilobyte (eight where an instruction has much to prepare), a
spectrum and each of its columns five.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.inside.formulas import as_formula
from bench.measure import arguments_of, finish, print_rows
from bench.problems.cases import Case, all_cases
from pyspec.cli.commands.explain_memory import work_phases
from pyspec.errors import ModelError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.formula import Definition, define
from pyspec.memory import Choice
from pyspec.plan.memory import CHOICES, registers
from pyspec.plan.slots import assign_slots

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from fuzz.definitions import random_text
from support.drawn_spectra import Drawn

#: Functions of the table whose formulas are counted.
NAMES = (
    "Gauss",
    "Lorentz",
    "GLP",
    "GLS",
    "Voigt",
    "DS",
    "ErfStep",
    "AtanStep",
    "PowerBack",
    "sinFun",
)

#: Lines of a multiplet, each with a width of its own: many values are there at the same time.
MULTIPLET = "energy Multiplet(A, x0, d, w, m): " + " + ".join(
    f"A / {k} * exp(-((x - x0 - {k} * d) / (w + {k} * m)) ** 2)"
    f" / (1 + ((x - x0 - {k} * d) / w) ** 2)"
    for k in range(1, 9)
)


def built_in() -> dict[str, Definition]:
    """Functions of the table as :mod:`bench.inside.formulas` has them, and one that is larger."""
    found = {name: as_formula(name).own for name in NAMES}
    known = {name: own for name, own in found.items() if isinstance(own, Definition)}
    return {**known, "Multiplet": _defined(MULTIPLET)}


def _defined(text: str) -> Definition:
    own = define(text).own
    assert isinstance(own, Definition)
    return own


def random_functions(count: int) -> list[Definition]:
    """Random functions that the compiled library runs."""
    draw, found = random.Random(5), list[Definition]()
    while len(found) < count:
        try:
            found.append(_defined(random_text(draw)))
        except ModelError:
            continue
    return found


def by_choice(counts: Iterable[Callable[[Choice], int]]) -> list[int]:
    """The sum of what is counted, for each choice."""
    jobs = list(counts)
    return [sum(job(choice) for job in jobs) for choice in CHOICES]


def _name(choice: Choice) -> str:
    return f"{choice.order}, {choice.fit}" + ("" if choice.in_place else ", not in place")


def main(arguments: list[str] | None = None) -> int:
    """Prints the tables, writes JSON if asked to."""
    parser = arguments_of("inside.memory", __doc__, data=True)
    parser.add_argument("--count", type=int, default=300, help="random functions and graphs (300)")
    given = parser.parse_args(arguments)
    numbers: dict[str, Any] = {"work": {}, "planner": {}}
    rows = []
    for case in all_cases(given.data):
        if isinstance(case, Case):
            phases, size = work_phases(CompiledExecutor(make_plan(case.model), case.measurement))
            numbers["work"][case.name] = {**phases, "size": size}
            apart = sum(phases.values())
            rows.append([case.name, *map(str, phases.values()), str(size), str(apart),
                         f"{size / apart:.2f}"])  # fmt: skip
    head = [name.removeprefix("WORK_").lower() for name in phases]
    print_rows(["problem, bytes", *head, "laid over", "apart", "ratio"], rows)
    draw = random.Random(2)
    graphs = [Drawn(draw).graph() for _ in range(given.count)]
    counted: dict[str, list[int]] = {
        name: by_choice([lambda choice, own=own: registers(own, choice)])
        for name, own in built_in().items()
    }
    counted[f"{given.count} random functions"] = by_choice(
        [lambda choice, own=own: registers(own, choice) for own in random_functions(given.count)]
    )
    counted[f"{given.count} drawn graphs, spectra"] = by_choice(
        [lambda choice, one=one: assign_slots(one, choice).n_slots for one in graphs]
    )
    names = [_name(choice) for choice in CHOICES]
    print_rows(
        ["", *counted],
        [[name, *(str(row[k]) for row in counted.values())] for k, name in enumerate(names)],
    )
    numbers["planner"] = {key: dict(zip(names, row, strict=True)) for key, row in counted.items()}
    finish(given.json, numbers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
