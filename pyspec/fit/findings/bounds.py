"""What a parameter that ended at a bound says of its line."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.fit.findings.finding import Finding
from pyspec.fit.findings.kinds import Kind
from pyspec.functions import reference
from pyspec.model import Model

Array = npt.NDArray[np.float64]

#: Parameters of a line that say how high and where it is; the others make its shape.
PLACE = ("A", "x0")

#: Distances from the place of a line at which its sides are compared, the last one in its tail,
#: and what its other parameters are there.
DISTANCES, TYPICAL = np.array([0.5, 1.0, 4.0]), 0.4

#: Sides that differ by less of their largest value are the same.
SAME = 1e-9


def at_the_bound(
    name: str, model: Model, side: str, limit: float, gain: float, chisqr: float, variance: float
) -> Finding:
    """The finding about a parameter that ended at a bound, and what a wider one would gain; less
    than the variance of a point is nothing."""
    numbers = {
        "side": side, "limit": limit, "gain": gain, "chisqr": chisqr, "variance": variance,
        "function": "", "mirrored": "", "shape": False,
    }  # fmt: skip
    owner = next((c for c in model.components if name in {p.name for p in c.parameters}), None)
    if owner is not None and gain >= variance:
        par = next(par for par in owner.parameters if par.name == name)
        if limit in owner.op.default_bounds(par.argument):
            numbers["function"] = owner.op.name
        if limit == 0.0:
            numbers["mirrored"] = other_side(owner.op.name, par.argument)
        numbers["shape"] = owner.op.kind == "PEAK" and par.argument not in PLACE
    return Finding(Kind.AT_BOUND, (name,), numbers)


@cache
def other_side(function: str, argument: str) -> str:
    """What has the tail of a line on the other side, where `argument` is its asymmetry, which is
    none at 0; "" of any other parameter, and of lines that are not of the table."""
    lines = {op.name: op for op in OPS.values() if op.kind == "PEAK" and not op.external}
    if function not in lines:
        return ""
    op = lines[function]
    shape = [name for name in op.params if name not in PLACE]
    signed = [name for name in shape if op.default_bounds(name)[0] < 0.0]
    if argument not in signed:
        return ""
    line, even = _sides(op), _sides(op, argument, 0.0)
    if _mirrored(line, line) or not _mirrored(even, even):
        return ""
    for name in signed:
        if _mirrored(line, _sides(op, name, -TYPICAL)):
            return f"with {name} of the other sign its tail lies on the other side"
    below, above = line[:, -1]
    where, there, binding = "below", "above", "binding"
    if above > below:
        where, there, binding = "above", "below", "kinetic"
    for other in lines.values():
        if other.params == op.params and _mirrored(line, _sides(other)):
            end = f"that of {other.name} {there}, as of {binding} energies"
            return f"its tail lies {where} x0, {end}"
    return ""


def _sides(op: OpDef, name: str = "A", value: float = TYPICAL) -> Array:
    """(2, n) a line below and above its place, at :data:`DISTANCES`, with one parameter changed."""
    values = {**dict.fromkeys(op.params, TYPICAL), "x0": 0.0, name: value}
    x = np.concatenate([-DISTANCES, DISTANCES])
    return np.asarray(reference(op)(x, *values.values())).reshape(2, -1)


def _mirrored(line: Array, other: Array) -> bool:
    return bool(np.abs(line - other[::-1]).max() <= SAME * np.abs(line).max())
