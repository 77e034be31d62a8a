"""Edits of the text of a model file: one entry is replaced while the rest keeps its comments and
order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspec.model.yaml.reader import Mapping, Source, read


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
    for one in sorted(changes, key=lambda one: one.begin):
        parts += text[at : one.begin], one.text
        at = one.end
    return "".join([*parts, text[at:]])


def end_of_line(text: str, at: int) -> int:
    """The place of the next line break, or the end of the text."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found


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
