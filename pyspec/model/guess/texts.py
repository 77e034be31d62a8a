"""Numbers and entries of a model's text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.model.guess.numerics import step_of

Array = npt.NDArray[np.float64]

#: Digits of start values.
DIGITS = 4


def ends_of(axis: Array) -> tuple[float, float]:
    return on_axis(axis, float(axis.min())), on_axis(axis, float(axis.max()))


def on_axis(axis: Array, value: float) -> float:
    """A place on an axis, to about a hundredth of a step."""
    return near(value, step_of(axis))


def near(value: float, step: float) -> float:
    """A value, to about a hundredth of a step."""
    return round(value, 2 - math.floor(math.log10(step))) + 0.0


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def free(value: float, low: float | None = None, high: float | None = None) -> str:
    """The entry of a free parameter."""
    if low is None and high is None:
        return f"[{value}, True]"
    ends = ["-.inf" if low is None else f"{low}", ".inf" if high is None else f"{high}"]
    return f"[{value}, True, {', '.join(ends)}]"


def fixed(value: float) -> str:
    return f"[{value}, False]"


def component(function: str, entries: Mapping[str, str], comment: str = "") -> str:
    """A component of a model."""
    head = f"  {function}:" + (f"  # {comment}" if comment else "")
    return "\n".join([head, *(f"    {key}: {value}" for key, value in entries.items())]) + "\n"


def listed(places: Sequence[float], most: int = 8) -> str:
    """Places as a sentence lists them."""
    shown = ", ".join(f"{place:.5g}" for place in places[:most])
    return shown + (", …" if len(places) > most else "")


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
