"""Fields of a job file: read strictly, refused with file, line, and what was meant."""

from __future__ import annotations

import math
from collections import abc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from pyspec.cli.syntax_hints import for_fields
from pyspec.errors import ModelError, PyspecError
from pyspec.model.build.parameter_entry import similar
from pyspec.model.yaml.reader import Mapping, Node, Scalar, Source, no_text, read
from pyspec.model.yaml.reader import Sequence as ListNode
from pyspec.model.yaml.scalars import is_null, read_number

T = TypeVar("T")

#: Both ends of a range on an axis; None leaves a side open.
Limits: TypeAlias = tuple[float | None, float | None]


#: The field below another one that a single word given in its place most likely means.
FIRST = {
    "data": "path", "fit": "type", "noise": "type", "limits": "energy", "auxiliary": "values",
}  # fmt: skip


#: What a job writes in one way.
_SAME: dict[Any, Any] = {abc.Mapping: dict, abc.Sequence: list}

#: Kind of an argument → what a job writes for it.
_WANTED: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "one word, '{key}: …'",
    list: "a list, [a, b]",
    tuple: "two numbers, [from, to]",
    dict: "a word for each name, {{a: b}}",
}


class JobError(PyspecError, ValueError):
    """A job file is not as it should be. Starts with file and line."""


class FlagError(PyspecError, ValueError):
    """An argument of the command is not as it should be. Its hints are flags already."""


#: What to do with a file that is no job.
NO_JOB = (
    "; 'pyspec new' writes a job to start from, 'pyspec show' looks at data, 'pyspec explain' at "
    "models"
)


