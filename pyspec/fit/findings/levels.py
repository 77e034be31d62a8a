"""The checks of a fit by level: at its end, in its residual, by further fits. A joint fit has the
checks of each of its files, with the names of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, FitError
from pyspec.fit.findings.deep import skewed
from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding, unique
from pyspec.fit.findings.finished import cautions, doubts
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.findings.laws import times_below_steps
from pyspec.fit.findings.lines import beside_peak, faint_lines, merged_lines
from pyspec.fit.findings.scatter import of_scatter
from pyspec.fit.followers import local
from pyspec.fit.objective import Objective
from pyspec.fit.problem import FitProblem
from pyspec.fit.results.ended import EndedFit, need_fitted
from pyspec.fit.solve.robust import Robust

Array = npt.NDArray[np.float64]

#: Parameters of a line that say how high and where it is; the others make its shape.
PLACE = ("A", "x0")


def cautions_of(problem: FitProblem, values: Mapping[str, float]) -> list[Finding]:
    """What may mislead at these values."""
    if problem.only is not None:
        return cautions(problem.only, values)
    own = [cautions(file, local(values, full)) for file, full in problem.named_files]
    return [*_apart(problem), *problem.spanning.nowhere, *_by_file(own, problem.full)]


def doubts_of(
    problem: FitProblem,
    theta: Array,
    values: Mapping[str, float],
    sides: Mapping[str, str],
    chisqr: float,
) -> list[Finding]:
    """What to doubt in a finished fit of this `chisqr`; `sides` are the bounds that parameters
    ended at."""
    if problem.only is not None:
        return doubts(problem.only, theta, values, sides, chisqr)
    by_file = [
        doubts(file, at, local(values, full), local(sides, full), None)
        for (file, at), full in zip(problem.files_at(theta), problem.full, strict=True)
    ]
    return _by_file(by_file, problem.full)


def at_the_bound(
    problem: FitProblem,
    name: str,
    side: str,
    limit: float,
    gain: float,
    chisqr: float,
    variance: float,
) -> Finding:
    """The finding about a parameter that ended at a bound, and what a wider one would gain in χ²;
    less than the variance of a point is nothing."""
    numbers: dict[str, object] = {"side": side, "limit": limit, "gain": gain, "chisqr": chisqr}
    numbers |= {"variance": variance, "function": "", "shape": False}
    file, names = next((file, full) for file, full in problem.named_files if name in full.values())
    owners = (
        (line, par)
        for line in file.model.components
        for par in line.parameters
        if names.get(par.name) == name
    )
    if gain >= variance and (owner := next(owners, None)) is not None:
        line, par = owner
        if limit in line.op.default_bounds(par.argument):
            numbers["function"] = line.op.name
        numbers["shape"] = line.op.kind == "PEAK" and par.argument not in PLACE
    return Finding(Kind.AT_BOUND, (name,), numbers)


def _by_file(
    by_file: Sequence[Sequence[Finding]], fulls: Sequence[Mapping[str, str]]
) -> list[Finding]:
    """The findings of each file under the names of the project; those that all files have once."""
    named = [
        [finding.renamed(full, index) for finding in unique(own)]
        for index, (own, full) in enumerate(zip(by_file, fulls, strict=True))
    ]
    whole = [replace(finding, part=None) for own in named for finding in own]
    common = [finding for finding in unique(whole) if whole.count(finding) == len(named)]
    return common + [
        finding for own in named for finding in own if replace(finding, part=None) not in common
    ]


def _apart(problem: FitProblem) -> list[Finding]:
    """Findings about parameters that some files share and that others have for themselves."""
    every = [(k, *own) for k, file in enumerate(problem.files) for own in file.parameters.items()]
    shared = {name: k for k, name, par in reversed(every) if par.scope == "project"}
    findings = []
    for k, name, par in every:
        if name in shared and par.scope != "project" and par.formula is None:
            own = "free" if par.vary else "fixed"
            numbers = {"shared_by": shared[name], "own_of": k, "own": own}
            findings.append(Finding(Kind.SHARED_AND_OWN, (name,), numbers))
    return findings


def of_end(result: EndedFit) -> tuple[Finding, ...]:
    """Findings by the values and errors of a fit: arithmetic, without an evaluation."""
    findings, files = list[Finding](), FileEnd.all_of(result)
    if result.without_effect:
        findings = [Finding(Kind.UNDETERMINED, result.without_effect)]
    elif not result.success:
        findings = [Finding(Kind.NOT_CONVERGED)]
    for file in files:
        findings += *merged_lines(file), *times_below_steps(file)
    if result.success:
        for file in files:
            findings += faint_lines(file)
    return tuple(unique(findings))


def of_residual(result: EndedFit) -> tuple[Finding, ...]:
    """Findings by one pass over the residual."""
    findings = of_scatter(result)
    if any(finding.kind is Kind.DATA_CHANGED for finding in findings):
        return tuple(findings)
    for file in FileEnd.all_of(result):
        findings += beside_peak(file)
    return tuple(unique(findings))


def of_refits(result: EndedFit) -> tuple[tuple[Finding, ...], int]:
    """Findings by further fits, and how many evaluations these took; none of fits without
    success."""
    problem, findings = result.problem, list[Finding]()
    objective = Objective(problem, result._start.units)
    try:
        with np.errstate(all="ignore"):
            need_fitted(result)
            if result.success and Robust.of(result.settings) is None:  # else χ² tells no errors
                findings += skewed(result, objective)
    except (DataError, FitError):
        findings = []
    finally:
        problem.rest()
    return tuple(findings), objective.evaluations.count
