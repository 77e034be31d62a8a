"""What a fit is worth in a word, by its findings."""

from __future__ import annotations

import numpy as np

from pyspec.fit.findings.counted import Counted, Told
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind, Severity
from pyspec.fit.results.ended import state_of
from pyspec.fit.results.result import FitResult
from pyspec.fit.slices.results import SliceResults

#: The verdict on a fit whose curve describes the data, and those on others that converged.
GOOD, MISSES, DOUBTFUL = "converged", "misses", "in doubt"

#: Kinds that say that the curve is not what the data are noise about.
_OFF = (Kind.MISFIT, Kind.RESIDUAL_STRUCTURED)


def verdict_of(result: FitResult | SliceResults) -> str:
    """Returns one of the verdicts. :data:`GOOD`; :data:`MISSES` if the curve misses the data;
    :data:`DOUBTFUL` if another finding says that values may be wrong; otherwise the reason why
    there is no answer. Of slices, all together."""
    if isinstance(result, SliceResults):
        if not result.success.all():
            return f"{np.count_nonzero(result.success)} of {len(result)} converged"
    elif not result.success:
        state = state_of(False, result.without_effect).lower()
        return "interrupted" if result.interrupted else state
    if missed(result) is not None:
        return MISSES
    doubts = any(finding.severity <= Severity.WRONG for finding in _beyond_chance(result))
    return DOUBTFUL if doubts else GOOD


def missed(result: Told) -> Finding | None:
    """The finding that says most plainly that the curve misses the data."""
    off = [finding for finding in _beyond_chance(result) if finding.kind in _OFF]
    return max(off, key=lambda finding: float(finding.numbers.get("share", 1.0)), default=None)


def _beyond_chance(result: Told) -> list[Finding]:
    """The findings, of slices those that are more than chance."""
    return [
        finding.finding if isinstance(finding, Counted) else finding
        for finding in result.findings
        if not (isinstance(finding, Counted) and finding.is_chance)
    ]