def open_job(path: Path) -> Fields:
    """The fields of a job file. Raises :class:`JobError`."""
    if path.is_dir():
        inside = path / "job.yaml"
        hint = f": did you mean {str(inside)!r}?" if inside.is_file() else ""
        raise JobError(f"{path}: is a folder{hint}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JobError(f"{path}: {no_text(error, NO_JOB)}") from None
    except OSError as error:
        raise JobError(
            f"{path}: cannot be read ({error.strerror}); 'pyspec new' writes a job to start from"
        ) from None
    source = Source(str(path), text)
    try:
        root = read(source)
    except ModelError as error:
        raise JobError(str(error)) from None
    keys = {key.text for key, _ in root.items} if isinstance(root, Mapping) else set()
    if not isinstance(root, Mapping) or not keys & {"data", "models", "model", "fit"}:
        raise JobError(
            f"{source.at(1)}: is no job, which has the fields 'data:' and 'models:'{NO_JOB}"
        )
    return Fields(source, root, "")


def given_options(options: dict[str, object]) -> dict[str, Any]:
    """Options without those that are left open. 0 is not open: it is a column, or a block."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value not in ([], {})
    }


class Fields:
    """One mapping of a job file. Every field is taken once; :meth:`done` refuses the others.
    `is_present` is false where the job does not have it."""

    def __init__(self, source: Source, node: Mapping, name: str, is_present: bool = True) -> None:
        self.source = source
        self.line = node.line
        self.name = name
        self.is_present = is_present
        self.field_names: list[str] = []
        self.nodes: dict[str, tuple[Scalar, Node]] = {}
        for key, value in node.items:
            if key.text in self.nodes:
                first = self.nodes[key.text][0].line
                raise JobError(
                    f"{source.at(key.line)}: {self._full(key.text)}: given twice, first in line "
                    f"{first}; remove one"
                )
            self.nodes[key.text] = key, value

    def _full(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def place(self, key: str = "") -> str:
        """ "job.yaml:7: fit.method"."""
        line = self.nodes[key][0].line if key in self.nodes else self.line
        name = self._full(key) if key else self.name
        return f"{self.source.at(line)}: {name}" if name else self.source.at(line)

    def wrong(self, key: str, message: str) -> JobError:
        """An error about one field."""
        return JobError(f"{self.place(key)}: {message}")

    def done(self) -> None:
        """Refuses fields that nobody asked for."""
        for key in self.nodes:
            if key not in self.field_names:
                where = f"'{self.name}:' " if self.name else "a job "
                raise self.wrong(
                    key,
                    f"{where}has no field {key!r}{similar(key, self.field_names)}; it has "
                    f"{', '.join(self.field_names)}",
                )

    def node(self, key: str) -> Node | None:
        """The node of a field; None where it is missing or empty."""
        if key not in self.field_names:
            self.field_names.append(key)
        if key not in self.nodes:
            return None
        node = self.nodes[key][1]
        return None if is_null(node) else node

    def value(self, key: str, kind: object, default: object = None) -> Any:
        """The value of a field as an argument of this `kind`: ``float``, ``list[str]``,
        ``Limits | None``. A missing field has the `default`. YAML cannot write all kinds: an array
        is given as plain numbers, words and lists."""
        node = self.node(key)
        return default if node is None else self._as(key, node, kind)

    def _as(self, key: str, node: Node, kind: object) -> Any:
        members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        inside = [member for member in members if member is not NoneType]
        kinds = [_SAME.get(get_origin(member), get_origin(member)) or member for member in inside]
        if is_null(node) and len(members) > len(kinds):
            return None
        if len(kinds) > 1 or not {*kinds} & {*_WANTED}:
            return self._plain(key, node)
        kind, *inner = kinds[0], *get_args(inside[0])
        value: Any = None
        are_ranges = bool(inner) and get_origin(inner[0]) is tuple
        if kind is dict and isinstance(node, Mapping):
            own = self.fields(key)
            return {name: own.value(name, inner[1]) for name in own.nodes}
        if kind is str and isinstance(node, Scalar):
            value = node.text
        elif kind is bool and isinstance(node, Scalar) and node.plain:
            value = {"true": True, "false": False}.get(node.text.lower())
        elif kind in (int, float) and (value := read_number(node)) is not None:
            whole = kind is int and math.isfinite(value)
            value = value if math.isfinite(value) else None
            if whole and value != int(value):
                raise self.wrong(key, f"give a whole number, not {value:g}")
            value = int(value) if whole else value
        elif kind is list:
            items = node.items if isinstance(node, ListNode) else ()
            if isinstance(node, ListNode) and not (
                are_ranges and any(isinstance(item, Scalar) for item in items)
            ):
                return [self._as(key, item, inner[0]) for item in items]
            value = [node.text] if inner == [str] and isinstance(node, Scalar) else None
        elif kind is tuple and isinstance(node, ListNode) and len(node.items) == len(inner):
            return tuple(self._as(key, *pair) for pair in zip(node.items, inner, strict=True))
        if value is None:
            shown = repr(node.text) if isinstance(node, Scalar) else "a list"
            shown = "fields" if isinstance(node, Mapping) else shown
            is_open = NoneType in get_args(inner[0] if inner else None)
            more = "; null leaves a side open" if is_open else ""
            wanted = "a list of ranges, [[from, to], …]" if are_ranges else _WANTED[kind]
            raise self.wrong(key, f"give {wanted.format(key=key)}, not {shown}{more}")
        return value

    def call(self, function: Callable[..., object], *names: str) -> dict[str, Any]:
        """The fields of these `names` as arguments of a function, by its type hints. Fields that
        are left open are not among them."""
        hints = get_type_hints(function)
        return given_options({name: self.value(name, hints[name]) for name in names})

    def need(self, key: str, description: str) -> str:
        """A word that must be there."""
        text = self.value(key, str)
        if text is None:
            for name in self.nodes:  # refuses a field that is the missing one, misspelt
                hint = similar(name, [key])
                if name not in self.field_names and hint:
                    where = f"'{self.name}:'" if self.name else "a job"
                    raise self.wrong(name, f"{where} has no field {name!r}{hint}")
            where = f"{self.name}: " if self.name else ""
            raise JobError(
                f"{self.source.at(self.line)}: {where}'{key}:' is missing; give {description}"
            )
        return str(text)

    def choice(self, key: str, words: Sequence[str], default: T) -> str | T:
        """One of several words, in any case."""
        text = self.value(key, str)
        if text is None:
            return default
        same = [word for word in words if word.lower() == text.lower()]
        if not same:
            hint = similar(text, list(words))
            raise self.wrong(key, f"must be one of {', '.join(words)}, not {text!r}{hint}")
        return same[0]

    def whole(self, key: str, least: int) -> int | None:
        """A whole number from `least` on; None where it is missing."""
        number: int | None = self.value(key, int)
        if number is not None and number < least:
            raise self.wrong(key, f"give a whole number of at least {least}, not {number}")
        return number

    def fields(self, key: str) -> Fields:
        """A mapping below this one; one without fields where it is missing."""
        node = self.node(key)
        if node is None:
            return Fields(self.source, Mapping((), self.line), self._full(key), False)
        if not isinstance(node, Mapping):
            shown = node.text if isinstance(node, Scalar) else "…"
            example = f", such as '{key}: {{{FIRST[key]}: {shown}}}'" if key in FIRST else ""
            raise self.wrong(key, f"holds fields, one 'name: value' in a line{example}")
        return Fields(self.source, node, self._full(key))

    def several(self, key: str) -> list[Fields]:
        """A list of mappings; one mapping is a list of one."""
        node = self.node(key)
        items = node.items if isinstance(node, ListNode) else (node,) if node is not None else ()
        if not all(isinstance(item, Mapping) for item in items):
            text = node.text if isinstance(node, Scalar) else "…"
            raise self.wrong(
                key, f"holds a list, each entry in a line '- {{parameter: …, model: {text}}}'"
            )
        return [
            Fields(self.source, item, f"{self._full(key)}[{k}]")
            for k, item in enumerate(items)
            if isinstance(item, Mapping)
        ]

    def _plain(self, key: str, node: Node) -> object:
        if isinstance(node, ListNode):
            return [self._plain(key, item) for item in node.items]
        if isinstance(node, Mapping):
            raise self.wrong(key, "give a value or a list, not fields")
        if is_null(node):
            return None
        if node.plain and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        number = read_number(node)
        if number is None:
            return node.text
        return int(number) if node.text.lstrip("+-").isdigit() else number

    # what later goes wrong with a field

    @contextmanager
    def blame(self, key: str) -> Iterator[None]:
        """Errors from within are reported at this field."""
        try:
            yield
        except JobError:
            raise
        except PyspecError as error:
            raise JobError(f"{self.place(key)}: {for_fields(str(error))}") from error

    def checked(self, key: str, check: Callable[[Any], T], kind: object = str) -> T | None:
        """A word, or words, that `check` accepts; its error is reported at this field."""
        value = self.value(key, kind)
        if value is None:
            return None
        with self.blame(key):
            return check(value)
