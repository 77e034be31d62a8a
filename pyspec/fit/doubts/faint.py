"""Lines that the data hardly show: without its height, a line has no place and no width.

A line that is there, but little more than noise, is narrower or wider than it is by chance, and its
errors with it: of 560 fits to lines of free place and width whose χ² without them is higher by 16
to 36 variances of a point, of normal noise and of counts, 14 % have a place further than two of its
errors from the truth, of 1,900 to lines for which it is higher by 64 to 200 5 %. A place or a width
that is free alone has an error that is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pyspec._library import OPS
from pyspec.errors import DataError
from pyspec.fit.same_data import is_at_hand, need_fitted
from pyspec.fit.spread import correlation_matrix
from pyspec.model import Component, Par

#: Values, and standard errors or None, by name.
Numbers = tuple[Mapping[str, float], Mapping[str, Any]]

#: A height nearer to 0 than so many of its standard errors may be that of noise. Of 300 fits to a
#: line that is not there 246 are nearer, of 300 to a line of 4.3 standard errors 4, of 5.2 none.
FAINT = 2.5

#: A line without which χ² is higher by less than the square of this, in variances of a point, is
#: weak. Its height is nearer to 0 than so many of its errors.
WEAK = 6.0

#: Lines of the table, and steps: what has a place and a width along the energies, and is all of it
#: proportional to one height, so that nothing is left of it at the height 0.
LINES = frozenset(
    name
    for name, op in OPS.items()
    if op.kind in ("PEAK", "BACKGROUND") and op.linear == ("A",) and op.units.count("x") >= 2
)


def faint_lines(result: Any) -> list[str]:
    """Sentences about lines whose height is compatible with 0, while a place or a width that they
    alone have is free, and about weak lines, while both are; `result` is of one file or of several.
    None of heights that move, which may begin at 0, of lines that overlap, where a height says
    nothing without the other, and of fits without success, which say more."""
    problem = result.problem
    if not result.success:
        return []
    numbers = result.values, result.stderr  # made anew at each look
    of_many = result._of_many or len(problem.files) > 1
    files = problem.named_files
    return [text for own, names in files for text in _of_file(result, numbers, own, names, of_many)]


def _of_file(
    result: Any, numbers: Numbers, problem: Any, names: Mapping[str, str], of_many: bool
) -> list[str]:
    """Those of one file, whose parameters have these `names` in the result. What it shares with
    others of `of_many`, they determine too."""
    parameters, components = problem.parameters, problem.model.components
    values, stderr = numbers
    heights = {c.name: name for c in components if (name := _height(c, parameters))}
    away = {
        name: abs(values[names[name]]) / error
        for name in heights.values()
        if (error := stderr[names[name]])
    }
    found = []
    faint = {line: name for line, name in heights.items() if away.get(name, FAINT) < FAINT}
    shape = _shapes(problem, faint, of_many) if faint else {}
    for line, name in faint.items():
        own = shape.get(line, [])
        root = names[next(iter(ends_of([parameters[name]], parameters)))]
        part = _part(result, stderr, [root, *map(names.__getitem__, own)]) if own else 0.0
        if away[name] < FAINT * part:
            found.append(_sentence(names[name], away[name], [names[n] for n in own]))
    weak = {line: name for line, name in heights.items() if away.get(name, WEAK) < WEAK}
    if len(found) == len(weak):
        return found
    shape = _shapes(problem, weak, of_many)
    for line, name in weak.items():
        own = [names[n] for n in shape.get(line, []) if stderr[names[n]]]
        root = next(iter(ends_of([parameters[name]], parameters)))
        is_told = any(text.startswith(f"{names[name]} ") for text in found)
        if len(own) < 2 or is_told or (of_many and parameters[root].scope == "project"):
            continue
        rise = _rise_without(result, names[root])
        if rise < WEAK**2:
            found.append(_weak(line, rise, own))
    return found


def _rise_without(result: Any, height: str) -> float:
    """By how many variances of a point χ² rises where this parameter is 0 and all others stay; inf
    where that is not known."""
    problem, theta = result.problem, result.theta.copy()
    if not is_at_hand(problem):
        return np.inf
    theta[problem.names.index(height)] = 0.0
    try:
        need_fitted(result)
    except DataError:
        return np.inf
    rise = (problem.chisqr_at(theta) - result.chisqr) / result._spread()[1]
    return float(rise) if np.isfinite(rise) else np.inf


def _height(component: Component, parameters: Mapping[str, Par]) -> str | None:
    """The name of the height of a line; None where it moves, is free along an axis, or follows
    several parameters."""
    if component.function not in LINES:
        return None
    height = component.parameters[0]
    followed = list(_followed([height], parameters))
    if any(par.dynamics or par.profile or par.free for par in followed):
        return None
    return height.name if len(ends_of([height], parameters)) == 1 else None


def _shapes(problem: Any, faint: Mapping[str, str], of_many: bool) -> dict[str, list[str]]:
    """The free parameters that mean nothing without the `faint` lines: each by the first line that
    has it, lines of one height being one."""
    parameters, components = problem.parameters, problem.model.components
    own = [n for n in problem.names if not (of_many and parameters[n].scope == "project")]
    moving = [p for par in parameters.values() for p in _within(par)]
    needed = ends_of(moving, parameters) | ends_of(
        [parameters[n] for n in faint.values()], parameters
    )
    for component in components:
        if component.name not in faint:
            needed |= ends_of(component.parameters, parameters)
    left, shapes = [name for name in own if name not in needed], {}
    for component in components:
        if component.name in faint:
            ends = ends_of(component.parameters, parameters)
            shapes[component.name] = [name for name in left if name in ends]
            left = [name for name in left if name not in ends]
    return shapes


def _part(result: Any, stderr: Mapping[str, Any], of_line: Sequence[str]) -> float:
    """The part of the error of a height, the first `of_line`, that remains where all but its line
    is held: little where it overlaps another line."""
    known = [name for name in result.free_names if stderr[name]]
    line = [known.index(n) for n in of_line if n in known]
    if not line or known[line[0]] != of_line[0]:
        return 0.0
    try:
        alone = np.linalg.inv(correlation_matrix(known, result.correl))[np.ix_(line, line)]
        return float(np.sqrt(max(np.linalg.inv(alone)[0, 0], 0.0)))
    except np.linalg.LinAlgError:
        return 0.0


def _weak(line: str, rise: float, own: list[str]) -> str:
    listed = ", ".join(own[:-1]) + " and " + own[-1]
    return (
        f"{line} is a weak line, without which χ² rises by no more than {rise:.2g} variances of a "
        f"point: the standard errors of {listed} are those of its shape in this noise, and in "
        f"about one of seven fits the truth is further off than two of them; quote the intervals "
        f"of conf_interval, or hold its place or its width"
    )


def _sentence(height: str, distance: float, own: list[str]) -> str:
    listed = " and ".join([", ".join(own[:-1]), own[-1]] if own[1:] else own)
    return (
        f"{height} is compatible with 0, {distance:.2g} standard errors away: a line that is not "
        f"there has no {listed}, whose values may be those of noise, whatever their errors say; "
        f"hold {'them' if own[1:] else 'it'}, or compare with a model without this line"
    )


def ends_of(own: Iterable[Par], parameters: Mapping[str, Par]) -> set[str]:
    """The names of the parameters that `own` are, or end in through expressions, but for fixed
    ones."""
    return {one.name for one in _followed(own, parameters) if one.vary}


def _followed(own: Iterable[Par], parameters: Mapping[str, Par]) -> Iterator[Par]:
    """`own`, what they follow, and so on."""
    waiting, seen = list(own), set[str]()
    while waiting:
        par = waiting.pop()
        if par.name not in seen:
            seen.add(par.name)
            yield par
            if par.formula is not None:
                waiting += [parameters[name] for name in par.formula.names if name in parameters]


def _within(par: Par) -> list[Par]:
    """The parameters of the laws and of the profile of a parameter."""
    return [p for one in (par.dynamics, par.profile) if one is not None for p in one.parameters]
