"""Properties of simulated data, and checks of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, shortened
from pyspec.model import Model

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is true of simulated data: how they were made, and of which values.

    `sigma` is the standard deviation of gaussian noise, `scale` the counts for each unit of the
    data of poisson noise; None where the noise is another.
    """

    clean: Array
    kind: str
    sigma: float | None
    scale: float | None
    settings: Mapping[str, object]
    values: dict[str, float]


def axes_of(model: Model, dim: int) -> dict[str, Array]:
    """The axes of data of this dimension by name: a spectrum has no times."""
    time = model.time if dim == 2 or model.is_time_model else None
    axes = {"energy": model.energy, "time": time}
    return {name: axis for name, axis in axes.items() if axis is not None}


def made_by(settings: Mapping[str, object]) -> str:
    """How data are made, in one line: the settings of a simulator, or of a sweep's file."""
    shown = ("detection", "noise_type", "noise_level", "counts_per_delay", "seed")
    return ", ".join(f"{key} {settings[key]}" for key in shown if key in settings)


def check_seed(seed: int | None, name: str = "seed") -> int | None:
    """The seed as Python's own number, or None. Raises :class:`DataError` unless it is None or a
    whole number from 0 on."""
    if seed is None and name == "seed":
        return None
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise DataError(f"{name} must be a whole number from 0 on, not {shortened(seed)}")
    return int(seed)


def positive(name: str, value: float) -> float:
    """A number above 0. Raises :class:`DataError` for any other."""
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be finite and positive, not {value!r}")
    return float(value)
