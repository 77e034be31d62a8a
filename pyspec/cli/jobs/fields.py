"""Fields of a job file: read strictly, refused with file, line, and what was meant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

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


def given(options: dict[str, object]) -> dict[str, Any]:
    """Options without those that are left open. 0 is not open: it is a column, or a block."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and value not in ([], {})
    }


class Fields:
    """One mapping of a job file. Every field is taken once; :meth:`done` refuses the others.
    `given` is false where the job does not have it."""

    def __init__(self, source: Source, node: Mapping, name: str, given: bool = True) -> None:
        self.source = source
        self.line = node.line
        self.name = name
        self.given = given
        self.known: list[str] = []
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

    def wrong(self, key: str, what: str) -> JobError:
        """An error about one field."""
        return JobError(f"{self.place(key)}: {what}")

    def done(self) -> None:
        """Refuses fields that nobody asked for."""
        for key in self.nodes:
            if key not in self.known:
                where = f"'{self.name}:' " if self.name else "a job "
                raise self.wrong(
                    key,
                    f"{where}has no field {key!r}{similar(key, self.known)}; it has "
                    f"{', '.join(self.known)}",
                )

    def node(self, key: str) -> Node | None:
        """The node of a field; None where it is missing or empty."""
        if key not in self.known:
            self.known.append(key)
        if key not in self.nodes:
            return None
        node = self.nodes[key][1]
        return None if is_null(node) else node

    # kinds of values

    def text(self, key: str, default: T) -> str | T:
        """A word or sentence."""
        node = self.node(key)
        if node is None:
            return default
        if not isinstance(node, Scalar):
            kind = "a list" if isinstance(node, ListNode) else "fields"
            raise self.wrong(key, f"give one word, '{key}: …', not {kind}")
        return node.text

    def need(self, key: str, what: str) -> str:
        """A word that must be there."""
        found = self.text(key, None)
        if found is None:
            self._misspelt(key)
            where = f"{self.name}: " if self.name else ""
            raise JobError(f"{self.source.at(self.line)}: {where}'{key}:' is missing; give {what}")
        return found

    def _misspelt(self, key: str) -> None:
        """Refuses a field that is the missing one, misspelt."""
        for name in self.nodes:
            hint = similar(name, [key])
            if name not in self.known and hint:
                where = f"'{self.name}:'" if self.name else "a job"
                raise self.wrong(name, f"{where} has no field {name!r}{hint}")

    def choice(self, key: str, known: Sequence[str], default: T) -> str | T:
        """One of several words, in any case."""
        found = self.text(key, None)
        if found is None:
            return default
        same = [word for word in known if word.lower() == found.lower()]
        if not same:
            hint = similar(found, list(known))
            raise self.wrong(key, f"must be one of {', '.join(known)}, not {found!r}{hint}")
        return same[0]

    def number(self, key: str, default: T) -> float | T:
        """A finite number."""
        node = self.node(key)
        return default if node is None else self._number(key, node)

    def whole(self, key: str, default: T, least: int = 0) -> int | T:
        """A whole number."""
        number = self.number(key, None)
        if number is None:
            return default
        if number != int(number) or number < least:
            raise self.wrong(key, f"give a whole number of at least {least}, not {number:g}")
        return int(number)

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        node = self.node(key)
        if node is None:
            return default
        if isinstance(node, Scalar) and node.plain and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        raise self.wrong(key, "give true or false")

    def pair(self, key: str) -> tuple[float, float] | None:
        """Two numbers, [from, to]."""
        node = self.node(key)
        if node is None:
            return None
        if not isinstance(node, ListNode) or len(node.items) != 2:
            raise self.wrong(key, "give two numbers, [from, to]")
        first, second = (self._number(key, item) for item in node.items)
        return first, second

    def limits(self, key: str) -> Limits | None:
        """Limits of an axis, [from, to]; null leaves a side open, as None does in Python."""
        node = self.node(key)
        if node is None:
            return None
        return self._limits(key, node, "two numbers, [from, to]")

    def ranges(self, key: str) -> list[Limits]:
        """Ranges of an axis, [[from, to], …]."""
        node = self.node(key)
        if node is None:
            return []
        asked = "a list of ranges, [[from, to], …]"
        if not isinstance(node, ListNode):
            raise self.wrong(key, f"give {asked}; null leaves a side open")
        return [self._limits(key, item, asked) for item in node.items]

    def _limits(self, key: str, node: Node, asked: str) -> Limits:
        if not isinstance(node, ListNode) or len(node.items) != 2:
            raise self.wrong(key, f"give {asked}; null leaves a side open")
        low, high = (None if is_null(item) else self._number(key, item) for item in node.items)
        return low, high

    def numbers(self, key: str) -> list[float] | None:
        """A list of numbers."""
        node = self.node(key)
        if node is None:
            return None
        if not isinstance(node, ListNode):
            raise self.wrong(key, "give a list of numbers, [1, 2, 3]")
        return [self._number(key, item) for item in node.items]

    def words(self, key: str) -> list[str] | None:
        """A list of words; one word is a list of one."""
        node = self.node(key)
        if node is None:
            return None
        items = node.items if isinstance(node, ListNode) else (node,)
        found = [item.text for item in items if isinstance(item, Scalar)]
        if len(found) != len(items):
            raise self.wrong(key, "give words, [a, b]")
        return found

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

    def by_name(self, key: str) -> dict[str, str]:
        """A word by each name of a mapping."""
        inner = self.fields(key)
        return {name: inner.need(name, "a word") for name in inner.nodes}

    def several(self, key: str) -> list[Fields]:
        """A list of mappings; one mapping is a list of one."""
        node = self.node(key)
        if node is None:
            return []
        items = node.items if isinstance(node, ListNode) else (node,)
        if not all(isinstance(item, Mapping) for item in items):
            given = node.text if isinstance(node, Scalar) else "…"
            raise self.wrong(
                key, f"holds a list, each entry in a line '- {{parameter: …, model: {given}}}'"
            )
        return [
            Fields(self.source, item, f"{self._full(key)}[{k}]")
            for k, item in enumerate(items)
            if isinstance(item, Mapping)
        ]

    def plain(self, key: str) -> object:
        """Any value as plain Python: numbers, true and false, words, lists; None if missing."""
        node = self.node(key)
        return None if node is None else self._plain(key, node)

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

    def _number(self, key: str, node: Node) -> float:
        number = read_number(node)
        if number is None or not math.isfinite(number):
            shown = repr(node.text) if isinstance(node, Scalar) else "a list"
            raise self.wrong(key, f"give a finite number, not {shown}")
        return number

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

    def checked(self, key: str, check: Callable[[str], T]) -> T | None:
        """A word that `check` accepts; its error is reported at this field."""
        word = self.text(key, None)
        if word is None:
            return None
        with self.blame(key):
            return check(word)
