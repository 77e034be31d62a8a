"""Findings of many fits, each kind once: of slices, of the files of a joint fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding, ordered
from pyspec.fit.findings.kinds import CHANCE, Kind, Severity

Array = npt.NDArray[np.float64]
#: Errors follow the values of a parameter where the steps of both from slice to slice are alike by
#: so many standard deviations of their correlation.
_FOLLOWS = 5.0
#: A constant that is off by less of its standard error is right enough.
_ENOUGH = 1.0
#: Chance alone gives a finding to so many slices in less than this share of series.
_SELDOM = 1e-3


@dataclass(frozen=True)
class Counted:
    """A kind of finding in many fits.

    Attributes
    ----------
    finding : that of the first fit which has it
    first : where that fit is, such as its time
    count, total : how many fits have it, of how many
    places : place, with the side of a bound → in how many fits
    """

    finding: Finding
    first: float
    count: int
    total: int
    places: Mapping[str, int]

    @property
    def severity(self) -> Severity:
        """The worst one is that of the first."""
        return self.finding.severity

    @property
    def is_chance(self) -> bool:
        """Whether chance alone gives so many of so many fits such a finding."""
        if self.finding.kind not in CHANCE:
            return False
        from scipy.special import bdtrc  # takes longer to import than a fit

        return bool(bdtrc(self.count - 1, self.total, CHANCE[self.finding.kind]) > _SELDOM)

    def __str__(self) -> str:
        chance = " (no more than chance may give)" if self.is_chance else ""
        places = ", ".join(f"{place} in {n}" for place, n in self.places.items())
        each = f"; one by one: {places}" if len(self.places) > 1 else ""
        return (
            f"in {self.count} of {self.total} slices{chance}, the first at {self.first:g}: "
            f"{self.finding}{each}"
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values that JSON can hold."""
        counts = {"count": self.count, "total": self.total, "first": self.first}
        told = {"by_place": dict(self.places), "text": str(self)}
        return {**self.finding.to_dict(), **counts, **told}


def gathered(
    by_slice: Iterable[tuple[float, Sequence[Finding]]], n_slices: int
) -> tuple[Counted, ...]:
    """The (time, findings) of each slice, each kind once, the most serious first."""
    seen: dict[Kind, list[tuple[int, float, Finding]]] = {}
    for k, (time, findings) in enumerate(by_slice):
        for finding in findings:
            seen.setdefault(finding.kind, []).append((k, time, finding))
    counted: dict[Kind, Counted] = {}
    for kind, own in seen.items():
        _, first, worst = min(own, key=lambda each: each[2].severity)
        each = dict[tuple[int, str], None]()  # in how many slices, and not how often
        for k, _, finding in own:
            is_about_all = kind is Kind.ERRORS_ASYMMETRIC  # others are about the first place
            about = finding.places if is_about_all else finding.places[:1]
            side = finding.numbers.get("side")
            each |= dict.fromkeys((k, f"{place} ({side})" if side else place) for place in about)
        places = dict(Counter(place for _, place in each).most_common())
        counted[kind] = Counted(worst, first, len({k for k, *_ in own}), n_slices, places)
    return tuple(
        counted[finding.kind] for finding in ordered(entry.finding for entry in counted.values())
    )


#: How lines of a print begin, by severity.
_BEGIN = {
    Severity.FAILED: "Failed",
    Severity.WRONG: "Values may be wrong",
    Severity.ERRORS: "Errors may be wrong",
    Severity.NOTE: "Note",
}

#: So many findings are shown beside those that failed.
SHOWN = 3


class Told:
    """How a print shows what a fit, or fits of slices, found out."""

    #: How hints are written: keywords of Python, or fields of a job.
    wording: Callable[[str], str] = staticmethod(str)
    #: What a script calls the one that has them.
    _called = "result"

    @property
    def findings(self) -> Sequence[Finding | Counted]:
        """What was found out."""
        raise NotImplementedError

    @property
    def level(self) -> int:
        """How far findings were looked for."""
        raise NotImplementedError

    def finding_lines(self, most: int | None = SHOWN) -> list[str]:
        """What a print shows of the findings: all that failed, the first `most` of the others but
        for notes, and how many more there are. None shows all, notes too."""
        findings, shown = self.findings, list(self.findings)
        if most is not None:
            n_failed = sum(finding.severity is Severity.FAILED for finding in findings)
            shown = [finding for finding in findings if finding.severity < Severity.NOTE]
            shown = shown[: n_failed + most]  # the most serious are first
        lines = [self.wording(f"{_BEGIN[finding.severity]}: {finding}") for finding in shown]
        if len(findings) > len(shown):
            lines.append(f"{len(findings) - len(shown)} more in findings")
        if not self.level:
            lines.append(f"Nobody has looked at the residual yet: {self._called}.diagnose() does")
        return lines

    def _plain_findings(self) -> list[dict[str, object]]:
        """The findings as JSON can hold them."""
        return [
            {**finding.to_dict(), "text": self.wording(str(finding))} for finding in self.findings
        ]


def of_following_errors(name: str, values: Array, stderr: Array) -> tuple[Finding, ...]:
    """The finding that standard errors follow the values, as for a height or a width of counts.
    Slices that are low by chance then have too large a weight. Let β be the slope of σ² by the
    value. Each slice then pulls a weighted mean, of standard error 1 / sqrt(Σ 1 / σ²), by -β. β is
    estimated from steps between neighbouring slices, where real motion is small."""
    steps, of_errors = np.diff(values), np.diff(stderr**2)
    sizes = float(steps @ steps), float(of_errors @ of_errors)
    if steps.size < _FOLLOWS**2 / 2 or not min(sizes) > 0.0:
        return ()
    together = float(steps @ of_errors)
    # Neighbouring steps share a slice: 1.5 of them tell as much as one.
    alike = together / np.sqrt(sizes[0] * sizes[1]) * np.sqrt(steps.size / 1.5)
    off = together / sizes[0] * float(np.sqrt(np.sum(1.0 / stderr**2)))
    if abs(alike) < _FOLLOWS or abs(off) < _ENOUGH:
        return ()
    return (Finding(Kind.ERRORS_FOLLOW_VALUES, (name,), {"off": off}),)
