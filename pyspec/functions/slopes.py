"""What the derivatives of a function depend on, from the op table."""

from __future__ import annotations

from functools import cache

from pyspec._library import OpDef

#: What a function reads besides its parameters, by kind of op; it stands behind them.
FED = {"SPECTRUM_FED": "spectrum", "ROW_FED": "spectrum", "KERNEL": "signal"}


def arguments(op: OpDef) -> tuple[str, ...]:
    """The parameters of a function, and behind them the spectrum or signal that it reads."""
    return op.params + ((FED[op.kind],) if op.kind in FED else ())


@cache
def interacting(op: OpDef) -> tuple[frozenset[int], ...]:
    """For each of :func:`arguments` the positions of those that the derivative by it reads.

    The relation is symmetric. The function is linear in an argument that is not among its own.
    """
    names = arguments(op)
    reads = [_reads(op, name) for name in names]
    return tuple(
        frozenset(k for k, other in enumerate(names) if other in reads[i] and names[i] in reads[k])
        for i in range(len(names))
    )


def _reads(op: OpDef, name: str) -> tuple[str, ...]:
    names, special = arguments(op), dict(op.reads)
    if name in special:
        return special[name]
    if name in op.linear:
        return tuple(other for other in names if other not in op.linear)
    if name == FED["KERNEL"]:  # a convolution is linear in what it convolves
        return op.params
    return names


def bends(op: OpDef) -> bool:
    """Whether a function is not linear in the spectrum that it reads."""
    return op.spectrum_fed and len(op.params) in interacting(op)[-1]


def amplitude(op: OpDef) -> int | None:
    """The position of the parameter that scales the whole function, or None: the only linear
    one."""
    return op.params.index(op.linear[0]) if len(op.linear) == 1 else None
