"""Times, onsets, oscillations and quantities that the data hardly determine.

Onsets under a narrow instrument. No sample sees such an onset while it lies between two samples.
All of its values there fit nearly alike. The best one often lies beside a sample, where noise looks
like a part of the rise. The parabola there is that of the sample. Of 400 onsets under a width of a
tenth of the step, 151 were further than three standard errors from the truth. All of these are
reported. An onset is not reported if a sample certainly lies within its rise; such onsets scatter
by 0.9 of their errors.

Weak oscillations. Noise oscillates, too, at some frequency. χ² has an optimum in the frequency
about every 1 / T, where T is the length of the times. A fit ends at the optimum beside its start.
At an optimum that is not the oscillation's own, the height is that of noise: 624 of 688 such fits
are within three standard errors of 0. At the frequency of an oscillation of six errors or more, 0
of 400 fits are; at four errors, 13 of 100.

Quantities by expressions. The error of a follower is propagated by its slopes. The slopes say
nothing about a ratio if its divisor is little more than noise. An example: 10 / (0.3 ± 0.7) is not
33 ± 78. Of 300 simulated spectra with such a faint line, 43 % have the ratio of heights within one
error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.file import FileEnd
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.fit.results.ended import EndedFit
from pyspec.formula import scheme_of

Array = npt.NDArray[np.float64]

#: A time constant below this part of the smallest step is none that the data show.
BELOW = 1e-3

#: A height nearer to 0 than so many of its standard errors may be that of noise.
FAINT = 3.0

#: Starts for each optimum in the frequency, of which there are T (fmax - fmin), and the fewest. Of
#: 320 oscillations with 4 to 78 optima so many found all, one for each optimum 314.
STARTS, FEWEST = 1.5, 10

#: Laws whose first two parameters are height and frequency, and that have a phase.
OSCILLATIONS = ("sinFun", "dampedSinFun")

#: A width below this part of the step is narrow: from 0.4 on errors are right, or too small by a
#: quarter at most.
NARROW = 0.35

#: An onset counts as seen between samples if its standard error in the middle of the step is below
#: this part of the step. At widths of 0.2 and 0.3 steps, this limit separates noise with right
#: errors (1.00 to 1.06 of the scatter) from noise with errors that are too small (1.5 to 2.6).
SEEN = 0.25

#: A sample in the middle of the rise locates the onset if it differs from the samples before and
#: after the rise by more than so many standard deviations.
PARTLY = 4.0

#: Laws that set in with a jump.
JUMPING = ("stepFun", "expFun", "sinFun", "dampedSinFun", "sinDivX")

#: How many standard errors away followers are looked at.
AWAY = 2.0

#: A change of more than so many times what slopes have, or one to the other side, is told. Of a
#: ratio it is that of a divisor within 4 of its errors from 0.
MOST = 2.0

#: A change below this part of the value is none.
ROUNDING = 1e-9


def times_below_steps(file: FileEnd) -> Iterator[Finding]:
    """Free time constants far below the step of the times."""
    times = file.times
    if times.size < 2:
        return
    taus = [p for laws in file.laws for law in laws for p in law.parameters]
    ends = file.ends_of(p for p in taus if p.argument.startswith("tau"))
    mean = abs(float(times[-1] - times[0])) / (times.size - 1)  # the smallest is no larger
    for name in sorted(ends & set(file.problem.names)):
        if 0.0 < file.values[name] < BELOW * mean:
            step = float(np.abs(np.diff(times)).min())
            if file.values[name] < BELOW * step:
                numbers = {"value": file.values[name], "step": step}
                yield Finding(Kind.TIME_BELOW_STEP, (file.names[name],), numbers)


def faint_oscillations(files: list[FileEnd]) -> list[Finding]:
    """Oscillations whose height is hardly more than noise, while their frequency is free, and no
    oscillation beyond noise, in any file, has it."""
    faint, sure = dict[str, Finding](), set[str]()
    for file in files:
        for law in (law for laws in file.laws for law in laws if law.op.name in OSCILLATIONS):
            height, frequency = (par.name for par in law.parameters[:2])
            ends = file.ends_of([law.parameters[1]]) & set(file.problem.names)
            free, error = {file.names[name] for name in ends}, file.errors.get(height)
            if not free or not error:
                continue
            away, places = abs(file.values[height]) / error, (height, frequency)
            if away < FAINT:
                numbers = {"away": away, "frequency": file.values[frequency]}
                numbers |= _starts(file, file.names[frequency])
                names = tuple(file.names[name] for name in places)
                faint |= dict.fromkeys(free, Finding(Kind.WEAK_OSCILLATION, names, numbers))
            else:
                sure |= free
    return [finding for name, finding in faint.items() if name not in sure]


def _starts(file: FileEnd, frequency: str) -> dict[str, float]:
    """How many starts find a frequency within its bounds, 0 where it lacks these; and the length of
    the times."""
    length = float(np.ptp(file.times))
    low, high, _ = file.result._start.limits.get(frequency) or (-math.inf, math.inf, 0.0)
    count = STARTS * length * (high - low)
    starts = max(FEWEST, math.ceil(count - 1e-9)) if math.isfinite(count) else 0
    return {"starts": starts, "length": length}


def unseen_onsets(file: FileEnd) -> Iterator[Finding]:
    """Finds onsets whose standard error comes from a single sample, under an instrument that is
    narrow compared with the time steps."""
    time = file.times
    for width, onset in _onsets(file) if time.size > 1 else ():
        sigma, at, error = file.values[width], file.values[onset], file.errors[onset]
        is_known = file.names[width] not in file.result.at_bound
        if error and time[0] < at < time[-1] and _is_unseen(time, sigma, at, error, is_known):
            places = file.names[width], file.names[onset]
            yield Finding(Kind.ONSET_UNDERSAMPLED, places, {"width": sigma, "error": error})


def _onsets(file: FileEnd) -> Iterator[tuple[str, str]]:
    """The width of each instrument of one Gaussian, and each onset under it, which have one value
    each."""
    for group in file.laws:
        widths = [
            component.parameters[0].name for component in group if component.op.name == "gaussIRF"
        ]
        begin = next(
            (k for k, component in enumerate(group) if component.op.kind == "IRF"), len(group)
        )
        if len(widths) != 1 or widths[0] not in file.values:
            continue
        laws = [component for component in group[begin + 1 :] if not component.subcycle]
        jumping = [
            component
            for component in laws
            if component.op.name in JUMPING or scheme_of(component.op) is not None
        ]
        onsets = [
            p.name for component in jumping for p in component.parameters if p.argument == "t0"
        ]
        yield from ((widths[0], name) for name in dict.fromkeys(onsets) if name in file.values)


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


def bent_followers(result: EndedFit) -> Iterator[Finding]:
    """Quantities by expressions that change by another amount than their standard errors have it,
    where all parameters go two of them along."""
    problem, best, errors = result.problem, result.values, result.stderr
    unfollowed = {name: best[name] for name in best if name not in result._expressions}
    gradients = problem.followers.gradients(unfollowed) if result._expressions else {}
    names = [name for name in gradients if errors.get(name)]
    if not names:
        return
    slopes = np.array(
        [[gradients[name].get(leaf, 0.0) for leaf in problem.names] for name in names]
    )
    with np.errstate(all="ignore"):
        steps = AWAY * (slopes @ result.ending.known) / np.array([[errors[n]] for n in names])
        ends = np.clip(result.theta + np.stack([-steps, steps]), *result._start.bounds)
        free = zip(problem.names, np.moveaxis(ends, 2, 0), strict=True)
        columns = problem.followers.columns(unfollowed | dict(free))
        expected = np.einsum("skn,kn->sk", ends - result.theta, slopes)
        for k, name in enumerate(names):
            there = np.broadcast_to(columns[name], ends.shape[:2])[:, k]
            share = (there - best[name]) / expected[:, k]
            is_moved = np.abs(expected[:, k]) > ROUNDING * abs(best[name])
            if (is_moved & ~((share > 0.0) & (share < MOST))).any():
                yield Finding(Kind.NONLINEAR_QUANTITY, (name,), {"error": errors[name]})
