"""What a model contains, by name, and what must occur in at least 2 % of all models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from support.random_models.draft import Draft, Slot
from support.random_models.expressions import FORMS
from support.random_models.structure import (
    BACKGROUNDS,
    INSTRUMENTS,
    KERNELS,
    LAWS,
    PEAKS,
    PROFILES,
    RESPONDING,
    Structure,
)

REQUIRED: tuple[str, ...] = (
    *(f"op:{name}" for name in [*PEAKS, *BACKGROUNDS, *LAWS, *KERNELS, *INSTRUMENTS, *PROFILES]),
    "op:resolution",
    *(f"irf:{name}" for name in RESPONDING),
    *(f"rpn:{name}" for name in ("CONST", "PARAM", *FORMS)),
    *(f"kind:{name}" for name in ("1D", "2D", "TIME_1D")),
    *(f"axis:{name}" for name in ("energy uniform", "energy uneven", "energy single")),
    *(f"axis:{name}" for name in ("time uniform", "time uneven", "time single")),
    "axis:energy descending",
    *(f"back:several {name}" for name in BACKGROUNDS),
    "back:not first",
    "law:y0",
    "law:no y0",
    "law:several",
    "law:before an instrument",
    "law:several gaussians",
    "conv:several",
    *(f"sub:{name}" for name in ("1", "2", "3", "4", "kernel", "no kernel", "global law")),
    *(f"sub:{name}" for name in ("global none", "none", "several laws", "kernel inside")),
    "sub:expression across",
    "sub:instrument",
    *(f"profile:{name}" for name in ("uniform", "weighted", "several", "two functions")),
    *(f"profile:{name}" for name in ("own dynamics", "own sub-cycles", "and dynamics")),
    *(f"profile:{name}" for name in ("background", "Shirley", "expression over", "expression in")),
    *(f"expr:{name}" for name in ("pi", "e", "chain", "moving", "profiled", "local name")),
    *(f"expr:{name}" for name in ("chain moving", "chain profiled", "kernel parameter")),
    *(f"expr:{name}" for name in ("of a law", "of a kernel", "law parameter", "shared")),
    *(f"expr:{name}" for name in ("quantity", "derived quantity")),
    *(f"data:{name}" for name in ("f8", "f4", "u2", "mask", "poisson", "rows", "columns")),
    *(f"data:weight {name}" for name in ("none", "scalar", "line", "spectrum", "points")),
)


def count(found: Iterable[Iterable[str]]) -> Counter[str]:
    """In how many models each feature occurs."""
    return Counter(feature for features in found for feature in features)


def describe(draft: Draft, structure: Structure) -> None:
    """Adds what the structure and the expressions show."""
    add = draft.features.add
    functions = [
        *structure.components,
        *(f for motion in structure.dynamics.values() for f in motion.functions),
        *(f for profile in structure.profiles.values() for f in profile),
    ]
    for function in functions:
        add(f"op:{function.op}")
    names = [c.op for c in structure.components]
    for name in BACKGROUNDS:
        if names.count(name) > 1:
            add(f"back:several {name}")
    if names[0] in PEAKS and any(name in BACKGROUNDS for name in names):
        add("back:not first")
    groups = [motion.functions for motion in structure.dynamics.values()]
    if draft.kind == "TIME_1D":
        groups.append(structure.components)
    for group in groups:
        _describe_laws(draft, [f.op for f in group])
    _describe_subcycles(draft, structure)
    _describe_profiles(draft, structure)
    _describe_expressions(draft)


def _describe_laws(draft: Draft, ops: list[str]) -> None:
    add = draft.features.add
    if sum(op in LAWS for op in ops) > 1:
        add("law:several")
    if sum(op in KERNELS for op in ops) > 1:
        add("conv:several")
    for index, op in enumerate(ops):
        if op in INSTRUMENTS:
            for law in ops[index + 1 :]:
                add(f"irf:{law}")
            if any(law in LAWS for law in ops[:index]):
                add("law:before an instrument")


def _describe_subcycles(draft: Draft, structure: Structure) -> None:
    add = draft.features.add
    for target, motion in structure.dynamics.items():
        if len(motion.parts) == 1:
            continue
        add(f"sub:{len(motion.parts) - 1}")
        first = [f.op for f in motion.parts[0]]
        add("sub:global none" if set(first) <= {"none", *KERNELS} else "sub:global law")
        rest = motion.parts[1:]
        if any(f.op in KERNELS for f in motion.functions):
            add("sub:kernel")
        else:
            add("sub:no kernel")
        if any(f.op in KERNELS for part in rest for f in part):
            add("sub:kernel inside")
        if any(f.op in INSTRUMENTS for f in motion.functions):
            add("sub:instrument")
        if any(f.op == "none" for part in rest for f in part):
            add("sub:none")
        if any(sum(f.op in LAWS for f in part) > 1 for part in rest):
            add("sub:several laws")
        if draft.slots[target].role == "profile":
            add("profile:own sub-cycles")


def _describe_profiles(draft: Draft, structure: Structure) -> None:
    add = draft.features.add
    if len(structure.profiles) > 1:
        add("profile:several")
    for target, functions in structure.profiles.items():
        if len(functions) > 1:
            add("profile:two functions")
        if target in structure.dynamics:
            add("profile:and dynamics")
        if draft.slots[target].function in BACKGROUNDS:
            add("profile:background")
        if draft.slots[target].function == "Shirley":
            add("profile:Shirley")
    if any(draft.slots[target].role == "profile" for target in structure.dynamics):
        add("profile:own dynamics")
    if any(draft.slots[target].role == "quantity" for target in structure.dynamics):
        add("quantity:moving")


def _describe_expressions(draft: Draft) -> None:
    add = draft.features.add
    for slot in draft.slots.values():
        used = [draft.slots[name] for name in slot.uses]
        chain = any(other.uses for other in used)
        behind = _behind(draft, used)
        moving = any(other.moved for other in behind)
        profiled = any(other.profiled for other in behind)
        found = {
            "expr:chain": chain,
            "expr:moving": moving,
            "expr:profiled": profiled,
            "expr:chain moving": chain and moving,
            "expr:chain profiled": chain and profiled,
            "profile:expression over": profiled,
            "profile:expression in": bool(used) and slot.role == "profile",
            "expr:kernel parameter": any(s.function in (*KERNELS, *INSTRUMENTS) for s in used),
            "expr:law parameter": any(s.role == "law" for s in used),
            "expr:of a law": bool(used) and slot.role == "law" and slot.function in LAWS,
            "expr:of a kernel": bool(used) and slot.function in (*KERNELS, *INSTRUMENTS),
            "expr:shared": slot.role == "law" and any(_elsewhere(slot, s) for s in used),
            "sub:expression across": any(
                s.target == slot.target and s.subcycle != slot.subcycle for s in used
            ),
            "expr:quantity": any(s.role == "quantity" for s in used),
            "expr:derived quantity": bool(used) and slot.role == "quantity",
        }
        for name, is_so in found.items():
            if is_so:
                add(name)


def _elsewhere(slot: Slot, other: Slot) -> bool:
    """Whether a law takes its t0, tau or width from other dynamics."""
    return other.role == "law" and other.target != slot.target and other.argument == slot.argument


def _behind(draft: Draft, slots: list[Slot]) -> list[Slot]:
    found, waiting = [], list(slots)
    while waiting:
        current = waiting.pop()
        found.append(current)
        waiting += [draft.slots[name] for name in current.uses]
    return found
