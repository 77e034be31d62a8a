"""Where the lines and laws of a model are taken hold of: places on the curves at the cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec.model import Component, Model, Par
from pyspec.workflow.session.document import Document
from pyspec.workflow.session.frame import Frame
from pyspec.workflow.session.ground import Ground

Array = npt.NDArray[np.float64]

#: What widths are called, in the order in which a flank is asked for.
_WIDTHS = ("F", "W", "SD", "w")


def locked(par: Par | None) -> bool:
    """Whether a parameter cannot be dragged."""
    return par is None or par.formula is not None or par.free is not None


def line_handles(
    component: Component, curve: Array | None, total: Array, energy: Array
) -> Sequence[Mapping[str, object]]:
    """The handles of a component on the spectrum at the cursor: a peak at its top and at a flank, a
    background at its level or ends."""
    if curve is None or not np.isfinite(curve).all():
        return []
    by_name = {par.argument: par for par in component.parameters}
    if component.op.kind == "PEAK" and "x0" in by_name:
        return _peak_handles(by_name, curve, total, energy)
    if component.op.name == "Offset":
        k = int(np.argmin(energy))
        return [_handle("level", {"y": by_name["y0"]}, energy[k], curve[k], 0.0, 1.0)]
    if component.op.name == "LinBack":
        return _slope_handles(by_name, energy)
    if {"A", "x0"} <= by_name.keys():
        place = float(by_name["x0"].value)
        k = int(np.argmin(np.abs(energy - place)))
        share = _share(curve[int(np.argmax(np.abs(curve)))], by_name["A"].value)
        names = {"x": by_name["x0"], "y": by_name["A"]}
        return [_handle("top", names, place, total[k], total[k] - curve[k], share)]
    return []


def _peak_handles(
    by_name: dict[str, Par], curve: Array, total: Array, energy: Array
) -> Sequence[Mapping[str, object]]:
    k = int(np.argmax(np.abs(curve)))
    place, height = _vertex(energy, curve, k)
    base = float(total[k] - curve[k])
    share = _share(height, by_name["A"].value) if "A" in by_name else 1.0
    tops = {"x": by_name["x0"]} | ({"y": by_name["A"]} if "A" in by_name else {})
    handles = [_handle("top", tops, place, base + height, base, share)]
    width = next((by_name[name] for name in _WIDTHS if name in by_name), None)
    if width is not None and np.isfinite(width.value) and width.value > 0 and height:
        half = _half(energy, curve, k, 0.5 * height)
        if half is not None:
            factor = abs(half - place) / width.value
            level = base + 0.5 * height
            handles.append(_handle("flank", {"width": width}, half, level, base, factor))
    return handles


def _slope_handles(by_name: dict[str, Par], energy: Array) -> Sequence[Mapping[str, object]]:
    slope, level = by_name["m"], by_name["b"]
    left, right = by_name["xStart"].value, by_name["xStop"].value
    if any(not np.isfinite(par.value) for par in (slope, level)):
        return []
    low, high = max(left, float(energy.min())), min(right, float(energy.max()))
    ends = level.value + slope.value * (low - left), level.value + slope.value * (high - left)
    return [
        _handle("left", {"y": level}, low, ends[0], 0.0, 1.0),
        _handle("right", {"y": slope}, high, ends[1], 0.0, (high - left) or 1.0),
    ]


def _share(height: float, value: float) -> float:
    """What the height of a curve is of its parameter."""
    return float(height / value) if value and np.isfinite(value) and height else 1.0


def _vertex(energy: Array, curve: Array, k: int) -> tuple[float, float]:
    """The top of the parabola through three points."""
    if not 0 < k < curve.size - 1:
        return float(energy[k]), float(curve[k])
    before, at, after = (float(height) for height in curve[k - 1 : k + 2])
    bend = before - 2 * at + after
    shift = 0.5 * (before - after) / bend if bend else 0.0
    shift = float(np.clip(shift, -0.5, 0.5))
    step = 0.5 * float(energy[k + 1] - energy[k - 1])
    return float(energy[k]) + shift * step, at - 0.25 * (before - after) * shift


def _half(energy: Array, curve: Array, k: int, level: float) -> float | None:
    """Where the curve falls to half of its top, towards higher energies first."""
    sign = 1.0 if level >= 0 else -1.0
    up = 1 if energy[-1] > energy[0] else -1
    for step in (up, -up):
        at = k
        while 0 <= at + step < curve.size and sign * curve[at + step] > sign * level:
            at += step
        if 0 <= at + step < curve.size:
            a, b = float(curve[at]), float(curve[at + step])
            part = (a - level) / (a - b) if a != b else 0.0
            return float(energy[at] + part * (energy[at + step] - energy[at]))
    return None


def law_handles(component: Component) -> Sequence[Mapping[str, object]]:
    """The handles of a law on the trace: its onset, time constant and width."""
    by_name = {par.argument: par for par in component.parameters}
    onset = by_name["t0"].value if "t0" in by_name else 0.0
    onset = float(onset) if np.isfinite(onset) else 0.0
    handles = []
    if "t0" in by_name and np.isfinite(by_name["t0"].value):
        handles.append(_handle("t0", {"x": by_name["t0"]}, onset, None, None, 1.0))
    for kind, name in (("tau", "tau"), ("sd", "SD"), ("sd", "width")):
        par = by_name.get(name)
        if par is not None and np.isfinite(par.value):
            handles.append(_handle(kind, {"x": par}, onset + par.value, None, None, 1.0))
    return handles


def _handle(
    kind: str, pars: dict[str, Par], x: float, y: float | None, base: float | None, factor: float
) -> dict[str, object]:
    return {
        "type": kind,
        "parameters": {argument: par.name for argument, par in pars.items()},
        "x": float(x),
        "y": None if y is None else float(y),
        "base": None if base is None else float(base),
        "factor": float(factor) or 1.0,
        "locked": [par.name for par in pars.values() if locked(par)],
    }


def components_of(
    ground: Ground, document: Document, frame: Frame
) -> Sequence[Mapping[str, object]]:
    """The components and laws of the model, with their handles at the cursor."""
    model = document.model
    if model is None:
        return []
    components = []
    total = frame.row if np.isfinite(frame.row).any() else None
    for component in model.components:
        handles: Sequence[Mapping[str, object]] = []
        if ground.kind == "trace" or component.op.domain == "TIME":
            handles = law_handles(component)
        elif ground.energy is not None and total is not None:
            handles = line_handles(
                component, frame.spectrum.get(component.name), total, ground.energy
            )
        components.append(
            _component(
                component, "time" if component.op.domain == "TIME" else "energy", None, handles
            )
        )
    for target, law in _laws(model):
        components.append(_component(law, "time", target, law_handles(law)))
    return components


def _laws(model: Model) -> list[tuple[str, Component]]:
    return [
        (par.name, law)
        for par in model.parameters.values()
        if par.dynamics is not None
        for law in par.dynamics.components
    ]


def _component(
    component: Component, where: str, of: str | None, handles: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    return {
        "name": component.name,
        "function": component.op.name,
        "kind": component.op.kind,
        "where": where,
        "of": of,
        "formula": component.op.formula,
        "parameters": [par.name for par in component.parameters],
        "handles": handles,
    }
