"""The components of a fitted spectrum one by one, for pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError
from pyspec.functions import reference
from pyspec.model import Model

Array = npt.NDArray[np.float64]


def spectrum_components(
    model: Model, values: dict[str, float], columns: tuple[int, int] | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """(peaks, backgrounds), name → (n_columns,), of a model of one spectrum.

    Evaluated with the NumPy references; they add up to the model.
    """
    if model.energy is None or model.time is not None:
        raise FitError("components are drawn for one spectrum, not for a time series")
    window = slice(*(columns or (None, None)))
    total = np.zeros(model.energy.size)
    peaks: dict[str, Array] = {}
    grounds: dict[str, Array] = {}
    for component in reversed(model.components):
        numbers = [0.0 if par is None else values[par.name] for par in component.pars]
        fed = [total] if component.op.spectrum_fed else []
        curve = np.broadcast_to(
            reference(component.function)(model.energy, *numbers, *fed), total.shape
        )
        kind = peaks if component.op.kind == "PEAK" else grounds
        kind[component.name] = curve[window]
        total = total + curve
    return dict(reversed(peaks.items())), dict(reversed(grounds.items()))
