"""The strict YAML reader: text to plain nodes that know their line.

Scalars stay text; :mod:`pyspec.model.yaml.scalars` reads them by the rules of YAML 1.2, so that
1e-3 is a number and 010 is ten. Anchors, aliases, tags and further documents are refused:
nothing in a model file can build an object or refer elsewhere.
"""

from __future__ import annotations

import unicodedata
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

#: A model file nests four levels; flow style may add some.
MAX_DEPTH = 12


@dataclass(frozen=True)
class Scalar:
    """A word. `plain` is False where it is quoted."""

    text: str
    plain: bool
    line: int


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True)
class Mapping:
    """Pairs in file order; keys may repeat."""

    items: tuple[tuple[Scalar, Node], ...]
    line: int


Node: TypeAlias = Scalar | Sequence | Mapping


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

    def lines(self, begin: int, end: int) -> str:
        """The text of the lines begin ... end - 1, counted from 1."""
        return "".join(self.text.splitlines(keepends=True)[begin - 1 : end - 1])


def open_source(source: str | Path | Source) -> Source:
    """A file, or YAML text given directly: a str that holds a line break or ': '.

    Raises :class:`ModelError` if the file cannot be read as UTF-8 text.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str) and ("\n" in source or ": " in source):
        return Source("<text>", source)
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
        names = [] if path.exists() else [one.name for one in sorted(path.parent.glob("*.y*ml"))]
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
        raise ModelError(_syntax_error(source, error)) from None
    except yaml.reader.ReaderError as error:
        line = source.text.count("\n", 0, error.position) + 1
        raise ModelError(
            f"{source.at(line)}: the character {chr(int(error.character))!r} is not allowed in "
            "YAML; remove it"
        ) from None


def unseen_in(text: str) -> str:
    """The name of a character that looks like a blank or is invisible, but is no blank in YAML;
    else "". Comments may have it."""
    seen = text.split("#")[0]
    found = next((sign for sign in seen if not sign.isprintable() and sign != "\t"), "")
    known = unicodedata.name(found, "a control character") if found else ""
    return f"the character U+{ord(found):04X} ({known.lower()})" if found else ""


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    problem = error.problem or "not readable"
    remedy = "check indentation, colons and brackets near this line"
    if "'\\t'" in problem:
        remedy = "indent with spaces, not with tabs"
    lines = source.text.splitlines()
    for at in (line, line - 1):  # what breaks a line is often noticed at the next
        unseen = unseen_in(lines[at - 1]) if 0 < at <= len(lines) else ""
        if unseen:
            remedy = f"line {at} has {unseen}; write blanks in its place"
            break
    return f"{source.at(line)}: not valid YAML: {problem}; {remedy}"


class _Builder:
    def __init__(self, source: Source, loader: Any) -> None:
        self.source = source
        self.events: Iterator[Any] = iter(yaml.parse(source.text, Loader=loader))

    def fail(self, event: Any, message: str) -> ModelError:
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

    def node(self, event: Any, depth: int) -> Node:
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
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(event.value, not event.style, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(line, depth)
        return self.mapping(line, depth)

    def sequence(self, line: int, depth: int) -> Sequence:
        items: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return Sequence(tuple(items), line)

    def mapping(self, line: int, depth: int) -> Mapping:
        items: list[tuple[Scalar, Node]] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.node(event, depth + 1)
            if not isinstance(key, Scalar):
                raise self.fail(event, "a key must be a word, not a list or a mapping; name it")
            value = self.node(next(self.events), depth + 1)
            if key.text == "<<" and key.plain:
                raise self.fail(event, "the merge key '<<' is not allowed; write the values out")
            if key.plain and key.text != key.text.strip():
                unseen = unseen_in(key.text)
                raise self.fail(event, f"{key.text!r} has {unseen}; write blanks in its place")
            items.append((key, value))
        return Mapping(tuple(items), line)


def end_line(body: Mapping) -> int:
    """The line after the last one of a model."""

    def last(node: Node) -> int:
        if isinstance(node, Scalar):
            return node.line
        if isinstance(node, Mapping):
            return max([node.line, *(last(value) for _, value in node.items)])
        return max([node.line, *(last(item) for item in node.items)])

    return last(body) + 1
