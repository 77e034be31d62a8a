"""The components of a fitted model one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import row_of
from pyspec.errors import FitError
from pyspec.executor import make_executor
from pyspec.model import Component, Measurement, Model
from pyspec.model.build.inputs import function_of
from pyspec.model.data.windows import slice_of
from pyspec.model.portion import part_of
from pyspec.model.resolved import as_seen, resolution_of

Array = npt.NDArray[np.float64]


def spectrum_components(
    model: Model, values: dict[str, float], measurement: Measurement
) -> tuple[dict[str, Array], dict[str, Array]]:
    """(peaks, backgrounds), name → (n_columns,), of a model of one spectrum.

    Evaluated with the NumPy references, averaged over the auxiliary axis of profiles; they add up
    to the model.
    """
    if model.energy is None or model.time is not None:
        raise FitError(
            "components are drawn for one spectrum, not for a time series; in 2D "
            "they are result.eval_components()"
        )
    window, grid = slice_of(measurement.columns), measurement.grid(model.energy)
    total = np.zeros(model.energy.size)
    peaks: dict[str, Array] = {}
    grounds: dict[str, Array] = {}
    sampled = _sampled(model, values)
    peaks_by_name = {
        component.name for component in model.components if component.op.kind == "PEAK"
    }
    for component in reversed(as_seen(model.components)):
        numbers = [0.0 if par is None else sampled[par.name] for par in component.pars]
        op, function = component.op, function_of(component.op, model.inputs)
        if op.spectrum_fed:
            curve = grid.read(op, function, model.energy, numbers, total)
        else:
            curve = np.asarray(function(model.energy, *numbers))
        if curve.ndim == 2:
            assert model.aux_weights is not None
            curve = model.aux_weights @ curve
        curve = np.broadcast_to(curve, total.shape)
        kind = peaks if component.name in peaks_by_name else grounds
        kind[component.name] = curve[window]
        total = total + curve
    return dict(reversed(peaks.items())), dict(reversed(grounds.items()))


def _sampled(model: Model, values: dict[str, float]) -> dict[str, Any]:
    """The values; columns (n_aux, 1) of parameters that differ along the auxiliary axis."""
    sampled: dict[str, Any] = dict(values)
    profiled = [par for par in model.parameters.values() if par.profile is not None]
    for par in profiled:
        assert par.profile is not None
        for component in par.profile.components:
            numbers = [values[own.name] for own in component.parameters]
            profile = function_of(component.op, model.inputs)(model.aux, *numbers)
            sampled[par.name] = sampled[par.name] + profile[:, None]
    for par in model.resolution_order() if profiled else ():
        assert par.formula is not None
        if any(np.ndim(sampled[name]) for name in par.formula.names):
            sampled[par.name] = par.formula.evaluate(sampled)
    return sampled


def every_component(
    model: Model, values: Mapping[str, float], measurement: Measurement, backend: str
) -> dict[str, Array]:
    """Name → (n_rows, n_columns) of every component over the window, in file order.

    A component that reads the spectrum is what it adds: the model from it on without the model
    after it. The others are evaluated alone.
    """

    def run(components: list[Component]) -> Array | float:
        return _run(model, components, values, measurement, backend) if components else 0.0

    curves = {}
    for index, component in enumerate(model.components):
        if component.op.kind == "RESOLUTION":
            continue
        after = model.components[index + 1 :]
        if component.op.spectrum_fed and after:
            instrument = resolution_of(model.components, component)
            above = [] if instrument is None else [instrument]
            curves[component.name] = np.asarray(
                run([*above, component, *after]) - run([*above, *after])
            )
        else:
            curves[component.name] = alone(model, component, values, measurement, backend)
    return curves


def alone(
    model: Model,
    component: Component,
    values: Mapping[str, float],
    measurement: Measurement,
    backend: str,
) -> Array:
    """(n_rows, n_columns) of a component over the window, without the others."""
    instrument = resolution_of(model.components, component)
    components = [component] if instrument is None else [instrument, component]
    return _run(model, components, values, measurement, backend)


def _run(
    model: Model,
    components: list[Component],
    values: Mapping[str, float],
    measurement: Measurement,
    backend: str,
) -> Array:
    part = part_of(model, components, {})
    part.set_axes(energy=model.energy, time=model.time)
    if model.aux is not None:
        part.set_axes(aux=model.aux, aux_weights=model.aux_weights)
    unfollowed = {n: values[n] for n, par in part.parameters.items() if par.formula is None}
    part.set_values(unfollowed)
    window = measurement.without_data(measurement.rows, measurement.columns)
    return np.asarray(make_executor(part, window, backend).run(part.theta()))


def component_curves(model: Model, t_ind: int = 0) -> dict[str, Array]:
    """Name → (n_energy,) what each component adds to the spectrum of one row, in file order."""
    rows = None
    if model.dimension == 2:
        assert model.time is not None
        row = row_of("t_ind", t_ind, model.time.size)
        rows = row, row + 1
    curves = every_component(model, model.values, Measurement(rows=rows), "compiled")
    return {name: np.ravel(curve) for name, curve in curves.items()}


def component_traces(model: Model, name: str) -> Array | None:
    """(n_aux, n_energy) a component at each point of the auxiliary axis, at rest; None where no
    parameter of it differs along that axis."""
    component = next(own for own in as_seen(model.components) if own.name == name)
    sampled = _sampled(model, model.values)
    numbers = [0.0 if par is None else sampled[par.name] for par in component.pars]
    if component.op.spectrum_fed or not any(np.ndim(number) for number in numbers):
        return None
    return np.asarray(function_of(component.op, model.inputs)(model.energy, *numbers))


def background_curve(model: Model, name: str, spectrum: npt.ArrayLike) -> Array:
    """(n_energy,) a background at rest that reads `spectrum`."""
    component = next(own for own in as_seen(model.components) if own.name == name)
    values = model.values
    numbers = [0.0 if par is None else values[par.name] for par in component.pars]
    fed = [np.asarray(spectrum, dtype=np.float64)] if component.op.spectrum_fed else []
    assert model.energy is not None
    curve = function_of(component.op, model.inputs)(model.energy, *numbers, *fed)
    return np.broadcast_to(np.asarray(curve), model.energy.shape)
