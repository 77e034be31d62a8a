"""The sections of a model file as text: models, laws, and what is attached to them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from pyspec.model.yaml.positions import SECTIONS, Spot, changed, inserted, positions, removed


def number_text(value: float) -> str:
    """A number as a model file writes it, to the last digit."""
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(float(value))


def quoted(text: str) -> str:
    """An expression as a word in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def model_names(text: str) -> list[str]:
    """The sections of a file that are models, laws included."""
    return [key.word for key, _ in positions(text).pairs if key.word not in SECTIONS]


def with_copy(text: str, name: str, new: str) -> str:
    """The text with a copy of a model, and of what is attached to it, under a new name."""
    root = positions(text)
    text = with_sections(text, [section_copy(text, root, name, new)])
    attached = root.body("attached")
    own = attached.body(name) if attached is not None else None
    for key, value in own.pairs if own is not None else ():
        text = with_attached(text, new, key.word, flow_text(value))
    return text


def without_model(text: str, name: str) -> str:
    """The text without a model, what is attached to it, and laws that nothing else uses."""
    root = positions(text)
    attached = root.body("attached")
    own = attached.body(name) if attached is not None else None
    laws = [] if own is None else [item.word for item in words_in(own)]
    text = without_section(without_attached(text, name, None), name)
    return without_unused(text, laws)


def section_copy(text: str, root: Spot, name: str, new: str) -> str:
    """A copy of a model of the file under another name."""
    pair = root.find(name)
    assert pair is not None
    key, body = pair
    end = text.find("\n", body.end)
    return f"{key_text(new)}:{text[key.end + 1 : len(text) if end < 0 else end]}\n"


def with_sections(text: str, sections: Sequence[str]) -> str:
    """The text with further sections, before what is attached."""
    if not sections:
        return text
    kept = text if not text or text.endswith("\n") else f"{text}\n"
    return kept + "".join(f"\n{one}" for one in sections)


def with_attached(text: str, model: str, target: str, value: str) -> str:
    """The text with one more entry of the section ``attached``."""
    root = positions(text)
    attached = root.body("attached")
    if attached is None or attached.kind != "map":
        kept = text if text.endswith("\n") else f"{text}\n"
        return f"{kept}\nattached:\n  {key_text(model)}:\n    {target}: {value}\n"
    own = attached.body(model)
    if own is None:
        lines = [f"{key_text(model)}:", f"  {target}: {value}"]
        flow = f"{{{target}: {value}}}"
        return changed(text, [inserted(text, attached, 10**9, key_text(model), lines, flow)])
    entry = own.body(target)
    if entry is not None:  # a profile stands there
        inner = value[1:-1].partition(": ")[2]
        line = [f"dynamics: {inner}"]
        return changed(text, [inserted(text, entry, 10**9, "dynamics", line, inner)])
    change = inserted(text, own, 10**9, target, [f"{target}: {value}"], value)
    return changed(text, [change])


def without_attached(text: str, model: str, target: str | None) -> str:
    """The text without what is attached to a parameter, or to a whole model."""
    root = positions(text)
    attached = root.body("attached")
    own = attached.body(model) if attached is not None else None
    if attached is None or own is None:
        return text
    outer = [key.word for key, _ in attached.pairs].index(model)
    names = [key.word for key, _ in own.pairs]
    if target is not None and target in names and len(names) > 1:
        return changed(text, [removed(text, own, names.index(target))])
    if target is not None and target not in names:
        return text
    if len(attached.pairs) > 1:
        return changed(text, [removed(text, attached, outer)])
    return without_section(text, "attached")


def without_section(text: str, name: str) -> str:
    """The text without one section."""
    root = positions(text)
    place = [key.word for key, _ in root.pairs].index(name)
    return changed(text, [removed(text, root, place)])


def without_unused(text: str, laws: Iterable[str]) -> str:
    """The text without those of these laws that nothing uses any more."""
    for law in dict.fromkeys(laws):
        root = positions(text)
        attached = root.body("attached")
        used = {item.word for item in words_in(attached)} if attached is not None else set()
        if law not in used and root.find(law) is not None:
            text = without_section(text, law)
    return text


def unused_name(name: str, taken: Iterable[str]) -> str:
    """The name, or with a number behind it where it is taken."""
    number, new = 1, name
    while new in {*taken, *SECTIONS}:
        number += 1
        new = f"{name}_{number}"
    return new


def key_text(name: str) -> str:
    """A name as a key, in quotes where it needs them."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    words = ("true", "false", "null", "yes", "no", "on", "off")
    return name if plain and name.lower() not in words else quoted(name)


def flow_text(spot: Spot) -> str:
    """A node in one line."""
    if spot.kind == "word":
        return quoted(spot.word) if spot.flow else spot.word
    if spot.kind == "list":
        return f"[{', '.join(map(flow_text, spot.items))}]"
    return (
        "{" + ", ".join(f"{flow_text(key)}: {flow_text(value)}" for key, value in spot.pairs) + "}"
    )


def laws_of(root: Spot, model: str, target: str) -> list[Spot]:
    """The names of the laws that a parameter moves by, where they are attached."""
    attached = root.body("attached")
    own = attached.body(model) if attached is not None else None
    entry = own.body(target) if own is not None else None
    return listed(entry.body("dynamics") if entry is not None else None)


def laws_attached(root: Spot, model: str, target: str) -> list[str]:
    """These names."""
    return [item.word for item in laws_of(root, model, target)]


def listed(spot: Spot | None) -> list[Spot]:
    """The items of a list, or the one word that stands for it."""
    if spot is None:
        return []
    return spot.items if spot.kind == "list" else [spot]


def words_in(spot: Spot) -> Iterable[Spot]:
    """All words in it but keys."""
    for value in [*spot.items, *(value for _, value in spot.pairs)]:
        if value.kind == "word":
            yield value
        yield from words_in(value)
