"""Start values of components that are added by hand: at the place that was pointed at, on the scale
of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from pyspec._library import OpDef
from pyspec.errors import ModelError, suggest
from pyspec.model.yaml.scalars import number_text
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.ground import Ground

#: Value, lower and upper bound that a parameter begins with: of (function, name, unit).
Begin: TypeAlias = Callable[[OpDef, str, str], tuple[float, float, float]]

#: Standard deviation of a Gaussian as a share of its full width at half of the height.
SD_OF_FWHM = 1.0 / 2.3548200450309493

#: Start values without a unit: name of a parameter → (value, min, max).
_PLAIN = {
    "m": (0.3, 0.0, 1.0),
    "alpha": (0.1, 0.0, 0.9),
    "beta": (1.0, 0.1, 10.0),
    "ratio": (1.0, 0.1, 10.0),
    "a": (0.0, -1.0, 1.0),
    "b": (0.1, -2.0, 2.0),
    "r": (1.0, 0.0, 10.0),
    "share": (1.0, 0.0, 1.0),
}


#: Parameters that say where something begins or ends on the axis: a fit holds them.
_HELD = ("xStart", "xStop")


def entries_of(
    op: OpDef,
    ground: Ground,
    document: Document,
    target: str | None,
    at: Mapping[str, float],
    values: Mapping[str, float],
) -> list[tuple[str, str]]:
    """The parameters of a new component with their entries, "[1.0, True, 0.0, 5.0]".

    `at` is the place {"energy", "height", "width"} that was pointed at; `target` is the parameter
    that a law moves. Raises :class:`ModelError` for a value of another parameter.
    """
    for name in values:
        if name not in op.params:
            raise ModelError(f"{op.name} has no parameter {name!r}{suggest(name, list(op.params))}")
    if op.domain == "ENERGY" and ground.energy is None:
        raise ModelError(f"{op.name} is a function of energy, and these data are a trace over time")
    if op.domain == "AUX":
        raise ModelError(f"{op.name} is a profile; write it into the text of the model")
    if op.name == "measuredIRF":
        raise ModelError(f"{op.name} has samples of its own; write it into the text of the model")
    is_of_energy = op.domain == "ENERGY"
    begin = _of_energy(ground, document, at) if is_of_energy else _of_time(ground, document, target)
    components = () if document.model is None else document.model.components
    pars = [par for component in components for par in component.parameters]
    onset = next((par.name for par in pars if par.argument == "t0"), "")  # of the law before it
    is_free_law = target is None and op.domain == "TIME" and ground.kind == "series"
    entries = []
    for number, name in enumerate(op.params):
        if number >= op.n_required and name not in values:
            continue
        if is_free_law and (name in op.linear or (name == "t0" and onset)):
            entries.append((name, f'["{onset}"]' if name == "t0" else "{free: energy}"))
            continue
        unit = op.units[number] if number < len(op.units) else "?"
        value, low, high = begin(op, name, unit)
        value = float(values.get(name, value))
        floor, ceiling = op.default_bounds(name)
        low, high = max(min(low, value), floor), min(max(high, value), ceiling)
        own = [number_text(value), str(name not in _HELD)]
        if (low, high) != (floor, ceiling):
            own += [number_text(low), number_text(high)]
        entries.append((name, f"[{', '.join(own)}]"))
    return entries


def rounded(value: float) -> float:
    """Four digits: start values are read by people."""
    return float(f"{value:.4g}")


def _of_energy(ground: Ground, document: Document, at: Mapping[str, float]) -> Begin:
    axis = ground.energy
    assert axis is not None
    data = ground.data[document.cursor[0]] if ground.data.ndim == 2 else ground.data
    values = np.nan_to_num(np.asarray(data, dtype=np.float64))
    low, high = float(values.min()), float(values.max())
    ends = float(axis.min()), float(axis.max())
    span = ends[1] - ends[0] or 1.0
    place = float(at.get("energy", axis[int(np.argmax(values))]))
    width = abs(float(at.get("width", 0.05 * span))) or 0.05 * span
    height = float(at.get("height", 0.5 * (high - low) or 1.0))

    def begin(op: OpDef, name: str, unit: str) -> tuple[float, float, float]:
        free = -np.inf, np.inf
        if name == "pShirley":
            total = float((values - low).sum()) or 1.0
            step = abs(float(values[:5].mean() - values[-5:].mean())) or 0.02 * (high - low)
            return rounded(min(step / total, 0.1)), 0.0, 1.0
        if name in ("x0", "xStart", "xStop") and unit == "x":
            where = {"xStart": ends[0], "xStop": ends[1]}.get(name, place)
            return rounded(where) if name == "x0" else where, *ends
        if unit == "x":
            full = width * (SD_OF_FWHM if name in ("SD", "w") else 1.0)
            return rounded(full), rounded(full / 50), rounded(span)
        if unit == "y":
            if op.kind == "PEAK" or op.name.endswith("Step"):
                return rounded(height), *((0.0, np.inf) if height > 0 else free)
            return rounded(low), *free
        if unit == "x^2":
            return {"B": 300.0, "C": 1600.0}.get(name, 500.0), 0.0, np.inf
        if unit == "K":
            return 300.0, 1.0, 2000.0
        if unit == "1" and name in _PLAIN:
            return _PLAIN[name]
        if unit == "1/x":
            return rounded(1.0 / span) if name == "k" else 0.0, *free
        return (rounded(height) if unit == "?" else 0.0), *free

    return begin


def _of_time(ground: Ground, document: Document, target: str | None) -> Begin:
    axis = ground.time
    assert axis is not None
    span = float(np.ptp(axis)) or 1.0
    step = float(np.median(np.diff(axis))) if axis.size > 1 else span
    ends = float(axis.min()), float(axis.max())
    onset = 0.0 if ends[0] <= 0.0 < ends[1] else ends[0] + 0.1 * span
    size = 0.5 * float(np.ptp(np.nan_to_num(np.asarray(ground.data)))) or 1.0
    if target is not None and document.model is not None:
        par = document.model.parameters.get(target)
        if par is None:
            raise ModelError(
                f"{document.name} has no parameter {target!r}"
                f"{suggest(target, list(document.model.parameters))}"
            )
        size = 0.1 * abs(par.value) or 0.1
        if par.argument.startswith("x") and ground.energy is not None:
            size = 0.01 * float(np.ptp(ground.energy))

    def begin(op: OpDef, name: str, unit: str) -> tuple[float, float, float]:
        free = -np.inf, np.inf
        if name == "t0":
            return rounded(onset), *ends
        if unit == "x":
            is_width = op.kind in ("KERNEL", "IRF") or name == "SD"
            value = 2.0 * step if is_width else 0.1 * span
            return rounded(value), rounded(min(0.2 * step, value / 50)), rounded(10 * span)
        if unit == "1/x":
            return rounded(2.0 / span), 0.0, rounded(0.5 / step)
        if unit == "y/x":
            return rounded(size / span), *free
        if unit == "y":
            return rounded(size), *free
        return (0.0 if unit == "rad" else 1.0), *free

    return begin
