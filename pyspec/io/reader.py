"""Reader: what a file format declares of itself, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspec.errors import DataError, shortened
from pyspec.io.raw_table import RawTable

#: So many bytes from the beginning of a file decide on its format.
START_BYTES = 8192


@dataclass(frozen=True)
class Start:
    """The first bytes of a file, for readers that recognise it."""

    path: Path
    raw: bytes

    @classmethod
    def of(cls, path: Path) -> Start:
        """Reads the start of a file. Raises :class:`DataError` where that is not possible."""
        try:
            with path.open("rb") as stream:
                return cls(path, stream.read(START_BYTES))
        except OSError as error:
            raise DataError(
                f"{path}: cannot be read ({error.strerror}); check its permissions"
            ) from None

    @property
    def suffix(self) -> str:
        """The ending of the name, in lower case: ".txt"."""
        return self.path.suffix.lower()

    @cached_property
    def text(self) -> str:
        """The bytes as text, without NUL bytes and without empty lines in front."""
        if self.raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return self.raw.decode("utf-16", errors="replace").lstrip()
        plain = self.raw.removeprefix(b"\xef\xbb\xbf").replace(b"\x00", b"")
        return plain.decode("latin-1").lstrip()

    def starts_with(self, *words: bytes) -> bool:
        """Whether the file begins with one of these bytes."""
        return self.raw.startswith(words)


def damaged(place: object, what: str) -> DataError:
    """The error of a file that does not hold what it says; `place` is its path, or path:line."""
    return DataError(f"{place}: {what}; it is damaged or incomplete: copy or export it again")


def begins_with(*words: bytes) -> Callable[[Start], bool]:
    """What recognises a format by the first bytes of its files, one of these."""
    return lambda start: start.starts_with(*words)


@dataclass(frozen=True)
class Request:
    """What a reader is asked for: the file, and the keywords of `read` that formats take.

    `energy` and `time` are names inside the file; `sizes` has the number of points of the axes
    that are given otherwise ("energy", "time"), None where any number fits.
    """

    path: Path
    data: str | None = None
    energy: str | None = None
    time: str | None = None
    columns: Any = None
    errors: int | str | None = None
    layout: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    block: int | str | None = None
    sizes: Mapping[str, int | None] = field(default_factory=dict)


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


#: Keyword of `read` → whether a value can be meant, and what is asked for.
_VALUES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(
        ("format", "data", "layout", "delimiter", "to"),
        (lambda value: isinstance(value, str) and value != "", "a word"),
    ),
    **dict.fromkeys(("block", "errors"), (_is_name, "a name, or a number from 0")),
    "decimal": (lambda value: value in (".", ","), "'.' or ','"),
    "columns": (
        lambda value: (
            _is_name(value)
            or (isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_name, value)))
        ),
        "a name or number, or a list of them",
    ),
    "units": (
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(word, str) for pair in value.items() for word in pair)
        ),
        "words by axis, such as {'energy': 'eV'}",
    ),
}


def check_keywords(path: Path, values: Mapping[str, object]) -> None:
    """Raises :class:`DataError` for a value that a keyword of `read` cannot have."""
    for key, value in values.items():
        fits, expected = _VALUES[key]
        if value is not None and not fits(value):
            raise DataError(f"{path}: {key}= is {expected}, not {shortened(value)}")


@dataclass(frozen=True)
class Reader:
    """One file format.

    Attributes
    ----------
    name : what `format=` calls it
    what : what it is, in a few words
    endings : usual endings of the name, without the dot; `format=` takes them too
    sniff : whether the start of a file is of this format
    read : the data of a file; whatever goes wrong, and is no DataError, means a damaged file
    keywords : the keywords of `read` that it takes besides those that all formats take
    example : a line of Python for the documentation
    checked : what its tests read: a measured file, or what another program writes
    libraries : what it needs beyond NumPy and SciPy
    """

    name: str
    what: str
    endings: tuple[str, ...]
    sniff: Callable[[Start], bool]
    read: Callable[[Request], RawTable]
    keywords: tuple[str, ...] = ()
    example: str = ""
    checked: str = ""
    libraries: tuple[str, ...] = ()
