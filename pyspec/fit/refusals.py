"""Models that are refused before a fit: what has nothing to read, and functions that fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.model import Component, Model, Par
from pyspec.model.inputs import function_of
from pyspec.model.outline import is_idle

Array = npt.NDArray[np.float64]


def refuse_idle(model: Model, parameters: Mapping[str, Par]) -> None:
    """Raises :class:`ModelError` for a component that reads what stands below it, where nothing
    does: a Shirley at the end of a model, a kernel at the end of its dynamics."""
    groups: list[Sequence[Component]] = [model.components]
    for par in parameters.values():
        if par.dynamics is not None:
            groups.append(par.dynamics.components)
    for components in groups:
        if not is_idle(components):
            continue
        last = components[-1]
        fed = last.op.spectrum_fed
        does = "reads" if fed else "convolves"
        above = next((c for c in components if not c.op.spectrum_fed), None) if fed else None
        above = above or components[0]
        remedy = "add what it is to read below it"
        if above is not last:
            remedy = f"move it above {above.name}" + (f" ({above.where})" if above.where else "")
        raise ModelError(
            f"{last.where}: {last.name}: {does} what stands below it, and nothing does; {remedy}"
        )


def check_registered(model: Model, parameters: Mapping[str, Par]) -> None:
    """Calls every registered function once, with the values of the model.

    Raises :class:`ModelError` where it fails, or returns no real numbers or another shape than that
    of the axis.
    """
    axis = model.time if model.is_time_model else model.energy
    groups = [(model.components, axis)]
    for par in parameters.values():
        if par.dynamics is not None:
            groups.append((par.dynamics.components, model.time))
    for components, x in groups:
        for component in components:
            if component.op.external and x is not None:
                _call(component, x, model)


def _call(component: Component, x: Array, model: Model) -> None:
    values = model.values
    numbers = [values[par.name] for par in component.parameters]
    place = f"{component.where}: {component.name}"
    try:
        with np.errstate(all="ignore"):
            shape = np.shape(function_of(component.op, model.inputs)(x, *numbers))
    except ModelError as error:
        raise ModelError(f"{place}: {error}") from None
    except Exception as error:  # a function of the user's may raise anything
        raise ModelError(
            f"{place}: the registered function {component.op.name} fails at the start values: "
            f"{type(error).__name__}: {error}"
        ) from error
    if shape not in ((), x.shape):
        raise ModelError(
            f"{place}: the registered function {component.op.name} returns shape {shape} for an "
            f"axis of shape {x.shape}; return one value for each point of the axis"
        )
