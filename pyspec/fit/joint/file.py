"""What a joint fit finds out about one of its files."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.found import of_end
from pyspec.fit.result import FitResult

#: A parameter of one file.
_NAMED = re.compile(r"\bfile(\d\d+)_\w+")


class FileFit(FitResult):
    """The part of a joint fit that is of one file."""

    _joint: FitResult | None = None
    _index = 0
    _names: Sequence[str] = ()

    @property
    def joint(self) -> FitResult | None:
        """The fit of all files, of which this is one; None of one that was loaded."""
        return self._joint

    def belongs_to(self, joint: FitResult, index: int, names: Sequence[str]) -> None:
        """Takes what is found about all files, when it is asked for, from the fit of all, in which
        this is the file of that number; `names` are those of all, "" where they have none."""
        self._joint, self._index, self._names = joint, index, names

    @cached_property
    def _of_end(self) -> tuple[Finding, ...]:
        if self._joint is None or not self._of_many:  # one file says all of its own
            return of_end(self)
        return self._part(self._joint, self._joint._of_end)

    def _part(self, joint: FitResult, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Those of this file."""
        return of_file(findings, self._index, joint.problem.full, self._names)

    def diagnosed_with(self, joint: FitResult) -> FileFit:
        """A copy with its part of what the fit of all files found out."""
        found = copy.copy(self)
        found._fit, found.level, found.diagnosed = self._fit, joint.level, joint.diagnosed
        found._of_levels = self._part(joint, joint._of_levels)
        return found

    def __getstate__(self) -> dict[str, Any]:
        if self._joint is None:
            return super().__getstate__()
        found = self._of_end  # what is found about all goes along, their data do not
        return {**super().__getstate__(), "_of_end": found, "_joint": None}


def of_file(
    findings: Iterable[Finding],
    index: int,
    fulls: Sequence[Mapping[str, str]],
    names: Sequence[str],
) -> tuple[Finding, ...]:
    """Those findings about a joint fit that are of the file `index`, or of all, with the names of
    its parameters there. `fulls` have the names in the joint fit of those of each file, `names` are
    what the files are called."""
    back = {project: name for name, project in fulls[index].items()}
    every = {project for full in fulls for project in full.values()}
    found = []
    for one in findings:
        mine, known = any(p in back for p in one.places), any(p in every for p in one.places)
        if one.part != index if one.part is not None else known and not mine:
            continue
        numbers = dict(one.numbers)
        if numbers.get("axis") == "file":
            numbers |= {end: names[numbers[end]] or numbers[end] for end in ("at", "from")}
        found.append(replace(one.renamed(back, None), numbers=numbers))
    return tuple(found)


def message_of_file(text: str, back: Mapping[str, str], names: Sequence[str]) -> str:
    """How a joint fit ended, for one of its files: its own parameters under their names there, and
    those of another as "x0 of scan1", where files have `names`."""

    def called(one: re.Match[str]) -> str:
        own, name = back.get(one[0]), dict(enumerate(names)).get(int(one[1]))
        return own or (f"{one[0].split('_', 1)[1]} of {name}" if name else one[0])

    return _NAMED.sub(called, text)
