"""The first model of a trace over time: laws that stand out of it, at what can be read off."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pyspec.model.guess.laws import Laws
from pyspec.model.guess.numerics import step_at
from pyspec.model.guess.texts import component, fixed, free, near, rounded

Array = npt.NDArray[np.float64]

#: From so few values no law is read off.
LEAST = 5

SAME_ONSET = "one time zero for all laws"
BEHIND = "below it laws are behind it"
SHARP = (
    "The onset is sharper than the steps of the axis: the width of the instrument is fixed; put in "
    "the one you know"
)
NO_ONSET = "No onset is seen within the trace: its laws begin with it"
NO_LAW = (
    "No change stands out of the noise: a constant alone. 'pyspec ops' lists laws, those of "
    "kind dynamics"
)


def notes_of(laws: Laws) -> list[str]:
    """What to know of the laws of a trace."""
    if not (laws.decays or laws.swing or laws.step is not None):
        return [NO_LAW] if laws.slope is None else []
    if laws.SD is None:
        return [NO_ONSET]
    return [SHARP] if laws.is_sharp and _has_instrument(laws) else []


def _has_instrument(laws: Laws) -> bool:
    """Whether laws are convolved with the instrument. An oscillation alone begins sharply, with its
    full height at the first time."""
    is_seen = laws.step is not None or bool(laws.decays) or not laws.is_sharp
    return laws.SD is not None and is_seen


def laws_text(name: str, laws: Laws, time: Array, *, is_motion: bool = False) -> str:
    """A model of these laws as YAML; of what `is_motion` the level is a parameter of its own."""
    step, span = step_at(time, laws.t0), float(np.ptp(time))
    taus = [tau for _, tau in laws.decays]
    fastest = rounded(min([step / 10, *(tau / 2 for tau in taus)]))
    slowest = rounded(max([30 * span, *(2 * tau for tau in taus)]))
    onset = Onset(laws.t0, laws.SD, step, f"  # {SAME_ONSET}")
    parts: list[tuple[str, Mapping[str, str], str]] = []
    if not is_motion:
        parts.append(("constFun", {"A": free(rounded(laws.level))}, ""))
    if laws.slope is not None:
        first = near(float(time[0]) - 0.01 * step, step)  # the line is 0 before it
        parts.append(("linFun", {"m": free(rounded(laws.slope)), "t0": f"[{first}, False]"}, ""))
    if laws.SD is not None and _has_instrument(laws):
        sd = fixed(rounded(laws.SD))
        if not laws.is_sharp:
            sd = free(rounded(laws.SD), rounded(step / 20), rounded(span / 2))
        parts.append(("gaussIRF", {"SD": sd}, BEHIND))
    if laws.step is not None:
        parts.append(("stepFun", {"A": free(rounded(laws.step)), "t0": onset.t0("stepFun_01")}, ""))
    for number, (height, tau) in enumerate(laws.decays, 1):
        decay = {"A": free(rounded(height)), "tau": free(rounded(tau), fastest, slowest)}
        parts.append(("expFun", decay | {"t0": onset.t0(f"expFun_{number:02}")}, ""))
    if laws.swing is not None:
        height, f, phi, tau = laws.swing
        wave = {
            "A": free(rounded(height), 0),
            "f": free(rounded(f), rounded(f / 2), rounded(2 * f)),
        }
        wave["phi"] = free(rounded(phi))
        if math.isfinite(tau):
            wave["tau"] = free(rounded(tau), fastest, slowest)
        function = "dampedSinFun" if math.isfinite(tau) else "sinFun"
        parts.append((function, wave | {"t0": onset.t0(f"{function}_01", is_free=False)}, ""))
    return f"{name}:\n" + "".join(component(*part) for part in parts)


class Onset:
    """The one time zero of all laws, behind an instrument of this SD, None where none is seen. The
    first law that asks has the parameter; the others have the `entry` that follows it."""

    def __init__(self, place: float, sd: float | None, step: float, comment: str = "") -> None:
        self.place, self.sd, self.step, self.comment = place, sd, step, comment
        self.entry = ""

    def t0(self, name: str, is_free: bool = True) -> str:
        """The entry of t0 of the law `name`."""
        if self.entry:
            return self.entry
        self.entry, place = f'["{name}_t0"]{self.comment}', self.place
        zero = near(place, self.step)
        if self.sd is None and zero > place:  # laws are 0 before it: the first value too
            zero = near(place - 0.01 * self.step, self.step)
        if self.sd is None or not is_free:
            return fixed(zero)
        reach = 5 * (self.step + self.sd)
        return free(zero, near(place - reach, self.step), near(place + reach, self.step))
