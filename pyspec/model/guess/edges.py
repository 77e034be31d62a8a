"""The first model of an edge: a Fermi edge with temperature and resolution, or a step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.functions.energy import ErfStep, Gauss
from pyspec.model.guess.humps import noise_of, smoothed
from pyspec.model.guess.numerics import minimized, step_of
from pyspec.model.guess.texts import component, ends_of, fixed, free, on_axis, rounded
from pyspec.model.guess.values import levels

Array = npt.NDArray[np.float64]

#: An edge is a step of this share of the range, between ends that are flat over this share of the
#: points. A straight line changes there by twice as much as an edge may.
STEP, EDGES = 0.3, 0.15

#: In eV per K; from 90 % to 10 % a Fermi edge falls over 4.39 kB T, an error function over
#: 2.563 SD.
BOLTZMANN, FERMI, ERROR = 8.617333262e-5, 4.394, 2.563

#: What is taken for the temperature, K.
ROOM = 300.0

#: Fermi edges are looked at over fewer eV than these, and are not wider than that.
SPAN, WIDEST = 30.0, 3.0

#: A peak beside the step rises above both levels by this share of the step.
BESIDE = 0.25


def is_edge(spectrum: Array) -> bool:
    """Whether it begins at one level and ends at another, and is flat at both ends."""
    first, last = levels(spectrum)
    step, end = abs(last - first), max(4, int(EDGES * spectrum.size))
    noise = noise_of(spectrum)
    if step < STEP * float(np.ptp(spectrum)) or step < 6 * noise:
        return False
    ends = (levels(spectrum[:end]), levels(spectrum[-end:]))
    return all(abs(after - before) < EDGES * step / 2 + 2 * noise for before, after in ends)


class Edge:
    """A step between two levels, and the line that may stand on it."""

    def __init__(
        self, labels: Mapping[str, str], units: Mapping[str, str], energy: Array, spectrum: Array
    ) -> None:
        self.energy = energy
        order = np.argsort(energy)
        x, y = self._axis, self._spectrum = energy[order], spectrum[order]
        self.below, self.above = levels(y)
        self.height = self.below - self.above
        calm = smoothed((y - self.above) / self.height, max(1.0, x.size / 100))
        self.place = on_axis(energy, _crossing(x, calm, 0.5))
        width = abs(_crossing(x, calm, 0.1) - _crossing(x, calm, 0.9))
        self.width = max(width, step_of(x))
        top = float(np.max(calm)) - 1.0
        self.peak = float(x[np.argmax(calm)]) if top > BESIDE else None
        self.peak_height = top * self.height
        dip = -float(np.min(calm))
        if dip > BESIDE and dip > top:
            self.peak, self.peak_height = float(x[np.argmin(calm)]), -dip * self.height
        unit = units.get("energy", "")
        self.is_fermi = (
            unit in ("", "eV", "meV") and float(np.ptp(x)) < SPAN and self.width < WIDEST
            and self.peak is None
        )  # fmt: skip
        self.temperature = ROOM
        thermal = FERMI * BOLTZMANN * ROOM
        if self.width < 1.2 * thermal:
            self.temperature = rounded(0.7 * self.width / (FERMI * BOLTZMANN))
        rest = self.width**2 - (FERMI * BOLTZMANN * self.temperature) ** 2
        self.resolution = np.sqrt(max(rest, (0.3 * self.width) ** 2)) / ERROR

    def misfit(self) -> float:
        """The root mean square that an error function, and a line on it, leave of the spectrum."""
        x, y = self._axis, self._spectrum
        size, span = abs(self.height), float(np.ptp(x))
        ramp = (x - x.mean()) / span
        start = [self.place, np.log(self.width / ERROR)]
        if self.peak is not None:
            start += [self.peak, np.log(2 * self.width)]
        low, high = np.full(len(start), -np.inf), np.full(len(start), np.inf)
        low[::2], high[::2] = x.min(), x.max()
        low[1::2], high[1::2] = np.log(step_of(x) / 4), np.log(span / 2)

        def left(theta: Array) -> Array:
            columns = [np.ones_like(x), ramp, ErfStep(x, 1.0, theta[0], np.exp(theta[1]))]
            if self.peak is not None:
                columns.append(Gauss(x, 1.0, theta[2], np.exp(theta[3])))
            basis = np.stack(columns, axis=1)
            return np.asarray(basis @ np.linalg.lstsq(basis, y / size, rcond=None)[0] - y / size)

        def slopes(theta: Array) -> tuple[Array, Array]:
            base, h = left(theta), 1e-5
            moved = [(left(theta + h * unit) - base) / h for unit in np.eye(theta.size)]
            return base, np.stack(moved, axis=1)

        moves = np.tile([4 * self.width, 1.0], len(start) // 2)
        theta = minimized(slopes, np.array(start), low, high, moves)
        return float(np.sqrt(np.mean(left(theta) ** 2))) * size

    def text(self, name: str, *, is_step: bool) -> str:
        """The model of this name."""
        low, high = ends_of(self.energy)
        step, span = step_of(self.energy), float(np.ptp(self.energy))
        x0 = free(self.place, low, high)
        if is_step:
            text = component("LinBack", {
                "m": free(0.0), "b": free(rounded(self.below)),
                "xStart": fixed(low), "xStop": fixed(high),
            })  # fmt: skip
            sd = free(rounded(self.width / ERROR), rounded(step / 20), rounded(span / 2))
            text += component("ErfStep", {"A": free(rounded(-self.height)), "x0": x0, "SD": sd})
        else:
            text = component("Offset", {"y0": free(rounded(self.above))})
            sd = free(rounded(self.resolution), 0, rounded(span / 2))
            text += component("FermiEdge", {
                "A": free(rounded(self.height)), "x0": x0, "T": fixed(self.temperature), "SD": sd,
                "mBelow": free(0.0), "mAbove": free(0.0),
            })  # fmt: skip
        if self.peak is not None:
            fwhm = min(self.width * 2, span / 4)
            width = free(rounded(fwhm), rounded(min(2 * step, span / 4)), rounded(span / 2))
            text += component("GLP", {
                "A": free(rounded(self.peak_height)), "x0": free(on_axis(self.energy, self.peak),
                low, high), "F": width, "m": free(0.3, 0, 1),
            })  # fmt: skip
        return f"{name}:\n{text}"


def _crossing(x: Array, share: Array, level: float) -> float:
    """Where a share that falls from 1 to 0 along x passes a level for the last time."""
    above = np.flatnonzero(share >= level)
    k = min(int(above[-1]), x.size - 2) if above.size else 0
    fall = share[k] - share[k + 1]
    part = float(np.clip((share[k] - level) / fall, 0, 1)) if fall > 0 else 0.5
    return float(x[k] + part * (x[k + 1] - x[k]))
