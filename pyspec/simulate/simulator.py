"""Simulator: a model plus noise, reproducibly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, suggest
from pyspec.model import Model

Array = npt.NDArray[np.float64]

NOISE_TYPES = ("gaussian", "none")


class Simulator:
    """Noisy data from a model on its axes.

    Parameters
    ----------
    model : with its axes set
    noise_level : standard deviation of the noise in units of the largest absolute value
    noise_type : "gaussian" or "none"
    seed : of the random numbers; the same seed gives the same data
    """

    def __init__(
        self,
        model: Model,
        *,
        noise_level: float = 0.05,
        noise_type: str = "gaussian",
        seed: int | None = None,
    ) -> None:
        if noise_type not in NOISE_TYPES:
            hint = suggest(str(noise_type), list(NOISE_TYPES))
            raise DataError(f"noise_type must be one of {NOISE_TYPES}, not {noise_type!r}{hint}")
        if not (np.isfinite(noise_level) and noise_level >= 0):
            raise DataError(f"noise_level must be finite and not negative, not {noise_level!r}")
        self.model = model
        self.noise_level = float(noise_level)
        self.noise_type = noise_type
        self._generator = np.random.default_rng(seed)

    def clean(self) -> Array:
        """The model without noise, on its axes."""
        return self.model.evaluate()

    def simulate(self) -> tuple[Array, Array, Array]:
        """(clean, noisy, noise), each of the model's shape."""
        clean = self.clean()
        noise = np.zeros(clean.shape)
        if self.noise_type == "gaussian":
            scale = self.noise_level * float(np.abs(clean).max())
            noise = self._generator.normal(0.0, scale, clean.shape)
        return clean, clean + noise, noise
