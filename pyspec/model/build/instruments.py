"""Instruments with an exact response, and the Gaussians of which one is the sum.

    gaussIRF: {SD: [0.1, True]}
    gaussIRF: {SD: [0.4, True], share: [0.2, True, 0, 1], shift: [0.05, True]}

Rows directly after one another are one instrument: the sum of their Gaussians, each times its
share. The shares add up to 1, and the first Gaussian has what the others leave. A response to the
sum is the sum of the responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspec.errors import ModelError
from pyspec.model.tree import Component, Par

#: What a further Gaussian of an instrument has beside its width.
SHARE, SHIFT = "share", "shift"


class Seen(NamedTuple):
    """Laws as an instrument sees them, in file order: the laws above the instrument, its rows, and
    the laws below it. Without an instrument all is above it."""

    above: list[Component]
    rows: list[Component]
    laws: list[Component]


def seen_by(components: Sequence[Component]) -> Seen:
    """Components of a dynamics model, divided at their instrument."""
    first = next(
        (k for k, component in enumerate(components) if component.op.kind == "IRF"), len(components)
    )
    last = first
    in_order = list(components)
    for row in in_order[first:]:
        same = row.function == in_order[first].function and row.subcycle == in_order[first].subcycle
        if row is not in_order[first] and not (same and SHARE in row.op.params):
            break
        last += 1
    return Seen(in_order[:first], in_order[first:last], in_order[last:])


def argument(component: Component, name: str) -> Par | None:
    """A parameter by its name within the component; None where it was left out."""
    return next((par for par in component.parameters if par.argument == name), None)


def share_text(rows: Sequence[Component], k: int) -> str:
    """The share of the k-th row of an instrument, an expression; "1" where it is the only one."""
    own = argument(rows[k], SHARE)
    if own is not None:
        return own.name
    others = [par.name for row in rows if (par := argument(row, SHARE)) is not None]
    return " - ".join(["1", *others])


def check_shares(rows: Sequence[Component]) -> None:
    """The first Gaussian of an instrument has neither share nor shift, each further one a share.
    Raises :class:`ModelError`."""
    first, *others = rows
    for name, why in (
        (SHARE, "has the share that the others leave" if others else "is the whole instrument"),
        (SHIFT, "has its centre at t0 of the laws, which says where it is"),
    ):
        par = argument(first, name)
        if par is not None:
            below = "" if others else f", or write it in a further {first.op.name} below this one"
            raise ModelError(f"{par.place}: the first {first.op.name} {why}; remove {name}{below}")
    for row in others:
        if argument(row, SHARE) is None:
            raise ModelError(
                f"{row.where}: {row.name}: the parameter {SHARE!r} is missing; each further "
                f"{row.op.name} of an instrument needs its share of the whole, such as "
                f"'{SHARE}: [0.2, True, 0, 1]'"
            )
