"""The components of a fitted model one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.calls import row_of
from pyspec.errors import FitError
from pyspec.executor import Executor, executor_of
from pyspec.model import Measurement, Model
from pyspec.model.build.inputs import function_of
from pyspec.model.portion import part_of
from pyspec.model.resolved import as_seen, resolution_of
from pyspec.plan import CompiledModel, compile_model

Array = npt.NDArray[np.float64]


def spectrum_components(
    model: Model, values: Mapping[str, float], measurement: Measurement
) -> tuple[dict[str, Array], dict[str, Array]]:
    """(peaks, backgrounds), name → (n_columns,), of a model of one spectrum.

    They add up to the model.
    """
    if model.energy is None or model.time is not None:
        raise FitError(
            "components are drawn for one spectrum, not for a time series; in 2D "
            "they are result.eval_components()"
        )
    curves = every_component(model, values, measurement, "compiled")
    peaks = {component.name for component in model.components if component.op.kind == "PEAK"}
    lines = {name: curve for name, curve in curves.items() if name in peaks}
    return lines, {name: curve for name, curve in curves.items() if name not in peaks}


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


#: A component as a sum of models: each its sign, and what it is compiled to.
Terms: TypeAlias = list[tuple[float, CompiledModel]]


def terms_of(model: Model) -> dict[str, Terms]:
    """The components of a model in file order. One that reads the spectrum is what it adds: the
    model from it on without the model after it. The others stand alone, below the instrument that
    they are seen by."""
    terms: dict[str, Terms] = {}
    for index, component in enumerate(model.components):
        if component.op.kind == "RESOLUTION":
            continue
        instrument = resolution_of(model.components, component)
        above = [] if instrument is None else [instrument]
        after = model.components[index + 1 :] if component.op.spectrum_fed else []
        own = part_of(model, [*above, component, *after])
        terms[component.name] = [(1.0, compile_model(own))]
        if after:
            terms[component.name].append((-1.0, compile_model(part_of(model, [*above, *after]))))
    return terms


def sum_of(parts: Sequence[tuple[float, Executor]], values: Mapping[str, float]) -> Array:
    """A component at the values of all parameters; `parts` are what evaluates its terms."""
    total: Array | float = 0.0
    for sign, executor in parts:
        names_of_both = executor.opt_param_names, executor.fixed_names
        numbers = (np.array([values[name] for name in names]) for names in names_of_both)
        total = total + sign * executor.run(*numbers)
    return np.asarray(total)


def every_component(
    model: Model, values: Mapping[str, float], measurement: Measurement, backend: str
) -> dict[str, Array]:
    """Name → (n_rows, n_columns) of every component over the window, in file order; of one spectrum
    (n_columns,)."""
    window = measurement.without_data(measurement.rows, measurement.columns)
    return {
        name: sum_of([(sign, executor_of(own, window, backend)) for sign, own in terms], values)
        for name, terms in terms_of(model).items()
    }


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
