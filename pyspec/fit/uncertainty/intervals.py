"""Intervals by profile likelihood, as a dict that prints as a table."""

from __future__ import annotations

import numpy as np

from pyspec.fit.findings.finding import Finding
from pyspec.fit.results.table import format_value, text_table
from pyspec.model.show import html_table

#: (probability, value) from the far lower end over the best value, of probability 0, to the far
#: upper one.
Pairs = list[tuple[float, float]]


class Intervals(dict[str, Pairs]):
    """Name → [(probability, value), ...] of each parameter, as :func:`lmfit.conf_interval` has it.
    ``print`` shows a table with both ends at each probability, and so does a notebook. `findings`
    has what turned up on the way: a better optimum."""

    findings: tuple[Finding, ...] = ()

    def cells(self) -> list[list[str]]:
        """The head and a row for each parameter, as text."""
        head, rows = ["parameter", "value"], []
        for name, pairs in self.items():
            middle = next(k for k, (probability, _) in enumerate(pairs) if probability == 0.0)
            best = pairs[middle][1]
            head[2:] = [f"{100 * probability:.4g} %" for probability, _ in pairs[middle + 1 :]]
            ends = [(low, high) for (_, low), (_, high) in zip(
                reversed(pairs[:middle]), pairs[middle + 1 :], strict=True)]  # fmt: skip
            widths = [abs(end - best) for pair in ends for end in pair]
            positive = [width for width in widths if np.isfinite(width) and width > 0]
            error = min(positive) if positive else None
            row = [format_value(value, error)[0] for pair in ((best,), *ends) for value in pair]
            cells = [f"{low} … {high}" for low, high in zip(row[1::2], row[2::2], strict=True)]
            rows.append([name, row[0], *(cell.replace("inf", "∞") for cell in cells)])
        return [head, *rows]

    def __str__(self) -> str:
        cells = self.cells()
        return text_table(cells, "<" + ">" * (len(cells[0]) - 1))

    def _repr_html_(self) -> str:
        return html_table(self.cells())
