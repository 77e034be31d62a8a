"""Which row is the exact response of a law to an instrument, and how it is called."""

from __future__ import annotations

from pyspec._library import OPS, OpDef

#: In place of a position in the law's parameters: the width of the instrument response.
WIDTH = -1


def response(law: OpDef, irf: OpDef) -> OpDef | None:
    """The row that holds the response of `law` to `irf`, or None if there is none."""
    if irf.own is not None:
        return irf.own.response(law.name if law.own is None else law.own.text)
    if law.own is not None:
        return law.own.response(irf.name)
    return OPS.get(f"{law.name}_{irf.name}")


def response_order(law: OpDef, row: OpDef) -> tuple[int, ...]:
    """The position of each parameter of a response among the parameters of the law; :data:`WIDTH`
    for the parameter that the law lacks."""
    return tuple(law.params.index(p) if p in law.params else WIDTH for p in row.params)
