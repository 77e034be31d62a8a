"""Edits of the text of a model file: each gives the text after it, with comments and order kept.

The loader judges the result; only what an edit itself needs is checked here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping as ByName
from collections.abc import Sequence

from pyspec.errors import ModelError
from pyspec.model.build.components import short_name
from pyspec.model.model import Model
from pyspec.model.model_tree import with_parts
from pyspec.model.tree import Component, Dynamics, Par
from pyspec.model.yaml.reader import Mapping, Node, body_of, walk
from pyspec.model.yaml.reader import Sequence as ListNode
from pyspec.model.yaml.scalars import given_number, key_text, number_text, quoted
from pyspec.model.yaml.sections import (
    Change,
    changed,
    inserted,
    laws_of,
    listed,
    positions,
    removed,
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


def with_fields(text: str, model: Model, edits: ByName[str, ByName[str, object]]) -> str:
    """The text after some fields of parameters have changed: name → field → value.

    Laws that move several parameters become one of each first, as far as they are changed. Raises
    :class:`ModelError` for a parameter that is not there, or stands where it cannot be told from
    others.
    """
    root, parameters = positions(text), _all(model)
    places: dict[tuple[int, str], list[Node]] = {}
    for section, body in root.items:
        if section.text != "attached" and isinstance(body, Mapping):
            for key, value in walk(body) if section.text != "parameters" else body.items:
                places.setdefault((key.line, key.text), []).append(value)
    changes: dict[int, Change] = {}
    for name, fields in edits.items():
        par = parameters[name]
        nodes = places.get((int(par.where.rpartition(":")[2] or 0), par.argument), [])
        if len(nodes) != 1:
            raise ModelError(
                f"{par.place}: stands in one line with others of its name; write each component in "
                "lines of its own"
            )
        for change in _entry(text, par, nodes[0], fields):
            changes[change.begin] = change
    return changed(text, changes.values())


def _all(model: Model) -> dict[str, Par]:
    return {**{par.name: par for par in model.quantities}, **model.parameters}


def _entry(text: str, par: Par, node: Node, fields: ByName[str, object]) -> list[Change]:
    """What makes the entry say the new fields; words that stay are not touched."""
    expr, free = fields.get("expr"), fields.get("free")
    if free:
        return [Change(node.begin, node.end, f"{{free: {free}}}")]
    if expr:
        return [Change(node.begin, node.end, f"[{quoted(str(expr))}]")]
    if free is not None and par.free is not None:
        return [Change(node.begin, node.end, f"[{_word('value', fields['value'])}, True]")]
    if par.formula is not None:
        if expr is None or "value" not in fields:
            raise ModelError(
                f"{par.place}: follows the expression {par.expr!r}; take that away first, by an "
                "empty expression"
            )
        words = [_word("value", fields["value"]), _word("vary", fields.get("vary", True))]
        bounds = {bound: fields.get(bound) for bound in ("min", "max")}
        if any(end is not None for end in bounds.values()):
            words += [_word(bound, end) for bound, end in bounds.items()]
        return [Change(node.begin, node.end, f"[{', '.join(words)}]")]
    if not isinstance(node, ListNode) or len(node.items) not in (2, 4):
        raise ModelError(f"{par.place}: is no number; change it in the text of the model")
    old = [text[item.begin : item.end] for item in node.items]
    if len(old) == 2 and {"min", "max"} & set(fields):
        old += [number_text(par.min), number_text(par.max)]
    new = [
        _word(name, fields[name]) if name in fields else word
        for name, word in zip(("value", "vary", "min", "max"), old, strict=False)
    ]
    if len(new) == len(node.items):
        pairs = zip(node.items, old, new, strict=True)
        return [Change(item.begin, item.end, b) for item, a, b in pairs if a != b]
    return [Change(node.begin, node.end, f"[{', '.join(new)}]")]


def _word(field: str, value: object) -> str:
    if field == "vary":
        return value if isinstance(value, str) else str(bool(value))
    if value is None:
        return {"min": "-.inf", "max": ".inf"}[field]
    number = given_number(value)
    if math.isnan(number):
        raise ModelError(f"{field} is {value!r}; give a number")
    return number_text(number)


# components


def with_component(text: str, model: str, function: str, entries: Entries, *, above: bool) -> str:
    """The text with a further component: a line at the end of the model, a background `above` the
    others but below those of its function."""
    root = positions(text)
    lines, flow = _component_text(function, entries)
    body = body_of(root, model)
    if not isinstance(body, Mapping):
        kept = text if not text or text.endswith("\n") else f"{text}\n"
        gap = "\n" if kept.strip() else ""
        return f"{kept}{gap}{key_text(model)}:\n" + "".join(f"  {line}\n" for line in lines)
    same = [k for k, (key, _) in enumerate(body.items) if key.text == function]
    place = (same[-1] + 1 if same else 0) if above else len(body.items)
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
    names = [component.name for component in model.components]
    if name not in names:
        raise ModelError(f"{model.name} has no component {name!r}; it has {', '.join(names)}")
    place = names.index(name)
    if len(names) == 1:
        return without_model(text, model.name)
    body = body_of(positions(text), model.name)
    assert isinstance(body, Mapping)
    if len(body.items) != len(names):
        raise ModelError(f"{name}: belongs to a scheme; change it in the text of the model")
    parameters = model.components[place].parameters
    _refuse_used(model, set(with_parts(parameters)), name)
    for par in sorted(par.name for par in parameters if par.dynamics is not None):
        text = without_law(text, model, par)
    body = body_of(positions(text), model.name)
    assert isinstance(body, Mapping)
    text = changed(text, [removed(text, body, place)])
    return _renamed(text, model, _new_names(model.components, names, place))


def _new_names(components: Sequence[Component], names: Sequence[str], gone: int) -> dict[str, str]:
    """Old → new names of the components behind one that goes."""
    seen: Counter[str] = Counter()
    new_names = {}
    for k, (component, name) in enumerate(zip(components, names, strict=True)):
        if k != gone:
            seen[component.op.name] += 1
            new_names[name] = short_name(component.op, seen[component.op.name])
    return {name: new for name, new in new_names.items() if new != name}


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


def _renamed(text: str, model: Model, names: ByName[str, str]) -> str:
    """The text with components, or laws, called by their new names in expressions and in what is
    attached."""
    if not names:
        return text
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z0-9_])({alternatives})(?=_)")
    root, changes = positions(text), []
    laws = {law for dynamics in _dynamics(model) for law in dynamics.name.split(", ")}
    for section, body in root.items:
        if section.text in (model.name, "parameters", *laws):
            words = [item for item in words_in(body) if not item.plain]
        elif section.text == "attached":
            own = body_of(body, model.name)
            words = [key for key, _ in own.items] if isinstance(own, Mapping) else []
        else:
            continue
        for word in words:
            old = text[word.begin : word.end]
            new = pattern.sub(lambda match: names[match[1]], old)
            if new != old:
                changes.append(Change(word.begin, word.end, new))
    return changed(text, changes)


def _dynamics(model: Model) -> list[Dynamics]:
    return [par.dynamics for par in _all(model).values() if par.dynamics is not None]


# laws


def with_own_law(text: str, model: Model, target: str) -> str:
    """The text in which the law of a parameter moves no other one: a copy of it, where it did."""
    dynamics = _all(model)[target].dynamics
    root = positions(text)
    attached = body_of(root, "attached")
    if dynamics is None or attached is None:
        return text
    uses: Counter[str] = Counter()
    for _, entry in walk(attached):
        uses.update({item.text for item in listed(body_of(entry, "dynamics"))})
    taken = {key.text for key, _ in root.items}
    changes, copies, names = [], [], dict[str, str]()
    for item in laws_of(root, model.name, target):
        if uses[item.text] > 1 and item.text not in names:
            names[item.text] = new = unused_name(f"{target}_{item.text}", taken)
            taken.add(new)
            copies.append(section_copy(text, root, item.text, new))
        if item.text in names:
            changes.append(Change(item.begin, item.end, names[item.text]))
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
        body = body_of(root, laws_of(root, model.name, target)[0].text)
        assert isinstance(body, Mapping)
        is_first = function.endswith(("CONV", "IRF"))
        place = 0 if is_first else len(body.items)
        return changed(text, [inserted(text, body, place, function, lines, flow)])
    root = positions(text)
    name = unused_name(f"{target}_dynamics", {key.text for key, _ in root.items})
    text = with_sections(text, [f"{name}:\n" + "".join(f"  {line}\n" for line in lines)])
    return with_attached(text, model.name, target, f"{{dynamics: [{name}]}}")


def without_law(text: str, model: Model, target: str, law: str | None = None) -> str:
    """The text in which a law, "expFun_01" or its function, moves a parameter no more; None takes
    all of them."""
    par = _all(model).get(target)
    if par is None or par.dynamics is None:
        raise ModelError(f"{model.name}: {target!r} does not move; there is no law to take away")
    short = [component.name.removeprefix(f"{target}_") for component in par.dynamics.components]
    functions = [component.op.name for component in par.dynamics.components]
    if law is not None and len(short) > 1:
        matches = [k for k, name in enumerate(short) if law in (name, functions[k])]
        if not matches:
            raise ModelError(f"{target} has no law {law!r}; it has {', '.join(short)}")
        place = matches[-1]
        gone = par.dynamics.components[place]
        _refuse_used(model, {own.name for own in gone.parameters}, gone.name)
        text = with_own_law(text, model, target)
        root = positions(text)
        body = body_of(root, laws_of(root, model.name, target)[0].text)
        if not isinstance(body, Mapping) or len(body.items) != len(short):
            raise ModelError(f"{target}: its laws take turns; change them in the text of the model")
        text = changed(text, [removed(text, body, place)])
        names = _new_names(par.dynamics.components, short, place)
        whole = {f"{target}_{old}": f"{target}_{new}" for old, new in names.items()}
        return _renamed(text, model, {**names, **whole})
    _refuse_used(model, {own.name for own in par.dynamics.parameters}, f"what moves {target}")
    root = positions(text)
    names_of_laws = [law.text for law in laws_of(root, model.name, target)]
    return without_unused(without_attached(text, model.name, target), names_of_laws)
