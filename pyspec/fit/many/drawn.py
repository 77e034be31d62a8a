"""Data that are drawn anew for each fit of a bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, ISA, LIBRARY, raise_status
from pyspec._library.memory import address
from pyspec.executor.laid import Arrays
from pyspec.fit.batch.cases import Bools
from pyspec.model import Measurement

Array = npt.NDArray[np.float64]

_ISA = CONSTANTS[f"ISA_{ISA}"]


@dataclass(frozen=True)
class Drawn:
    """Data that might have been measured in place of those that were.

    Attributes
    ----------
    measurement : what was fitted
    expected : the model at the best fit, over the window
    sigma : (…) standard deviations over the window, for noise that is drawn; of counts None
    residuals : (n,) residuals in units of sigma, to be drawn from; None where noise is drawn
    seed : of the random numbers; each fit has a stream of its own
    n : how many
    """

    measurement: Measurement
    expected: Array
    sigma: Array | None
    residuals: Array | None
    seed: int
    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, key: int, /) -> Measurement:
        data = np.empty(self._shape)
        self._draw(key, data)
        return replace(self.measurement, data=data)

    def arrays(self, places: range, like: Measurement) -> tuple[Arrays, Bools]:
        """As of :meth:`pyspec.fit.batch.cases.Measured.arrays`."""
        data = np.empty((len(places), *self._shape))
        for k, own in zip(places, data, strict=True):
            self._draw(k, own)
        return Arrays(data), np.ones(len(places), bool)

    @property
    def _shape(self) -> tuple[int, ...]:
        assert self.measurement.data is not None
        return self.measurement.data.shape

    def _draw(self, k: int, data: Array) -> None:
        """Draws the k-th data into memory of its own."""
        words = np.random.SeedSequence([self.seed, k])
        generator = np.random.Generator(np.random.SFC64(words))
        window, expected, sigma = self.measurement.window(data), self.expected, self.sigma
        if window.size < data.size:
            data[...] = self.measurement.data
        if sigma is None:
            scale = self.measurement.loss_scale
            drawn = generator.poisson(np.maximum(expected, 0.0) * scale) / scale
        elif self.residuals is not None:
            drawn = generator.choice(self.residuals, expected.shape) * sigma + expected
        else:
            drawn = window if window.flags.c_contiguous else np.empty(expected.shape)
            state = words.generate_state(64, np.uint64)
            arrays = (address(array) for array in (drawn, expected, sigma))
            raise_status(-LIBRARY.pyspec_normals(_ISA, *arrays, drawn.size, address(state)))
        if drawn is not window:
            window[...] = drawn.reshape(window.shape)
