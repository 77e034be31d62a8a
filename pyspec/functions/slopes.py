"""What the derivatives of a function read, and which of its parameters move a jump.

This is knowledge about the references that their formulas show and their values do not say.
Tests compare every entry, and every entry that is not there, with the references themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pyspec._library import OpDef

#: What a function reads besides its parameters, by kind of op; it stands behind them.
FED = {"SPECTRUM_FED": "spectrum", "KERNEL": "signal"}

#: Arguments in which a function is linear on their own, or that fewer others than usual scale:
#: the derivative by the argument reads these alone. Usually that by a parameter of the table's
#: column `linear` reads all parameters that are not linear, and any other derivative reads all.
_READS: dict[str, dict[str, tuple[str, ...]]] = {
    "GLS": {"m": ("A", "x0", "F")},
    "LinBack": {"b": (), "xStart": ("m", "xStart"), "xStop": ("m", "xStop")},
    "Shirley": {"pShirley": ("spectrum",), "spectrum": ("pShirley",)},
    "expFun": {"y0": ("t0",)},
    "sinFun": {"y0": ("t0",)},
    "sinDivX": {"y0": ("t0",)},
    "erfFun": {"y0": ()},
    "sqrtFun": {"y0": ()},
    "expFun_gaussIRF": {"y0": ("t0", "SD")},
    "sinFun_gaussIRF": {"y0": ("t0", "SD")},
    "sinDivX_gaussIRF": {"y0": ("t0", "SD")},
    "erfFun_gaussIRF": {"y0": ()},
    "sqrtFun_gaussIRF": {"y0": ()},
}

#: Parameters that move a jump over the samples, and how high it is: where the height is 0, the
#: function has a kink there at most. A kernel's jump is that of its weights.
JUMPS: dict[str, dict[str, str]] = {
    "stepFun": {"t0": "A + y0"},
    "linFun": {"t0": "y0"},
    "expFun": {"t0": "A + y0"},
    "sinFun": {"t0": "A * sin(phi) + y0"},
    "sinDivX": {"t0": "A + y0"},
    "boxCONV": {"width": "1"},
}


def arguments(op: OpDef) -> tuple[str, ...]:
    """The parameters of a function, and behind them the spectrum or signal that it reads."""
    return op.params + ((FED[op.kind],) if op.kind in FED else ())


@cache
def interacting(op: OpDef) -> tuple[frozenset[int], ...]:
    """For each of :func:`arguments` the positions of those that the derivative by it reads.

    The relation is symmetric. An argument that is not among its own is one in which the
    function is linear while the others stay.
    """
    names = arguments(op)
    reads = [_reads(op, name) for name in names]
    return tuple(
        frozenset(k for k, other in enumerate(names) if other in reads[i] and names[i] in reads[k])
        for i in range(len(names))
    )


def _reads(op: OpDef, name: str) -> tuple[str, ...]:
    names = arguments(op)
    special: Mapping[str, tuple[str, ...]] = _READS.get(op.name, {})
    if name in special:
        return special[name]
    if name in op.linear:
        return tuple(other for other in names if other not in op.linear)
    if name == FED["KERNEL"]:  # a convolution is linear in what it convolves
        return op.params
    return names


def amplitude(op: OpDef) -> int | None:
    """The position of the parameter that scales the whole function, or None: the only linear
    one."""
    return op.params.index(op.linear[0]) if len(op.linear) == 1 else None
