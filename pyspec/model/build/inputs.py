"""Inputs of a model: arrays along its axes, besides the axes themselves, that functions by formula
read. They lie on the model beside the axes, and never in its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.errors import DataError, ModelError, shortened, suggest
from pyspec.formula import AXES, Definition
from pyspec.functions import reference
from pyspec.model.data.axes import UNCHANGED, Unchanged, check_line, check_weights, taken_axis
from pyspec.model.model_tree import ModelTree
from pyspec.model.tree import ops_of

Array = npt.NDArray[np.float64]

#: What the axes of inputs are called, and the words of messages.
ALONG = {"energy": "energies", "time": "times", "auxiliary": "auxiliary points"}


def inputs_of(op: OpDef) -> tuple[str, ...]:
    """The inputs that a function reads."""
    return op.own.inputs if isinstance(op.own, Definition) else ()


def axis_of(op: OpDef) -> str:
    """The axis of the inputs of a function that has some: "energy", "time" or "auxiliary"."""
    assert isinstance(op.own, Definition)
    return AXES[op.own.domain]


def used_ops(model: ModelTree) -> list[OpDef]:
    """The functions of a model; those that move a quantity count if the quantity takes part."""
    parameters = model.parameters if model.quantities else {}
    return ops_of(model.components, [q for q in model.quantities if q.name in parameters])


def needed_inputs(model: ModelTree) -> dict[str, str]:
    """The inputs that a model reads: name → axis.

    Raises :class:`ModelError` for one that two functions have along different axes.
    """
    axes: dict[str, tuple[str, str]] = {}
    for op, name in read_inputs(model):
        axis, first = axes.setdefault(name, (axis_of(op), op.name))
        if axis != axis_of(op):
            raise ModelError(
                f"the input {name!r} is along the {ALONG[axis]} in {first} and along the "
                f"{ALONG[axis_of(op)]} in {op.name}; rename one of the two"
            )
    return {name: axis for name, (axis, _) in axes.items()}


def check_input(values: object, name: str) -> Array:
    """A read-only float64 copy of an input.

    Raises :class:`DataError` unless it is a line of finite real numbers.
    """
    line = check_line(values, f"the input {name!r}", name)
    line.setflags(write=False)
    return line


def file_inputs(
    inputs: Mapping[str, object] | None, axes: Sequence[Array | None]
) -> dict[str, Array]:
    """What comes with the data of a file, before a model says along which axis each input lies.

    Raises :class:`DataError` for values that match none of the `axes`.
    """
    sizes = sorted({axis.size for axis in axes if axis is not None})
    checked = {name: check_input(values, name) for name, values in _by_name(inputs).items()}
    for name, values in checked.items():
        if values.size not in sizes:
            points = " and ".join(str(size) for size in sizes) or "no"
            raise DataError(
                f"the input {name!r} has {values.size} values, the axes have {points} points; give "
                "one value for each point of its axis"
            )
    return checked


def _by_name(inputs: object) -> Mapping[str, Array]:
    if inputs is not None and not isinstance(inputs, Mapping):
        raise DataError(f"inputs={shortened(inputs)}: give the values by name, {{'ref': values}}")
    return inputs or {}


def own_inputs(model: ModelTree, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Those of the inputs of a file that a model reads."""
    needed = needed_inputs(model) if inputs else {}
    return {name: inputs[name] for name in needed if name in inputs}


def place(
    model: ModelTree,
    energy: npt.ArrayLike | Unchanged | None = UNCHANGED,
    time: npt.ArrayLike | Unchanged | None = UNCHANGED,
    aux: npt.ArrayLike | Unchanged | None = UNCHANGED,
    aux_weights: npt.ArrayLike | None = None,
    inputs: Mapping[str, npt.ArrayLike] | None = None,
) -> None:
    """Sets the axes of a model, with its inputs; see :meth:`pyspec.Model.set_axes`."""
    new_energy = taken_axis(model.energy, energy, "energy")
    new_time = taken_axis(model.time, time, "time", ascending=True)
    new_aux, weights = taken_axis(model.aux, aux, "auxiliary"), model.aux_weights
    if not isinstance(aux, Unchanged):
        weights = None if new_aux is None else check_weights(aux_weights, new_aux.size)
    elif aux_weights is not None:
        raise DataError("aux_weights come together with the auxiliary axis; give aux= too")
    axes = {"energy": new_energy, "time": new_time, "auxiliary": new_aux}
    if inputs is not None or model.inputs:
        model.inputs = _placed_inputs(model, inputs, axes)
    model.energy, model.time, model.aux, model.aux_weights = new_energy, new_time, new_aux, weights


