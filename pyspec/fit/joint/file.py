"""What a joint fit says of one of its files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from pyspec.fit.doubts.when_asked import when_asked
from pyspec.fit.result import FitResult
from pyspec.fit.slices.cautions import NUMBER

#: A parameter of one file, what is said of the points of one, and a file.
_NAMED, _POINTS = re.compile(r"\bfile(\d\d+)_\w+"), re.compile(r"in file\d\d+ ")
_FILE, _ANY = re.compile(r"\bfile(\d\d+)\b"), re.compile(r"\bfile(\d\d+)(?!\d)")


class FileFit(FitResult):
    """The part of a joint fit that is of one file."""

    _joint: FitResult | None = None
    _index = 0
    _names: Sequence[str] = ()

    def belongs_to(self, joint: FitResult, index: int, names: Sequence[str]) -> None:
        """Takes what is said of all files, when it is asked for, from the fit of all, in which this
        is the file of that number; `names` are those of all, "" where they have none."""
        self._joint, self._index, self._names = joint, index, names

    @cached_property
    def _when_asked(self) -> tuple[str, ...]:
        own = when_asked(self)
        if self._joint is None or not self._of_many:  # one file says all of its own
            return own
        full: Mapping[str, str] = self._joint.problem.shared.full[self._index]  # type: ignore[attr-defined]
        back = {project: name for name, project in full.items()}
        of_all = said_of_file(self._joint._when_asked, self._index, back)
        called = [
            _FILE.sub(lambda one: self._names[int(one[1])] or one[0], text) for text in of_all
        ]
        return tuple(dict.fromkeys((*own, *called)))

    def __getstate__(self) -> dict[str, Any]:
        if self._joint is None:
            return super().__getstate__()
        said = self._when_asked  # what is said of all goes along, their data do not
        return {**super().__getstate__(), "_when_asked": said, "_joint": None}


def said_of_file(sentences: Iterable[str], index: int, back: Mapping[str, str]) -> tuple[str, ...]:
    """Those sentences about a joint fit that are of the file `index`, or of all, with the names of
    its parameters there: `back` has them by those of the joint fit. What is said of points is left
    out, which each file says of its own."""
    found = []
    for text in sentences:
        files = {int(number) for number in _NAMED.findall(text)}
        if not _POINTS.match(text) and (not files or index in files):
            found.append(_NAMED.sub(lambda one: back.get(one[0], one[0]), text))
    return tuple(found)


def together(sentences: Iterable[str]) -> list[str]:
    """Those sentences about a joint fit that are of one file each and differ in the file and in
    numbers alone as one, in the words of the first, with the other files."""
    found: dict[str, list[str]] = {}
    for text in sentences:
        files = {*_ANY.findall(text)}
        kind = NUMBER.sub("#", _ANY.sub("file", text)) if len(files) == 1 else text
        if kind in found:
            found[kind] += files
        else:
            found[kind] = [text]
    return [
        text + (f"; the same of {', '.join(f'file{one}' for one in others)}" if others else "")
        for text, *others in found.values()
    ]


def message_of_file(text: str, back: Mapping[str, str], names: Sequence[str]) -> str:
    """How a joint fit ended, for one of its files: its own parameters under their names there, and
    those of another as "x0 of scan1", where files have `names`."""

    def called(one: re.Match[str]) -> str:
        own, name = back.get(one[0]), dict(enumerate(names)).get(int(one[1]))
        return own or (f"{one[0].split('_', 1)[1]} of {name}" if name else one[0])

    return _NAMED.sub(called, text)
