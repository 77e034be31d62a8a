"""Convolution kernels by formula: functions g(d) of the time difference d.

    kernel Sech(w>0 [ps]): reach = 20 * w; 4 / (exp(d / w) + exp(-d / w)) ** 2

Two more lines are optional: ``reach``, how far g extends, and ``tail``, the integral of g from a
distance d >= 0 to infinity. They hold for both sides, or for one as ``reach_before`` and
``reach_after``: earlier samples have d > 0, later ones d < 0. Without them g is integrated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS, Guard
from pyspec.errors import ModelError
from pyspec.formula.definitions.formulas import PARTS, SIDES, Formulas
from pyspec.formula.program.values import COMPARISONS, evaluated
from pyspec.functions.domain import holds
from pyspec.functions.integrals import beyond

Array = npt.NDArray[np.float64]

#: What a line may be called that declares a part.
NAMES = (*PARTS, *(f"{part}_{side}" for part in PARTS for side in SIDES))

#: Points at which comparisons are looked at, and values of parameters.
_FAR = np.geomspace(1e-4, 1e4, 1601)
_POINTS = np.concatenate([-_FAR[::-1], [0.0], _FAR])
_SCALES = (0.31, 0.83, 1.7, 0.57, 2.9)

#: Edges that are looked at for each comparison and parameter.
_MOST_EDGES = 8

#: Parts into which an interval with an edge is cut, and how often.
_SECTIONS, _MOST_CUTS = 64, 10

#: A change of g by less than this share of its largest value is no jump.
_SMALL = 1e-6


def kernel_words(own: Formulas, moved: Collection[str]) -> npt.NDArray[np.int64]:
    """The programs of shape, reaches and tails behind their head: csrc/kernels/convolution.h;
    `moved` are the parameters that move a jump."""
    formulas = [own.value, *(own.part(part, side) for part in PARTS for side in (0, 1))]
    nothing = np.empty(0, np.int64)
    programs = [nothing if formula is None else own.program(formula) for formula in formulas]
    at = CONSTANTS["KERNEL_HEAD"]
    places = []
    for program in programs:
        places.append(at if program.size else 0)
        at += program.size
    bits = sum(1 << k for k, name in enumerate(own.params) if name in moved)
    return np.concatenate([np.array([at, bits, *places], np.int64), *programs])


def check_parts(own: Formulas, start: str) -> None:
    """What a kernel declares is said once for each side, and its reach has no time difference."""
    names = [name for name, _ in own.parts]
    for part in PARTS:
        declared = [name for name in names if name.startswith(part)]
        sides = [f"{part}_{side}" for side in SIDES]
        if declared not in ([], [part]) and sorted(declared) != sorted(sides):
            raise ModelError(
                f"{start}write {part} for both sides of {own.name}, or {sides[0]} and {sides[1]}"
            )
    for name, formula in own.parts:
        values, numbers = own.table()
        used = values.reachable([values.lower(formula.root, numbers)])
        if name.startswith("reach") and values.input(own.axis) in used:
            raise ModelError(
                f"{start}{name} says how far {own.name} extends; it cannot depend on {own.axis!r}"
            )


# ---- jumps -----------------------------------------------------------------------------------


def kernel_jumps(own: Formulas, guards: tuple[Guard, ...]) -> tuple[tuple[str, str], ...]:
    """Parameters that move a jump of g. Each has its value for an edge at 1, or a formula that is
    never 0 if other parameters matter too."""
    values, root = own.values
    along = values.depends([values.input(own.axis)])
    inputs = {name: values.input(name) for name in own.params}
    factors_by_name: dict[str, list[float]] = {}
    for number in sorted(values.reachable([root]) & along):
        if values[number].instruction not in COMPARISONS:
            continue
        used = values.reachable([number])
        names = [name for name in own.params if inputs[name] in used]
        for name in names:
            edges = _edges(own, number, name, guards)
            factors = list(itertools.islice(edges, _MOST_EDGES if len(names) == 1 else 1))
            if factors:
                alone = len(names) == 1 and np.ptp(factors) <= 1e-9 * max(factors)
                factors_by_name.setdefault(name, []).append(factors[0] if alone else np.nan)
    places = []
    for name, factors in factors_by_name.items():
        is_same = np.isfinite(factors).all() and np.ptp(factors) <= 1e-9 * factors[0]
        places.append((name, repr(float(f"{factors[0]:.12g}")) if is_same else f"1 + abs({name})"))
    return tuple(places)


def _edges(own: Formulas, number: int, name: str, guards: tuple[Guard, ...]) -> Iterator[float]:
    """The parameter over the distance of each jump where a comparison changes, for some values."""
    truth_at = evaluated(own.values[0], number)
    for params in _examples(own, guards):
        env = dict(zip(own.params, params, strict=True))
        largest = -1.0  # of g, where there is an edge

        def along(d: Array, env: Mapping[str, float] = env) -> Array:
            return np.broadcast_to(truth_at({**env, own.axis: d}), d.shape)

        for k in np.flatnonzero(np.diff(along(_POINTS)))[:_MOST_EDGES]:
            edge = _section(along, float(_POINTS[k]), float(_POINTS[k + 1]))
            width = 1e-7 * abs(edge)
            with np.errstate(all="ignore"):
                if largest < 0:
                    size = np.abs(own(_POINTS, *params))
                    largest = float(size[np.isfinite(size)].max(initial=0.0))
                before, behind = own(np.array([edge - width, edge + width]), *params)
                jumps = edge != 0 and abs(behind - before) > _SMALL * largest
            if jumps:
                yield env[name] / abs(edge)


def _examples(own: Formulas, guards: tuple[Guard, ...]) -> Iterator[tuple[float, ...]]:
    """Values of the parameters within their bounds."""
    n = len(own.params)
    for signs in itertools.islice(itertools.product((1.0, -1.0), repeat=n), 4):
        for k in range(len(_SCALES)):
            values = tuple(sign * _SCALES[(k + j) % 5] for j, sign in enumerate(signs))
            if all(holds(guard, values) for guard in guards):
                yield values


def _section(truth: Callable[[Array], Array], a: float, b: float) -> float:
    """The first double between a and b at which a comparison changes; an approximation near 0,
    where doubles are dense."""
    for _ in range(_MOST_CUTS):
        points = np.linspace(a, b, _SECTIONS + 1)
        there = truth(points)
        k = int(np.argmax(there != there[0]))
        if (points[k - 1], points[k]) == (a, b):
            break
        a, b = float(points[k - 1]), float(points[k])
    return b


# ---- what is wrong with one ---------------------------------------------------------------------


def fault_of(own: Formulas, params: Sequence[float]) -> str:
    """Why a kernel cannot convolve at these values, and what to do; "" where it can."""
    name = own.name
    with np.errstate(all="ignore"):
        middle = float(own(np.zeros(1), *params)[0])
        sides = _integrals(own, params)
    if not np.isfinite(middle):
        return f"{name} is {middle:g} at d = 0; write a kernel that is finite there"
    if not np.isfinite(sides).all():
        return f"the integral of {name} is not finite; write a kernel that falls off faster"
    total = sum(sides)
    if total <= 0:
        return (
            f"the integral of {name} is {total:g}; a kernel is normalised by it: make it positive"
        )
    for side in range(len(sides)):
        fault = _declared(own, side, params, total, total / abs(middle) if middle else np.nan)
        if fault:
            return fault
    return ""


def _integrals(own: Formulas, params: Sequence[float]) -> list[float]:
    """The integrals of the formula over each side; infinite if they do not converge, that is,
    depend on the length of the first panel."""

    def along(sign: float, unit: float) -> float:
        return float(beyond(lambda d: own(sign * d, *params), np.array([0.0, unit]))[0])

    units = [[along(sign, unit) for sign in (1.0, -1.0)] for unit in (1.0, 2.0**40)]
    scale = sum(abs(side) for side in units[1])
    agree = [abs(a - b) <= 1e-9 * scale for a, b in zip(*units, strict=True)]
    return units[0] if all(agree) else [np.inf, np.inf]


def _declared(own: Formulas, side: int, params: Sequence[float], total: float, size: float) -> str:
    """What a declared reach or tail contradicts, at distances of the `size` of the kernel."""
    sign = 1.0 if side == 0 else -1.0
    reach = own.reaches(*params)[side]
    where = f"on the side {SIDES[side]}"
    if not reach >= 0:
        return f"{where} the reach is {reach:g}; it is a distance, 0 or more"
    with np.errstate(all="ignore"):
        at = np.minimum(np.array([0.0, 0.3, 1.0, 3.0]) * size, reach)
        at = np.append(at, reach) if np.isfinite(reach) else at
        inside = beyond(lambda d: own(sign * d, *params), at)
        tail = own.mass(side, at, *params)
    if np.isfinite(reach) and abs(inside[-1]) > 1e-6 * total:
        share = abs(inside[-1]) / total
        return (
            f"{where} {share:.2g} of the kernel lies beyond its reach of {reach:g}; give a larger "
            "reach, or make the formula 0 there"
        )
    if own.part("tail", side) is None:
        return ""
    worst = int(np.argmax(np.abs(tail - inside)))
    if not abs(tail[worst] - inside[worst]) <= 1e-6 * total:
        return (
            f"{where} the tail at d = {at[worst]:g} is {tail[worst]:.6g}, but the integral of the "
            f"formula from there on is {inside[worst]:.6g}; mend one of them, or leave the tail out"
        )
    return ""
