"""The part of a result that says what the fit found out about itself, and what is looked for at
each level: at the end of a fit, in its residual, by further fits."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyspec.errors import DataError, FitError
from pyspec.fit.findings.counted import SHOWN, lines_of
from pyspec.fit.findings.deep import biased, exchanged, skewed
from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding, ordered, unique
from pyspec.fit.findings.kinds import Kind, Severity
from pyspec.fit.findings.laws import (
    bent_followers,
    faint_oscillations,
    times_below_steps,
    unseen_onsets,
)
from pyspec.fit.findings.lines import beside_peak, faint_lines, merged_lines, unseen_lines
from pyspec.fit.findings.scatter import of_scatter
from pyspec.fit.objective import Objective
from pyspec.fit.results.same_data import need_fitted
from pyspec.fit.solve.robust import Robust

if TYPE_CHECKING:
    from typing_extensions import Self


class Told:
    """How a print shows what a fit, or fits of slices, found out."""

    #: How hints are written: keywords of Python, or fields of a job.
    wording: Callable[[str], str] = staticmethod(str)
    #: What a script calls the one that has them.
    _called = "result"

    def _said(self: Any) -> list[tuple[Severity, str]]:
        """The findings as people read them."""
        return [(one.severity, str(one)) for one in self.findings]

    def finding_lines(self: Any, most: int | None = SHOWN) -> list[str]:
        """What a print shows of the findings: all that failed, and `most` others; None shows all,
        notes too."""
        shown = list(map(self.wording, lines_of(self._said(), most)))
        unseen = f"Nobody has looked at the residual yet: {self._called}.diagnose() does"
        return shown if self.level else [*shown, unseen]


class Found(Told):
    """Findings of one fit.

    Attributes
    ----------
    level : how far findings were looked for: 0 at the end of the fit, 1 in its residual, 2 by
        further fits
    diagnosed : evaluations and seconds that further fits took
    """

    level: int = 0
    diagnosed: tuple[int, float] = (0, 0.0)
    _findings: tuple[Finding, ...] = ()
    _of_levels: tuple[Finding, ...] = ()
    _of_many: bool = False
    #: Of one file of a joint fit: that, and the number of the file in it.
    _of: tuple[Any, int] | None = None
    _fit: Any = None

    @cached_property
    def _of_end(self) -> tuple[Finding, ...]:
        if self._of is None or not self._of_many:  # one file says all of its own
            return of_end(self)
        joint, index = self._of
        found: tuple[Finding, ...] = joint._of_file(joint._of_end, index)
        return found

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to know before these numbers are used, the most serious first: see
        :class:`pyspec.Finding`. :meth:`diagnose` looks for more."""
        return ordered((*self._findings, *self._of_end, *self._of_levels))

    def diagnose(self, deep: bool = False) -> Self:
        """A copy of the result whose findings are those of its residual, too: noise that differs,
        structure, outliers, dead points. It takes one pass over the residual. With `deep` also
        those that take further fits, such as errors that are too small: `diagnosed` has the
        evaluations and seconds of these.

        Raises :class:`FitError` for one file of a joint fit: diagnose the joint result."""
        if self._of_many:
            raise FitError("this is one file of a joint fit; call diagnose() of the joint result")
        found = copy.copy(self)
        found._fit, found.level = self._fit, 1
        found._of_levels = of_residual(found)
        if deep:
            begin = time.perf_counter()
            more, nfev = of_refits(found)
            found._of_levels, found.level = (*found._of_levels, *more), 2
            found.diagnosed = nfev, time.perf_counter() - begin
        return found

    def _tell(self, findings: Sequence[Finding]) -> None:
        """Takes these findings as all there are."""
        self._findings, self._of_end, self._of_levels = tuple(findings), (), ()


def plain_findings(result: Any) -> list[dict[str, Any]]:
    """The findings of a fit, or of slices, as JSON can hold them."""
    return [{**one.to_dict(), "text": result.wording(str(one))} for one in result.findings]


def of_end(result: Any) -> tuple[Finding, ...]:
    """Findings by the values and errors of a fit: arithmetic, without an evaluation."""
    found, files = list[Finding](), FileEnd.all_of(result)
    if result.without_effect:
        found = [Finding(Kind.UNDETERMINED, result.without_effect)]
    elif not result.success:
        found = [Finding(Kind.NOT_CONVERGED)]
    for file in files:
        found += *merged_lines(file), *times_below_steps(file)
    if result.success:
        for file in files:
            found += *faint_lines(file), *unseen_onsets(file)
        found += *faint_oscillations(files), *bent_followers(result)
    return tuple(unique(found))


def of_residual(result: Any) -> tuple[Finding, ...]:
    """Findings by one pass over the residual."""
    found = of_scatter(result)
    if any(one.kind is Kind.DATA_CHANGED for one in found):
        return tuple(found)
    for file in FileEnd.all_of(result):
        found += *(unseen_lines(file) if result.success else ()), *beside_peak(file)
    return tuple(unique(found))


def of_refits(result: Any) -> tuple[tuple[Finding, ...], int]:
    """Findings by further fits, and how many evaluations these took; none of fits without
    success."""
    problem, found = result.problem, list[Finding]()
    objective = Objective(problem, result._params.sizes_of(problem.names))
    try:
        with np.errstate(all="ignore"):
            need_fitted(result)
            if result.success:
                found += exchanged(result, objective)
                if Robust.of(result.settings) is None:  # else χ² says nothing of errors
                    found += *biased(result, objective), *skewed(result, objective)
    except (DataError, FitError):
        found = []
    finally:
        problem.rest()
    return tuple(found), objective.evaluations.count
