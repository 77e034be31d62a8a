"""How long a Markov chain remembers where it was, and whether it is long enough for that.

The integrated autocorrelation time τ of a chain is the number of steps per independent sample. The
error of a mean over N steps is that of N / τ independent samples. It is estimated as emcee does it
[1]: the autocorrelation functions of all walkers are averaged and summed up to the first lag beyond
five times the sum [2].

[1] D. Foreman-Mackey et al., Publ. Astron. Soc. Pac. 125, 306 (2013). [2] A. Sokal, Monte Carlo
Methods in Statistical Mechanics (1997).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind

Array = npt.NDArray[np.float64]

#: The sum ends at the first lag beyond so many autocorrelation times.
WINDOW = 5.0

#: A chain of fewer autocorrelation times is too short to trust its errors, or the time itself.
ENOUGH = 50.0

#: The fewest steps to advise: what a chain shorter than that says of its time is too small.
LEAST = 1000


def autocorrelation_times(chain: Array) -> Array:
    """(n_names,) integrated autocorrelation times of a chain, (n_steps, n_walkers, n_names), in its
    steps; NaN where no walker moved."""
    return np.array([_time(chain[..., k]) for k in range(chain.shape[2])])


def _time(walkers: Array) -> float:
    """Of one parameter, (n_steps, n_walkers)."""
    moved = walkers[:, _moved(walkers)]
    if not moved.shape[1]:
        return math.nan
    n = len(moved)
    size = 2 ** math.ceil(math.log2(2 * n))
    mean = np.zeros(n)
    for walker in moved.T:
        image = np.fft.rfft(walker - walker.mean(), size)
        correlation = np.fft.irfft(image * image.conj(), size)[:n]
        mean += correlation / correlation[0]
    sums = 2.0 * np.cumsum(mean / moved.shape[1]) - 1.0
    beyond = np.flatnonzero(np.arange(n) >= WINDOW * sums)
    return float(sums[beyond[0]] if beyond.size else sums[-1])


def _moved(walkers: Array) -> npt.NDArray[np.bool_]:
    return np.asarray((walkers != walkers[:1]).any(axis=0))


def too_short(
    chain: Array, times: Mapping[str, float], burn: int, thin: int
) -> tuple[Finding, ...]:
    """Findings about walkers that did not move and a chain shorter than 50 autocorrelation times;
    `times` are in steps, `burn` of which were left out before, and of the others all but every
    thin-th."""
    n_steps, n_walkers, _ = chain.shape
    span, findings = n_steps * thin, []
    stuck = n_walkers - int(np.count_nonzero(_moved(chain[..., 0])))
    if n_steps > 1 and stuck:
        numbers = {"stuck": stuck, "walkers": n_walkers, "steps": span}
        more = {"enough": _round_up(10 * span)}
        findings.append(Finding(Kind.STUCK_WALKERS, (), {**numbers, **more}))
    finite = {name: time for name, time in times.items() if not math.isnan(time)}
    if n_steps == 1:
        findings.append(Finding(Kind.SHORT_CHAIN, (), {"steps": 1}))
    elif finite:
        name = max(finite, key=finite.__getitem__)
        if span < ENOUGH * finite[name]:
            enough = _round_up(burn + ENOUGH * finite[name])
            times_and = {"times": span / finite[name], "time": finite[name], "enough": enough}
            findings.append(Finding(Kind.SHORT_CHAIN, (name,), {"steps": span, **times_and}))
    return tuple(findings)


def _round_up(steps: float) -> int:
    """The next number of two digits and zeros, from 1000 on."""
    most = max(steps, LEAST)
    unit: int = 10 ** (math.floor(math.log10(most)) - 1)
    return math.ceil(most / unit) * unit
