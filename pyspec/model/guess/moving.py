"""Lines that move in time: their places and widths in each spectrum, and laws for these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pyspec.model.guess.laws import Laws, guess_laws
from pyspec.model.guess.lines import Lines
from pyspec.model.guess.numerics import binned, lines_slopes, means, minimized, step_of
from pyspec.model.guess.texts import ends_of, free, on_axis, rounded
from pyspec.model.guess.traces import laws_text

Array = npt.NDArray[np.float64]

#: So many groups of neighbouring times are followed at least; more where the noise allows it.
LEAST_GROUPS = 40

#: A line is followed where it is so many times the noise in a group.
SEEN = 8.0

#: Spectra of more energies are averaged over neighbours, and so are more times.
MOST_ENERGIES, MOST_GROUPS = 250, 240

#: Least mean square of a motion, in standard errors, of places, widths, heights, and the distance
#: of two lines that move alike. A fast motion within a group also changes the width, and heights of
#: counts are noisier.
MOVES, WIDENS, CHANGES, ALIKE = 1.5, 6.0, 3.0, 2.0


@dataclass(frozen=True)
class Motion:
    """What moves, by parameter: the laws. `text` holds them by the names in `dynamics`."""

    moved: dict[str, str]
    dynamics: tuple[tuple[str, str], ...]
    text: str
    seen: tuple[str, ...]
    has_constant_heights: bool


def guess_motion(
    lines: Lines, time: Array, energy: Array, data: Array, noise: float
) -> Motion | None:
    """Laws for places and widths of the `lines` of the first spectra, followed through all; None
    where nothing but heights moves."""
    if not lines.names or lines.signs != 1:
        return None
    width = math.ceil(energy.size / MOST_ENERGIES)
    if width > 1:
        narrowest = min(lines.start[f"{name}_F"] for name in lines.names)
        width = max(1, min(width, int(narrowest / (4 * step_of(energy)))))
    places, data = binned(energy, data, width)
    times, rows, spread = _groups(time, data, noise / math.sqrt(width), lines)
    traces, errors = _followed(lines, places, rows, spread)
    if not np.isfinite(traces).all():
        return None
    laws: dict[str, Laws] = {}
    moved: dict[str, str] = {}
    seen: list[str] = []
    names = lines.names
    for j, argument in ((1, "x0"), (2, "F")):
        for k, name in enumerate(names):
            key = f"{name}_{argument}"
            trace, error = traces[:, k, j], errors[:, k, j]
            if not _moves(times, trace, error, WIDENS if argument == "F" else MOVES):
                continue
            followed = [other for other in range(k) if f"{names[other]}_{argument}" in laws]
            tied = [o for o in followed if _alike(trace, traces[:, o, j], error, errors[:, o, j])]
            if tied:
                tie = tied[0]
                apart = float(np.median(trace - traces[:, tie, j]))
                moved[key] = f'["{names[tie]}_{argument} + {rounded(apart)}"]'
                continue
            motion = guess_laws(times, trace)
            if not (
                motion.decays or motion.swing or motion.step is not None or motion.slope is not None
            ):
                continue
            laws[key] = motion
            low, high = ends_of(energy)
            moved[key] = free(on_axis(energy, motion.level), low, high)
            if argument == "F":
                step = step_of(energy)
                moved[key] = free(rounded(max(motion.level, step)), rounded(step / 4))
            seen.append(f"{key} moves: {spoken(motion)}")
    if not laws:
        return None
    still = not any(
        _moves(times, traces[:, k, 0], errors[:, k, 0], CHANGES) for k in range(len(names))
    )
    if still:
        for k, name in enumerate(names):
            moved[f"{name}_A"] = free(rounded(float(np.median(traces[:, k, 0]))), 0)
    text, dynamics = "", []
    for key, law in laws.items():
        name = f"moves_{key}"
        dynamics.append((key, name))
        text += "\n" + laws_text(name, law, times, is_motion=True)
    return Motion(moved, tuple(dynamics), text, tuple(seen), still)


def spoken(laws: Laws) -> str:
    """Laws in a few words."""
    words = [f"a decay of {rounded(tau):g}" for _, tau in laws.decays]
    if laws.swing is not None:
        words.append(f"an oscillation of frequency {rounded(laws.swing[1]):g}")
    if laws.step is not None:
        words.append("a step")
    if laws.slope is not None:
        words.append("a slope")
    onset = f" from {rounded(laws.t0):g} on" if laws.SD is not None or laws.swing else ""
    return (" and ".join(words) or "nothing") + onset


def _moves(times: Array, trace: Array, error: Array, least: float = MOVES) -> bool:
    """Whether a trace is more than a constant with these errors."""
    weight = 1 / error**2
    mean = float(np.sum(weight * trace) / np.sum(weight))
    chisqr = float(np.sum(weight * (trace - mean) ** 2)) / (times.size - 1)
    smooth = np.convolve((trace - mean) / error, np.ones(5) / np.sqrt(5), "valid")
    slow = float(np.mean(smooth**2)) if smooth.size else chisqr
    return max(chisqr, slow / 1.5) > least


def _alike(first: Array, second: Array, error: Array, other: Array) -> bool:
    """Whether two traces differ by a constant, or by little beside what they move."""
    apart = first - second
    apart -= np.median(apart)
    chisqr = float(np.median(apart**2 / (error**2 + other**2))) / 0.455
    return chisqr < ALIKE or float(np.std(apart)) < 0.1 * float(np.std(first))


def _groups(time: Array, data: Array, noise: float, lines: Lines) -> tuple[Array, Array, float]:
    """Times, spectra, and their noise: averages of neighbours where lines are weak beside it."""
    height = float(np.median([lines.start[f"{name}_A"] for name in lines.names]))
    count = int(np.ceil((SEEN * noise / max(height, 1e-300)) ** 2))
    count = min(max(1, count), max(1, time.size // LEAST_GROUPS))
    count = max(count, math.ceil(time.size / MOST_GROUPS))
    return means(time, count), means(data, count), noise / math.sqrt(count)


def _followed(lines: Lines, energy: Array, rows: Array, noise: float) -> tuple[Array, Array]:
    """Height, place and width of each line in each spectrum, (n_rows, n_lines, 3), and errors. A
    spectrum starts where the lines of the one before are."""
    names, n = lines.names, len(lines.names)
    size = float(np.ptp(rows)) or 1.0
    step = step_of(energy)
    span = float(np.ptp(energy))
    begin = list[float]()
    for name in names:
        own = lines.start
        begin += [own[f"{name}_A"] / size, own[f"{name}_x0"], own[f"{name}_F"], 0.3]
    theta = np.array([*begin, float(np.min(rows[0])) / size, 0.0, 0.0])
    low = np.array([*[0.0, energy.min(), 0.5 * step, 0.0] * n, -np.inf, -np.inf, 0.0])
    high = np.array([*[np.inf, energy.max(), span, 1.0] * n, np.inf, np.inf, np.inf])
    if not lines.has_loss:
        high[-1] = 1e-12
    moves = np.full(theta.size, np.inf)

    def slopes_of(row: Array, now: Array) -> tuple[Array, Array]:
        return lines_slopes(energy, row, now, n, lines.has_loss)

    for k in range(n):
        moves[4 * k + 1] = moves[4 * k + 2] = max(0.5 * theta[4 * k + 2], step)
    traces, errors = np.empty((len(rows), n, 3)), np.empty((len(rows), n, 3))
    for i, row in enumerate(rows):
        scaled = row / size
        theta = minimized(partial(slopes_of, scaled), theta, low, high, moves, 1e-4)
        left, slope = slopes_of(scaled, theta)
        dof = max(left.size - theta.size, 1)
        variance = max(float(left @ left) / dof, (noise / size) ** 2)
        inverse = np.linalg.pinv(slope.T @ slope, rcond=1e-12, hermitian=True)
        spread = np.sqrt(np.abs(np.diag(inverse)) * variance)[: 4 * n].reshape(n, 4)
        traces[i] = theta[: 4 * n].reshape(n, 4)[:, :3]
        errors[i] = np.maximum(spread[:, :3], 1e-9)
        traces[i, :, 0] *= size
        errors[i, :, 0] *= size
    return traces, errors
