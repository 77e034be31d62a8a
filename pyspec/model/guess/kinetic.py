"""Start values of spectra that decay: time zero, instrument, artifact and time constants.

Spectra are free: at every energy the heights follow by least squares for the basis functions of the
delay (variable projection, with the Jacobian of Kaufman). First time zero is found on a grid, with
a flexible basis of decays for each energy. Then decays are added as long as the data support them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pyspec.functions.response import expFun_gaussIRF, stepFun_gaussIRF
from pyspec.model.guess.humps import noise_of
from pyspec.model.guess.numerics import means, minimized, step_at
from pyspec.model.guess.onset import (
    CERTAIN,
    FLEXIBLE,
    STARTS,
    Kinetics,
    Scaled,
    decay_times,
    guess_onset,
    pulses,
)

Array = npt.NDArray[np.float64]

#: More decays are not told apart without knowing them.
MAX_DECAYS = 4

#: Neighbouring energies are averaged to so many groups where time zero depends on the energy.
GROUPS = 32

#: Two decays are not told apart where they differ by less than this factor.
TWINS = 1.5

#: In one fit time zero moves by so many widths of the instrument, and that by this factor.
ONSET_MOVES = 4.0

#: A decay slower than so many times the delays stays: a step.
STAYS = 3.0


def coordinate(energy: Array, is_wavelength: bool) -> tuple[Array, float]:
    """``x = (E / E0)^2 - 1`` of photon energies, ``(E0 / E)^2 - 1`` of wavelengths, and E0, the
    middle: in x the delay that glass makes is a straight line, nearly."""
    middle = float((energy.min() + energy.max()) / 2)
    if not np.all(energy > 0):
        return (energy - middle) / (float(np.ptp(energy)) / 2), middle
    ratio = middle / energy if is_wavelength else energy / middle
    return ratio**2 - 1, middle


def guess_kinetics(
    time: Array, energy: Array, data: Array, is_wavelength: bool, n_decays: int | None = None
) -> Kinetics:
    """Guesses the laws of a series (n_time, n_energy) of finite values over rising delays, with
    `n_decays` decays, or as many as the data support."""
    noise = _noise_of_columns(data)
    scaled = data / noise
    x, _ = coordinate(energy, is_wavelength)
    every = Scaled(time, scaled, x)
    grouped = _grouped(every)
    start = guess_onset(grouped)
    # A fit weighs all points the same, unless their noise is declared: so do its start values.
    even = Scaled(time, data / float(np.sqrt(np.mean(noise**2))), x)
    even = _grouped(even) if len(start.zero) > 1 else Scaled(time, even.data, x[:0])
    best = _decays(even, start, n_decays)
    values = np.linalg.svd(scaled, compute_uv=False)
    edge = 1.05 * (math.sqrt(time.size) + math.sqrt(energy.size))
    return replace(best, n_significant=int(np.count_nonzero(values > edge)))


def _noise_of_columns(data: Array) -> Array:
    """The noise at each energy, smoothed along the energy; never 0."""
    from scipy.ndimage import median_filter  # heavy: imported by the first guess

    noise = np.array([noise_of(column) for column in data.T])
    noise = median_filter(noise, min(7, noise.size), mode="nearest")
    floor = 1e-6 * float(np.abs(data).max()) + np.finfo(float).tiny
    return np.asarray(np.maximum(noise, max(floor, 0.2 * float(np.median(noise)))))


def _grouped(every: Scaled) -> Scaled:
    """Averages over neighbouring energies, in units of their noise."""
    size = max(1, math.ceil(every.x.size / GROUPS))
    count = np.diff([*range(0, every.x.size, size), every.x.size])
    data = means(every.data, size, axis=1) * np.sqrt(count)
    return Scaled(every.time, data, means(every.x, size))


def _decays(data: Scaled, start: Kinetics, n_decays: int | None) -> Kinetics:
    """The laws as they lie best, with as many decays as the data ask for."""
    n_free = data.data.shape[1]
    least = CERTAIN * math.sqrt(2 * (n_free + 1)) + n_free + 1
    taus = decay_times(data.time, start.zero[0], STARTS).tolist()
    tau = min(taus, key=lambda tau: _cost(data, replace(start, taus=(tau,))))
    best, cost = _polished(data, replace(start, has_constant=False, taus=(tau,)))
    if start.SD is not None:
        with_constant = _polished(data, replace(best, has_constant=True))
        least_constant = n_free + CERTAIN * math.sqrt(2 * n_free)
        if cost - with_constant[1] > least_constant * _variance(data, with_constant):
            best, cost = with_constant
        least_zero = 5 * CERTAIN
        if 2 <= len(best.zero) < 4:
            longer = _polished(data, replace(best, zero=(*best.zero, 0.0)))
            if cost - longer[1] > least_zero * _variance(data, longer):
                best, cost = longer
    any_taus = decay_times(data.time, best.zero[0], FLEXIBLE)  # describe any sum of decays, nearly
    flexible = _worth(data, replace(best, taus=tuple(any_taus.tolist())))
    while len(best.taus) < (n_decays or MAX_DECAYS):
        more = min(
            (_polished(data, candidate) for candidate in _with_one_more(data, best)),
            key=lambda candidate: candidate[1],
        )
        step = step_at(data.time, more[0].zero[0])
        is_limit = min(more[0].taus) <= 1.01 * _fastest(more[0], step)
        needed = least * _variance(data, more) * min(flexible, _worth(data, more[0]))
        taus = np.sort(more[0].taus)
        is_twin = bool(np.any(taus[1:] < TWINS * taus[:-1]))
        is_less = is_limit or is_twin or cost - more[1] < needed
        if n_decays is None and is_less:
            break
        best, cost = _settled(data, *more) if n_decays is None else more
    for is_artifact, worth in ((True, 3 * n_free), (False, n_free)):
        bare = replace(best, has_constant=False)
        rest = replace(best, has_artifact=False) if is_artifact else bare
        if start.SD is None or rest == best:
            continue
        other = _polished(data, rest)
        enough = (worth + CERTAIN * math.sqrt(2 * worth)) * _variance(data, (best, cost))
        if other[1] - cost < enough:
            best, cost = other
    for tau in sorted(best.taus) if n_decays is None else ():  # one may have become needless
        if len(best.taus) == 1:
            break
        others = tuple(other_tau for other_tau in best.taus if other_tau != tau)
        other = _polished(data, replace(best, taus=others))
        needed = least * _variance(data, (best, cost)) * min(flexible, _worth(data, best))
        if other[1] - cost < needed:
            best, cost = other
            break
    sharp = best.SD is not None and 0.4 * step_at(data.time, best.zero[0]) > best.SD
    return replace(best, taus=tuple(sorted(best.taus)), is_sharp=sharp)


def _settled(data: Scaled, best: Kinetics, cost: float) -> tuple[Kinetics, float]:
    """With a step in place of a decay too slow to be seen."""
    span = float(np.ptp(data.time))
    slow = [tau for tau in best.taus if tau > STAYS * span]
    if not slow or best.SD is None:
        return best, cost
    taus = tuple(tau for tau in best.taus if tau not in slow)
    return _polished(data, replace(best, taus=taus, has_step=True))


def _with_one_more(data: Scaled, best: Kinetics) -> list[Kinetics]:
    """The two best starts of a further decay."""
    taus = decay_times(data.time, best.zero[0], STARTS)
    taus = np.array([tau for tau in taus if all(abs(math.log(tau / o)) > 0.3 for o in best.taus)])
    tried = [replace(best, taus=(*best.taus, float(tau))) for tau in taus]
    costs = np.array([_cost(data, candidate) for candidate in tried])
    inner = [
        k
        for k in range(costs.size)
        if costs[k] <= min(costs[max(0, k - 1)], costs[min(k + 1, costs.size - 1)])
    ]
    inner.sort(key=lambda k: costs[k])
    return [tried[k] for k in inner[:2]]


def _variance(data: Scaled, fitted: tuple[Kinetics, float]) -> float:
    """Chi squared of one point."""
    laws = fitted[0]
    n = len(laws.taus) + laws.has_step + laws.has_constant + 3 * laws.has_artifact
    dof = max((data.time.size - n) * int(data.data.shape[1]), 1)
    return max(fitted[1] / dof, 1e-6)


def _basis(data: Scaled, laws: Kinetics) -> Array:
    """(n_groups or 1, n_time, n_basis): the functions of the delay, at each x where they differ."""
    t = data.time[:, None]
    zero = np.polynomial.polynomial.polyval(data.x if data.x.size else np.zeros(1), laws.zero)
    at = np.asarray(zero[None, :] if len(laws.zero) > 1 else [[laws.zero[0]]], np.float64)
    columns = []
    if laws.has_constant or laws.SD is None:
        columns.append(np.ones_like(t + at))
    if laws.SD is None:
        columns += [np.exp(-(t - at) / tau) for tau in laws.taus]
        if not laws.has_constant:
            columns.pop(0)
        return np.stack(columns, axis=-1).swapaxes(0, 1)
    if laws.has_artifact:
        columns += pulses(t, at, laws.SD)
    if laws.has_step:
        columns.append(stepFun_gaussIRF(t, 1.0, at, laws.SD))
    columns += [expFun_gaussIRF(t, 1.0, tau, at, laws.SD) for tau in laws.taus]
    return np.stack(columns, axis=-1).swapaxes(0, 1)


def _project(data: Scaled, basis: Array) -> tuple[Array, Array, Array]:
    """(Q, heights, residual) of least squares at each energy; arrays run over groups first."""
    size = np.sqrt(np.sum(basis**2, axis=1, keepdims=True)) + 1e-300
    q, r = np.linalg.qr(basis / size)
    tiny = 1e-9 * np.abs(np.diagonal(r, axis1=-2, axis2=-1)).max()
    r = r + tiny * np.eye(r.shape[-1])
    y = data.data.T[:, :, None] if basis.shape[0] > 1 else data.data[None]
    load = q.swapaxes(1, 2) @ y
    heights = np.linalg.solve(r, load) / size.swapaxes(1, 2)
    return q, heights, y - q @ load


def _cost(data: Scaled, laws: Kinetics) -> float:
    return float(np.sum(_project(data, _basis(data, laws))[2] ** 2))


def _unpacked(laws: Kinetics, theta: Array) -> Kinetics:
    if laws.SD is None:
        return replace(laws, taus=tuple(np.exp(theta).tolist()))
    zero, sd, taus = np.split(theta, [len(laws.zero), len(laws.zero) + 1])
    return replace(
        laws, zero=tuple(zero.tolist()), SD=math.exp(sd[0]), taus=tuple(np.exp(taus).tolist())
    )


def _fastest(laws: Kinetics, step: float) -> float:
    """The fastest decay that can be told from the instrument and from an artifact as short."""
    return (3.0 if laws.has_artifact else 0.5) * (laws.SD or step)


def _polished(data: Scaled, laws: Kinetics) -> tuple[Kinetics, float]:
    """The laws where chi squared is least, near these: Levenberg and Marquardt."""
    step, span = step_at(data.time, laws.zero[0]), float(np.ptp(data.time))
    n = 0 if laws.SD is None else len(laws.zero)
    low, high = np.zeros(0), np.zeros(0)
    if laws.SD is not None:  # too few decays would draw the onset far away
        size = max(1e-12, float(np.abs(data.x).max(initial=0.0))) if n > 1 else 1.0
        reach = (ONSET_MOVES * laws.SD + step) / size ** np.arange(n)
        widths = math.log(laws.SD) + np.array([-1, 1]) * math.log(ONSET_MOVES)
        low = np.append(laws.zero - reach, max(widths[0], math.log(0.2 * step)))
        high = np.append(laws.zero + reach, min(widths[1], math.log(span / 4)))
    slowest = math.log(20 * span)
    fastest = math.log(_fastest(laws, step))
    low = np.append(low, [fastest] * len(laws.taus))
    high = np.append(high, [slowest] * len(laws.taus))
    moves = np.append(np.full(n, 2 * (laws.SD or step)), np.full(low.size - n, 1.0))
    begin = [] if laws.SD is None else [*laws.zero, math.log(laws.SD)]
    theta = minimized(
        lambda now: _slopes(data, _unpacked(laws, now)),
        np.array([*begin, *np.log(laws.taus)]),
        *(low, high, moves),
    )
    best = _unpacked(laws, theta)
    return best, _cost(data, best)


def _slopes(data: Scaled, laws: Kinetics) -> tuple[Array, Array]:
    """Residual, (n,), and its derivatives, (n, n_theta), heights following."""
    basis = _basis(data, laws)
    q, heights, left = _project(data, basis)
    slopes = []

    def add(change: Array, at: slice = slice(None)) -> Array:
        slope = change @ heights[:, at]
        slopes.append((q @ (q.swapaxes(1, 2) @ slope) - slope).ravel())
        return slope

    if laws.SD is not None:
        h = 1e-5 * laws.SD
        later = replace(laws, zero=(laws.zero[0] + h, *laws.zero[1:]))
        slope = add((_basis(data, later) - basis) / h)
        for power in range(1, len(laws.zero)):
            own = data.x[:, None, None] ** power * slope
            slopes.append((q @ (q.swapaxes(1, 2) @ own) - own).ravel())
        add((_basis(data, replace(laws, SD=laws.SD * (1 + 1e-5))) - basis) / 1e-5)
    bare = replace(laws, has_step=False, has_artifact=False, has_constant=False)
    first = basis.shape[-1] - len(laws.taus)
    for k, tau in enumerate(laws.taus):
        at = slice(first + k, first + k + 1)
        moved = _basis(data, replace(bare, taus=(tau * (1 + 1e-5),)))
        add((moved - basis[..., at]) / 1e-5, at)
    return left.ravel(), np.stack(slopes, axis=1)


def _worth(data: Scaled, laws: Kinetics) -> float:
    """The factor by which chi squared must fall further, since neighbouring delays in the residual
    are alike: correlated noise is worth fewer points."""
    left = _project(data, _basis(data, laws))[2]
    correlation = float(np.sum(left[:, 1:] * left[:, :-1])) / (float(np.sum(left**2)) or 1.0)
    alike = min(max(correlation, 0.0), 0.99)
    return (1 + alike) / (1 - alike)
