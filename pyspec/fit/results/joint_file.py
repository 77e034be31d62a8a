"""What a joint fit says of one of its files, in the names that this has for its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pyspec.fit.findings.finding import Finding

#: A parameter of one file.
_NAMED = re.compile(r"\bfile(\d\d+)_\w+")


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
