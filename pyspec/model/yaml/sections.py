"""The sections of a model file as text: models, laws, and what is attached to them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Items

from pyspec.model.yaml.positions import changed, inserted, positions, removed
from pyspec.model.yaml.reader import SECTIONS, Mapping, Node, Scalar, Sequence, body_of
from pyspec.model.yaml.scalars import key_text, quoted


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
    return kept + "".join(f"\n{one}" for one in sections)


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
    return "{" + ", ".join(f"{flow_text(key)}: {flow_text(one)}" for key, one in node.items) + "}"


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
