"""Expressions: every function of the table, over parameters that make sense to combine."""

from __future__ import annotations

import math
import re

from pyspec._library import RPN
from pyspec.formula import parse
from support.random_models.draft import Draft, Slot, rounded

#: One form for each instruction, over operands of order 1; {a} and {b} stand alone.
FORMS: dict[str, tuple[str, ...]] = {
    "ADD": ("{a} + {b}", "({a} + {b}) / 2"),
    "SUB": ("{a} - {b}", "1 - {a}"),
    "MUL": ("{a} * {b}", "pi * {a}", "2 * {a}"),
    "DIV": ("{a} / (2 + {b} ** 2)", "{a} / 3"),
    "NEG": ("-{a}", "-{a} ** 2", "+{a}"),
    "POW": ("{a} ** 2", "2 ** {a}", "(1 + {a} ** 2) ** -0.5", "e ** {a}"),
    "EXP": ("exp({a})", "exp(-{a} ** 2)"),
    "LOG": ("log(1 + {a} ** 2)", "log(0.1 + abs({a}))"),
    "SQRT": ("sqrt(1 + {a} ** 2)", "sqrt(abs({a}))"),
    "SIN": ("sin({a})", "sin(pi * {a})"),
    "COS": ("cos({a})", "cos({a} / 2)"),
    "TAN": ("tan({a} / 4)",),
    "ABS": ("abs({a})", "abs({a} - {b})"),
    "MIN": ("min({a}, {b})", "min({a}, 1.25)"),
    "MAX": ("max({a}, {b})", "max(0.1, {a})"),
}

_ROWS = list(RPN.values())


def instructions(text: str) -> set[str]:
    """Rows of the table that the formula needs."""
    formula = parse(text)
    code = formula.rpn(dict.fromkeys(formula.names, 0))
    return {_ROWS[index].name for index in code[:, 0].tolist()}


def _atom(draft: Draft, sources: list[Slot]) -> str:
    """A parameter, scaled to order 1."""
    slot = draft.rng.choice(sources)
    size = abs(slot.value)
    if not 1e-250 < size < 1e250 or (0.2 < size < 5.0 and draft.chance(0.7)):
        return slot.name
    if draft.chance(0.3):
        return f"({rounded(1.0 / size, 3)!r} * {slot.name})"
    return f"({slot.name} / {rounded(size, 3)!r})"


def _shape(draft: Draft, sources: list[Slot], depth: int) -> str:
    if depth == 0:
        return _atom(draft, sources)
    form = draft.rng.choice(FORMS[draft.rng.choice(list(FORMS))])
    operands = {}
    for key in ("a", "b"):
        if "{" + key + "}" in form:
            inner = _shape(draft, sources, depth - 1 if draft.chance(0.6) else 0)
            plain = re.fullmatch(r"\w+|\(.*\)", inner) and inner.count("(") <= 1
            operands[key] = inner if plain else f"({inner})"
    return form.format(**operands)


def _value(draft: Draft, text: str) -> float:
    formula = parse(text)
    return float(formula.evaluate({name: draft.slots[name].value for name in formula.names}))


def write_expression(draft: Draft, slot: Slot, sources: list[Slot]) -> None:
    """Lets `slot` follow some of `sources`, near its nominal value."""
    rng = draft.rng
    alike = [s for s in sources if s.argument == slot.argument and s.role == slot.role]
    if alike and draft.chance(0.35):
        other = rng.choice(alike)
        text = _alike(draft, slot, other)
    else:
        text = _around(draft, slot, sources)
    value = _value(draft, text)
    if not math.isfinite(value):
        slot.value = slot.nominal
        return
    slot.value = value
    formula = parse(text)
    slot.uses = formula.names
    shown = text
    if slot.target and draft.chance(0.5):  # local names
        for name in formula.names:
            used = draft.slots[name]
            if used.target == slot.target and used.role == slot.role:
                local = name.removeprefix(f"{slot.target}_")
                shown = re.sub(rf"\b{name}\b", local, shown)
                draft.features.add("expr:local name")
    quote = rng.choice("'\"")
    slot.spec = f"[{quote}{shown}{quote}]"
    for name in instructions(text):
        draft.features.add(f"rpn:{name}")
    for constant in ("pi", "e"):
        if re.search(rf"\b{constant}\b", text):
            draft.features.add(f"expr:{constant}")


def _alike(draft: Draft, slot: Slot, other: Slot) -> str:
    """One parameter follows another of its kind: equal to it, shifted, or in proportion."""
    wanted, value = slot.nominal, other.value
    ratio = wanted / value if value else 0.0
    forms = ["{n} * {r!r}", "{r!r} * {n}"]
    if slot.argument == "t0" or 0.1 < ratio < 10.0:
        forms += ["{n}", "{n}", "{n}", "3/4 * {n}", "{n} / 2"]
    if not slot.positive:
        forms.append("{n} + {d!r}")
    if not value or (slot.positive and ratio <= 0):
        forms = ["{w!r} + 0 * abs({n})"]
    shift = rounded(wanted - value, 12)
    form = draft.rng.choice(forms)
    return form.format(n=other.name, d=shift, r=rounded(ratio, 4), w=wanted)


def _around(draft: Draft, slot: Slot, sources: list[Slot]) -> str:
    """wanted + k shape, or a multiple of a shape that keeps its sign."""
    wanted = slot.nominal
    for _ in range(4):
        shape = _shape(draft, sources, draft.rng.randint(0, 2))
        value = _value(draft, shape)
        if math.isfinite(value) and abs(value) < 1e3:
            break
    else:
        return draft.rng.choice(sources).name if not slot.positive else repr(wanted)
    if slot.argument == "t0" or not slot.positive:
        step = rounded(0.1 * abs(wanted) or 0.1, 3)
    else:
        step = rounded(0.2 * wanted / (1.0 + abs(value)), 3)
    if 0.05 < abs(value) < 20.0 and value * wanted > 0 and draft.chance(0.4):
        return f"{rounded(wanted / value)!r} * ({shape})"
    if slot.positive and wanted - step * value <= 0:
        return f"{step!r} + abs({shape}) * {step!r}"
    return f"{rounded(wanted - step * value)!r} + {step!r} * ({shape})"
