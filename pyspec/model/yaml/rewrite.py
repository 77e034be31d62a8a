"""Edits of the text of a model file: each gives the text after it, with comments and order kept.

The loader judges the result; only what an edit itself needs is checked here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pyspec.errors import ModelError
from pyspec.model.model import Model
from pyspec.model.model_tree import with_parts
from pyspec.model.tree import Dynamics, Par
from pyspec.model.yaml.positions import Change, Spot, changed, inserted, positions, removed
from pyspec.model.yaml.sections import (
    key_text,
    laws_attached,
    laws_of,
    listed,
    number_text,
    quoted,
    section_copy,
    unused_name,
    with_attached,
    with_sections,
    without_attached,
    without_model,
    without_unused,
    words_in,
)

#: One parameter and its entry, "[1.0, True]".
Entries = Sequence[tuple[str, str]]

FIELDS = ("value", "vary", "min", "max", "expr", "free")


# values


def with_fields(text: str, model: Model, edits: Mapping[str, Mapping[str, object]]) -> str:
    """The text after some fields of parameters have changed: name → field → value.

    Laws that move several parameters become one of each first, as far as they are changed. Raises
    :class:`ModelError` for a parameter that is not there, or stands where it cannot be told from
    others.
    """
    root, parameters = positions(text), _all(model)
    places: dict[tuple[int, str], list[Spot]] = {}
    for section, body in root.pairs:
        if section.word != "attached" and body.kind == "map":
            for key, value in body.walk() if section.word != "parameters" else body.pairs:
                places.setdefault((key.line, key.word), []).append(value)
    changes: dict[int, Change] = {}
    for name, fields in edits.items():
        par = parameters[name]
        found = places.get((_line(par.where), par.argument), [])
        if len(found) != 1:
            raise ModelError(
                f"{par.place}: stands in one line with others of its name; write each component in "
                "lines of its own"
            )
        for one in _entry(text, par, found[0], fields):
            changes[one.begin] = one
    return changed(text, changes.values())


def _all(model: Model) -> dict[str, Par]:
    return {**{par.name: par for par in model.quantities}, **model.parameters}


def _line(where: str) -> int:
    return int(where.rpartition(":")[2] or 0)


def _entry(text: str, par: Par, spot: Spot, fields: Mapping[str, object]) -> list[Change]:
    """What makes the entry say the new fields; words that stay are not touched."""
    whole = Change(spot.begin, spot.end, "")
    expr, free = fields.get("expr"), fields.get("free")
    if free:
        return [Change(whole.begin, whole.end, f"{{free: {free}}}")]
    if expr:
        return [Change(whole.begin, whole.end, f"[{quoted(str(expr))}]")]
    if free is not None and par.free is not None:
        return [Change(whole.begin, whole.end, f"[{_word('value', fields['value'])}, True]")]
    if par.formula is not None:
        if expr is None or "value" not in fields:
            raise ModelError(
                f"{par.place}: follows the expression {par.expr!r}; take that away first, by an "
                "empty expression"
            )
        words = [_word("value", fields["value"]), _word("vary", fields.get("vary", True))]
        bounds = [fields.get(one, par_end) for one, par_end in (("min", None), ("max", None))]
        if bounds != [None, None]:
            words += [_word(one, end) for one, end in zip(("min", "max"), bounds, strict=True)]
        return [Change(whole.begin, whole.end, f"[{', '.join(words)}]")]
    if spot.kind != "list" or len(spot.items) not in (2, 4):
        raise ModelError(f"{par.place}: is no number; change it in the text of the model")
    old = [text[item.begin : item.end] for item in spot.items]
    if len(old) == 2 and {"min", "max"} & set(fields):
        old += [number_text(par.min), number_text(par.max)]
    new = [
        _word(name, fields[name]) if name in fields else word
        for name, word in zip(("value", "vary", "min", "max"), old, strict=False)
    ]
    if len(new) == len(spot.items):
        pairs = zip(spot.items, old, new, strict=True)
        return [Change(item.begin, item.end, b) for item, a, b in pairs if a != b]
    return [Change(whole.begin, whole.end, f"[{', '.join(new)}]")]


def _word(field: str, value: object) -> str:
    if field == "vary":
        return value if isinstance(value, str) else str(bool(value))
    if value is None:
        return {"min": "-.inf", "max": ".inf"}[field]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise ModelError(f"{field} is {value!r}; give a number")
    return number_text(value)


# components


def with_component(text: str, model: str, function: str, entries: Entries, *, above: bool) -> str:
    """The text with a further component: a line at the end of the model, a background `above` the
    others but below those of its function."""
    root = positions(text)
    lines, flow = _component_text(function, entries)
    body = root.body(model)
    if body is None or body.kind != "map":
        kept = text if not text or text.endswith("\n") else f"{text}\n"
        gap = "\n" if kept.strip() else ""
        return f"{kept}{gap}{key_text(model)}:\n" + "".join(f"  {line}\n" for line in lines)
    same = [k for k, (key, _) in enumerate(body.pairs) if key.word == function]
    place = (same[-1] + 1 if same else 0) if above else len(body.pairs)
    return changed(text, [inserted(text, body, place, function, lines, flow)])


def _component_text(function: str, entries: Entries) -> tuple[list[str], str]:
    if not entries:
        return [f"{function}: {{}}"], "{}"
    lines = [f"{function}:", *(f"  {name}: {entry}" for name, entry in entries)]
    return lines, "{" + ", ".join(f"{name}: {entry}" for name, entry in entries) + "}"


def without_component(text: str, model: Model, name: str) -> str:
    """The text without a component; those behind it are called as they then stand everywhere.

    Raises :class:`ModelError` where others refer to it.
    """
    names = [one.name for one in model.components]
    if name not in names:
        raise ModelError(f"{model.name} has no component {name!r}; it has {', '.join(names)}")
    place = names.index(name)
    component = model.components[place]
    own = {par.name for par in component.parameters if par.dynamics is not None}
    if len(names) == 1:
        return without_model(text, model.name)
    body = positions(text).body(model.name)
    assert body is not None
    if len(body.pairs) != len(names):
        raise ModelError(f"{name}: belongs to a scheme; change it in the text of the model")
    _refuse_named(model, name)
    for par in sorted(own):
        text = without_law(text, model, par)
    body = positions(text).body(model.name)
    assert body is not None
    text = changed(text, [removed(text, body, place)])
    kinds = [one.op for one in model.components]
    return _renamed(text, model, _new_names(kinds, names, place))


def _new_names(ops: Sequence[object], names: Sequence[str], gone: int) -> dict[str, str]:
    """Old → new names of the components behind one that goes."""
    seen: Counter[str] = Counter()
    found = {}
    for k, (op, name) in enumerate(zip(ops, names, strict=True)):
        if k == gone:
            continue
        function, is_numbered = getattr(op, "name", ""), getattr(op, "numbered", True)
        seen[function] += 1
        number = seen[function]
        new = f"{function}_{number:02d}" if is_numbered or number > 1 else function
        if new != name:
            found[name] = new
    return found


def _refuse_named(model: Model, name: str) -> None:
    """Raises :class:`ModelError` where a parameter elsewhere follows one of this component."""
    component = next(one for one in model.components if one.name == name)
    _refuse_used(model, set(with_parts(component.parameters)), name)


def _refuse_used(model: Model, inside: set[str], name: str) -> None:
    for par in _all(model).values():
        if par.name in inside or par.formula is None:
            continue
        named = sorted(inside & set(par.formula.names))
        if named:
            raise ModelError(
                f"{par.place}: follows {named[0]} by {par.expr!r}; give it a value of its own "
                f"before {name} goes"
            )


def _renamed(text: str, model: Model, names: Mapping[str, str]) -> str:
    """The text with components, or laws, called by their new names in expressions and in what is
    attached."""
    if not names:
        return text
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z0-9_])({known})(?=_)")
    root, changes = positions(text), []
    laws = {law for one in _dynamics(model) for law in one.name.split(", ")}
    for section, body in root.pairs:
        if section.word in (model.name, "parameters", *laws):
            words = [item for item in words_in(body) if item.flow]
        elif section.word == "attached":
            own = body.body(model.name)
            words = [] if own is None else [key for key, _ in own.pairs]
        else:
            continue
        for spot in words:
            old = text[spot.begin : spot.end]
            new = pattern.sub(lambda found: names[found[1]], old)
            if new != old:
                changes.append(Change(spot.begin, spot.end, new))
    return changed(text, changes)


def _dynamics(model: Model) -> list[Dynamics]:
    return [par.dynamics for par in _all(model).values() if par.dynamics is not None]


# laws


def with_own_law(text: str, model: Model, target: str) -> str:
    """The text in which the law of a parameter moves no other one: a copy of it, where it did."""
    dynamics = _all(model)[target].dynamics
    root = positions(text)
    attached = root.body("attached")
    if dynamics is None or attached is None:
        return text
    uses: Counter[str] = Counter()
    for _, of_model in attached.pairs:
        for _, entry in of_model.pairs:
            uses.update({item.word for item in listed(entry.body("dynamics"))})
    taken = {key.word for key, _ in root.pairs}
    changes, copies, names = [], [], dict[str, str]()
    for item in laws_of(root, model.name, target):
        if uses[item.word] > 1 and item.word not in names:
            names[item.word] = new = unused_name(f"{target}_{item.word}", taken)
            taken.add(new)
            copies.append(section_copy(text, root, item.word, new))
        if item.word in names:
            changes.append(Change(item.begin, item.end, names[item.word]))
    return with_sections(changed(text, changes), copies)


def with_law(text: str, model: Model, target: str, function: str, entries: Entries) -> str:
    """The text with a further law for a parameter, behind its other laws; a kernel stands above
    them."""
    par = _all(model).get(target)
    if par is None:
        raise ModelError(f"{model.name} has no parameter {target!r}")
    lines, flow = _component_text(function, entries)
    if par.dynamics is not None:
        text = with_own_law(text, model, target)
        root = positions(text)
        name = laws_attached(root, model.name, target)[0]
        body = root.body(name)
        assert body is not None
        is_first = function.endswith(("CONV", "IRF"))
        place = 0 if is_first else len(body.pairs)
        return changed(text, [inserted(text, body, place, function, lines, flow)])
    root = positions(text)
    name = unused_name(f"{target}_dynamics", {key.word for key, _ in root.pairs})
    text = with_sections(text, [f"{name}:\n" + "".join(f"  {line}\n" for line in lines)])
    return with_attached(text, model.name, target, f"{{dynamics: [{name}]}}")


def without_law(text: str, model: Model, target: str, law: str | None = None) -> str:
    """The text in which a law, "expFun_01" or its function, moves a parameter no more; None takes
    all of them."""
    par = _all(model).get(target)
    if par is None or par.dynamics is None:
        raise ModelError(f"{model.name}: {target!r} does not move; there is no law to take away")
    short = [component.name.removeprefix(f"{target}_") for component in par.dynamics.components]
    functions = [one.op.name for one in par.dynamics.components]
    if law is not None and len(short) > 1:
        matches = [k for k, name in enumerate(short) if law in (name, functions[k])]
        if not matches:
            raise ModelError(f"{target} has no law {law!r}; it has {', '.join(short)}")
        place = matches[-1]
        gone = par.dynamics.components[place]
        _refuse_used(model, {one.name for one in gone.parameters}, gone.name)
        text = with_own_law(text, model, target)
        root = positions(text)
        body = root.body(laws_attached(root, model.name, target)[0])
        if body is None or len(body.pairs) != len(short):
            raise ModelError(f"{target}: its laws take turns; change them in the text of the model")
        text = changed(text, [removed(text, body, place)])
        names = _new_names([one.op for one in par.dynamics.components], short, place)
        whole = {f"{target}_{old}": f"{target}_{new}" for old, new in names.items()}
        return _renamed(text, model, {**names, **whole})
    _refuse_used(model, {one.name for one in par.dynamics.parameters}, f"what moves {target}")
    root = positions(text)
    names_of_laws = laws_attached(root, model.name, target)
    text = without_attached(text, model.name, target)
    return without_unused(text, names_of_laws)
