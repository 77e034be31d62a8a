"""Pieces of an HTML page: sections, tables, lists, pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Pixels per inch of the pictures in a page.
DPI = 130

#: Pictures broader than this, in units of their height, are scrolled on a phone, not shrunk.
BROAD = 2.3


def section(title: str, body: str, kind: str = "") -> str:
    """One part of the page, left out where it is empty."""
    head = f"<h2>{escape(title)}</h2>" if title else ""
    return f'<section class="{kind}">{head}{body}</section>' if body else ""


def cards_row(cards: Sequence[tuple[str, str]]) -> str:
    """Numbers at the top of the page, each with what it is."""
    text = "".join(f"<div><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in cards)
    return f'<div class="cards">{text}</div>'


def warning(lines: Sequence[str]) -> str:
    """A box that cannot be overlooked; nothing without lines."""
    if not lines:
        return ""
    return f'<div class="warn">{"<br>".join(escape(line) for line in lines)}</div>'


def seconds_text(seconds: float) -> str:
    """ "12 ms" or "3.4 s"."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def image(figure: Figure, alt: str) -> str:
    """A figure inside of the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    width, height = figure.get_size_inches()
    kind = ' class="broad"' if width > BROAD * height else ""
    return f'<img alt="{escape(alt)}"{kind} src="data:image/png;base64,{encoded}">'


def html_rows(
    head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], kind: str = ""
) -> str:
    """A table; on a narrow screen each row becomes a block whose cells carry their heads."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f'<tr class="{mark}">'
        + "".join(
            f'<td data-head="{escape(name)}">{escape(cell)}</td>'
            for name, cell in zip(head, cells, strict=True)
        )
        + "</tr>"
        for mark, cells in rows
    )
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def notes_list(notes: Sequence[str]) -> str:
    """Lines about the data."""
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<ul>{lines}</ul>" if lines else ""


def facts_list(facts: Sequence[tuple[str, str]]) -> str:
    """Names and what they are."""
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in facts)
    return f"<dl>{rows}</dl>"
