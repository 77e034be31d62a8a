"""Tables for people: the parameters of a model as cells, cells as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from pyspec.model.tree import Par

#: How people call what `Par.scope` says.
_SCOPES = {"file": "free", "project": "free, shared", "static": "fixed"}


def parameter_cells(parameters: Mapping[str, Par]) -> list[list[str]]:
    """A head and one row a parameter: name, value, free or fixed, bounds, what moves it or its
    expression."""
    rows = [["parameter", "value", "", "min", "max", "dynamics or expression"]]
    for par in parameters.values():
        moves = ""
        if par.dynamics is not None:
            laws = " + ".join(law.op.name for law in par.dynamics.components)
            moves = f"{par.dynamics.name}: {laws}"
        if par.free is not None:
            rows.append([par.name, "", "", "", "", f"free along {par.free.axis}"])
        elif par.formula is not None:
            rows.append([par.name, "", "", "", "", f"= {par.expr}"])
        else:
            bounds = f"{par.min:g}", f"{par.max:g}"
            rows.append([par.name, f"{par.value:.8g}", _SCOPES[par.scope], *bounds, moves])
    return rows


def html_table(cells: Sequence[Sequence[str]], title: str = "") -> str:
    """Rows of cells as an HTML table; the first row is the head."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in cells[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells[1:]
    )
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
