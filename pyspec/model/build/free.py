"""Amplitudes that are free at each energy or at each time: spectra and traces without a shape.

    expFun:
      A: {free: energy}                       # a decay times a spectrum of its own
      A: {free: energy, min: 0}               # which is not negative
      A: {free: energy, zero: [[300, 350]]}   # and held at 0 between these energies
      A: {free: energy, vary: project}        # the same in all files of a project

A fit does not count them among its parameters: it solves for them at every step.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as ByName

import numpy as np
import numpy.typing as npt

from pyspec._library import OpDef
from pyspec.errors import FitError, ModelError, suggest
from pyspec.model.tree import ENERGY, Free, Par
from pyspec.model.yaml.reader import Mapping, Node, Sequence
from pyspec.model.yaml.scalars import bound_of, read_number

#: Along which axis an amplitude may be free, by the domain of its function.
AXES = {"TIME": "energy", "ENERGY": "time"}

_KEYS = ("free", "min", "zero", "vary")


def read_free(node: Mapping, place: str) -> Free:
    """``{free: energy, min: 0, zero: [[300, 350]]}``. Raises :class:`ModelError`."""
    entries: dict[str, Node] = {}
    for key, value in node.items:
        if key.text not in _KEYS:
            raise ModelError(
                f"{place}: unknown word {key.text!r}{suggest(key.text, list(_KEYS))}; a free "
                "amplitude is written {free: energy}, with min: 0 or zero: [[begin, end]]"
            )
        entries[key.text] = value
    axis = getattr(entries.get("free"), "text", "")
    if axis not in AXES.values():
        raise ModelError(
            f"{place}: free must be energy or time; write {{free: energy}} for a spectrum, "
            "{free: time} for a trace"
        )
    if "min" in entries and bound_of(entries["min"], place, "min") != 0.0:
        raise ModelError(f"{place}: the only bound of a free amplitude is min: 0")
    shared = "vary" in entries
    if shared and getattr(entries["vary"], "text", "") != "project":
        raise ModelError(
            f"{place}: a free amplitude varies at each {axis}; write vary: project for one that "
            "all files share, or leave vary out"
        )
    ranges = _ranges(entries["zero"], place) if "zero" in entries else ()
    return Free(axis, "min" in entries, ranges, shared)


def _ranges(node: Node, place: str) -> tuple[tuple[float, float], ...]:
    pairs = node.items if isinstance(node, Sequence) else ()
    ranges = []
    for pair in pairs:
        ends = [read_number(end) for end in pair.items] if isinstance(pair, Sequence) else []
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
            ranges.append((ends[0], ends[1]))
    if not ranges or len(ranges) < len(pairs):
        raise ModelError(f"{place}: zero is a list of ranges, such as [[300, 350]]")
    return tuple(ranges)


def check_free(par: Par, op: OpDef, is_law_of_parameter: bool) -> None:
    """An amplitude may be free where the function is proportional to it, along the axis that the
    function does not have. Raises :class:`ModelError`."""
    if par.free is None:
        return
    if is_law_of_parameter or op.domain not in AXES:
        raise ModelError(
            f"{par.place}: belongs to what moves a parameter and cannot be free; the amplitudes "
            "of a model's own components can"
        )
    linear = () if op.spectrum_fed else op.linear
    if par.argument not in linear:
        raise ModelError(
            f"{par.place}: only an amplitude can be free, and {op.name} has "
            f"{', '.join(linear) or 'none'}"
        )
    if par.free.axis != AXES[op.domain]:
        raise ModelError(
            f"{par.place}: {op.name} is a function of {par.free.axis} itself; write "
            f"{{free: {AXES[op.domain]}}}"
        )


def refuse_uses(parameters: ByName[str, Par]) -> None:
    """Nothing refers to an amplitude that is free, and nothing moves it. Raises
    :class:`ModelError`."""
    for par in parameters.values():
        if par.free is not None and (par.dynamics is not None or par.profile is not None):
            raise ModelError(f"{par.place}: is free along {par.free.axis} and cannot move too")
        for name in par.formula.names if par.formula is not None else ():
            other = parameters.get(name)
            if other is not None and other.free is not None:
                raise ModelError(
                    f"{par.place}: expression {par.expr!r} refers to {name}, which is free along "
                    f"{other.free.axis} and has no single value"
                )


def free_parameters(parameters: ByName[str, Par]) -> dict[str, Par]:
    """The amplitudes that are free along an axis, by name."""
    return {name: par for name, par in parameters.items() if par.free is not None}


def refuse_free(label: str, parameters: ByName[str, Par], needs: str) -> None:
    """Raises :class:`FitError` where an amplitude is free; `needs` is "slices need", say."""
    for name, par in free_parameters(parameters).items():
        assert par.free is not None
        raise FitError(
            f"{label}: {name} is free along {par.free.axis}, and found in a fit of all times, by "
            f"fit_2d; {needs} a model with a height of its own"
        )


def has_free_spectra(parameters: ByName[str, Par]) -> bool:
    """Whether amplitudes are free along energy: expressions may then name the energy."""
    return any(par.free is not None and par.free.axis == ENERGY for par in parameters.values())


def depending(parameters: ByName[str, Par], names: Collection[str]) -> frozenset[str]:
    """The parameters whose expressions refer to one of these names, or to one that does."""
    formulas = {name: par.formula for name, par in parameters.items() if par.formula is not None}
    dependents, before = frozenset[str](), None
    while dependents != before:
        seen, before = dependents.union(names), dependents
        dependents = frozenset(n for n, own in formulas.items() if not seen.isdisjoint(own.names))
    return dependents


def dispersed(parameters: ByName[str, Par]) -> frozenset[str]:
    """Parameters that differ from energy to energy: their expressions name it, or one that does."""
    return depending(parameters, () if ENERGY in parameters else (ENERGY,))


def single_valued(parameters: ByName[str, Par]) -> dict[str, Par]:
    """The parameters but for amplitudes that are free, and what depends on the energy."""
    many = dispersed(parameters) if has_free_spectra(parameters) else frozenset[str]()
    return {n: p for n, p in parameters.items() if p.free is None and n not in many}


def allowed(free: Free, axis: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """(n,) False where an amplitude is held at 0; both ends of a range belong to it."""
    kept = np.ones(axis.size, dtype=bool)
    for begin, end in free.zero:
        kept &= (axis < begin) | (axis > end)
    return kept


def free_text(free: Free) -> str:
    """As a model file writes it."""
    parts = [f"free: {free.axis}"]
    if free.positive:
        parts.append("min: 0")
    if free.zero:
        ranges = ", ".join(f"[{begin!r}, {end!r}]" for begin, end in free.zero)
        parts.append(f"zero: [{ranges}]")
    if free.shared:
        parts.append("vary: project")
    return "{" + ", ".join(parts) + "}"
