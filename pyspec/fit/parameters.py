"""From a model's parameters to lmfit.Parameters and back.

Only free and fixed parameters become lmfit parameters. Expressions stay pyspec's own: lmfit
never sees one, so nothing is ever evaluated by asteval. Followers are added after the fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import FitError, ModelError
from pyspec.model import Model, Par

Array = npt.NDArray[np.float64]

#: A free parameter that starts on a bound is moved inside by this fraction of its range.
INSIDE = 1e-3

#: A parameter nearer to a bound than this, in units of its range, ended at the bound.
AT_BOUND = 1e-6


def start_parameters(
    model: Model,
    values: Mapping[str, float] | None = None,
    data: npt.NDArray[Any] | None = None,
) -> tuple[Any, tuple[str, ...]]:
    """lmfit.Parameters of the free and fixed parameters, and the names moved off a bound.

    `values` replace those of the model, by name. `data` say how large heights are that start at
    0. Each parameter counts in a unit of its own, see :mod:`pyspec.fit.units`.

    A parameter that starts on a bound is moved a little inside: lmfit's transformation has no
    slope there, and the native solver would see no reason to leave it where, say, the height of a
    peak is 0.

    Raises :class:`FitError` if nothing is free, or a free value is outside of its bounds.
    """
    from pyspec.fit.units import UnitParameter, UnitParameters, natural_sizes, unit_of

    sizes = natural_sizes(model, data)
    params = UnitParameters()
    moved: list[str] = []
    for par in model.parameters.values():
        if par.formula is not None:
            continue
        given = float((values or {}).get(par.name, par.value))
        value = given
        if not math.isfinite(value):
            raise FitError(f"{par.place} starts at {value}; give it a finite value")
        if par.vary:
            value = _inside(par, value, sizes.get(par.name, 1.0))
            if value != given:
                moved.append(par.name)
            unit = unit_of(value, par.min, par.max, sizes.get(par.name, 1.0))
            params.add(UnitParameter(par.name, value, unit, min=par.min, max=par.max))
        else:
            # Without bounds: lmfit would clip a fixed value to them without a word.
            params.add(par.name, value=value, vary=False)
    if not model.opt_param_names:
        raise FitError(
            f"{model.name}: every parameter is fixed, there is nothing to fit; let one vary: "
            "[value, True, min, max]"
        )
    return params, tuple(moved)


def _inside(par: Par, value: float, size: float) -> float:
    if not par.min < par.max:
        raise FitError(
            f"{par.place} has min {par.min:g} and max {par.max:g}; min must be "
            "below max, or fix the parameter"
        )
    if not par.min <= value <= par.max:
        raise FitError(
            f"{par.place} starts at {value:g}, outside of its bounds [{par.min:g}, "
            f"{par.max:g}]; move the value or the bounds"
        )
    step = INSIDE * scale_of(value, par.min, par.max, size)
    if value <= par.min:
        return par.min + step
    return par.max - step if value >= par.max else value


def scale_of(value: float, low: float, high: float, size: float = 1.0) -> float:
    """The size by which a distance to a bound is judged: the range, or else the values, or else
    `size`."""
    if math.isfinite(low) and math.isfinite(high):
        return high - low
    bound = low if math.isfinite(low) else high if math.isfinite(high) else 0.0
    return max(abs(value), abs(bound)) or size


def at_bound(value: float, low: float, high: float, start: float) -> str:
    """ "min" or "max" where `value` lies on that bound, else ""."""
    scale = AT_BOUND * max(scale_of(value, low, high), scale_of(start, low, high))
    if math.isfinite(low) and value - low <= scale:
        return "min"
    return "max" if math.isfinite(high) and high - value <= scale else ""


def followers(
    model: Model, values: Mapping[str, float]
) -> dict[str, tuple[float, dict[str, float]]]:
    """Value and gradient of every expression parameter, through chains of expressions.

    The gradient is by the free and fixed parameters that the chain ends in, which `values`
    holds. Base values are meant where a parameter moves in time.
    """
    done: dict[str, tuple[float, dict[str, float]]] = {}
    running: list[str] = []

    def resolve(name: str) -> tuple[float, dict[str, float]]:
        formula = model.parameters[name].formula
        if formula is None:
            return float(values[name]), {name: 1.0}
        if name in done:
            return done[name]
        if name in running:
            cycle = " -> ".join([*running[running.index(name) :], name])
            raise ModelError(f"{model.name}: expressions run in a circle: {cycle}")
        running.append(name)
        inner = {used: resolve(used) for used in formula.names}
        running.pop()
        value, slopes = formula.gradient({used: pair[0] for used, pair in inner.items()})
        gradient: dict[str, float] = {}
        for used, slope in slopes.items():
            for leaf, own in inner[used][1].items():
                gradient[leaf] = gradient.get(leaf, 0.0) + float(slope) * own
        done[name] = float(value), gradient
        return done[name]

    return {
        par.name: resolve(par.name) for par in model.parameters.values() if par.formula is not None
    }


def propagate(gradient: Mapping[str, float], names: Sequence[str], covar: Array) -> float:
    """Standard error of a follower: sqrt(g C gᵀ) over the parameters with a covariance."""
    g = np.array([gradient.get(name, 0.0) for name in names])
    return float(math.sqrt(max(float(g @ covar @ g), 0.0)))
