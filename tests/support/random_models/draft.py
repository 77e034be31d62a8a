"""What a model is drawn from: scales, axes, start values that make sense."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


#: What lies in units of the energy axis and is positive.
WIDTHS = ("SD", "F", "W", "w")


@dataclass
class Slot:
    """One parameter before it has a value.

    `role` is "energy", "quantity", "profile" or "law" (laws and kernels, that must not change);
    `moved` is whether it has dynamics, `profiled` whether it has a profile: then it needs a
    value of its own.
    """

    name: str
    argument: str
    function: str
    role: str
    target: str = ""
    subcycle: int = 0
    moved: bool = False
    profiled: bool = False
    amplitude: float = 1.0  # how far a law moves its target
    nominal: float = 0.0
    positive: bool = False
    value: float = math.nan
    spec: str = ""
    uses: tuple[str, ...] = ()


@dataclass
class Draft:
    """The state of one model that is being drawn."""

    rng: random.Random
    kind: str
    features: set[str] = field(default_factory=set)
    height: float = 1.0
    energy: Any = None
    time: Any = None
    aux: Any = None
    aux_weights: Any = None
    slots: dict[str, Slot] = field(default_factory=dict)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def sign(self, negative: float = 0.5) -> float:
        """-1 with the probability `negative`, else 1."""
        return -1.0 if self.chance(negative) else 1.0

    def closure(self, slot: Slot) -> list[Slot]:
        """The slot and all that its expression follows."""
        found, waiting = [], [slot]
        while waiting:
            current = waiting.pop()
            found.append(current)
            waiting += [self.slots[name] for name in current.uses]
        return found

    @property
    def span(self) -> tuple[float, float]:
        """Start and length of the energy axis; a length of 1 for a single point."""
        return _span(self.energy)

    @property
    def duration(self) -> tuple[float, float]:
        """Start and length of the time axis."""
        return _span(self.time)


def _span(axis: Any) -> tuple[float, float]:
    if axis is None:
        return 0.0, 1.0
    low, high = float(np.min(axis)), float(np.max(axis))
    return low, (high - low) or abs(low) / 10.0 or 1.0


def rounded(value: float, digits: int = 6) -> float:
    """As many digits as a person would write."""
    return float(f"{value:.{digits}g}")


def draw_axis(draft: Draft, what: str, sizes: tuple[int, int], start: float, length: float) -> Any:
    """An axis that is uniform, not uniform, or a single point; energy may descend."""
    rng = draft.rng
    n = 1 if draft.chance(0.06) else rng.randint(*sizes)
    start, length = start + length * rng.random(), length * (1.0 + 0.2 * rng.random())
    if n == 1:
        draft.features.add(f"axis:{what} single")
        return np.array([start + length * rng.random()])
    if draft.chance(0.45):
        draft.features.add(f"axis:{what} uneven")
        steps = np.array([rng.uniform(0.2, 1.8) ** 2 for _ in range(n - 1)])
        axis = start + length * np.concatenate([[0.0], np.cumsum(steps) / steps.sum()])
    else:
        draft.features.add(f"axis:{what} uniform")
        axis = np.linspace(start, start + length, n)
        if draft.chance(0.2):  # steps that are exact, as instruments write them
            step = 2.0 ** math.floor(math.log2(length / n))
            first = math.floor(start / step) + 0.25
            axis = np.asarray((np.arange(n) + first) * step, dtype=np.float64)
    if what == "energy" and draft.chance(0.3):
        draft.features.add("axis:energy descending")
        return axis[::-1]
    return axis


def draw_axes(draft: Draft) -> None:
    """Axes and scales: units may be eV or counts, seconds or femtoseconds."""
    rng = draft.rng
    draft.height = rng.choice([1.0, 10.0, 10.0, 100.0, 1e-4, 1e9]) * rng.uniform(0.5, 2.0)
    if draft.kind != "TIME_1D":
        unit = rng.choice([1.0, 1.0, 1.0, 1.0, 1e-3, 1e6])
        start = unit * rng.uniform(-20.0, 100.0)
        sizes = (2, 12) if draft.chance(0.9) else (60, 90)
        draft.energy = draw_axis(draft, "energy", sizes, start, unit * rng.uniform(4.0, 20.0))
    if draft.kind != "1D":
        unit = rng.choice([1.0, 1.0, 1.0, 1.0, 1e-15, 1e3])
        length = unit * rng.uniform(5.0, 100.0)
        sizes = (2, 10) if draft.chance(0.9) else (18, 26)
        axis = draw_axis(draft, "time", sizes, 0.0, 1.0)
        draft.time = (axis - rng.uniform(0.3, 1.5)) * length


def nominal(draft: Draft, slot: Slot) -> tuple[float, float]:
    """A start value, and how far dynamics may move it."""
    rng, argument, function = draft.rng, slot.argument, slot.function
    if slot.role == "law":
        value = _law_value(draft, slot)
        return value, 0.3 * abs(value)
    if slot.role == "profile":
        value = _profile_value(draft, slot)
        return value, 0.3 * abs(value)
    low, span = draft.span
    up = rng.uniform
    height = draft.height
    if slot.role == "quantity":
        value = up(0.1, 3.0) * draft.sign()
        return value, 0.3 * abs(value)
    if function == "LinBack":
        return {
            "m": (height / span * up(-0.3, 0.3), 0.1 * height / span),
            "b": (height * up(-0.2, 0.5), 0.2 * height),
            "xStart": (low + span * up(-0.1, 0.4), 0.05 * span),
            "xStop": (low + span * up(0.6, 1.1), 0.05 * span),
        }[argument]
    if argument in ("mBelow", "mAbove"):
        return height / span * up(-0.3, 0.3), 0.1 * height / span
    if argument in ("B", "C", "D"):  # losses of the size of the axis, some of the electrons
        square = (0.3 * span) ** 2
        value = square * {"B": up(-0.1, 0.2), "C": up(0.5, 2.0), "D": up(1.0, 5.0)}[argument]
        return value, 0.2 * abs(value)
    if argument == "T":
        kelvin = 11604.5 * span  # its kT is the span
        return kelvin * up(0.02, 0.1), 0.01 * kelvin
    if argument in ("c1", "c2", "c3"):
        value = height / span ** int(argument[1]) * up(-0.3, 0.3)
        return value, 0.3 * abs(value)
    if argument == "x0" and slot.positive:
        return span * up(0.5, 1.5), 0.1 * span
    width = span * up(0.05, 0.3)
    if argument == "xi":
        value = span * up(0.05, 2.0) * draft.sign()
        return value, 0.2 * abs(value)
    if argument == "A" and function == "Mahan":  # an area
        value = span * height * up(0.1, 0.4)
        return value, 0.4 * abs(value)
    if argument == "A":
        value = height * up(0.5, 2.0) * draft.sign(0.1)
        return value, 0.4 * abs(value)
    if argument == "W" and function == "Voigt" and draft.chance(0.1):
        return 0.0, width
    if argument in WIDTHS:
        return width, 0.2 * width
    if argument == "m":
        return rng.choice([0.0, 1.0, up(0, 1), up(0, 1), up(0, 1), up(0, 1)]), 0.1
    known = {
        "x0": low + span * up(0.1, 0.9),
        "ratio": up(0.4, 2.5),
        "alpha": up(0.3, 1.5) if slot.positive else up(0.0, 0.5),
        "a": up(-5.0, 5.0) / span,
        "k": up(-3.0, 3.0) / span,
        "y0": height * up(-0.2, 0.5),
        "left": height * up(-0.2, 0.5),
        "right": height * up(-0.2, 0.5),
        "pShirley": up(0.0, 0.05),
    }
    value = known.get(argument, up(0.05, 0.6) if slot.positive else up(-0.5, 0.5))
    motion = {
        "x0": 0.1 * span,
        "alpha": 0.1,
        "y0": 0.3 * height,
        "left": 0.3 * height,
        "right": 0.3 * height,
    }.get(argument, 0.2 * abs(value))
    return value, motion


def _law_value(draft: Draft, slot: Slot) -> float:
    up, (start, length) = draft.rng.uniform, draft.duration
    amplitude, function, argument = slot.amplitude, slot.function, slot.argument
    if argument == "share":
        return up(-0.3, 0.6)
    if argument == "shift":
        return length * up(-0.1, 0.1)
    if function.endswith("CONV") or function == "gaussIRF":
        return float(length * 10.0 ** up(-2.5, -0.4))
    if argument == "t0":
        return start + length * up(-0.2, 0.8)
    if argument in ("tau", "SD"):
        return length * up(0.05, 0.8)
    if argument == "f":
        return up(0.2, 3.0) / length * draft.sign(0.1)
    if argument == "phi":
        return up(-4.0, 4.0)
    value = amplitude * up(0.2, 1.0) * draft.sign()
    if argument == "m":
        return value / length
    if function == "sqrtFun" and argument == "A":
        return value / math.sqrt(length)
    return value * (0.5 if argument == "y0" else 1.0)


def _profile_value(draft: Draft, slot: Slot) -> float:
    up = draft.rng.uniform
    low, length = _span(draft.aux)
    if slot.argument in ("tau", "SD"):
        return length * up(0.4, 2.0)
    if slot.argument == "x0":
        return low + length * up(0.0, 1.0)
    value = slot.amplitude * up(0.2, 1.0) * draft.sign()
    return value / length if slot.argument == "m" else value
