"""Labels of axes that are longer than their axis: two lines, in smaller letters where need be.
Headings that are wider than the picture: as many lines as need be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

#: The width of a letter, in units of the font size.
LETTER = 0.56

#: How far a label may reach beyond the ends of its axis in all, in points.
BEYOND_X, BEYOND_Y = 6.0, 45.0

#: What stands between the parts of a heading.
PART = "  ·  "

#: Letters do not get smaller than this, in points.
LEAST = 6.5


def wrap_labels(axes: Iterable[Any]) -> None:
    """Breaks labels that would be cut off, or run into those of the next panel."""
    for ax in axes:
        box, points = ax.get_window_extent(), 72.0 / float(ax.get_figure().dpi)
        _wrap(ax.xaxis.label, points * box.width + BEYOND_X)
        _wrap(ax.yaxis.label, points * box.height + BEYOND_Y)


def _wrap(label: Any, room: float) -> None:
    text, size = label.get_text(), label.get_fontsize()
    if "\n" in text or LETTER * size * _length(text) <= room:
        return
    words = text.split(" ")
    breaks = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    whole = [pair for pair in breaks if pair[0].count("$") % 2 == 0]  # no formula is broken
    lines = min(whole, key=lambda pair: max(map(_length, pair)), default=(text,))
    label.set_text("\n".join(lines))
    longest = LETTER * size * max(map(_length, lines))
    if longest > room:
        label.set_fontsize(max(size * room / longest, min(size, LEAST)))


def _length(text: str) -> int:
    """How many letters a text shows; of formulas those without commands and braces."""
    return len(re.sub(r"\\[A-Za-z]+|[${}^_]", "", text) if "$" in text else text)


def folded(text: str, room: float, size: float) -> str:
    """The text in lines of at most `room` points, with letters of `size` points. Lines end between
    the parts of the text, else between words. Longer words, such as names of files, are broken at a
    sign. Texts with formulas stay as they are."""
    n = int(room / (LETTER * size))
    if "$" in text.replace(r"\$", "") or n < 1:
        return text
    lines = []
    for given in text.split("\n"):
        parts = [line for part in given.split(PART) for line in _joined(_pieces(part, n), " ", n)]
        lines += _joined(parts, PART, n)
    return "\n".join(lines)


def _pieces(text: str, n: int) -> list[str]:
    """Its words, those longer than `n` in pieces."""
    pieces = []
    for word in text.split(" "):
        rest = word
        while len(rest) > n:
            end = max((rest.rfind(sign, n // 2, n) + 1 for sign in "_-./"), default=0) or n
            pieces.append(rest[:end])
            rest = rest[end:]
        pieces.append(rest)
    return pieces


def _joined(parts: list[str], between: str, n: int) -> list[str]:
    """As few lines as hold these parts, in their order."""
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]}{between}{part}"
        if len(longer) <= n:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines
