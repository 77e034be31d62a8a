"""The findings of a fit, looked for as far as a test needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspec import Finding
from pyspec.fit import Kind


def looked(result: Any, deep: bool = False) -> tuple[Finding, ...]:
    """The findings at level 1, or 2; a fit that was looked at as far stays as it is."""
    found = result if result.level >= 1 + deep else result.diagnose(deep)
    return tuple(found.findings)


def kinds(result: Any) -> list[Kind]:
    """The kinds of what a fit found out about itself."""
    return [one.kind for one in result.findings]


def of_kind(kind: Kind, level: int = 0) -> Callable[[Any], list[Finding]]:
    """A function that lists the findings of a kind in a result; from level 1 on the residual is
    looked at, of level 2 there are refits."""

    def told(result: Any) -> list[Finding]:
        findings = looked(result, deep=level == 2) if level else result.findings
        return [finding for finding in findings if finding.kind is kind]

    return told
