"""The components of a fitted spectrum one by one, for pictures."""

from __future__ import annotations

from typing import Any

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

    Evaluated with the NumPy references, averaged over the auxiliary axis of profiles; they add up
    to the model.
    """
    if model.energy is None or model.time is not None:
        raise FitError("components are drawn for one spectrum, not for a time series")
    window = slice(*(columns or (None, None)))
    total = np.zeros(model.energy.size)
    peaks: dict[str, Array] = {}
    grounds: dict[str, Array] = {}
    sampled = _sampled(model, values)
    for component in reversed(model.components):
        numbers = [0.0 if par is None else sampled[par.name] for par in component.pars]
        fed = [total] if component.op.spectrum_fed else []
        curve = np.asarray(reference(component.function)(model.energy, *numbers, *fed))
        if curve.ndim == 2:
            curve = model.aux_weights @ curve
        curve = np.broadcast_to(curve, total.shape)
        kind = peaks if component.op.kind == "PEAK" else grounds
        kind[component.name] = curve[window]
        total = total + curve
    return dict(reversed(peaks.items())), dict(reversed(grounds.items()))


def _sampled(model: Model, values: dict[str, float]) -> dict[str, Any]:
    """The values; columns (n_aux, 1) of parameters that differ along the auxiliary axis."""
    found: dict[str, Any] = dict(values)
    profiled = [par for par in model.parameters.values() if par.profile is not None]
    for par in profiled:
        assert par.profile is not None
        for component in par.profile.components:
            numbers = [values[own.name] for own in component.parameters]
            profile = reference(component.function)(model.aux, *numbers)
            found[par.name] = found[par.name] + profile[:, None]
    for par in model.resolution_order() if profiled else ():
        assert par.formula is not None
        if any(np.ndim(found[name]) for name in par.formula.names):
            found[par.name] = par.formula.evaluate(found)
    return found
