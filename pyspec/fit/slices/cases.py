"""The slices of a series, which are fitted one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pyspec.fit.batch.batch import Batch
from pyspec.fit.batch.cases import Bools, Case, Stack, as_doubles
from pyspec.fit.batch.solved import Solved
from pyspec.fit.results.result import FitResult
from pyspec.fit.slices.results import SliceFit
from pyspec.model import Measurement
from pyspec.model.data.checksum import checksums
from pyspec.model.data.measurement import row_of


@dataclass(frozen=True)
class Slices:
    """The slices of a series, with values by name in place of those of the model, or none."""

    series: Measurement
    seeds: Sequence[Mapping[str, float]]

    def __len__(self) -> int:
        begin, end = self._rows
        return end - begin

    def case(self, place: int) -> Case:
        return row_of(self.series, self._rows[0] + place), self.given(place)

    def given(self, place: int) -> Mapping[str, float]:
        return self.seeds[place] if self.seeds else {}

    @property
    def begin_alike(self) -> bool:
        return not any(self.seeds)

    def stack(
        self, places: Sequence[int], like: Measurement, n_threads: int = 1
    ) -> tuple[Stack, Bools]:
        weight, keep = self.series.weight, self.series.keep
        if weight is not None:
            weight = self.rows_of(
                places, np.broadcast_to(weight, np.asarray(self.series.data).shape)
            )
        keep = None if keep is None else self.rows_of(places, keep)
        return Stack(as_doubles(self.rows_of(places)), weight, keep), np.ones(len(places), bool)

    def rows_of(self, places: Sequence[int], array: Any = None) -> npt.NDArray[Any]:
        """The rows at places that follow each other, of the data or of another array."""
        given = self.series.data if array is None else array
        assert given is not None
        begin = self._rows[0] + places[0]
        return np.asarray(given[begin : begin + len(places)])

    @property
    def _rows(self) -> tuple[int, int]:
        assert self.series.data is not None
        return self.series.rows or (0, len(self.series.data))

    def part(self, places: slice) -> Slices:
        series, begin = self.series, self._rows[0]
        rows = slice(begin + places.start, begin + places.stop)
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

    def checksums(self, places: range) -> Sequence[int]:
        assert isinstance(self.cases, Slices)
        return checksums(self.cases.rows_of(places))

    def made(self, number: int, solved: Solved, place: int) -> SliceFit:
        result = self.result_of(number, solved, place)
        return self.kept(number, solved.status(place), result.message, result)
