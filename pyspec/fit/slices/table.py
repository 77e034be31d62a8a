"""The table of slices: a line for each, its values with their errors."""

from __future__ import annotations

from typing import Any

from pyspec.fit.table import format_value, text_table
from pyspec.model.show import html_table

#: Slices that a table shows: the first and the last of more.
MOST_ROWS = 20


class SliceTable:
    """What a person reads of slices, those of an archive too: as text and in a notebook."""

    def __init__(self, slices: Any) -> None:
        self._slices = slices

    def __str__(self) -> str:
        return text_table(self._cells(), ">" * (len(self._slices.free_names) + 2) + "<")

    def _repr_html_(self) -> str:
        return html_table(self._cells())

    def _cells(self) -> list[list[str]]:
        slices = self._slices
        head = ["time", *slices.free_names, "redchi", "status"]
        shown = list(range(len(slices)))
        if len(shown) > MOST_ROWS:
            shown = [*shown[: MOST_ROWS // 2], -1, *shown[-MOST_ROWS // 2 :]]
        values, errors, redchi = slices.values, slices.stderr, slices.redchi
        rows = []
        for k in shown:
            if k < 0:
                rows.append(["…"] * len(head))
                continue
            cells = []
            for name in slices.free_names:
                error = errors[name][k]
                text, shown_error = format_value(values[name][k], None if error != error else error)
                cells.append(f"{text} ± {shown_error}" if shown_error else text)
            rows.append([f"{slices.time[k]:.6g}", *cells, f"{redchi[k]:.5g}", slices.status[k]])
        return [head, *rows]
