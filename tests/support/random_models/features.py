"""What a model contains, by name, and what must occur in at least 2 % of all models."""

from __future__ import annotations

from collections import Counter

from support.random_models.draft import Draft
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
    *(f"axis:energy {name}" for name in ("uniform", "uneven", "single", "descending")),
    *(f"axis:time {name}" for name in ("uniform", "uneven", "single")),
    *(f"back:several {name}" for name in BACKGROUNDS),
    *(f"law:{name}" for name in ("y0", "no y0", "several gaussians")),
    *(f"sub:{name}" for name in ("1", "2", "3", "4", "kernel", "instrument")),
    *(f"profile:{name}" for name in ("uniform", "weighted", "own dynamics", "and dynamics")),
    *(f"profile:{name}" for name in ("Shirley", "expression in")),
    *(f"expr:{name}" for name in ("pi", "e", "chain", "moving", "profiled", "local name")),
    *(f"expr:{name}" for name in ("of a law", "of a kernel", "quantity")),
    *(f"data:{name}" for name in ("f8", "f4", "u2", "mask", "poisson", "rows", "columns")),
    *(f"data:weight {name}" for name in ("none", "scalar", "line", "spectrum", "points")),
)


def describe(draft: Draft, structure: Structure) -> None:
    """Adds what the structure and the expressions show."""
    found, slots = draft.features, draft.slots
    groups = [structure.components, *structure.profiles.values()]
    groups += [motion.functions for motion in structure.dynamics.values()]
    for group in groups:
        ops = [function.op for function in group]
        found |= {f"op:{op}" for op in ops}
        for place in (k for k, op in enumerate(ops) if op in INSTRUMENTS):
            found |= {f"irf:{law}" for law in ops[place + 1 :]}
    times = Counter(component.op for component in structure.components)
    found |= {f"back:several {name}" for name in BACKGROUNDS if times[name] > 1}
    for target, motion in structure.dynamics.items():
        if len(motion.parts) > 1:
            ops = {function.op for function in motion.functions}
            found.add(f"sub:{len(motion.parts) - 1}")
            found |= {"sub:kernel"} if ops & set(KERNELS) else set()
            found |= {"sub:instrument"} if ops & set(INSTRUMENTS) else set()
        found |= {"profile:own dynamics"} if slots[target].role == "profile" else set()
        found |= {"profile:and dynamics"} if target in structure.profiles else set()
    if any(slots[target].function == "Shirley" for target in structure.profiles):
        found.add("profile:Shirley")
    for slot in slots.values():
        used = [slots[name] for name in slot.uses]
        behind = [part for other in used for part in draft.closure(other)]
        shown = {
            "expr:chain": any(other.uses for other in used),
            "expr:moving": any(part.moved for part in behind),
            "expr:profiled": any(part.profiled for part in behind),
            "expr:quantity": any(other.role == "quantity" for other in used),
            "expr:of a law": bool(used) and slot.role == "law" and slot.function in LAWS,
            "expr:of a kernel": bool(used) and slot.function in (*KERNELS, *INSTRUMENTS),
            "profile:expression in": bool(used) and slot.role == "profile",
        }
        found |= {name for name, is_so in shown.items() if is_so}
