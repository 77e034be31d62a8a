"""Labels of axes and headings that are longer than their place: several lines, of labels two in
smaller letters where need be."""

from __future__ import annotations

import re
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

#: Letters do not get smaller than this, in points.
LEAST = 6.5


def wrap_labels(axes: Iterable[Axes]) -> None:
    """Breaks labels that would be cut off, or run into those of the next panel."""
    for ax in axes:
        box, points = ax.get_window_extent(), 72.0 / ax.figure.dpi
        sides = (ax.xaxis, box.width, BEYOND_X), (ax.yaxis, box.height, BEYOND_Y)
        for axis, length, beyond in sides:
            text, size = axis.label.get_text(), float(axis.label.get_fontsize())
            room = (points * length + beyond) / (LETTER * size)
            if "\n" in text or _length(text) <= room:
                continue
            words = text.split(" ")
            breaks = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
            whole = [pair for pair in breaks if pair[0].count("$") % 2 == 0]  # no formula is broken
            lines = min(whole, key=lambda pair: max(map(_length, pair)), default=(text,))
            axis.label.set_text("\n".join(lines))
            smaller = size * room / max(map(_length, lines))
            axis.label.set_fontsize(max(min(smaller, size), min(size, LEAST)))


def _length(text: str) -> int:
    """How many letters a text shows; of formulas those without commands and braces."""
    return len(re.sub(r"\\[A-Za-z]+|[${}^_]", "", text) if "$" in text else text)


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
