"""The first model of a spectrum: peaks on a background, at what can be read off it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.model.build.load import load_model
from pyspec.model.data.energy_scale import losses_last
from pyspec.model.guess.humps import humps, noise_of
from pyspec.model.guess.numerics import lines_slopes, minimized, step_of
from pyspec.model.guess.texts import (
    component,
    ends_of,
    fixed,
    free,
    listed,
    on_axis,
    rounded,
)
from pyspec.model.guess.values import MAX_PEAKS, guess_values, levels, peak_places

Array = npt.NDArray[np.float64]

#: A spectrum has two signs if the smaller one reaches this share of the other. It has them too if a
#: hump rises out of the noise on the other side of zero.
DIPS = 0.2

#: And where not both of its ends lie off zero by this share of the way that it reaches there.
GROUND = 0.5

#: A Shirley is worth its parameter where a spectrum falls by this share of its range.
LITTLE = 0.02

#: Losses describe a background where the sum of squares above that of noise falls to this share of
#: a straight line's.
LOSSES = 0.5

#: Lines are asymmetric if the sum of squares falls to this share, and lies this far above that of
#: noise and of this share of the range.
FLANK, ABOVE_NOISE, FAR = 0.6, 2.0, 0.006

#: What is said of a model beside it.
DIPPED = "The spectrum dips below its background: these peaks have a negative height"
BOTH = "The spectrum goes to both sides of zero: heights are of both signs"
NONE_SEEN = (
    "No maximum within the axis stands out of the noise: a background alone. --peaks 1 puts a peak "
    "where it is highest"
)


class Lines:
    """Peaks on a background: their names and start values, and what to know of them."""

    def __init__(
        self, labels: Mapping[str, str], energy: Array, spectrum: Array, n_peaks: int | None
    ) -> None:
        self.energy, self.spectrum = energy, spectrum
        self.signs = _signs(spectrum)
        self.notes: list[str] = {1: [], 0: [BOTH], -1: [DIPPED]}[self.signs]
        if n_peaks is None:
            # Where the slope hides all peaks, those above the line between the ends are taken.
            upright = _upright(spectrum, self.signs)
            seen = peak_places(upright) or peak_places(upright - _line(upright))
            n_peaks = min(len(seen), MAX_PEAKS)
            while energy.size < least_points(n_peaks):
                n_peaks -= 1
            self.notes = [*(self.notes if seen else [NONE_SEEN]), *_unread(energy[seen[n_peaks:]])]
        first, last = levels(spectrum)
        little, order = LITTLE * float(np.ptp(spectrum)), losses_last(labels, energy)
        self.has_loss = n_peaks > 0 and self.signs == 1 and first - last > little
        self.has_loss &= order in ("", None)
        self.names = [f"GLP_{k:02}" for k in range(1, n_peaks + 1)]
        self.skew = 0.0
        self._read_off()
        if self.has_loss and order is None:
            # Nothing says what the energies are: along the axis losses stand in front of their
            # lines, and a Shirley has to describe the background better than a straight line.
            loss, self.has_loss = self._fitted()[0], False
            line = self._fitted()[0]
            noise = noise_of(spectrum) ** 2 * energy.size
            self.has_loss = loss - noise < LOSSES * (line - noise)
            if not self.has_loss:
                self._read_off()
        # A background in doubt would be taken for a flank.
        if self.has_loss or abs(first - last) < little:
            self.skew = self._skew()

    @property
    def places(self) -> list[float]:
        return [self.start[f"{name}_x0"] for name in self.names]

    def background(self) -> str:
        """The background in a word."""
        return "Shirley on a constant" if self.has_loss else "a straight line"

    def text(
        self, name: str, is_series: bool = False, moved: Mapping[str, str] | None = None
    ) -> str:
        """The model of this name. Heights of a series are free at each time; `moved` has other
        entries of parameters."""
        level = height = ""
        if is_series and self.names:
            low = -LITTLE * float(np.ptp(self.spectrum))
            positive = self.signs == 1 and bool(self.spectrum.min() > low)
            level = "{free: time}"
            height = "{free: time, min: 0}" if positive else level
        return f"{name}:\n{self._ground_text(level)}{self._peaks_text(height, moved)}"

    def misfit(self) -> float:
        """The root mean square that these lines leave of the spectrum."""
        if not self.names or self.signs != 1:
            return float(np.std(self.spectrum))
        return float(np.sqrt(self._fitted()[0] / self.energy.size))

    def _read_off(self) -> None:
        """Start values of the backgrounds and of the peaks."""
        energy, signs = self.energy, self.signs
        start = {"Offset_y0": 0.0, "Shirley_pShirley": 0.0, "LinBack_m": 0.0, "LinBack_b": 0.0}
        self.start = start
        if not self.names:
            slope, value = np.polyfit(energy - energy.min(), self.spectrum, 1)
            start |= {"LinBack_m": rounded(float(slope)), "LinBack_b": rounded(float(value))}
            return
        places = np.linspace(energy.min(), energy.max(), num=len(self.names) + 2)[1:-1]
        width = float(np.clip(np.ptp(energy) / (4 * len(self.names)), *_widths(energy)))
        for name, place in zip(self.names, places, strict=True):
            start |= {f"{name}_A": 1.0, f"{name}_x0": float(place), f"{name}_F": width}
        ground = self._ground_text() if signs else ""  # between peaks and dips it is 0
        model = load_model(f"guess:\n{ground}{self._peaks_text()}", "guess")
        model.set_axes(energy)
        values = guess_values(model, _upright(self.spectrum, signs))
        for name, value in values.items():
            if name.endswith("_x0"):
                start[name] = on_axis(energy, value)
            elif name.endswith("_A"):
                at = np.argmin(np.abs(energy - values[name.replace("_A", "_x0")]))
                start[name] = rounded(math.copysign(value, signs or self.spectrum[at]))
            else:
                start[name] = rounded(signs * value if name.startswith("LinBack") else value)

    def _ground_text(self, level: str = "") -> str:
        """The background; `level` is the entry of one that is free at each time."""
        start, (low, high) = self.start, ends_of(self.energy)
        if self.has_loss:
            ground = component("Offset", {"y0": level or free(start["Offset_y0"])})
            return ground + component("Shirley", {"pShirley": free(start["Shirley_pShirley"], 0)})
        line = {"m": level or free(start["LinBack_m"]), "b": level or free(start["LinBack_b"])}
        return component("LinBack", {**line, "xStart": fixed(low), "xStop": fixed(high)})

    def _peaks_text(self, height: str = "", moved: Mapping[str, str] | None = None) -> str:
        """The peaks; `height` is the entry of heights that are free at each time. Other heights
        keep their sign: that of a line, or of a dip."""
        low, high = ends_of(self.energy)
        moved = moved or {}
        function, text = "GLSAsym" if self.skew else "GLP", ""
        for name in self.names:
            top = self.start[f"{name}_A"]
            entries = {
                "A": height or (free(top, None, 0) if top < 0 else free(top, 0)),
                "x0": free(self.start[f"{name}_x0"], low, high),
                "F": free(self.start[f"{name}_F"], *_widths(self.energy)),
                "m": free(0.3, 0, 1),
            }
            if self.skew:
                is_first = name == self.names[0]
                entries["a"] = free(self.skew) if is_first else f'["{function}_01_a"]'
            own = [key for key in moved if key.startswith(f"{name}_")]
            entries |= {key.removeprefix(f"{name}_"): moved[key] for key in own}
            text += component(function, entries)
        return text

    def _skew(self) -> float:
        """The asymmetry of all lines, per unit of energy; 0 where symmetric ones do."""
        if self.signs != 1 or not self.names:
            return 0.0
        noise = noise_of(self.spectrum) ** 2 * self.energy.size
        seen = (FAR * float(np.ptp(self.spectrum))) ** 2 * self.energy.size
        enough = max(ABOVE_NOISE * noise, seen)
        plain, _ = self._fitted(enough=enough)
        if plain < enough:
            return 0.0
        width = float(np.median([self.start[f"{name}_F"] for name in self.names]))
        tried = [self._fitted(sign * 0.3 / width) for sign in (1.0, -1.0)]
        best, theta = min(tried, key=lambda fit: fit[0])
        skew = float(theta[-1])
        is_skewed = best < FLANK * plain and 0.03 < abs(skew) * width < 1.5
        return rounded(skew) if is_skewed else 0.0

    def _fitted(self, skew: float | None = None, enough: float = 0.0) -> tuple[float, Array]:
        """The sum of squares of these lines at their best, or one that is `enough`, and the
        parameters. With `skew` all lines have an asymmetry, which starts there."""
        x, y = self.energy, self.spectrum
        start, low, high = list[float](), list[float](), list[float]()
        narrowest, widest = _widths(x)
        size = float(np.ptp(y)) or 1.0
        for name in self.names:
            at, fwhm = self.start[f"{name}_x0"], self.start[f"{name}_F"]
            start += [self.start[f"{name}_A"] / size, at, fwhm, 0.3]
            low += [0.0, at - fwhm, narrowest, 0.0]
            high += [math.inf, at + fwhm, widest, 1.0]
        first, last = levels(y)
        level = last if self.has_loss else min(first, last)
        start += [level / size, 0.0, self.start["Shirley_pShirley"] if self.has_loss else 0.0]
        ramp, loss = (1e-12, math.inf) if self.has_loss else (math.inf, 1e-12)
        low, high = [*low, -math.inf, -ramp, 0.0], [*high, math.inf, ramp, loss]
        if skew is not None:
            limit = 3.0 / narrowest
            start, low, high = [*start, skew], [*low, -limit], [*high, limit]
        count, has_loss = len(self.names), self.has_loss

        def slopes(theta: Array) -> tuple[Array, Array]:
            return lines_slopes(x, y / size, theta, count, has_loss)

        moves = np.full(len(start), math.inf)
        ends = np.array(low), np.array(high)
        theta = minimized(slopes, np.array(start), *ends, moves, 1e-3, enough / size**2)
        return float(np.sum(slopes(theta)[0] ** 2)) * size**2, theta


def _unread(places: Array) -> list[str]:
    """What is said of humps that got no peak."""
    if places.size == 0:
        return []
    subject = "1 more hump was" if places.size == 1 else f"{places.size} more humps were"
    return [
        f"{subject} seen, at {listed(places.tolist())}: add peaks, or take a part, "
        "--select energy=FROM:TO"
    ]


def least_points(n_peaks: int) -> int:
    """One more than parameters: two of the background, four of each peak."""
    return 4 * n_peaks + 3


def _signs(spectrum: Array) -> int:
    """1 for peaks that rise from a background, -1 for dips in it, 0 for both about zero."""
    first, last = levels(spectrum)
    by_noise = noise_of(spectrum) * math.sqrt(2.0 * math.log(spectrum.size))  # of its extremes
    above = max(float(spectrum.max()) - by_noise, 0.0)
    below = max(float(-spectrum.min()) - by_noise, 0.0)
    ground = min(abs(first), abs(last)) if first * last > 0.0 else 0.0
    reached = above if first > 0.0 else below  # by the background, if both ends are one
    weak = spectrum if above < below else -spectrum
    # A hump on the weak side rises from zero: more than half of what stands out is above it.
    inside = [hump for hump in humps(weak) if 0 < hump.top < weak.size - 1]
    has_sign = any(hump.smooth[hump.top] > GROUND * hump.prominence for hump in inside)
    if ground < GROUND * reached and (min(above, below) > DIPS * max(above, below) or has_sign):
        return 0
    off = spectrum - _line(spectrum)
    rises, dips = float(off.max()) - by_noise, float(-off.min()) - by_noise
    return -1 if dips > by_noise / 2 and rises <= DIPS * dips else 1


def _line(spectrum: Array) -> Array:
    """The straight line between the levels at which a spectrum begins and ends."""
    return np.linspace(*levels(spectrum), num=spectrum.size)


def _upright(spectrum: Array, signs: int) -> Array:
    """The spectrum with all of its peaks above the background."""
    return signs * spectrum if signs else np.abs(spectrum)


def _widths(energy: Array) -> tuple[float, float]:
    """Between which widths a peak can be told from a background."""
    span = float(np.ptp(energy))
    return rounded(min(2 * step_of(energy), span / 4)), rounded(span / 2)
