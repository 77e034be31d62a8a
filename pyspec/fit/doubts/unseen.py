"""Lines narrower than the steps of energy.

A line that lies beside a sample and reaches no other is seen by that one alone: a higher line
further away fits as well, and the parabola at the optimum knows nothing of it. A line has as many
unknowns as places, widths and heights that are free and its own: where fewer samples see it, its
errors are too small. Of 14,400 fits to lines of known width, of Gauss, GLP and Lorentz, 0.2 to 2
steps wide and 5 to 100 standard deviations high, 6,521 are told, 23 % of them more than three
standard errors from the truth; of the others 1.8 %, most of them Lorentzians. Of 11,322 fits with
free widths 6,722 are told, 13 % of them with a place and 25 % with a height so far away; of the
others 1 % and 9 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit.by_reference import fit_of
from pyspec.fit.components import alone
from pyspec.fit.doubts.faint import Numbers, ends_of
from pyspec.model import Component, Model
from pyspec.model.inputs import function_of
from pyspec.model.resolved import as_seen
from pyspec.model.source import source_of

Array = npt.NDArray[np.float64]

#: A line narrower than this part of the step, in the full width at half of its height, is narrow.
#: So is one of free width below this: a narrower and higher one fits as well.
NARROW, NARROW_FREE = 1.0, 1.4

#: A sample sees a line that is higher there than so many standard deviations of the noise.
SEEN = 4.0

#: Samples of two lines that are less than this part of the step apart see the same.
ALIKE = 0.1

#: A width is looked for on so many points over two steps.
FINE = 81


def unseen_lines(result: Any) -> list[str]:
    """Sentences about narrow lines that fewer samples see than they have free parameters of their
    own, two at least; none of fits without success, and of one file of a joint fit, which says it.
    Lines whose place moves meet the samples in many ways, and are left out, as are data by
    reference and amplitudes that are free along an axis."""
    problem = result.problem
    if not result.success or result._of_many:
        return []
    found: dict[str, None] = {}
    numbers = result.values, result.stderr  # made anew at each look
    files = zip(problem.files_at(result.theta), problem.named_files, strict=True)
    for (own, theta), (_, full) in files:
        if own.n_linear or source_of(own.measurement.data) is not None:
            continue
        if narrow := _narrow(numbers, own, full):
            found |= dict.fromkeys(_of_file(result, numbers, own, theta, full, narrow))
    return list(found)


def _narrow(numbers: Numbers, problem: Any, names: Mapping[str, str]) -> dict[str, list[Component]]:
    """The narrow lines whose place has an error, by what their place follows: lines of one place
    help each other."""
    model, parameters = problem.model, problem.parameters
    best, stderr = numbers
    energy, found = model.energy, dict[str, list[Component]]()
    if energy is None or energy.size < 2 or model.is_time_model:
        return {}
    seen = {one.name: one for one in as_seen(model.components)}
    for line, place in problem.outline.lines:
        if stderr[names[place]] and not any(p.profile for p in seen[line].parameters):
            values = {par.name: best[names[par.name]] for par in seen[line].parameters}
            width = _width(model, seen[line], values, place)
            if width < NARROW_FREE:
                component = next(one for one in model.components if one.name == line)
                root = min(ends_of([parameters[place]], parameters), default=place)
                if width < NARROW or _shape(problem, root, component):
                    found.setdefault(root, []).append(component)
    return found


def _shape(problem: Any, root: str, line: Component) -> set[str]:
    """The free parameters that a line alone has, but for its height and its place."""
    shape = [p for p in line.parameters if p.argument not in ("x0", *line.op.linear)]
    return _own(problem, root, [line]) & ends_of(shape, problem.parameters) - {root}


def _width(model: Model, line: Component, values: Mapping[str, float], place: str) -> float:
    """Over how many steps of energy a line is higher than half of its height, two at most, or inf
    where that is not known."""
    assert model.energy is not None
    energy, at = model.energy, values[place]
    if line.op.external or not energy.min() < at < energy.max():
        return np.inf
    step = _step(energy, at)
    fine = np.linspace(at - step, at + step, FINE)
    numbers = [
        0.0 if par is None else 1.0 if par.argument in line.op.linear else values[par.name]
        for par in line.pars
    ]
    curve = np.abs(function_of(line.op, model.inputs)(fine, *numbers))
    return float(np.count_nonzero(curve > 0.5 * curve.max()) * (fine[1] - fine[0]) / step)


def _step(energy: Array, at: float) -> float:
    """The step of the energies at one of them."""
    k = int(np.argmin(np.abs(energy - at)))
    return float(np.ptp(energy[max(k - 1, 0) : k + 2])) / (2 if 0 < k < energy.size - 1 else 1)


def _distinct(away: Sequence[float]) -> int:
    """How many samples differ in their distance from the place of their line, in steps: lines whose
    heights are tied are seen twice by samples that do not."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(away)) > ALIKE)) if away else 0


def _of_file(
    result: Any,
    numbers: Numbers,
    problem: Any,
    theta: Array,
    names: Mapping[str, str],
    narrow: Mapping[str, list[Component]],
) -> Iterator[str]:
    """Sentences about the lines of one file, whose parameters have these `names` in the result."""
    model, parameters, given = problem.model, problem.parameters, problem.measurement
    best, stderr = numbers
    values = {name: best[names[name]] for name in parameters}
    sigma = given.sigma(fit_of(problem, theta))
    variance = result.redchi if result._variance is None else result._variance
    noise = np.sqrt(variance if result._scale_covar else 1.0) * (1.0 if sigma is None else sigma)
    for root, lines in narrow.items():
        seen: dict[frozenset[str], list[float]] = {}
        for line in reversed(lines):  # the first has the place that is told
            ratio = alone(model, line, values, given, problem.backend) / noise
            if given.keep is not None:
                ratio = np.where(given.of_points(given.keep), ratio, 0.0)
            heights = np.sqrt(np.sum(np.atleast_2d(ratio) ** 2, axis=0))
            place = next(p.name for p in line.parameters if p.argument == "x0")
            linear = [p for p in line.parameters if p.argument in line.op.linear]
            height = frozenset(ends_of(linear, parameters))
            away = (given.window(model.energy) - values[place])[heights > SEEN]
            seen.setdefault(height, []).extend(away / _step(model.energy, values[place]))
        n_seen = sum(map(_distinct, seen.values()))
        n_needed = max(2, len(_own(problem, root, lines)))
        if n_seen < n_needed:
            error = stderr[names[place]]
            yield _sentence(lines[0].name, names[place], values[place], error, n_seen, n_needed)


def _own(problem: Any, root: str, lines: Sequence[Component]) -> set[str]:
    """The free parameters that these lines alone have, and that of their place."""
    parameters = problem.parameters
    others = [one for one in problem.model.components if one not in lines]
    beside = [par for one in others for par in one.parameters]
    needed = ends_of(beside, parameters) - {root}
    own = ends_of([par for one in lines for par in one.parameters], parameters)
    return (own - needed) & set(problem.names)


def _sentence(line: str, place: str, value: float, error: float, n_seen: int, n_needed: int) -> str:
    seen = f"{n_seen or 'no'} sample{'' if n_seen == 1 else 's'}"
    return (
        f"{line} is narrow beside the steps of energy at {place} = {value:.6g}: {seen} "
        f"see{'s' if n_seen == 1 else ''} it clearly, and its {n_needed} free values need as many; "
        "it may lie elsewhere between the samples, higher or lower, and its standard errors, "
        f"{error:.2g} of its place, may be far too small; quote conf_interval('{place}')"
    )
