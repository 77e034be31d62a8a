"""A model file with the position of every entry in its text. One entry can be replaced while the
rest keeps its comments and order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pyspec.errors import ModelError
from pyspec.model.yaml.reader import Source, read

#: The sections of a model file that are no models.
SECTIONS = ("parameters", "functions", "include", "kinetics", "attached")

#: The loader whose events are read: the one of libyaml where it is there.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Spot:
    """One node: a word (`kind` "word"), a list or a mapping, from `begin` to `end` of the text.

    `line` counts from 1, `column` from 0. `items` are those of a list; `pairs` those of a mapping,
    (key, value). `flow` says whether it stands in brackets, and of a word whether it is quoted.
    """

    kind: str
    begin: int
    end: int
    line: int
    column: int
    flow: bool
    word: str = ""
    items: list[Spot] = field(default_factory=list)
    pairs: list[tuple[Spot, Spot]] = field(default_factory=list)

    def find(self, name: str) -> tuple[Spot, Spot] | None:
        """The first entry of a mapping with that key."""
        return next((pair for pair in self.pairs if pair[0].word == name), None)

    def body(self, name: str) -> Spot | None:
        """The value of that entry."""
        pair = self.find(name)
        return None if pair is None else pair[1]

    def walk(self) -> Iterator[tuple[Spot, Spot]]:
        """All entries of all mappings in it."""
        for key, value in self.pairs:
            yield key, value
            yield from value.walk()
        for item in self.items:
            yield from item.walk()


def positions(text: str) -> Spot:
    """The mapping that a model file is, an empty one where there is nothing. The text is one that
    the loader takes; raises :class:`ModelError` otherwise."""
    try:
        events = iter(yaml.parse(text, Loader=_LOADER))
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                root = _node(event, events)
                if root.kind == "map":
                    return root
    except yaml.YAMLError as error:
        read(Source("<text>", text))  # says what is wrong, and where
        raise ModelError(f"the text is not valid YAML: {error}") from None
    return Spot("map", len(text), len(text), text.count("\n") + 1, 0, False)


def _node(event: Any, events: Iterator[Any]) -> Spot:
    begin, end = event.start_mark, event.end_mark
    place = begin.index, end.index, begin.line + 1, begin.column
    if isinstance(event, yaml.ScalarEvent):
        return Spot("word", *place, bool(event.style), event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        spot = Spot("list", *place, bool(event.flow_style))
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            spot.items.append(_node(event, events))
        last = spot.items
    elif isinstance(event, yaml.MappingStartEvent):
        spot = Spot("map", *place, bool(event.flow_style))
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = _node(event, events)
            spot.pairs.append((key, _node(next(events), events)))
        last = [value for _, value in spot.pairs]
    else:
        raise ModelError("a model file has no aliases")
    # In blocks the end of YAML lies behind the comments that follow.
    spot.end = event.end_mark.index if spot.flow or not last else last[-1].end
    return spot


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


def inserted(text: str, body: Spot, place: int, key: str, lines: list[str], flow: str) -> Change:
    """A new entry of a mapping, before the one of number `place`, or behind the last one.

    `lines` is what a mapping in lines takes, the first one without its indentation and the others
    indented by what they have beyond; `flow` is the value as one in brackets takes it.
    """
    if body.flow:
        if not body.pairs:
            return Change(body.begin + 1, body.begin + 1, f"{key}: {flow}")
        if place < len(body.pairs):
            at = body.pairs[place][0].begin
            return Change(at, at, f"{key}: {flow}, ")
        at = body.pairs[-1][1].end
        return Change(at, at, f", {key}: {flow}")
    column = body.pairs[0][0].column if body.pairs else 0
    block = "".join(f"{' ' * column}{line}\n" for line in lines)
    if place < len(body.pairs):
        at = begin_of_line(text, body.pairs[place][0].begin)
        return Change(at, at, block)
    at = end_of_line(text, body.pairs[-1][1].end) if body.pairs else len(text)
    if at < len(text):
        return Change(at + 1, at + 1, block)
    is_open = bool(text) and not text.endswith("\n")
    return Change(at, at, ("\n" if is_open else "") + block)


def removed(text: str, body: Spot, place: int) -> Change:
    """Takes the entry of that number out of a mapping that has others too."""
    key, value = body.pairs[place]
    if not body.flow:
        end = min(end_of_line(text, max(value.end, key.end)) + 1, len(text))
        return Change(begin_of_line(text, key.begin), end, "")
    if place + 1 < len(body.pairs):
        return Change(key.begin, body.pairs[place + 1][0].begin, "")
    return Change(body.pairs[place - 1][1].end if place else key.begin, value.end, "")
