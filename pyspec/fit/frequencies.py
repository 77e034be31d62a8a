"""Starts of frequencies: χ² has an optimum in the frequency of an oscillation about every 1 / T,
with the length T of the times, and a fit ends at the one beside its start. Starts at random leave
gaps, and fall beside the same optimum again; here they are spread evenly, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pyspec.model.parts import groups_of_laws

#: Laws with a frequency, f.
OSCILLATING = ("sinFun", "dampedSinFun", "sinDivX")

#: Multiples of the golden section, without their whole parts, are spread evenly at any number.
GOLDEN = (5.0**0.5 - 1.0) / 2.0


def frequencies_of(problem: Any) -> list[str]:
    """The free parameters that are a frequency of an oscillation, in the order of the others."""
    found = set()
    for own, names in problem.named_files:
        groups = groups_of_laws(own.model, own.parameters)
        laws = [law for group in groups for law in group if law.op.name in OSCILLATING]
        found |= {names.get(p.name) for law in laws for p in law.parameters if p.argument == "f"}
    return [name for name in problem.names if name in found]


def evenly(generator: np.random.Generator, low: float, high: float) -> Iterator[float]:
    """Places between two bounds without end, spread evenly from a first one at random."""
    place = generator.uniform()
    while True:
        yield float(low + (high - low) * place)
        place = (place + GOLDEN) % 1.0
