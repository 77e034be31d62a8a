"""What is looked for at each level: at the end of a fit, in its residual, by further fits."""

from __future__ import annotations

import numpy as np

from pyspec.errors import DataError, FitError
from pyspec.fit.findings.deep import biased, exchanged, skewed
from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding, unique
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.laws import (
    bent_followers,
    faint_oscillations,
    times_below_steps,
    unseen_onsets,
)
from pyspec.fit.findings.lines import beside_peak, faint_lines, merged_lines, unseen_lines
from pyspec.fit.findings.scatter import of_scatter
from pyspec.fit.objective import Objective
from pyspec.fit.results.ended import EndedFit, need_fitted
from pyspec.fit.solve.robust import Robust


def of_end(result: EndedFit) -> tuple[Finding, ...]:
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


def of_residual(result: EndedFit) -> tuple[Finding, ...]:
    """Findings by one pass over the residual."""
    found = of_scatter(result)
    if any(one.kind is Kind.DATA_CHANGED for one in found):
        return tuple(found)
    for file in FileEnd.all_of(result):
        found += *(unseen_lines(file) if result.success else ()), *beside_peak(file)
    return tuple(unique(found))


def of_refits(result: EndedFit) -> tuple[tuple[Finding, ...], int]:
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
