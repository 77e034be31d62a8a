"""Onsets under an instrument that is narrow beside the steps of time.

Between two samples such an onset is seen by none of them: all of its values there fit nearly alike,
and the best one often lies beside a sample, where noise looks like a part of the rise. The parabola
there is that of the sample: of 400 onsets under a width of a tenth of the step 151 were further
than three standard errors from the truth. All of these are told; those that are not, as a sample
lies within the rise for certain, scatter by 0.9 of their errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.formula import scheme_of
from pyspec.model import Model, Par
from pyspec.model.parts import groups_of_laws

Array = npt.NDArray[np.float64]

#: A width below this part of the step is narrow: from 0.4 on errors are right, or too small by a
#: quarter at most.
NARROW = 0.35

#: An onset is seen between samples where its standard error in the middle of the step is below this
#: part of the step. At widths of 0.2 and 0.3 steps it tells the noise apart that errors are right
#: for (1.00 to 1.06 of the scatter) from that for which they are not (1.5 to 2.6).
SEEN = 0.25

#: A sample in the middle of the rise says where the onset is, if it differs by more than so many
#: standard deviations from one before the rise, and from one behind it.
PARTLY = 4.0

#: Laws that set in with a jump.
JUMPING = ("stepFun", "expFun", "sinFun", "dampedSinFun", "sinDivX")


def narrow_instruments(result: Any) -> list[str]:
    """Sentences about onsets whose standard error is that of one sample alone; none of fits without
    success, and of one file of a joint fit, which says it."""
    problem = result.problem
    if not result.success or result._of_many:
        return []
    found: dict[str, None] = {}
    values, stderr = result.values, result.stderr  # made anew at each look
    for own, names in problem.named_files:
        time = times_of(own)
        for width, onset in _onsets(own.model, own.parameters) if time.size > 1 else ():
            sigma, at = values[names[width]], values[names[onset]]
            error = stderr[names[onset]]
            is_known = names[width] not in result.at_bound
            if error and time[0] < at < time[-1] and _is_unseen(time, sigma, at, error, is_known):
                found[_sentence(names[width], sigma, names[onset], error)] = None
    return list(found)


def times_of(problem: Any) -> Array:
    """The times of the fit window of one file; none of a spectrum."""
    time, measured = problem.model.time, problem.measurement
    if time is None:
        return np.empty(0)
    is_trace = problem.model.is_time_model and len(measured.data.shape) == 1
    return np.asarray(time[slice(*((measured.columns if is_trace else measured.rows) or (None,)))])


def _onsets(model: Model, parameters: Mapping[str, Par]) -> Iterator[tuple[str, str]]:
    """The width of each instrument of one Gaussian, and each onset under it, which have one value
    each."""
    for group in groups_of_laws(model, parameters):
        widths = [one.parameters[0].name for one in group if one.op.name == "gaussIRF"]
        begin = next((k for k, one in enumerate(group) if one.op.kind == "IRF"), len(group))
        if len(widths) != 1 or widths[0] not in parameters:
            continue
        laws = [one for one in group[begin + 1 :] if not one.subcycle]
        jumping = [one for one in laws if one.op.name in JUMPING or scheme_of(one.op) is not None]
        onsets = [p.name for one in jumping for p in one.parameters if p.argument == "t0"]
        yield from ((widths[0], name) for name in dict.fromkeys(onsets) if name in parameters)


def _is_unseen(time: Array, sigma: float, onset: float, error: float, is_known: bool) -> bool:
    """Whether the error would be no small part of the step, were the onset in the middle of it, and
    no sample lies within the rise for certain. The slope of a rise by its onset is a Gaussian about
    it: errors are as the roots of the sums of its squares at the samples, and tell the height. Of a
    width that is not `is_known`, as it ended at a bound, a rise may be a wider one."""
    place = int(np.clip(np.searchsorted(time, onset, side="right"), 1, time.size - 1))
    step = float(time[place] - time[place - 1])
    if not 0.0 < sigma < NARROW * step:
        return False
    middle = float(time[place] + time[place - 1]) / 2.0
    here, there = (float(np.sum(np.exp(-(((time - at) / sigma) ** 2)))) for at in (onset, middle))
    if here == 0.0:  # no sample is near
        return True
    if error * math.sqrt(here) <= SEEN * step * math.sqrt(there):
        return False
    if not is_known:
        return True
    away = float(np.abs(time - onset).min()) / sigma
    # The part of the rise that the nearest sample lacks, or has.
    part = math.erfc(away / math.sqrt(2.0)) / 2.0
    return part * sigma * math.sqrt(2.0 * math.pi / here) <= PARTLY * error


def _sentence(width: str, sigma: float, onset: str, error: float) -> str:
    return (
        f"{width} = {sigma:.4g} is narrow beside the steps of time at {onset}: between two samples "
        f"it is hardly seen, and its standard error, {error:.2g}, which is that beside one sample, "
        f"may be far too small; quote conf_interval('{onset}')"
    )
