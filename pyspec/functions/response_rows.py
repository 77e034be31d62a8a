"""Which row is the exact response of a law to an instrument, and how it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pyspec._library import OPS, OpDef

Argument = TypeVar("Argument")


def response(law: OpDef, irf: OpDef) -> OpDef | None:
    """The row that holds the response of `law` to `irf`, or None if there is none."""
    if irf.own is not None:
        return irf.own.response(law.name if law.own is None else law.own.text)
    if law.own is not None:
        return law.own.response(irf.name)
    return OPS.get(f"{law.name}_{irf.name}")


def response_arguments(
    law: OpDef, row: OpDef, own: Sequence[Argument], width: Sequence[Argument]
) -> list[Argument]:
    """The arguments of a response: those of the law, in their order `own`. The parameter that the
    law lacks is the `width` of the instrument, the first of its arguments."""
    by_name = dict(zip(law.params, own, strict=True))
    return [by_name[name] if name in by_name else width[0] for name in row.params]
