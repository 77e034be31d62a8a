"""Lines that the data hardly show, that merged, or that settled beside their peak.

Faint and weak lines. Without its height a line has no place and no width. Chance makes a line that
is little more than noise narrower or wider, and its errors with it. This was measured on lines with
free place and width, in normal noise and counts. The measure is the rise of χ² without the line, in
variances of a point. At 16 to 36, 14 % of 560 places are further than two of their errors from the
truth. At 64 to 200 it is 5 % of 1,900. A place or a width that is free alone has an error that is
right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS
from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.results.same_data import is_at_hand
from pyspec.model import Component

Array = npt.NDArray[np.float64]

#: A height nearer to 0 than so many of its standard errors may be that of noise. Of 300 fits to a
#: line that is not there 246 are nearer, of 300 to a line of 4.3 standard errors 4, of 5.2 none.
FAINT = 2.5

#: A line without which χ² is higher by less than the square of this, in variances of a point, is
#: weak. Its height is nearer to 0 than so many of its errors.
WEAK = 6.0

#: Lines of the table, and steps. They have a place and a width along the energies, and they are
#: proportional to one height: at height 0 nothing is left.
LINES = frozenset(
    name
    for name, op in OPS.items()
    if op.kind in ("PEAK", "BACKGROUND") and op.linear == ("A",) and op.units.count("x") >= 2
)

#: Lines that started further apart than a step and ended nearer than this part of it are one.
MERGED = 0.25

#: A line missed its peak where more than the height of the fit is left in the residual, over this
#: part of the points, and more than so many standard deviations of the noise.
LEFT, WIDE, ABOVE = 1.0, 0.02, 5.0


def merged_lines(file: FileEnd) -> Iterator[Finding]:
    """Lines with places of their own that ended at one place."""
    model, start = file.problem.model, file.result.start
    if model.energy is None or model.energy.size < 2 or model.is_time_model:
        return
    places = [place for _, place in file.problem.outline.lines if place in file.problem.names]
    places = [place for place in places if file.names[place] in start]
    if len(places) < 2:
        return
    step = float(np.median(np.abs(np.diff(model.energy))))
    for pair in combinations(places, 2):
        name, other = (file.names[place] for place in pair)
        first, second = (file.values[place] for place in pair)
        if abs(start[name] - start[other]) > step and abs(first - second) < MERGED * step:
            yield Finding(Kind.LINES_MERGED, (name, other), {"value": first})


def faint_lines(file: FileEnd) -> Iterator[Finding]:
    """Finds lines with a height compatible with 0 and a free place or width of their own. Also
    finds weak lines if both are free. Heights that move are left out, since they may begin at 0.
    Lines that overlap are left out, since their heights have no meaning separately."""
    parameters, names, errors = file.problem.parameters, file.names, file.errors
    heights, away = dict[str, str](), dict[str, float]()
    for line in file.problem.model.components:
        if (height := _height(line, file)) and (error := errors[height]):
            size = abs(file.values[height]) / error
            if size < WEAK:
                heights[line.name], away[line.name] = height, size
    if not heights:
        return
    root = {name: next(iter(file.ends_of([parameters[own]]))) for name, own in heights.items()}
    # The free parameters that have an error, and the inverse of their correlations.
    ending, free = file.result.ending, file.result.free_names
    own = [k for k in ending.places.tolist() if ending.covariance[k, k] > 0.0]
    free_names, precision = [free[k] for k in own], _inverse(ending.correlations[np.ix_(own, own)])
    is_one_of_many, told = len(file.result.problem.files) > 1, set[str]()
    faint = {name: height for name, height in heights.items() if away[name] < FAINT}
    for name, own in _shapes(file, faint).items() if faint else ():
        of_line = [free_names.index(names[n]) for n in (root[name], *own) if names[n] in free_names]
        if own and names[root[name]] in free_names:
            # The part of the height's error that is left if all parameters outside of its line are
            # held. It is small if the line overlaps another one.
            part = _inverse(precision[np.ix_(of_line, of_line)])[0, 0]
            if away[name] < FAINT * np.sqrt(max(part, 0.0)):
                told.add(heights[name])
                places = names[heights[name]], *(names[n] for n in own)
                yield Finding(Kind.FAINT_LINE, places, {"away": away[name]})
    for name, shape in _shapes(file, heights).items() if len(told) < len(heights) else ():
        own, at = [names[n] for n in shape if errors[n]], root[name]
        is_shared = is_one_of_many and parameters[at].scope == "project"
        if len(own) < 2 or heights[name] in told or is_shared or names[at] not in free_names:
            continue
        # By how many variances of a point χ² rises where the height is 0 and all others stay: a
        # parabola, since the model is linear in it.
        k, error = free_names.index(names[at]), errors[at] or np.nan
        rise = float((file.values[at] / error) ** 2 * precision[k, k])
        if rise < WEAK**2:
            yield Finding(Kind.WEAK_LINE, (name, *own), {"rise": rise})


def _inverse(matrix: Array) -> Array:
    """That of a matrix, NaN where it has none."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.nan)


