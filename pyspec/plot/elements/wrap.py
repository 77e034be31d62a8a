"""Labels of axes and headings that are longer than their place: several lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The width of a letter, in units of the font size.
LETTER = 0.56

#: How far a label may reach beyond the ends of its axis in all, in points.
BEYOND_X, BEYOND_Y = 6.0, 45.0

#: What stands between the parts of a heading.
PART = "  ·  "


def wrap_labels(axes: Iterable[Axes]) -> None:
    """Breaks labels that would be cut off, or run into those of the next panel."""
    for ax in axes:
        box, points = ax.get_window_extent(), 72.0 / ax.figure.dpi
        sides = (ax.xaxis, box.width, BEYOND_X), (ax.yaxis, box.height, BEYOND_Y)
        for axis, length, beyond in sides:
            text, size = axis.label.get_text(), float(axis.label.get_fontsize())
            room = int((points * length + beyond) / (LETTER * size))
            if len(text) > room > 0 and "$" not in text:  # no formula is broken
                axis.label.set_text(textwrap.fill(text, room))


def folded(text: str, room: float, size: float) -> str:
    """The text in lines of at most `room` points, with letters of `size` points. Lines end between
    the parts of the text, else between words. Longer words, such as names of files, are broken.
    Texts with formulas stay as they are."""
    n = int(room / (LETTER * size)) - 1
    if "$" in text.replace(r"\$", "") or n < 1:
        return text
    bound = text.replace(" ", "\0").replace(PART.replace(" ", "\0"), PART)
    lines = [line for paragraph in bound.split("\n") for line in textwrap.wrap(paragraph, n)]
    whole = [line.strip(" ·").replace("\0", " ") for line in lines]
    return "\n".join(part for line in whole for part in textwrap.wrap(line, n))
