"""A model on other grids than its own.

A sum over the grid (Shirley over energy, a kernel such as gaussCONV over time) belongs to the grid
of the data. It is computed there and interpolated. All else is evaluated on the new grid itself;
inputs of formulas, which are known at the samples, are interpolated linearly.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Generic

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError
from pyspec.formula import sums_over_energies
from pyspec.model.build.inputs import needed_inputs, place, used_ops
from pyspec.model.data.axes import check_axis
from pyspec.model.model_tree import AModel
from pyspec.model.portion import part_of
from pyspec.model.tree import Component, parameters_of

Array = npt.NDArray[np.float64]

_SUMS = "sums over"


@dataclass(frozen=True)
class Term(Generic[AModel]):
    """A part of a prediction: `sign` times `model` on its axes, interpolated along the axes that
    are given as (from, to)."""

    model: AModel
    sign: float
    energy: tuple[Array, Array] | None
    time: tuple[Array, Array] | None

    def taken(self, values: Array) -> Array:
        """Values on the axes of the model, (..., n_time, n_energy) or (..., n), as part of the
        prediction: a linear function of them."""
        if self.energy is not None:
            values = _interpolated(values, *self.energy)
        if self.time is not None:
            axis = values.ndim - 1 if self.model.is_time_model else values.ndim - 2
            moved = _interpolated(np.moveaxis(values, axis, -1), *self.time)
            values = np.moveaxis(moved, -1, axis)
        return self.sign * values


def terms(
    model: AModel, energy: npt.ArrayLike | None, time: npt.ArrayLike | None
) -> list[Term[AModel]]:
    """The parts that add up to the model on the axes `energy` and `time`; None takes its own.

    Raises :class:`DataError` for an axis that the model has not, and outside of its own axes where
    a component sums over them.
    """
    for name, axis, own in (("energy", energy, model.energy), ("time", time, model.time)):
        if axis is not None and name == "energy" and model.is_time_model:
            raise DataError(f"{model.name} is a trace against time, without energies; leave it out")
        if axis is None and own is None and (name == "energy") is not model.is_time_model:
            raise DataError(f"{model.name} has no {name} axis; give {name}=")
    moves = model.is_time_model or any(par.dynamics for par in model.parameters.values())
    if time is not None and model.time is None and not moves:
        raise DataError(f"{model.name} is the model of one spectrum; leave time= out")
    new_energy = model.energy if energy is None else check_axis(energy, "energy")
    new_time = model.time if time is None else check_axis(time, "time", ascending=True)
    along_time: tuple[Array, Array] | None = None
    base_time = new_time
    has_kernel = any(op.kind == "KERNEL" for op in used_ops(model))
    if has_kernel and _differ(model.time, new_time):
        assert new_time is not None
        along_time = _steps(model.time, new_time, f"{model.name}: a kernel {_SUMS}", "time")
        base_time = model.time
    fed, others = list[Component](), list[Component]()
    for component in model.components:
        sums = component.op.spectrum_fed or sums_over_energies(component.op)
        (fed if sums else others).append(component)
    if not fed or not _differ(model.energy, new_energy):
        return [Term(_on(model, new_energy, base_time), 1.0, None, along_time)]
    assert new_energy is not None
    along = _steps(model.energy, new_energy, f"{model.name}: {fed[0].name} {_SUMS}", "energy")
    whole = Term(_on(model, model.energy, base_time), 1.0, along, along_time)
    profiled = any(par.profile is not None for par in parameters_of(fed))
    if profiled or all(component.op.kind == "RESOLUTION" for component in others):
        return [whole]
    rest = part_of(model, others)
    return [
        Term(_on(rest, new_energy, base_time), 1.0, None, along_time),
        whole,
        Term(_on(rest, model.energy, base_time), -1.0, along, along_time),
    ]


def _on(model: AModel, energy: Array | None, time: Array | None) -> AModel:
    placed = copy.deepcopy(model)
    moved: dict[str, Array] = {}
    needed = needed_inputs(model) if model.inputs else {}
    for along, own, new in (("energy", model.energy, energy), ("time", model.time, time)):
        for name, axis in needed.items():
            if axis == along and name in model.inputs and _differ(own, new):
                assert new is not None
                verb = f"{model.name}: the input {name!r} lies along"
                moved[name] = _interpolated(model.inputs[name], *_steps(own, new, verb, along))
    place(placed, energy, time, inputs=moved or None)
    return placed


def _differ(own: Array | None, new: Array | None) -> bool:
    return own is not None and new is not None and not np.array_equal(own, new)


def _steps(own: Array | None, new: Array, who: str, name: str) -> tuple[Array, Array]:
    assert own is not None
    if new.min() < own.min() or new.max() > own.max():
        raise DataError(
            f"{who} the {name} axis of the data, from {own.min():g} to {own.max():g}, "
            f"and is not known from {new.min():g} to {new.max():g}; stay within the first"
        )
    return own, new


def _interpolated(values: Array, own: Array, new: Array) -> Array:
    """Linear interpolation along the last axis; at a point of `own`, the value there."""
    order = slice(None, None, -1) if own[-1] < own[0] else slice(None)
    rising, values = own[order], values[..., order]
    right = np.clip(np.searchsorted(rising, new, side="right"), 1, own.size - 1)
    left = right - 1
    share = (new - rising[left]) / (rising[right] - rising[left])
    return np.asarray((1.0 - share) * values[..., left] + share * values[..., right])
