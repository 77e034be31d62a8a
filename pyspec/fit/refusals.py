"""Models that are refused before a fit: functions that fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.model import Component, Model, Par
from pyspec.model.build.check import movers
from pyspec.model.build.inputs import function_of

Array = npt.NDArray[np.float64]


def check_registered(model: Model, parameters: Mapping[str, Par]) -> None:
    """Calls every registered function once, with the values of the model, and once with columns of
    values where parameters move in time.

    Raises :class:`ModelError` if a call fails, or if it returns no real numbers or another shape
    than that of the axis. It also raises it if a column gives other values than each value by
    itself.
    """
    axis = model.time if model.is_time_model else model.energy
    groups = [(model.components, axis)]
    for par in parameters.values():
        if par.dynamics is not None:
            groups.append((par.dynamics.components, model.time))
    values = model.values
    for components, x in groups:
        for component in components:
            if not component.op.external or x is None:
                continue
            arguments = [values[par.name] for par in component.parameters]
            shape = np.shape(_called(component, model, x, arguments))
            if shape not in ((), x.shape):
                raise _refusal(
                    component,
                    f"returns shape {shape} for an axis of shape {x.shape}; return one value for "
                    "each point of the axis",
                )
            moving = [bool(movers(par.name, parameters)) for par in component.parameters]
            if any(moving) and component.op.own is None:
                _check_columns(component, model, x, arguments, moving)


def _called(
    component: Component, model: Model, x: Array, arguments: Sequence[npt.ArrayLike], how: str = ""
) -> npt.ArrayLike:
    """What a function gives at x. Raises :class:`ModelError` with the place of the component."""
    try:
        with np.errstate(all="ignore"):
            returned: npt.ArrayLike = function_of(component.op, model.inputs)(x, *arguments)
            return returned
    except ModelError as error:
        raise ModelError(f"{component.where}: {component.name}: {error}") from None
    except Exception as error:  # a function of the user's may raise anything
        raise _refusal(
            component, f"fails {how or 'at the start values'}: {type(error).__name__}: {error}"
        ) from error


def _check_columns(
    component: Component, model: Model, x: Array, arguments: Sequence[float], moving: Sequence[bool]
) -> None:
    """Where parameters move, at values near those of the model."""
    moved = [par.name for par, moves in zip(component.parameters, moving, strict=True) if moves]
    how = f"where {', '.join(moved)} {'moves' if len(moved) == 1 else 'move'} in time"
    remedy = (
        "; it gets columns (n_time, 1) there and returns (n_time, n_energy): write np.where in "
        "place of if, functions of NumPy, and sums with axis=-1, keepdims=True"
    )
    columns = [
        _near(number, par)[:, np.newaxis] if moves else number
        for par, number, moves in zip(component.parameters, arguments, moving, strict=True)
    ]
    try:
        returned = _called(component, model, x, columns, how)
    except ModelError as error:
        raise ModelError(f"{error}{remedy}") from error.__cause__
    lines = [
        _called(component, model, x, [np.ravel(column)[k % np.size(column)] for column in columns])
        for k in range(_ROWS)
    ]
    wanted = np.stack([np.broadcast_to(line, x.shape) for line in lines])
    if np.shape(returned) not in ((), x.shape, (_ROWS, 1), wanted.shape):
        raise _refusal(
            component, f"returns shape {np.shape(returned)} for {_ROWS} times {how}{remedy}"
        )
    judged = np.isfinite(wanted)
    scale = np.abs(wanted[judged]).max(initial=0.0)
    if (np.abs(np.broadcast_to(returned, wanted.shape) - wanted)[judged] > 1e-6 * scale).any():
        raise _refusal(
            component,
            f"gives other values for all times together than for each by itself {how}{remedy}",
        )


#: Times at which moving parameters are looked at.
_ROWS = 3


def _near(value: float, par: Par) -> Array:
    """Some values of a parameter, within its bounds: its own and others beside it."""
    step = 1e-2 * max(abs(value), 1e-2) * np.arange(_ROWS)
    up = value + step
    return np.asarray(np.clip(up if up[-1] <= par.max else value - step, par.min, par.max))


def _refusal(component: Component, fault: str) -> ModelError:
    return ModelError(
        f"{component.where}: {component.name}: the registered function {component.op.name} {fault}"
    )