def _height(component: Component, file: FileEnd) -> str | None:
    """The name of the height of a line; None where it moves, is free along an axis, or follows
    several parameters."""
    if component.function not in LINES:
        return None
    height = component.parameters[0]
    if any(par.dynamics or par.profile or par.free for par in file.followed([height])):
        return None
    return height.name if len(file.ends_of([height])) == 1 else None


def _shapes(file: FileEnd, heights: Mapping[str, str]) -> dict[str, list[str]]:
    """The free parameters that mean nothing without the lines of these heights. Each is listed
    under the first line that has it. Lines with the same height count as one."""
    problem, parameters = file.problem, file.problem.parameters
    moved = [
        component
        for par in parameters.values()
        for component in (par.dynamics, par.profile)
        if component
    ]
    others = [component for component in problem.model.components if component.name not in heights]
    needed = file.ends_of(par for component in (*moved, *others) for par in component.parameters)
    needed |= file.ends_of(parameters[name] for name in heights.values())
    is_one_of_many, shapes = len(file.result.problem.files) > 1, dict[str, list[str]]()
    left = [n for n in problem.names if n not in needed]
    if is_one_of_many:  # what the file shares the others determine too
        left = [n for n in left if parameters[n].scope != "project"]
    for line in problem.model.components:
        if line.name in heights:
            ends = file.ends_of(line.parameters)
            shapes[line.name] = [name for name in left if name in ends]
            left = [name for name in left if name not in ends]
    return shapes


def beside_peak(file: FileEnd) -> Iterator[Finding]:
    """A line of one spectrum that settled beside its peak, which is left in the residual."""
    result, problem, measurement = file.result, file.problem, file.problem.measurement
    if result.problem.files[1:] or problem.model.is_time_model or not is_at_hand(problem):
        return
    lines = [place for _, place in problem.outline.lines if place in problem.names]
    if not lines or problem.data.ndim != 1 or measurement.keep is not None:
        return
    data, residual = np.asarray(result.data, np.float64), np.asarray(result.residual)
    n = max(3, int(WIDE * data.size))
    if data.size < 3 * n:
        return
    smooth = np.convolve(residual, np.full(n, 1.0 / n), "same")
    at, fit = int(np.argmax(smooth)), data - residual
    noise = float(np.std(np.diff(residual))) / np.sqrt(2.0)
    height, peak = float(smooth[at]), float(result.energy[at])
    if height > LEFT * float(fit.max() - np.median(fit)) and height > ABOVE * noise:
        place = min(lines, key=lambda line: abs(file.values[line] - peak))
        numbers = {"peak": peak, "height": height / max(noise, 1e-300)}
        name = file.names[place]
        yield Finding(Kind.LINE_BESIDE_PEAK, (name,), {**numbers, "value": file.values[place]})
