"""Findings that are warnings, too: kernels too narrow for the samples, and signals that an end of
the axis cuts off within the reach of a kernel."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.calls import stack_outside
from pyspec.errors import ModelWarning
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.part import FitPart
from pyspec.formula import Definition, width_of
from pyspec.functions.quadrature import reach_of
from pyspec.model import Component, Model
from pyspec.model.build.inputs import function_of

Array = npt.NDArray[np.float64]

#: A quadrature on the samples needs a kernel at least as wide as so many steps.
MIN_STEPS = 2.0

#: The part of a signal outside of the axis is reported if it moves the signal by more than this
#: share of its range. The error of a trace of 200 points is hardly ever smaller.
CUT_OFF = 0.005


def cautions(problem: FitPart, values: Mapping[str, float]) -> list[Finding]:
    """Findings about convolutions narrower than two time steps, and about signals that an end of
    the axis cuts off below one, at these values of the parameters."""
    model, outline, parameters = problem.model, problem.outline, problem.parameters
    time, found = model.time, list[Finding]()
    if time is None or time.size < 2:
        return found
    for name in ("",) if outline.is_time_model else outline.sampled:
        par = parameters.get(name)
        above = model if outline.is_time_model else None if par is None else par.dynamics
        if above is not None:
            found += _cut_off(model, above.components, values)
            largest = float((time[1:] - time[:-1]).max())
            if not _all_wide(outline.widths[name], values, largest):
                found += _kernels(above.components, values, time, largest)
    return found


def _cut_off(
    model: Model, components: Sequence[Component], values: Mapping[str, float]
) -> list[Finding]:
    """Kernels that reach beyond the axis to where their signal still changes.

    A convolution goes on with the edge value there. The laws give the signal s itself. At an end
    the value is therefore wrong by the integral of s' outside of the axis, times the share of the
    kernel that lies there.
    """
    time = model.time
    assert time is not None
    found = []
    for index, kernel in enumerate(components):
        laws = [law for law in components[index + 1 :] if law.op.params and not law.subcycle]
        others = any(law.op.kind in ("KERNEL", "IRF") for law in laws)
        is_known = all(par.name in values for law in laws for par in law.parameters)
        if kernel.op.kind != "KERNEL" or not laws or others or not is_known:
            continue
        with np.errstate(all="ignore"):  # a kernel may have no end
            away, shares = reach_of(kernel.op, *_values(kernel, values))
            outside = time[0] - away, time[-1] + away
            axis = np.concatenate([outside[0][::-1], time, outside[1]])
            signal = sum(
                function_of(law.op, model.inputs)(axis, *_values(law, values)) for law in laws
            )
        changes = [np.diff(side) for side in (signal[: away.size][::-1], signal[-away.size :])]
        moved = [
            abs(float(np.sum(change * 0.5 * (share[1:] + share[:-1]))))
            for change, share in zip(changes, shares, strict=True)
        ]
        range_ = float(np.ptp(signal[away.size : -away.size]))
        if max(moved) > CUT_OFF * range_:
            at = float(time[0] if moved[0] > moved[1] else time[-1])
            numbers = {"share": max(moved) / range_ if range_ else math.inf, "time": at}
            found.append(Finding(Kind.SIGNAL_CUT_OFF, (kernel.parameters[0].name,), numbers))
    return found


def _values(component: Component, values: Mapping[str, float]) -> list[float]:
    return [values[par.name] for par in component.parameters]


def _all_wide(widths: Sequence[str] | None, values: Mapping[str, float], largest: float) -> bool:
    """Whether it is clear at one glance that no kernel is narrower than two steps."""
    if widths is None:
        return False
    least = min(map(values.__getitem__, widths), default=math.inf)
    return least >= MIN_STEPS * largest


def _kernels(
    components: Sequence[Component], values: Mapping[str, float], time: Array, largest: float
) -> list[Finding]:
    found = []
    for index, kernel in enumerate(components):
        op = kernel.op
        if op.kind != "KERNEL":
            continue
        name, width, by_formula = _width(kernel, op.own, values)
        if not width < MIN_STEPS * largest:
            continue
        step = _step(components[index + 1 :], values, time, time[1:] - time[:-1])
        if width < MIN_STEPS * step:
            numbers = {"width": width, "step": step, "by_formula": by_formula}
            found.append(Finding(Kind.KERNEL_UNDERSAMPLED, (name,), numbers))
    return found


def _width(kernel: Component, own: object, values: Mapping[str, float]) -> tuple[str, float, bool]:
    """The name of the width of a kernel, the width, and whether the kernel is one by formula: of it
    the integral over the value in the middle."""
    if isinstance(own, Definition):
        width = width_of(own, [values[par.name] for par in kernel.parameters])
        return kernel.name, width, True
    name = kernel.parameters[0].name
    return name, values[name], False


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


def warn(label: str, sentences: Iterable[object]) -> None:
    """Shows findings as warnings, at the line that called the package."""
    for sentence in sentences:
        warnings.warn(f"{label}: {sentence}", ModelWarning, stacklevel=stack_outside())
