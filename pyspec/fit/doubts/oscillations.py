"""Oscillations that are hardly more than noise: noise oscillates, too, at some frequency.

χ² has an optimum in the frequency about every 1 / T, with the length T of the times, and a fit ends
at the one beside its start. Where that is not the one of the oscillation, its height is that of
noise: of 688 such fits 624 are within three standard errors of 0. Of 400 fits at the frequency of
an oscillation of six errors or more none is, of 100 at that of one of four errors 13 are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pyspec.fit.doubts.faint import ends_of
from pyspec.fit.doubts.narrow import times_of
from pyspec.model import Component, Model, Par
from pyspec.model.parts import groups_of_laws

#: A height nearer to 0 than so many of its standard errors may be that of noise.
FAINT = 3.0

#: Starts for each optimum in the frequency, of which there are T (fmax - fmin), and the fewest. Of
#: 320 oscillations with 4 to 78 optima so many found all, one for each optimum 314.
STARTS, FEWEST = 1.5, 10

#: Laws whose first two parameters are height and frequency, and that have a phase.
OSCILLATIONS = ("sinFun", "dampedSinFun")


def faint_oscillations(result: Any) -> list[str]:
    """Sentences about oscillations whose height is hardly more than noise, while their frequency is
    free, and no oscillation beyond noise has it; none of fits without success, and of one file of
    a joint fit, which says it."""
    problem = result.problem
    if not result.success or result._of_many:
        return []
    faint: dict[str, str] = {}
    sure: set[str] = set()
    values, stderr = result.values, result.stderr  # made anew at each look
    for own, names in problem.named_files:
        for law in _oscillations(own.model, own.parameters):
            height, frequency = (names.get(par.name, "") for par in law.parameters[:2])
            if height not in stderr:  # it is free along an axis
                continue
            ends = {names[name] for name in ends_of([law.parameters[1]], own.parameters)}
            free = ends & set(result.free_names)
            error = stderr[height]
            if not free or not error:
                continue
            away = abs(values[height]) / error
            if away < FAINT:
                starts = _starts(own, result._params.limits.get(frequency))
                text = _sentence(height, away, frequency, values[frequency], starts)
                faint |= dict.fromkeys(free, text)
            else:
                sure |= free
    return list(dict.fromkeys(text for name, text in faint.items() if name not in sure))


def _oscillations(model: Model, parameters: Mapping[str, Par]) -> Iterator[Component]:
    """Those of a trace, or of the parameters that move."""
    for group in groups_of_laws(model, parameters):
        yield from (law for law in group if law.op.name in OSCILLATIONS)


def _starts(problem: Any, limits: tuple[float, float, float] | None) -> str:
    """How many starts find a frequency within its bounds; with those that it lacks."""
    length = float(np.ptp(times_of(problem)))
    low, high, _ = limits or (-math.inf, math.inf, 0.0)
    count = STARTS * length * (high - low)
    if math.isfinite(count):
        return f"n_starts={max(FEWEST, math.ceil(count - 1e-9))}"
    return f"with bounds and n_starts={STARTS:g} * {length:.3g} * (fmax - fmin)"


def _sentence(height: str, away: float, frequency: str, value: float, starts: str) -> str:
    return (
        f"{height} is hardly more than noise, {away:.2g} standard errors away from 0: noise "
        f"oscillates as much at some frequency, so {frequency} = {value:.4g} "
        "may be that of noise beside its start, whatever its error says; start it elsewhere, "
        f"{starts}, hold it, or compare with a model without this oscillation"
    )
