"""What a session shows: the model over the data, and its components at the cursor."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import PyspecError
from pyspec.executor import Executor, executor_of
from pyspec.executor.amplitudes.executor import AmplitudesExecutor
from pyspec.model import Component, Measurement, Model
from pyspec.model.build.free import dispersed, free_parameters
from pyspec.model.data.checksum import Data
from pyspec.model.data.windows import slice_of
from pyspec.model.portion import part_of
from pyspec.model.resolved import resolution_of
from pyspec.model.state import state_of
from pyspec.plan import CompiledModel, compile_model
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.ground import Ground

Array = npt.NDArray[np.float64]

NOT_FINITE = "the model is not finite at these values"


@dataclass(frozen=True)
class Frame:
    """The model of a document on all points of the data.

    Attributes
    ----------
    model : (n_time, n_energy) or the shape of the data, float32; NaN where there is none; empty
        where it was not asked for
    row, column : the model at the row of the cursor, (n_energy,), and at its column, (n_time,)
    spectrum, trace : name of a component → its values at the row of the cursor (n_energy,) and at
        its column (n_time,), in file order
    chisqr : Σ ((data − model) weight)² over the window, NaN where it is not known
    problem : why the model cannot be evaluated at its values; "" where it can
    axis : along which amplitudes are free, "energy" or "time"; "" where none is
    free : the free amplitudes by name, along that axis, as the data have them for the other values;
        NaN outside of the window
    dispersed : parameters that differ from energy to energy by name, (n_energy,)
    """

    model: npt.NDArray[np.float32]
    row: Array
    column: Array
    spectrum: dict[str, Array] = field(default_factory=dict)
    trace: dict[str, Array] = field(default_factory=dict)
    problem: str = ""
    axis: str = ""
    free: dict[str, Array] = field(default_factory=dict)
    dispersed: dict[str, Array] = field(default_factory=dict)


def frame_of(ground: Ground, document: Document, *, whole: bool = True) -> Frame:
    """Evaluates the model of a document at the cursor and, if `whole`, at all points. Where it
    cannot be evaluated the values are NaN, with the reason."""
    model = document.model
    if model is None:
        return _even(ground, 0.0)
    try:
        with np.errstate(all="ignore"):
            if free_parameters(model.parameters):
                return _solved_frame(ground, document)
            spectrum, trace = dict[str, Array](), dict[str, Array]()
            at, is_series = document.cursor, ground.kind == "series"
            surface = np.zeros((0, 0))
            if whole or not is_series:
                surface = _whole(ground, document)
            if ground.energy is not None:
                rows = (at[0], at[0] + 1) if is_series else None
                spectrum = _parts(ground, document, rows=rows)
            if is_series:
                trace = _parts(ground, document, columns=(at[1], at[1] + 1))
            row = spectrum.pop("", np.zeros(0))
            column = trace.pop("", np.zeros(0) if ground.energy is not None else surface)
    except PyspecError as error:
        return replace(_even(ground, np.nan), problem=str(error))
    problem = "" if np.isfinite(row).any() or np.isfinite(column).any() else NOT_FINITE
    return Frame(surface.astype(np.float32), row, column, spectrum, trace, problem)


def _even(ground: Ground, value: float) -> Frame:
    """The frame of a model that is the same everywhere."""
    row, column = (
        np.full(0 if axis is None else axis.size, value) for axis in (ground.energy, ground.time)
    )
    return Frame(np.full(ground.data.shape, value, np.float32), row, column)


def _whole(ground: Ground, document: Document) -> Data:
    """The model at all points."""
    assert document.model is not None
    measurement = ground.measurement(document).without_data()
    executor = executor_of(compile_model(document.model), measurement)
    return np.broadcast_to(np.asarray(executor.run(document.model.theta())), ground.data.shape)


def _solved_frame(ground: Ground, document: Document) -> Frame:
    """The frame of a model with free amplitudes, which are solved for, in the window."""
    model, measurement = document.model, ground.measurement(document)
    assert model is not None
    executor = executor_of(compile_model(model), measurement)
    assert isinstance(executor, AmplitudesExecutor)
    theta, fixed = model.theta(), {name: model.values[name] for name in executor.fixed_names}
    designer = executor.designer
    rows, columns = slice_of(measurement.rows), slice_of(measurement.columns)
    whole, by_energy = np.full(ground.data.shape, np.nan), designer.axis == "energy"
    with executor.lock:
        solved = executor.solve(theta)
        amplitudes = np.array(solved.amplitudes)
        basis = np.array(solved.design.basis)
        inside = np.array(solved.model)
        parts = designer.rest_at(theta, fixed)
        names = dispersed(model.parameters)
        dispersed_values = designer.values_at(theta, fixed)
    whole[rows, columns] = inside.T if by_energy else inside
    owners = {
        par.name: component.name for component in model.components for par in component.parameters
    }
    for k, name in enumerate(designer.free):
        part = amplitudes[:, k, None] * basis[k]
        own = owners[name]
        parts[own] = parts[own] + part if own in parts else part
    (row, column), (at_row, at_column) = document.cursor, (rows, columns)
    spectrum, trace, free = dict[str, Array](), dict[str, Array](), dict[str, Array]()
    for component in model.components:
        part = parts.get(component.name)
        if part is None:
            continue
        full = np.full(ground.data.shape, np.nan)
        full[at_row, at_column] = part.T if by_energy else part
        spectrum[component.name], trace[component.name] = full[row], full[:, column]
    size, inside_axis = ground.data.shape[1 if by_energy else 0], columns if by_energy else rows
    for k, name in enumerate(designer.free):
        free[name] = np.full(size, np.nan)
        free[name][inside_axis] = amplitudes[:, k]
    moved = dict[str, Array]()
    for name in sorted(names if by_energy else ()):
        moved[name] = np.full(size, np.nan)
        moved[name][columns] = dispersed_values[name][0]
    problem = "" if np.isfinite(inside).any() else NOT_FINITE
    sums = whole[row], whole[:, column]
    arguments = *sums, spectrum, trace, problem, designer.axis, free, moved
    return Frame(whole.astype(np.float32), *arguments)


#: One component as a sum of models: each its sign and what it is compiled to.
_Terms = list[tuple[float, CompiledModel]]

#: The components of models that differ in their values alone, and the models that they are of.
_KEPT: dict[Hashable, dict[str, _Terms]] = {}


def _terms(model: Model) -> dict[str, _Terms]:
    """The components of a model in file order, compiled once for all models of its structure, and
    before them, called "", the model itself.

    One that reads the spectrum is what it adds: the model from it on without the model after it.
    """
    key = state_of(model)[0], id(model.energy), id(model.time)
    if key not in _KEPT:
        if len(_KEPT) >= 50:
            _KEPT.clear()
        terms: dict[str, _Terms] = {"": [(1.0, compile_model(model))]}
        for index, component in enumerate(model.components):
            if component.op.kind == "RESOLUTION":
                continue
            instrument = resolution_of(model.components, component)
            above = [] if instrument is None else [instrument]
            after = model.components[index + 1 :]
            if component.op.spectrum_fed and after:
                terms[component.name] = [
                    (1.0, _compiled(model, [*above, component, *after])),
                    (-1.0, _compiled(model, [*above, *after])),
                ]
            else:
                terms[component.name] = [(1.0, _compiled(model, [*above, component]))]
        _KEPT[key] = terms
    return _KEPT[key]


#: One component as a sum of executors.
_Made = dict[str, list[tuple[float, Executor]]]

#: Executors of components at a row or a column. They are kept while a value is dragged.
_MADE: dict[Hashable, tuple[object, object, _Made]] = {}


def _executors(ground: Ground, document: Document, **window: Any) -> _Made:
    """The executors of :func:`_terms` in a window."""
    assert document.model is not None
    terms, measurement = _terms(document.model), ground.measurement(document)
    key = id(terms), id(measurement), *window.items()
    if key not in _MADE:
        if len(_MADE) >= 20:
            _MADE.clear()
        seen = replace(
            measurement.without_data(), ends=measurement.ends or measurement.columns, **window
        )
        made = {
            name: [(sign, executor_of(compiled, seen)) for sign, compiled in parts]
            for name, parts in terms.items()
        }
        _MADE[key] = terms, measurement, made
    return _MADE[key][2]


def _compiled(model: Model, components: list[Component]) -> CompiledModel:
    """Some components of a model as one of their own."""
    part = part_of(model, components, {})
    part.set_axes(energy=model.energy, time=model.time)
    if model.aux is not None:
        part.set_axes(aux=model.aux, aux_weights=model.aux_weights)
    return compile_model(part)


def _parts(
    ground: Ground, document: Document, **window: tuple[int, int] | None
) -> dict[str, Array]:
    model = document.model
    assert model is not None
    values, curves = model.values, {}
    size = model.energy if "columns" not in window else model.time
    n = 1 if size is None else size.size
    for name, parts in _executors(ground, document, **window).items():
        total = np.zeros(n)
        for sign, executor in parts:
            theta, fixed = (
                np.array([values[parameter] for parameter in names], np.float64)
                for names in (executor.opt_param_names, executor.fixed_names)
            )
            total = total + sign * np.ravel(executor.run(theta, fixed))
        curves[name] = total
    return curves


def chisqr_of(ground: Ground, document: Document) -> float:
    """χ² of the model as it stands, over the window; NaN without a model."""
    if document.model is None:
        return float("nan")
    measurement: Measurement = ground.measurement(document)
    with np.errstate(all="ignore"):
        residual = executor_of(compile_model(document.model), measurement).residual(
            document.model.theta()
        )
    return float(np.einsum("i,i", residual, residual))
