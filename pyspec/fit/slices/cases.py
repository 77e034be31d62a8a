"""The slices of a series, which are fitted one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pyspec.fit.batch.batch import Batch, Case
from pyspec.fit.result import FitResult
from pyspec.fit.slices.results import SliceFit
from pyspec.model import Measurement
from pyspec.model.measurement import row_of


@dataclass(frozen=True)
class Slices:
    """The slices of a series, with values by name in place of those of the model, or none."""

    series: Measurement
    seeds: Sequence[Mapping[str, float]]

    def case(self, place: int) -> Case:
        row = row_of(self.series, self._begin + place)
        return row, self.seeds[place] if self.seeds else {}

    @property
    def _begin(self) -> int:
        return 0 if self.series.rows is None else self.series.rows[0]

    def part(self, places: slice) -> Slices:
        series, rows = self.series, slice(self._begin + places.start, self._begin + places.stop)
        assert series.data is not None
        weight = series.weight
        if weight is not None:
            weight = np.broadcast_to(weight, series.data.shape)[rows]
        keep = None if series.keep is None else series.keep[rows]
        cut = replace(series, data=series.data[rows], rows=None, weight=weight, keep=keep)
        return Slices(cut, self.seeds[places])


@dataclass
class SliceBatch(Batch[SliceFit]):
    """The slices of a series, which are these `rows` of its data."""

    rows: Sequence[int] = ()

    fit_type: ClassVar[str] = "slice"
    plural: ClassVar[str] = "slices"

    def kept(self, number: int, status: str, message: str, result: FitResult | None) -> SliceFit:
        return SliceFit(number, self.rows[number], status, message, result)
