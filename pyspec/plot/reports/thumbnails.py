"""One page for many fits: a small picture of each, drawn as SVG without matplotlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pyspec.fit.findings.verdict import GOOD, verdict_of
from pyspec.io import write_text
from pyspec.plot.figures.spectra import is_trace
from pyspec.plot.protocols import Fit
from pyspec.plot.reports.page import CSS, PAGE, badge_html

Array = npt.NDArray[np.float64]

#: Width and height of a picture, and how many points a line has at most.
WIDE, HIGH, MOST = 250, 130, 250

STYLE = """
.small { display: inline-block; vertical-align: top; width: 262px; margin: .3rem; padding: 5px;
  border: 1px solid var(--line); border-radius: .4rem; font-size: .8rem; }
.small p { margin: 0; overflow-wrap: anywhere; color: var(--soft); }
.small svg { display: block; width: 250px; height: 130px; }
"""


class Small(NamedTuple):
    """A fit on the page: its result, or why there is none, and what is said below it."""

    name: str
    result: Fit | None = None
    error: str = ""
    lines: Sequence[str] = ()

    @property
    def state(self) -> str:
        """What became of the fit in a word or two."""
        return "failed" if self.result is None else verdict_of(self.result)


def small_page(path: Path, fits: Sequence[Small], title: str) -> None:
    """Writes the page, completely or not at all."""
    counts = Counter(fit.state for fit in fits)
    words = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    badge = badge_html(words, counts[GOOD] == len(fits))
    body = ""
    for fit in fits:
        shown = f"<p>{escape(fit.error)}</p>"
        if fit.result is not None:
            lines = "".join(f"<p>{escape(line)}</p>" for line in fit.lines)
            shown = f"{_picture(fit.result)}<p>reduced χ² {fit.result.redchi:.4g}</p>{lines}"
        head = f"<b>{escape(fit.name)}</b> {badge_html(fit.state, fit.state == GOOD)}"
        body += f'<div class="small">{head}{shown}</div>\n'
    subtitle = f"{len(fits)} fits: data grey, fit blue, residual below"
    page = PAGE.format(
        title=escape(title), css=CSS + STYLE, badge=badge, body=body, subtitle=subtitle
    )
    write_text(path, page)


def _picture(result: Fit) -> str:
    """Data, fit and residual of a spectrum; of a series those of the mean over time."""
    data, fit = (np.asarray(values, np.float64) for values in (result.data, result.fit))
    axis = np.asarray(result.time if is_trace(result) else result.energy, np.float64)
    if data.ndim == 2:
        data, fit = data.mean(axis=0), fit.mean(axis=0)
    n = min(data.size, fit.size, axis.size)
    x, data, fit = axis[:n], data[:n], fit[:n]
    finite = np.isfinite(data) & np.isfinite(fit)
    if not finite.any():
        return ""
    low, high = float(data[finite].min()), float(data[finite].max())
    left = data - fit
    size = float(np.abs(left[finite]).max()) or 1.0
    top = 0.72 * HIGH
    curves = (
        (data, low, high, top, 0.0, "#9aa5b1", 2.5),
        (fit, low, high, top, 0.0, "#0072b2", 1.2),
        (left, -size, size, HIGH - top - 6, top + 6, "#d55e00", 0.8),
    )
    drawn = "".join(
        f'<polyline points="{_points(x[finite], y[finite], *place)}" fill="none" '
        f'stroke="{colour}" stroke-width="{width}"/>'
        for y, *place, colour, width in curves
    )
    return f'<svg viewBox="0 0 {WIDE} {HIGH}" role="img">{drawn}</svg>'


def _points(x: Array, y: Array, low: float, high: float, tall: float, begin: float) -> str:
    """A curve in the coordinates of the picture."""
    part = slice(None, None, max(1, -(-x.size // MOST)))
    span, size = float(np.ptp(x)) or 1.0, (high - low) or 1.0
    across = (x[part] - x.min()) / span * (WIDE - 4) + 2
    down = begin + 2 + (1 - np.clip((y[part] - low) / size, -0.1, 1.1)) * (tall - 4)
    return " ".join(f"{u:.1f},{v:.1f}" for u, v in zip(across, down, strict=True))
