"""What the fits of a batch are of, one by one and side by side in arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pyspec.model import Measurement

#: A measurement, and values by name in place of those of the model.
Case = tuple[Measurement, Mapping[str, float]]

Bools = npt.NDArray[np.bool_]


class Stack(NamedTuple):
    """Data of cases (n, …), as numbers of 8 bytes; their weights and masks where they differ."""

    data: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64] | None = None
    keep: Bools | None = None

    def at(self, k: int) -> Stack:
        """The arrays of one case."""
        data, *beside = (None if one is None else one[k] for one in self)
        return Stack(data, *beside)  # type: ignore[arg-type]


class Cases(Protocol):
    """What each fit of a batch is of."""

    def __len__(self) -> int: ...
    def case(self, place: int) -> Case:
        """The measurement at a place, which is looked at, and its values."""

    def given(self, place: int) -> Mapping[str, float]:
        """These values alone."""

    @property
    def begin_alike(self) -> bool:
        """Whether all have the values of the model."""

    def part(self, places: slice) -> Cases:
        """Those at some places."""

    def stack(
        self, places: Sequence[int], like: Measurement, n_threads: int = 1
    ) -> tuple[Stack, Bools]:
        """The arrays of cases that follow each other; nobody has looked at their values. And which
        cases differ from a measurement in these alone; others have any values. What takes long is
        shared by so many threads."""


def as_doubles(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The same values as numbers of 8 bytes."""
    return np.asarray(array, dtype=np.float64)
