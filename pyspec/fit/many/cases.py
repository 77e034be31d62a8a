"""What each of many fits is of: measurements as they were given, or drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec._library.threads import Threads
from pyspec.fit.batch.cases import Bools, Case, Stack, as_doubles
from pyspec.model import Measurement

Array = npt.NDArray[np.float64]

Item = TypeVar("Item")

#: Numbers below which threads take longer to begin than to draw them.
LEAST = 1 << 15


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

    def given(self, k: int) -> Mapping[str, float]:
        return _at(self.seeds, k)

    @property
    def begin_alike(self) -> bool:
        return not any(self.seeds)

    def stack(
        self, places: Sequence[int], like: Measurement, n_threads: int = 1
    ) -> tuple[Stack, Bools]:
        if len(self.measurements) == 1:
            return _repeated(self.measurements[0], len(places)), np.ones(len(places), bool)
        given = [self.measurements[k] for k in places]
        shaped = [one for one in given if _is_shaped(one, like)]
        shared = [
            name
            for name in ("weight", "keep")
            if all(getattr(one, name) is getattr(like, name) for one in shaped)
        ]
        alike = np.array([_is_like(one, like, shared) for one in given])
        rows = [one if is_alike else like for one, is_alike in zip(given, alike, strict=True)]
        data = np.stack([as_doubles(np.asarray(one.data)) for one in rows])
        beside = [
            None if name in shared else _spread([getattr(one, name) for one in rows], data)
            for name in ("weight", "keep")
            if alike.any()
        ]
        return Stack(data, *beside), alike

    def part(self, places: slice) -> Given:
        """Those at some places."""
        return Given(_cut(self.measurements, places), _cut(self.seeds, places))


def _at(items: Sequence[Item], k: int) -> Item:
    return items[0 if len(items) == 1 else k]


def _cut(items: Sequence[Item], places: slice) -> Sequence[Item]:
    return items if len(items) == 1 else items[places]


def _repeated(one: Measurement, n: int) -> Stack:
    """The same measurement so many times."""
    data = as_doubles(np.asarray(one.data))
    return Stack(np.broadcast_to(data, (n, *data.shape)))


def _is_shaped(one: Measurement, like: Measurement) -> bool:
    """Whether two differ in nothing but their arrays, and the data have one shape."""
    same = all(
        getattr(one, name) == getattr(like, name)
        for name in ("rows", "columns", "loss", "loss_scale", "energy_step", "ends")
    )
    assert like.data is not None
    return same and type(one.data) is np.ndarray and one.data.shape == like.data.shape


def _is_like(one: Measurement, like: Measurement, shared: Sequence[str]) -> bool:
    """Whether two measurements differ only in the values of their arrays. Series may differ only in
    their data: C sums them in other ways if weights are constant along an axis."""
    return _is_shaped(one, like) and all(
        name in shared
        or (
            like.data is not None
            and like.data.ndim == 1
            and _have_shape(getattr(one, name), getattr(like, name))
        )
        for name in ("weight", "keep")
    )


def _have_shape(one: Any, other: Any) -> bool:
    return type(one) is type(other) is np.ndarray and one.shape == other.shape


def _spread(arrays: Sequence[Any], data: npt.NDArray[Any]) -> Any:
    """Weights or masks of spectra, for each point of their data (n, …)."""
    found = np.stack(arrays)
    return np.broadcast_to(found.reshape(len(data), -1), data.shape)


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

    def __len__(self) -> int:
        return len(self.numbers)

    def case(self, k: int) -> Case:
        """The k-th data that are drawn."""
        return replace(self.measurement, data=self._drawn(k)), self.seeds

    def given(self, k: int) -> Mapping[str, float]:
        return self.seeds

    @property
    def begin_alike(self) -> bool:
        return not self.seeds

    def stack(
        self, places: Sequence[int], like: Measurement, n_threads: int = 1
    ) -> tuple[Stack, Bools]:
        data = np.empty((len(places), *self._shape))

        def draw(n: int) -> None:
            self._draw(places[n], data[n])

        if n_threads > 1 and data.size > LEAST:
            with Threads(n_threads) as pool:
                list(pool.map(draw, range(len(places))))
        else:
            list(map(draw, range(len(places))))
        return Stack(data), np.ones(len(places), bool)

    @property
    def _shape(self) -> tuple[int, ...]:
        assert self.measurement.data is not None
        return self.measurement.data.shape

    def _drawn(self, k: int) -> Array:
        data = np.empty(self._shape)
        self._draw(k, data)
        return data

    def _draw(self, k: int, data: Array) -> None:
        """Draws the k-th data into memory of its own."""
        # Most of the time of a bootstrap; SFC64 takes a sixth less of it than the default.
        generator = np.random.Generator(np.random.SFC64([self.seed, self.numbers[k]]))
        window = self.measurement.window(data)
        if window.size < data.size:
            data[...] = self.measurement.data
        if self.residuals is None and self.sigma is not None and window.flags.c_contiguous:
            drawn = window.reshape(self.expected.shape)
            generator.standard_normal(out=drawn)
        elif self.residuals is not None:
            drawn = generator.choice(self.residuals, self.expected.shape)
        elif self.sigma is not None:
            drawn = generator.standard_normal(self.expected.shape)
        else:
            scale = self.measurement.loss_scale
            drawn = generator.poisson(np.maximum(self.expected, 0.0) * scale) / scale
        if self.sigma is not None:
            drawn *= self.sigma
            drawn += self.expected
        if not np.may_share_memory(drawn, data):
            window[...] = drawn.reshape(window.shape)

    def part(self, places: slice) -> Drawn:
        """Those at some places."""
        return replace(self, numbers=self.numbers[places])
