"""What the fits of slices caution about, each kind of caution once."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pyspec.fit.doubts.scatter import BY_CHANCE, CHANCE

Array = npt.NDArray[np.float64]
#: A law below this part of the values is 0, and a value beyond so many standard errors is not.
_ZERO, _SURE = 1e-6, 5.0
#: Chance alone gives a caution to so many slices in less than this share of series.
_SELDOM = 1e-3
#: A number, but not that of a component, as in Gauss_02_SD.
_NUMBER = re.compile(r"(?<!\w)[+-]?\d[\d.]*(?:e[+-]?\d+)?")


def gathered(found: Iterable[tuple[float, tuple[str, ...]]], n_slices: int) -> tuple[str, ...]:
    """Sentences of (time, cautions) of each slice; those that differ in numbers alone are one,
    with the words of the first. Of tests at a level of chance, so many of so many slices as that
    level lets expect are said to be no more than that."""
    first: dict[str, tuple[float, str]] = {}
    counts: dict[str, int] = {}
    for time, sentences in found:
        for kind, sentence in {_NUMBER.sub("#", one): one for one in sentences}.items():
            first.setdefault(kind, (time, sentence))
            counts[kind] = counts.get(kind, 0) + 1
    return tuple(
        f"in {counts[kind]} of {n_slices} slices{_may_be_chance(kind, counts[kind], n_slices)}, "
        f"the first at {time:g}: {sentence}"
        for kind, (time, sentence) in first.items()
    )


def _may_be_chance(kind: str, count: int, n_slices: int) -> str:
    """That chance gives so many slices such a caution, "" where it hardly does: each has it with
    the probability :data:`CHANCE`, so that their number is that of a binomial distribution."""
    if not kind.startswith(BY_CHANCE):
        return ""
    from scipy.special import bdtrc  # takes longer to import than a fit

    return " (no more than chance may give)" if bdtrc(count - 1, n_slices, CHANCE) > _SELDOM else ""


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
