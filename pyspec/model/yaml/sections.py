"""The text of a model file: its sections, and edits of them that keep comments and order."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Items
from dataclasses import dataclass

from pyspec.model.yaml.reader import (
    SECTIONS,
    Mapping,
    Node,
    Scalar,
    Sequence,
    Source,
    body_of,
    read,
)
from pyspec.model.yaml.scalars import key_text, quoted


def positions(text: str) -> Mapping:
    """The mapping that a model file is, an empty one where there is nothing. The text is one that
    the loader takes; raises :class:`ModelError` otherwise."""
    root = read(Source("<text>", text))
    if isinstance(root, Mapping):
        return root
    return Mapping((), text.count("\n") + 1, begin=len(text), end=len(text))


@dataclass(frozen=True)
class Change:
    """What replaces the text from `begin` to `end`."""

    begin: int
    end: int
    text: str


def changed(text: str, changes: Iterable[Change]) -> str:
    """The text after changes that do not overlap; of two at one place the first stands first."""
    parts, at = list[str](), 0
    for change in sorted(changes, key=lambda change: change.begin):
        parts += text[at : change.begin], change.text
        at = change.end
    return "".join([*parts, text[at:]])


def end_of_line(text: str, at: int) -> int:
    """The place of the next line break, or the end of the text."""
    place = text.find("\n", at)
    return len(text) if place < 0 else place


def begin_of_line(text: str, at: int) -> int:
    """The place after the line break before."""
    return text.rfind("\n", 0, at) + 1


def inserted(text: str, body: Mapping, place: int, key: str, lines: list[str], flow: str) -> Change:
    """A new entry of a mapping, before the one of number `place`, or behind the last one.

    `lines` is what a mapping in lines takes, the first one without its indentation and the others
    indented by what they have beyond; `flow` is the value as one in brackets takes it.
    """
    if body.flow:
        if not body.items:
            return Change(body.begin + 1, body.begin + 1, f"{key}: {flow}")
        if place < len(body.items):
            at = body.items[place][0].begin
            return Change(at, at, f"{key}: {flow}, ")
        at = body.items[-1][1].end
        return Change(at, at, f", {key}: {flow}")
    column = body.items[0][0].column if body.items else 0
    block = "".join(f"{' ' * column}{line}\n" for line in lines)
    if place < len(body.items):
        at = begin_of_line(text, body.items[place][0].begin)
        return Change(at, at, block)
    at = end_of_line(text, body.items[-1][1].end) if body.items else len(text)
    if at < len(text):
        return Change(at + 1, at + 1, block)
    is_open = bool(text) and not text.endswith("\n")
    return Change(at, at, ("\n" if is_open else "") + block)


def removed(text: str, body: Mapping, place: int) -> Change:
    """Takes the entry of that number out of a mapping that has others too."""
    key, value = body.items[place]
    if not body.flow:
        end = min(end_of_line(text, max(value.end, key.end)) + 1, len(text))
        return Change(begin_of_line(text, key.begin), end, "")
    if place + 1 < len(body.items):
        return Change(key.begin, body.items[place + 1][0].begin, "")
    return Change(body.items[place - 1][1].end if place else key.begin, value.end, "")


def model_names(text: str) -> list[str]:
    """The sections of a file that are models, laws included."""
    return [key.text for key, _ in positions(text).items if key.text not in SECTIONS]


def with_copy(text: str, name: str, new: str) -> str:
    """The text with a copy of a model, and of what is attached to it, under a new name."""
    root = positions(text)
    text = with_sections(text, [section_copy(text, root, name, new)])
    own = body_of(body_of(root, "attached"), name)
    for key, value in own.items if isinstance(own, Mapping) else ():
        text = with_attached(text, new, key.text, flow_text(value))
    return text


def without_model(text: str, name: str) -> str:
    """The text without a model, what is attached to it, and laws that nothing else uses."""
    root = positions(text)
    own = body_of(body_of(root, "attached"), name)
    laws = [] if own is None else [item.text for item in words_in(own)]
    text = without_section(without_attached(text, name, None), name)
    return without_unused(text, laws)


def section_copy(text: str, root: Mapping, name: str, new: str) -> str:
    """A copy of a model of the file under another name."""
    key, body = next((key, body) for key, body in root.items if key.text == name)
    end = text.find("\n", body.end)
    return f"{key_text(new)}:{text[key.end + 1 : len(text) if end < 0 else end]}\n"


def with_sections(text: str, sections: Items[str]) -> str:
    """The text with further sections, before what is attached."""
    if not sections:
        return text
    kept = text if not text or text.endswith("\n") else f"{text}\n"
    return kept + "".join(f"\n{section}" for section in sections)


def with_attached(text: str, model: str, target: str, value: str) -> str:
    """The text with one more entry of the section ``attached``; where a profile stands there, its
    dynamics."""
    body, path = positions(text), ["attached", model, target]
    while path and isinstance(below := body_of(body, path[0]), Mapping):
        body, path = below, path[1:]
    if not path:
        path, value = ["dynamics"], value[1:-1].partition(": ")[2]
    keys = [key_text(key) for key in path]
    lines = [f"{'  ' * k}{key}:" for k, key in enumerate(keys)]
    lines[-1] += f" {value}"
    for key in reversed(keys[1:]):
        value = f"{{{key}: {value}}}"
    gap = [""] if len(path) == 3 else []
    return changed(text, [inserted(text, body, 10**9, keys[0], [*gap, *lines], value)])


def without_attached(text: str, model: str, target: str | None) -> str:
    """The text without what is attached to a parameter, or to a whole model."""
    root = positions(text)
    attached = body_of(root, "attached")
    own = body_of(attached, model)
    if not isinstance(attached, Mapping) or not isinstance(own, Mapping):
        return text
    outer = [key.text for key, _ in attached.items].index(model)
    names = [key.text for key, _ in own.items]
    if target is not None and target in names and len(names) > 1:
        return changed(text, [removed(text, own, names.index(target))])
    if target is not None and target not in names:
        return text
    if len(attached.items) > 1:
        return changed(text, [removed(text, attached, outer)])
    return without_section(text, "attached")


def without_section(text: str, name: str) -> str:
    """The text without one section."""
    root = positions(text)
    place = [key.text for key, _ in root.items].index(name)
    return changed(text, [removed(text, root, place)])


def without_unused(text: str, laws: Iterable[str]) -> str:
    """The text without those of these laws that nothing uses any more."""
    for law in dict.fromkeys(laws):
        root = positions(text)
        attached = body_of(root, "attached")
        used = {item.text for item in words_in(attached)} if attached is not None else set()
        if law not in used and body_of(root, law) is not None:
            text = without_section(text, law)
    return text


def unused_name(name: str, taken: Iterable[str]) -> str:
    """The name, or with a number behind it where it is taken."""
    number, new = 1, name
    while new in {*taken, *SECTIONS}:
        number += 1
        new = f"{name}_{number}"
    return new


def flow_text(node: Node) -> str:
    """A node in one line."""
    if isinstance(node, Scalar):
        return node.text if node.plain else quoted(node.text)
    if isinstance(node, Sequence):
        return f"[{', '.join(map(flow_text, node.items))}]"
    return (
        "{" + ", ".join(f"{flow_text(key)}: {flow_text(value)}" for key, value in node.items) + "}"
    )


def laws_of(root: Node, model: str, target: str) -> list[Scalar]:
    """The names of the laws that a parameter moves by, where they are attached."""
    entry = body_of(body_of(body_of(root, "attached"), model), target)
    return listed(body_of(entry, "dynamics"))


def listed(node: Node | None) -> list[Scalar]:
    """The words of a list, or the one word that stands for it."""
    items = node.items if isinstance(node, Sequence) else (node,)
    return [item for item in items if isinstance(item, Scalar)]


def words_in(node: Node) -> Iterable[Scalar]:
    """All words in it but keys."""
    for item in () if isinstance(node, Scalar) else node.items:
        value = item[1] if isinstance(item, tuple) else item
        if isinstance(value, Scalar):
            yield value
        yield from words_in(value)
