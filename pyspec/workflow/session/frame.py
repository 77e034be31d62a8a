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
from pyspec.fit.part import chisqr_of as chisqr_at
from pyspec.fit.results.components import sum_of, terms_of
from pyspec.model import Measurement, Model
from pyspec.model.build.free import dispersed, free_parameters
from pyspec.model.data.checksum import Data
from pyspec.model.data.windows import slice_of
from pyspec.model.state import state_of
from pyspec.plan import compile_model
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
    theta, designer = model.theta(), executor.designer
    rows, columns = slice_of(measurement.rows), slice_of(measurement.columns)
    whole, by_energy = np.full(ground.data.shape, np.nan), designer.axis == "energy"
    with executor.lock:
        solved = executor.solve(theta)
        amplitudes, inside = np.array(solved.amplitudes), np.array(solved.model)
        parts, values = executor.components(theta), designer.values_at(theta, {})
    whole[rows, columns] = executor.groups_of(inside)
    row, column = document.cursor
    spectrum, trace, free = dict[str, Array](), dict[str, Array](), dict[str, Array]()
    for name, part in parts.items():
        full = np.full(ground.data.shape, np.nan)
        full[rows, columns] = part
        spectrum[name], trace[name] = full[row], full[:, column]
    size, inside_axis = ground.data.shape[1 if by_energy else 0], columns if by_energy else rows
    for k, name in enumerate(designer.free):
        free[name] = np.full(size, np.nan)
        free[name][inside_axis] = amplitudes[:, k]
    moved = dict[str, Array]()
    for name in sorted(dispersed(model.parameters) if by_energy else ()):
        moved[name] = np.full(size, np.nan)
        moved[name][columns] = values[name][0]
    problem = "" if np.isfinite(inside).any() else NOT_FINITE
    sums = whole[row], whole[:, column]
    arguments = *sums, spectrum, trace, problem, designer.axis, free, moved
    return Frame(whole.astype(np.float32), *arguments)


#: One component as a sum of executors.
_Made = dict[str, list[tuple[float, Executor]]]

#: The components, and before them the model itself, called "", at a row or a column: of models that
#: differ in their values alone. They are kept while a value is dragged.
_MADE: dict[Hashable, tuple[object, _Made]] = {}


def _executors(model: Model, measurement: Measurement, **window: Any) -> _Made:
    """The executors of components in a window."""
    key = state_of(model)[0], id(model.energy), id(model.time), id(measurement), *window.items()
    if key not in _MADE:
        if len(_MADE) >= 20:
            _MADE.clear()
        seen = replace(
            measurement.without_data(), ends=measurement.ends or measurement.columns, **window
        )
        terms = {"": [(1.0, compile_model(model))], **terms_of(model)}
        made = {
            name: [(sign, executor_of(compiled, seen)) for sign, compiled in parts]
            for name, parts in terms.items()
        }
        _MADE[key] = (model.energy, model.time, measurement), made
    return _MADE[key][1]


def _parts(
    ground: Ground, document: Document, **window: tuple[int, int] | None
) -> dict[str, Array]:
    assert document.model is not None
    values = document.model.values
    made = _executors(document.model, ground.measurement(document), **window)
    return {name: np.ravel(sum_of(parts, values)) for name, parts in made.items()}


def chisqr_of(ground: Ground, document: Document) -> float:
    """χ² of the model as it stands, over the window; NaN without a model."""
    if document.model is None:
        return float("nan")
    executor = executor_of(compile_model(document.model), ground.measurement(document))
    return chisqr_at(executor, document.model.theta(), None)
