"""One thing that a fit found out about itself, and the order of several."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from pyspec.calls import stack_outside
from pyspec.errors import ModelWarning
from pyspec.fit.findings.kinds import GRADES, HIDES, HIDES_SAME, Kind, Numbers, Severity
from pyspec.fit.findings.text import sentence


@dataclass(frozen=True)
class Finding:
    """One thing that a fit found out about itself. ``str(finding)`` says it in words.

    Attributes
    ----------
    kind : what it is, with its severity and level
    places : names of the parameters and components that it is about, the first one above all
    numbers : what was measured, by name
    part : the file of a joint fit, by its number; None of a single file, or of all
    """

    kind: Kind
    places: tuple[str, ...] = ()
    numbers: Numbers = field(default_factory=dict)
    part: int | None = None

    @property
    def severity(self) -> Severity:
        """That of its kind, or what its numbers make of it."""
        grade = GRADES.get(self.kind)
        return self.kind.severity if grade is None else grade(self.numbers)

    def renamed(self, names: Mapping[str, str], part: int | None) -> Finding:
        """The same for a result in which parameters have other names."""
        places = tuple(names.get(place, place) for place in self.places)
        return replace(self, places=places, part=part)

    def __str__(self) -> str:
        return sentence(self.kind, self.numbers, self.places, self.part)

    def to_dict(self) -> dict[str, object]:
        """Plain values that JSON can hold; `text` is what it says in words."""
        return {
            "kind": self.kind.name,
            "severity": self.severity.name,
            "level": self.kind.level,
            "part": self.part,
            "places": list(self.places),
            "numbers": {name: plain(number) for name, number in self.numbers.items()},
            "text": str(self),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Finding:
        """The finding of which :meth:`to_dict` made plain values."""
        numbers = {name: _as_tuples(number) for name, number in plain["numbers"].items()}
        return cls(Kind[plain["kind"]], tuple(plain["places"]), numbers, plain["part"])


def plain(value: object) -> object:
    """A number or text as JSON can hold it, or a list of them: an infinite number is None."""
    if isinstance(value, (tuple, np.ndarray)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def _as_tuples(value: object) -> object:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def unique(findings: Sequence[Finding]) -> list[Finding]:
    """Each once, in their order."""
    return [finding for k, finding in enumerate(findings) if finding not in findings[:k]]


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each once, without those that others hide, the most serious first."""
    distinct = unique(list(findings))
    kept = [
        finding for finding in distinct if not any(_hides(other, finding) for other in distinct)
    ]
    return tuple(sorted(kept, key=lambda finding: (finding.severity, finding.kind.value)))


def _hides(finding: Finding, other: Finding) -> bool:
    if finding.part is not None and other.part is not None and finding.part != other.part:
        return False
    if other.kind in HIDES.get(finding.kind, ()):
        return finding.kind is not Kind.MISFIT or finding.severity is Severity.WRONG
    same = finding.places[:1] and finding.places[:1] == other.places[:1]
    return bool(same and other.kind in HIDES_SAME.get(finding.kind, ()))


def warn(label: str, findings: Iterable[object]) -> None:
    """Shows findings as warnings, at the line that called the package."""
    for finding in findings:
        warnings.warn(f"{label}: {finding}", ModelWarning, stacklevel=stack_outside())