def _placed_inputs(
    model: ModelTree, new_inputs: Mapping[str, object] | None, axes: Mapping[str, Array | None]
) -> dict[str, Array]:
    """The inputs of a model that is about to get new axes: its own and `new_inputs`. Inputs along
    an axis that changes are dropped.

    Raises :class:`DataError` for values of the wrong shape, :class:`ModelError` for a name that no
    function of the model reads.
    """
    needed = needed_inputs(model)
    old = {"energy": model.energy, "time": model.time, "auxiliary": model.aux}
    inputs = {}
    for name, values in model.inputs.items():
        before, now = old.get(needed.get(name, "")), axes.get(needed.get(name, ""))
        if before is None or now is None or before is now or np.array_equal(before, now):
            inputs[name] = values
    for name, values in _by_name(new_inputs).items():
        if name not in needed:
            hint = f"it reads {', '.join(needed)}" if needed else "it reads none"
            raise ModelError(
                f"{model.name}: no function of the model reads an input {name!r}; {hint}"
                f"{suggest(str(name), list(needed))}"
            )
        inputs[name] = check_input(values, name)
    for name, values in inputs.items():
        axis = axes.get(needed.get(name, ""))
        if axis is not None and axis.size != values.size:
            raise DataError(
                f"{model.name}: the input {name!r} has {values.size} values, the {needed[name]} "
                f"axis {axis.size} points; give one value for each"
            )
    return inputs


def function_of(op: OpDef, inputs: Mapping[str, Array]) -> Callable[..., Any]:
    """The NumPy reference of a function, ``f(x, *params)``, with its inputs filled in."""
    own = reference(op)
    keywords = {name: inputs[name] for name in inputs_of(op) if name in inputs}
    return partial(own, **keywords) if keywords else own


def read_inputs(model: ModelTree) -> tuple[tuple[OpDef, str], ...]:
    """The functions of a model that read inputs, each with one of these by name."""
    return tuple([(op, name) for op in used_ops(model) for name in inputs_of(op)])


def check_inputs(model: ModelTree, reads: Sequence[tuple[OpDef, str]] | None = None) -> None:
    """Every input that a function reads has values; `reads` are these, where they are known.
    Raises :class:`DataError` otherwise."""
    for op, name in read_inputs(model) if reads is None else reads:
        if name not in model.inputs:
            raise missing_input(model.name, op.name, name, axis_of(op), list(model.inputs))


def refuse_misspelt(model: ModelTree, inputs: Mapping[str, object]) -> None:
    """Raises :class:`DataError` for an input without values, if the file has values of a name that
    the model does not read: "did you mean"."""
    reads = read_inputs(model)
    unread = [name for name in inputs if name not in {read for _, read in reads}]
    for op, name in reads:
        if name not in inputs and name not in model.inputs and unread:
            raise missing_input(model.name, op.name, name, axis_of(op), unread, "the file")


def missing_input(
    who: str, op_name: str, name: str, axis: str, others: Sequence[str], whose: str = ""
) -> DataError:
    """What is said of an input without values; `others` have some, in `whose` file, say."""
    hint = suggest(name, list(others))
    if whose and others:
        hint = f"; {whose} has {', '.join(map(repr, others))}, which this model does not read{hint}"
    return DataError(
        f"{who}: {op_name} reads the input {name!r}, one value for each of the {ALONG[axis]}, and "
        f"has none{hint}; give it by name, inputs={{{name!r}: values}}, to the File of the data "
        "or to model.set_axes"
    )
