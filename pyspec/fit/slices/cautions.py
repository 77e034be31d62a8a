"""What the fits of slices caution about, each kind of caution once."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
#: A law below this part of the values is 0, and a value beyond so many standard errors is not.
_ZERO, _SURE = 1e-6, 5.0
#: A number, but not that of a component, as in Gauss_02_SD.
_NUMBER = re.compile(r"(?<!\w)[+-]?\d[\d.]*(?:e[+-]?\d+)?")


def gathered(found: Iterable[tuple[float, tuple[str, ...]]], n_slices: int) -> tuple[str, ...]:
    """Sentences of (time, cautions) of each slice; those that differ in numbers alone are one,
    with the words of the first."""
    first: dict[str, tuple[float, str]] = {}
    counts: dict[str, int] = {}
    for time, sentences in found:
        for kind, sentence in {_NUMBER.sub("#", one): one for one in sentences}.items():
            first.setdefault(kind, (time, sentence))
            counts[kind] = counts.get(kind, 0) + 1
    return tuple(
        f"in {counts[kind]} of {n_slices} slices, the first at {time:g}: {sentence}"
        for kind, (time, sentence) in first.items()
    )


def of_motion_alone(name: str, values: Array, stderr: Array, law: Array) -> tuple[str, ...]:
    """A sentence where a law, at the times of the values, is 0 before its onset, and the parameter
    `name` is not: it is the law of a motion, without the value that moves."""
    early = np.cumsum(np.abs(law) > _ZERO * np.abs(values).max()) == 0
    if not early.any() or not (np.abs(values[early]) > _SURE * stderr[early]).all():
        return ()
    value = f"{np.median(values[early]):.4g}"
    return (
        f"the law is 0 before its onset, where {name} is {value}: it is that of a motion alone; "
        f"write the value above it, constFun: {{A: [{value}, True]}}",
    )
