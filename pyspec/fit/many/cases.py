"""What each of many fits is of: measurements as they were given, or drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.fit.batch.batch import Case
from pyspec.model import Measurement

Array = npt.NDArray[np.float64]

Item = TypeVar("Item")


@dataclass(frozen=True)
class Given:
    """Measurements with their start values; of one or the other there may be one for all."""

    measurements: Sequence[Measurement]
    seeds: Sequence[Mapping[str, float]]

    def __len__(self) -> int:
        return max(len(self.measurements), len(self.seeds))

    def case(self, k: int) -> Case:
        """The k-th of both."""
        return _at(self.measurements, k), _at(self.seeds, k)

    def part(self, places: slice) -> Given:
        """Those at some places."""
        return Given(_cut(self.measurements, places), _cut(self.seeds, places))


def _at(items: Sequence[Item], k: int) -> Item:
    return items[0 if len(items) == 1 else k]


def _cut(items: Sequence[Item], places: slice) -> Sequence[Item]:
    return items if len(items) == 1 else items[places]


@dataclass(frozen=True)
class Drawn:
    """Data that might have been measured in place of those that were.

    Attributes
    ----------
    measurement : what was fitted
    expected : the model at the best fit, over the window
    sigma : (…) standard deviations over the window, for noise that is drawn; of counts None
    residuals : (n,) residuals in units of sigma, to be drawn from; None where noise is drawn
    seeds : start values
    seed : of the random numbers; each fit has a stream of its own
    numbers : of the fits
    """

    measurement: Measurement
    expected: Array
    sigma: Array | None
    residuals: Array | None
    seeds: Mapping[str, float]
    seed: int
    numbers: Sequence[int]

    def case(self, k: int) -> Case:
        """The k-th data that are drawn."""
        generator = np.random.default_rng([self.seed, self.numbers[k]])
        if self.residuals is not None:
            assert self.sigma is not None
            noise = generator.choice(self.residuals, self.expected.shape)
            drawn = self.expected + self.sigma * noise
        elif self.sigma is not None:
            drawn = self.expected + self.sigma * generator.normal(size=self.expected.shape)
        else:
            scale = self.measurement.loss_scale
            drawn = generator.poisson(np.maximum(self.expected, 0.0) * scale) / scale
        data = np.array(self.measurement.data, np.float64)
        self.measurement.window(data)[...] = drawn.reshape(self.measurement.window(data).shape)
        return replace(self.measurement, data=data), self.seeds

    def part(self, places: slice) -> Drawn:
        """Those at some places."""
        return replace(self, numbers=self.numbers[places])
