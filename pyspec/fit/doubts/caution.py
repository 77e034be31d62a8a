"""What may mislead in a fit that runs: kernels too narrow for the samples, samples that lie on
a boundary between sub-cycles."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.errors import ModelWarning
from pyspec.formula import Definition, width_of
from pyspec.model import Component, Dynamics, Measurement, Model, Par
from pyspec.model.outline import Outline

Array = npt.NDArray[np.float64]

#: A quadrature on the samples needs a kernel at least as wide as so many steps.
MIN_STEPS = 2.0

#: A sample nearer to a boundary than this, in units of the length of a sub-cycle, is on it.
NEAR = 1e-6


def cautions(
    model: Model,
    outline: Outline,
    parameters: Mapping[str, Par],
    values: Mapping[str, float],
    measurement: Measurement | None = None,
) -> list[str]:
    """Sentences about convolutions narrower than two time steps and about samples on sub-cycle
    boundaries, at these values of the `parameters` of the model; `outline` is that of the model."""
    time = model.time
    if time is None or time.size < 2:
        return []
    window = None if measurement is None else measurement.rows
    if outline.is_time_model:
        largest = _largest_step(outline, time)
        if _all_wide(outline.widths[""], values, largest):
            return []
        return _kernels(model.components, values, time, largest)
    found: list[str] = []
    for name in outline.sampled:
        dynamics = parameters[name].dynamics if name in parameters else None
        if dynamics is not None:
            largest = _largest_step(outline, time)
            if not _all_wide(outline.widths[name], values, largest):
                found += _kernels(dynamics.components, values, time, largest)
            if dynamics.n_subcycles > 0:
                found += _known_boundaries(outline, dynamics, time, window)
    return found


def _all_wide(widths: Sequence[str] | None, values: Mapping[str, float], largest: float) -> bool:
    """Whether it is clear at one glance that no kernel is narrower than two steps."""
    if widths is None:
        return False
    least = min(map(values.__getitem__, widths), default=math.inf)
    return least >= MIN_STEPS * largest


def _largest_step(outline: Outline, time: Array) -> float:
    """Of the last axis of times, which never changes in place."""
    known = outline.largest_step
    if known is None or known[0] is not time:
        known = outline.largest_step = time, float((time[1:] - time[:-1]).max())
    return known[1]


def _kernels(
    components: Sequence[Component], values: Mapping[str, float], time: Array, largest: float
) -> list[str]:
    found = []
    for index, kernel in enumerate(components):
        op = kernel.op
        if op.kind != "KERNEL":
            continue
        name, width = _width(kernel, op.own, values)
        if not width < MIN_STEPS * largest:
            continue
        step = _step(components[index + 1 :], values, time, time[1:] - time[:-1])
        if width < MIN_STEPS * step:
            found.append(
                f"{name} = {width:.4g} is under two time steps ({step:.4g} each): the "
                "samples cannot resolve this convolution, so its width and the times beside it "
                "may be biased; use gaussIRF, which is exact between samples, or finer times"
            )
    return found


def _width(kernel: Component, own: object, values: Mapping[str, float]) -> tuple[str, float]:
    """The name of the width of a kernel, and the width: of one by formula its integral over its
    value in the middle."""
    if isinstance(own, Definition):
        width = width_of(own, [values[par.name] for par in kernel.parameters])
        return f"the width of {kernel.name} (its integral over its height)", width
    name = kernel.parameters[0].name
    return name, values[name]


def _step(
    laws: Sequence[Component], values: Mapping[str, float], time: Array, steps: Array
) -> float:
    """The step where the laws set in; the smallest one where that is not known."""
    onsets = [
        values[par.name]
        for law in laws
        if not law.subcycle
        for par in law.parameters
        if par.argument == "t0" and time[0] <= values[par.name] <= time[-1]
    ]
    if not onsets:
        return float(steps.min())
    places = np.clip(np.searchsorted(time, onsets, side="right") - 1, 0, steps.size - 1)
    return float(steps[places].max())


def _known_boundaries(
    outline: Outline, dynamics: Dynamics, time: Array, rows: tuple[int, int] | None
) -> list[str]:
    """The same of the last axis of times, which never changes in place: values have no part in it,
    the sub-cycles belong to the outline."""
    known = outline.on_boundaries.get(dynamics.target)
    if known is None or known[0] is not time or known[1] != rows:
        found = _boundaries(dynamics, time, rows)
        known = outline.on_boundaries[dynamics.target] = time, rows, found
    return known[2]


def _boundaries(dynamics: Dynamics, time: Array, rows: tuple[int, int] | None) -> list[str]:
    if dynamics.n_subcycles < 1 or dynamics.frequency <= 0:
        return []
    length = 1.0 / (dynamics.frequency * dynamics.n_subcycles)
    seen = time[slice(*(rows or (None, None)))]
    cycles = seen / length
    cycles -= np.round(cycles)
    # The start at exactly 0 is no matter of rounding.
    near = (np.abs(cycles, out=cycles) < NEAR) & (seen > 0.0)
    count = int(near.sum())
    if not count:
        return []
    first = float(seen[int(np.argmax(near))])
    return [
        f"{dynamics.target}: {count} sample(s) lie on a boundary between sub-cycles, the first at "
        f"time {first:.6g}: rounding decides to which sub-cycle they belong; shift the time axis "
        "by a fraction of a step if the fit is sensitive to them"
    ]


def warn(label: str, sentences: Sequence[str]) -> None:
    """Shows cautions as warnings, at the line that called the package."""
    for sentence in sentences:
        warnings.warn(f"{label}: {sentence}", ModelWarning, stacklevel=stack_outside())
