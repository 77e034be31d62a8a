"""From a seed to a model: structure first, then a value or an expression for each parameter."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from pyspec._library import OPS
from support.random_models.case import Case, Step
from support.random_models.draft import Draft, Slot, draw_axes, draw_axis, nominal, rounded
from support.random_models.expressions import write_expression
from support.random_models.features import describe
from support.random_models.structure import Function, Structure, draw_structure

#: Least distance of a jump from a sample, in units of the axis.
CLEARANCE = 1e-9


def generate(seed: int) -> Case:
    """The model of this seed. Drawn again where a jump lies on a sample."""
    for attempt in range(100):
        rng = random.Random(f"{seed}/{attempt}")
        case = _draw(rng, seed)
        if case is not None:
            return case
    raise RuntimeError(f"seed {seed}: every attempt puts a jump on a sample")


def _draw(rng: random.Random, seed: int) -> Case | None:
    kind = rng.choices(["1D", "2D", "TIME_1D"], [0.2, 0.66, 0.14])[0]
    draft = Draft(rng, kind)
    draft.features.add(f"kind:{kind}")
    draw_axes(draft)
    structure = draw_structure(draft)
    if structure.profiles:
        _draw_aux(draft)
    _slots(draft, structure)
    _values(draft)
    if not _clear_of_jumps(draft, structure):
        return None
    steps = _steps(draft, structure)
    files = _files(draft, structure)
    case = Case(
        seed,
        kind,
        "".join(files.values()),
        steps,
        draft.energy,
        draft.time,
        draft.aux,
        draft.aux_weights,
        _measurement(draft),
        draft.features,
        {} if draft.chance(0.25) else files,
    )
    describe(draft, structure)
    return case


def _near(axis: Any, value: float, length: float) -> bool:
    return bool(np.abs(np.asarray(axis) - value).min() < CLEARANCE * length)


def _clear_of_jumps(draft: Draft, structure: Structure) -> bool:
    """Whether onsets, box edges, centres of GaussAsym and boundaries of sub-cycles lie clear of
    samples: there the last bit decides, in any program."""
    for slot in draft.slots.values():
        if slot.argument == "t0" and _near(draft.time, slot.value, draft.duration[1]):
            return False
        if slot.function == "GaussAsym" and slot.argument == "x0":
            centres = [slot.value]
            if _near(draft.energy, centres[0], draft.span[1]):
                return False
        op = OPS.get(slot.function)
        if op is not None and op.kind == "KERNEL" and op.jumps:
            apart = np.abs(np.subtract.outer(draft.time, draft.time))
            if _near(apart, slot.value / float(op.jumps[0][1]), draft.duration[1]):
                return False
    for motion in structure.dynamics.values():
        if motion.frequency > 0:
            count = len(motion.parts) - 1
            turns = np.asarray(draft.time) * motion.frequency * count
            later = turns[turns > -CLEARANCE]
            clearance = CLEARANCE * draft.duration[1] * motion.frequency * count
            if later.size and np.abs(later - np.round(later)).min() < clearance:
                return False
            if _near(draft.time, 0.0, draft.duration[1]):
                return False
    return True


def _draw_aux(draft: Draft) -> None:
    draft.aux = draw_axis(draft, "aux", (2, 4), 0.0, draft.rng.uniform(0.5, 5.0))
    if draft.chance(0.5):
        draft.aux_weights = np.array([draft.rng.uniform(0.1, 2.0) for _ in draft.aux])
        if draft.aux.size > 1 and draft.chance(0.2):
            draft.aux_weights[draft.rng.randrange(draft.aux.size)] = 0.0
        draft.features.add("profile:weighted")
    else:
        draft.features.add("profile:uniform")


def _slots(draft: Draft, structure: Structure) -> None:
    """A slot for each parameter, in file order."""
    for function in structure.components:
        role = "law" if draft.kind == "TIME_1D" else "energy"
        _function_slots(draft, function, role, "")
    for name in structure.quantities:
        draft.slots[name] = Slot(name, name, "", "quantity")
    for target, functions in structure.profiles.items():
        for function in functions:
            _function_slots(draft, function, "profile", target)
        draft.slots[target].profiled = True
    for target, dynamics in structure.dynamics.items():
        for function in dynamics.functions:
            _function_slots(draft, function, "law", target)
        draft.slots[target].moved = True
    for slot in draft.slots.values():
        op = OPS.get(slot.function)
        slot.positive = op is not None and any(
            op.params[guard.param] == slot.argument for guard in op.guards if not guard.relative
        )


def _function_slots(draft: Draft, function: Function, role: str, target: str) -> None:
    for argument in function.arguments:
        name = f"{function.name}_{argument}"
        draft.slots[name] = Slot(name, argument, function.op, role, target, function.subcycle)


def _values(draft: Draft) -> None:
    """Nominal values first, for amplitudes follow from what they move; then specs in any
    order, so that expressions refer forwards and backwards."""
    for slot in draft.slots.values():
        if slot.target:
            slot.amplitude = draft.slots[slot.target].amplitude
        elif draft.kind == "TIME_1D":
            slot.amplitude = draft.height
        value, amplitude = nominal(draft, slot)
        slot.nominal = rounded(value)
        if not (slot.role == "law" and draft.kind == "TIME_1D"):
            slot.amplitude = amplitude
    order = list(draft.slots.values())
    draft.rng.shuffle(order)
    eager = draft.rng.choice([0.0, 0.1, 0.25, 0.6])
    eager = max(eager, 0.25) if any(slot.profiled for slot in order) else eager
    done: list[Slot] = []
    for slot in order:
        sources = [other for other in done if _may_use(draft, slot, other)]
        share = eager * (1.5 if slot.role in ("law", "quantity") else 1.0)
        if sources and not (slot.moved or slot.profiled) and draft.chance(share):
            sources = _preferred(draft, sources)
            write_expression(draft, slot, sources)
        if not slot.spec:
            slot.value = slot.nominal
            slot.spec = _plain(draft, slot)
        done.append(slot)
    used = {part.name for slot in order if slot.role != "quantity" for part in draft.closure(slot)}
    for slot in order:  # a free quantity that nothing uses is refused
        if slot.role == "quantity" and not slot.uses and slot.name not in used:
            slot.spec = f"[{slot.value!r}, False]"


def _preferred(draft: Draft, sources: list[Slot]) -> list[Slot]:
    """What changes, or follows others, is used more often than by chance."""
    if draft.chance(0.5):
        return sources
    profiled = [s for s in sources if any(part.profiled for part in draft.closure(s))]
    chosen = [s for s in profiled if s.uses] if draft.chance(0.5) else profiled
    if chosen:
        return chosen
    moving = [s for s in sources if s.uses or any(part.moved for part in draft.closure(s))]
    return profiled or moving or sources


def _may_use(draft: Draft, slot: Slot, other: Slot) -> bool:
    """Laws take what does not change, profiles what is not profiled."""
    parts = draft.closure(other)
    if slot.role == "law":
        return not any(part.moved or part.profiled for part in parts)
    if slot.role == "profile":
        return not any(part.profiled for part in parts)
    return True


def _plain(draft: Draft, slot: Slot) -> str:
    rng, value = draft.rng, slot.value
    vary = rng.choices(
        ["True", "False", "true", "false", "project", "file", "static"],
        [0.5, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05],
    )[0]
    if draft.chance(0.3):
        size = abs(value) or 1.0
        low = 0.0 if slot.positive else rounded(value - size)
        high: Any = rng.choice([rounded(value + size), ".inf"])
        return f"[{value!r}, {vary}, {low!r}, {high}]"
    return f"[{value!r}, {vary}]"


def _steps(draft: Draft, structure: Structure) -> list[Step]:
    """Profiles come before the dynamics of their own parameters, else in any order."""
    steps = [Step("profile", target, (f"p_{target}",)) for target in structure.profiles]
    for target, dynamics in structure.dynamics.items():
        names = tuple(f"d_{target}_{k}" for k in range(len(dynamics.parts)))
        steps.append(Step("dynamics", target, names, dynamics.frequency))
    draft.rng.shuffle(steps)
    return sorted(steps, key=lambda step: draft.slots[step.target].role == "profile")


def _files(draft: Draft, structure: Structure) -> dict[str, str]:
    """All models of the case by name, in any order."""
    blocks = {"m": "m:\n" + _functions(draft, structure.components)}
    if structure.quantities:
        lines = [f"  {name}: {draft.slots[name].spec}\n" for name in structure.quantities]
        section = "parameters:\n" + "".join(lines)
        blocks["m"] = draft.rng.choice([blocks["m"] + section, section + blocks["m"]])
    for target, functions in structure.profiles.items():
        blocks[f"p_{target}"] = f"p_{target}:\n" + _functions(draft, functions)
    for target, dynamics in structure.dynamics.items():
        for index, part in enumerate(dynamics.parts):
            name = f"d_{target}_{index}"
            blocks[name] = f"{name}:\n" + _functions(draft, part)
    names = list(blocks)
    draft.rng.shuffle(names)
    return {name: blocks[name] for name in names}


def _functions(draft: Draft, functions: list[Function]) -> str:
    lines = []
    for function in functions:
        lines.append(f"  {function.op}:\n")
        arguments = list(function.arguments)
        if draft.chance(0.3):
            draft.rng.shuffle(arguments)
        lines += [f"    {a}: {draft.slots[f'{function.name}_{a}'].spec}\n" for a in arguments]
    return "".join(lines)


def _measurement(draft: Draft) -> dict[str, Any]:
    """How the data are to be made from the clean model; see :mod:`random_models.check`."""
    rng = draft.rng
    weights = ["none", "none", "scalar", "line", "points"]
    chosen: Counter[str] = Counter()
    plan: dict[str, Any] = {
        "type": rng.choice(["f8", "f8", "f4", "u2", "i4", ">f8"]),
        "layout": rng.choice(["C", "C", "F", "strided"]),
        "weight": rng.choice(weights + (["spectrum"] if draft.kind == "2D" else [])),
        "mask": draft.chance(0.4),
        "loss": "poisson" if draft.chance(0.25) else "squares",
        "rows": None,
        "columns": None,
    }
    if draft.chance(0.6):
        last = draft.time if draft.kind == "TIME_1D" else draft.energy
        plan["columns"] = _window(rng, len(last))
        chosen["columns"] += 1
    if draft.kind == "2D" and draft.chance(0.6):
        plan["rows"] = _window(rng, len(draft.time))
        chosen["rows"] += 1
    draft.features.update(f"data:{name}" for name in chosen)
    draft.features.add(f"data:{plan['type']}")
    draft.features.add(f"data:weight {plan['weight']}")
    draft.features.add(f"data:{plan['loss']}")
    if plan["mask"]:
        draft.features.add("data:mask")
    return plan


def _window(rng: random.Random, size: int) -> tuple[int, int]:
    begin = rng.randrange(size)
    return begin, rng.randint(begin + 1, size)
