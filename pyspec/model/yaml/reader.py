"""The strict YAML reader: text to plain nodes that know their line.

Scalars stay text; :mod:`pyspec.model.yaml.scalars` reads them by the rules of YAML 1.2, so that
1e-3 is a number and 010 is ten. Anchors, aliases, tags and further documents are refused:
nothing in a model file can build an object or refer elsewhere.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from collections.abc import Mapping as Names
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from pyspec._library import OpDef
from pyspec.errors import ModelError, suggest
from pyspec.formula import Scheme

#: An event of PyYAML, whose fields depend on its kind.
Event: TypeAlias = Any

#: A model file nests four levels; flow style may add some.
MAX_DEPTH = 12

#: The sections of a model file that are no models.
SECTIONS = ("parameters", "functions", "include", "kinetics", "attached")


@dataclass(slots=True, kw_only=True)
class _Placed:
    """What stands from `begin` to `end` of the text. `column` counts from 0; `flow` says whether it
    is in brackets."""

    begin: int = 0
    end: int = 0
    column: int = 0
    flow: bool = False


@dataclass(slots=True)
class Scalar(_Placed):
    """A word. `plain` is False where it is quoted."""

    text: str
    plain: bool
    line: int


@dataclass(slots=True)
class Sequence(_Placed):
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(slots=True)
class Mapping(_Placed):
    """Pairs in file order; keys may repeat."""

    items: tuple[tuple[Scalar, Node], ...]
    line: int


Node: TypeAlias = Scalar | Sequence | Mapping

#: One entry of a mapping.
Entry: TypeAlias = tuple[Scalar, Node]


@dataclass(frozen=True)
class Source:
    """A YAML text, the name by which errors call it, and the functions and kinetic schemes that it
    defines. Paths in it start from `folder`."""

    name: str
    text: str
    functions: Names[str, OpDef] = field(default_factory=dict)
    schemes: Names[str, Scheme] = field(default_factory=dict)
    folder: Path = Path()

    def at(self, line: int) -> str:
        """ "models.yaml:14"."""
        return f"{self.name}:{line}"

    def entry(self, key: Scalar, value: Node) -> str:
        """The lines of an entry and of the comment at its end, as one that is not indented."""
        gap = self.text[key.end : value.begin].partition(":")[2] or " "  # none between braces
        comment = re.compile(r"[ \t]*#[^\r\n]*").match(self.text, value.end)
        end = comment.end() if comment else value.end
        text = f"{self.text[key.begin : key.end]}:{gap}{self.text[value.begin : end].rstrip()}\n"
        return re.sub(rf"(?m)^ {{0,{key.column}}}", "", text)


def open_source(source: str | Path | Source) -> Source:
    """A file, or YAML text given directly: a str that holds a line break or ': '.

    Raises :class:`ModelError` if the file cannot be read as UTF-8 text.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str) and ("\n" in source or ": " in source):
        return Source("<text>", source.removeprefix("\ufeff"))
    if not isinstance(source, (str, Path)):
        raise ModelError(
            f"a model source is a path or YAML text, not {type(source).__name__}; give it as "
            "'models.yaml'"
        )
    try:
        text = Path(source).read_bytes().decode("utf-8-sig")
        return Source(str(source), text, folder=Path(source).parent)
    except UnicodeDecodeError as error:
        hint = "; a model file is YAML"
        raise ModelError(f"{source}: {no_text(error, hint)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(
            f"{source}: cannot read the model file: {reason}; check the path{_beside(Path(source))}"
        ) from None


def no_text(error: UnicodeDecodeError, hint: str) -> str:
    """Describes a file that is not UTF-8: binary, with a hint at what it may be, or text of another
    encoding."""
    raw = error.object
    if b"\0" in raw and not raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return f"is a binary file{hint}"
    return f"byte {error.start} is not UTF-8; save the file with UTF-8 encoding"


def _beside(path: Path) -> str:
    """The model file in the same folder whose name is nearest."""
    try:
        names = [] if path.exists() else [file.name for file in sorted(path.parent.glob("*.y*ml"))]
    except (OSError, ValueError):
        return ""
    return suggest(path.name, names)


