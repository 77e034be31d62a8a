"""What the fits of slices caution about, each kind of caution once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pyspec.fit.doubts.scatter import BY_CHANCE, CHANCE

Array = npt.NDArray[np.float64]
#: A law below this part of the values is 0, and a value beyond so many standard errors is not.
_ZERO, _SURE = 1e-6, 5.0
#: Errors follow the values of a parameter where the steps of both from slice to slice are alike by
#: so many standard deviations of their correlation.
_FOLLOWS = 5.0
#: A constant that is off by less of its standard error is right enough.
_ENOUGH = 1.0
#: Chance alone gives a caution to so many slices in less than this share of series.
_SELDOM = 1e-3
#: A number, but not that of a component, as in Gauss_02_SD.
NUMBER = re.compile(r"(?<!\w)[+-]?\d[\d.]*(?:e[+-]?\d+)?")


#: Names, one after the other; and at which of its bounds a parameter lies.
_NAMES = re.compile(r"@(?:, @)*(?: and @)?")
_SIDE = re.compile(r"\((min|max) ")


def gathered(
    found: Iterable[tuple[float, tuple[str, ...]]], n_slices: int, names: Iterable[str] = ()
) -> tuple[str, ...]:
    """Sentences of (time, cautions) of each slice; those that differ in numbers, in `names` of
    parameters and their components, or in the side of a bound are one, with the words of the first,
    and with the number of slices by parameter where they are about several;
    a slice counts for each parameter that its sentence lists. Of tests at a level of
    chance, so many of so many slices as that level lets expect are said to be no more than that."""
    first: dict[str, tuple[float, str]] = {}
    counts: dict[str, Counter[str]] = {}
    pattern = _pattern(names)
    listed = re.compile(rf"{pattern.pattern}(?:(?:, | and ){pattern.pattern})*")
    for time, sentences in found:
        seen: dict[str, dict[str, None]] = {}
        for sentence in sentences:
            kind, about = _kind_of(sentence, pattern, listed)
            first.setdefault(kind, (time, sentence))
            seen.setdefault(kind, {}).update(dict.fromkeys(about))
        for kind, names_told in seen.items():
            counts.setdefault(kind, Counter()).update([_SLICES, *names_told])
    return tuple(
        f"in {counts[kind][_SLICES]} of {n_slices} slices"
        f"{_may_be_chance(kind, counts[kind][_SLICES], n_slices)}, "
        f"the first at {time:g}: {sentence}{_by_parameter(counts[kind])}"
        for kind, (time, sentence) in first.items()
    )


#: What counts the slices of a kind, beside what its sentences are about.
_SLICES = "slices"


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds names of parameters and components in sentences; not those that may be plain words."""
    known = {one for name in names for one in (name, name.rpartition("_")[0])}
    told = sorted((one for one in known if re.search(r"[_\d]", one)), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, told)) or '(?!)'})(?!\w)")


def _kind_of(
    sentence: str, names: re.Pattern[str], listed: re.Pattern[str]
) -> tuple[str, list[str]]:
    """A sentence without its numbers, names and sides, and what it is about: the names that are
    `listed` first, and the side of a bound."""
    told, side = listed.search(sentence), _SIDE.search(sentence)
    where = f" ({side[1]})" if side else ""
    about = [] if told is None else [one + where for one in names.findall(told[0])]
    kind = _NAMES.sub("@", names.sub("@", NUMBER.sub("#", sentence)))
    return (kind if told is None else _SIDE.sub("(", kind)), about


def _by_parameter(counts: Counter[str]) -> str:
    """In how many slices which parameters have a caution, "" for one."""
    named = [(one, n) for one, n in counts.most_common() if one != _SLICES]
    if len(named) < 2:
        return ""
    return f"; one by one: {', '.join(f'{one} in {n}' for one, n in named)}"


def _may_be_chance(kind: str, count: int, n_slices: int) -> str:
    """That chance gives so many slices such a caution, "" where it hardly does: each has it with
    the probability :data:`CHANCE`, so that their number is that of a binomial distribution."""
    if not kind.startswith(BY_CHANCE):
        return ""
    from scipy.special import bdtrc  # takes longer to import than a fit

    return " (no more than chance may give)" if bdtrc(count - 1, n_slices, CHANCE) > _SELDOM else ""


def of_following_errors(name: str, values: Array, stderr: Array) -> tuple[str, ...]:
    """A sentence where standard errors follow the values, as those of a height of counts, or of a
    width, do: slices that are low by chance then count more. With the slope β of σ² by the value
    each slice pulls a weighted mean by -β, and its standard error is 1 / sqrt(Σ 1 / σ²). β is that
    of steps from slice to slice, in which what really moves has little part."""
    steps, of_errors = np.diff(values), np.diff(stderr**2)
    sizes = float(steps @ steps), float(of_errors @ of_errors)
    if steps.size < _FOLLOWS**2 / 2 or not min(sizes) > 0.0:
        return ()
    together = float(steps @ of_errors)
    # Neighbouring steps have a slice in common, so that 1.5 of them tell as much as one.
    alike = together / np.sqrt(sizes[0] * sizes[1]) * np.sqrt(steps.size / 1.5)
    off = together / sizes[0] * float(np.sqrt(np.sum(1.0 / stderr**2)))
    if abs(alike) < _FOLLOWS or abs(off) < _ENOUGH:
        return ()
    side = "low" if off > 0 else "high"
    return (
        f"the standard errors of {name} follow its values: slices that are {side} by chance have "
        f"small ones and count more, so that what is fitted comes out too {side}, a constant by "
        f"up to {abs(off):.2g} of its standard errors; fit all spectra at once, with these laws as "
        "dynamics of the parameter (fit_2d)",
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