def read(source: Source) -> Node | None:
    """The only document of `source`, or None where there is nothing but comments.

    Raises :class:`ModelError`, starting with file and line.
    """
    at = source.text.find("\0")
    if at >= 0:
        line = source.text.count("\n", 0, at) + 1
        raise ModelError(f"{source.at(line)}: a NUL byte; save the file as plain text (UTF-8)")
    if hasattr(yaml, "CSafeLoader"):
        with suppress(yaml.YAMLError, ModelError, StopIteration, UnicodeError):
            return _Builder(source, yaml.CSafeLoader).document()
    try:  # again where that failed: the words of an error are those of the slower one
        return _Builder(source, yaml.SafeLoader).document()
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark or error.context_mark, error.problem or "not readable"
        remedy = "check indentation, colons and brackets near this line"
        if "'\\t'" in problem:
            remedy = "indent with spaces, not with tabs"
        place = source.at(1 if mark is None else mark.line + 1)
        raise ModelError(f"{place}: not valid YAML: {problem}; {remedy}") from None
    except yaml.reader.ReaderError as error:
        line = source.text.count("\n", 0, error.position) + 1
        raise ModelError(
            f"{source.at(line)}: the character {chr(int(error.character))!r} is not allowed in "
            "YAML; remove it"
        ) from None


class _Builder:
    def __init__(self, source: Source, loader: Any) -> None:
        self.source = source
        self.events: Iterator[Event] = iter(yaml.parse(source.text, Loader=loader))

    def fail(self, event: Event, message: str) -> ModelError:
        return ModelError(f"{self.source.at(event.start_mark.line + 1)}: {message}")

    def document(self) -> Node | None:
        root: Node | None = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.fail(
                        event, "a second document begins; keep one document to a file (no '---')"
                    )
            elif isinstance(event, yaml.NodeEvent):
                root = self.node(event, 0)
        return root

    def node(self, event: Event, depth: int) -> Node:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise self.fail(
                event, f"the alias '*{event.anchor}' is not allowed; write the values out"
            )
        if event.anchor is not None:
            raise self.fail(
                event, f"the anchor '&{event.anchor}' is not allowed; write the values out"
            )
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise self.fail(event, f"the tag '{tag}' is not allowed; remove it")
        if depth > MAX_DEPTH:
            raise self.fail(
                event, "nested too deeply; a model file has models, components, parameters, no more"
            )
        begin, end = event.start_mark.index, event.end_mark.index
        column = event.start_mark.column
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style
            return Scalar(event.value, plain, line, begin=begin, end=end, column=column)
        flow, values = bool(event.flow_style), list[Node]()
        pairs: list[tuple[Scalar, Node]] = []
        is_list = isinstance(event, yaml.SequenceStartEvent)
        ends = yaml.SequenceEndEvent if is_list else yaml.MappingEndEvent
        while not isinstance(event := next(self.events), ends):
            key = None if is_list else self.key(event, depth)
            values.append(self.node(event if key is None else next(self.events), depth + 1))
            if key is not None:
                pairs.append((key, values[-1]))
        # In blocks the end of YAML lies behind the comments that follow.
        mark: Any = event.end_mark
        end = mark.index if flow or not values else values[-1].end
        if is_list:
            return Sequence(tuple(values), line, begin=begin, end=end, column=column, flow=flow)
        return Mapping(tuple(pairs), line, begin=begin, end=end, column=column, flow=flow)

    def key(self, event: Event, depth: int) -> Scalar:
        key = self.node(event, depth + 1)
        if not isinstance(key, Scalar):
            raise self.fail(event, "a key must be a word, not a list or a mapping; name it")
        if key.text == "<<" and key.plain:
            raise self.fail(event, "the merge key '<<' is not allowed; write the values out")
        if key.plain and key.text != key.text.strip():
            raise self.fail(event, f"{key.text!r} has invisible characters; write blanks")
        return key


def body_of(node: Node | None, name: str) -> Node | None:
    """The value of the first entry of a mapping with that key; None where there is none."""
    pairs = node.items if isinstance(node, Mapping) else ()
    return next((value for key, value in pairs if key.text == name), None)


def walk(node: Node) -> Iterator[tuple[Scalar, Node]]:
    """All entries of all mappings in it."""
    for item in () if isinstance(node, Scalar) else node.items:
        if isinstance(item, tuple):
            yield item
        yield from walk(item[1] if isinstance(item, tuple) else item)
