"""An HTML page, readable on a screen and on paper: its look and its pieces."""

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

CSS = """
:root { --ink: #1f2933; --soft: #5f6871; --line: #e1e5ea; --blue: #0072b2; --red: #d55e00; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  color: var(--ink); max-width: 66rem; margin: 2.2rem auto 4rem; padding: 0 1.5rem; }
header { border-bottom: 2px solid var(--ink); padding-bottom: .7rem; margin-bottom: 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.05rem; margin: 0 0 .6rem; }
h3 { font-size: .9rem; margin: 1rem 0 .3rem; color: var(--soft); font-weight: 600; }
header p { margin: .2rem 0 0; color: var(--soft); }
section { margin: 1.8rem 0; }
section.half { display: inline-block; vertical-align: top; width: 49%; padding-right: 1.5rem;
  margin: .4rem 0 1.4rem; }
img { display: block; max-width: 100%; height: auto; }
.badge { font-size: .8rem; font-weight: 600; border-radius: 1rem; padding: .15rem .7rem;
  vertical-align: .35em; margin-left: .6rem; white-space: nowrap; }
.good { background: #d9f0e6; color: #00583f; }
.bad { background: #fbe0cf; color: #8a3500; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; }
.cards div { flex: 1 1 8rem; background: #f4f6f8; border-radius: .5rem; padding: .7rem .9rem; }
.cards b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.cards span { color: var(--soft); font-size: .82rem; line-height: 1.25; display: block; }
.warn { margin-top: .9rem; border-left: 4px solid var(--red); background: #fdf3ec;
  padding: .6rem .9rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: right; font-size: .82rem; color: var(--soft); font-weight: 600;
  border-bottom: 1px solid var(--ink); padding: .25rem .9rem; }
td { text-align: right; padding: .22rem .9rem; border-bottom: 1px solid var(--line); }
table.parameters, table.wide { width: 100%; }
.parameters td:first-child, .correlations td:nth-child(-n+2) {
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .86rem; text-align: left; }
th:first-child, td:first-child { text-align: left; padding-left: .2rem; }
.parameters td:last-child, .parameters th:last-child, .correlations td:last-child {
  text-align: left; }
.parameters td:last-child { font-family: ui-monospace, "DejaVu Sans Mono", monospace;
  font-size: .82rem; }
tr.free td:nth-child(2) { font-weight: 600; }
tr.fixed td, tr.expr td { color: var(--soft); }
tr.bound td { background: #fdf3ec; }
tr.bound td:nth-child(2) { font-weight: 600; }
.bar { display: inline-block; height: .7rem; border-radius: .2rem; }
.pos { background: var(--blue); } .neg { background: var(--red); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: #f4f6f8; border-radius: .5rem; padding: .8rem 1rem; margin: .2rem 0;
  font: .82rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
ul { padding-left: 1.1rem; color: var(--soft); font-size: .88rem; }
section { overflow-x: auto; }
@media (max-width: 45rem) { section.half { width: 100%; padding-right: 0; } }
@media (max-width: 40rem) {
  body { margin-top: 1rem; padding: 0 .9rem; }
  h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
  img.broad { max-width: none; width: 46rem; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .35rem; }
  table.parameters, table.wide { display: block; }
  .parameters thead, .wide thead { display: none; }
  .parameters tbody, .wide tbody { display: block; }
  .parameters tr, .wide tr { display: block; padding: .35rem 0;
    border-bottom: 1px solid var(--line); }
  .parameters td, .wide td { display: inline-block; width: 48%; vertical-align: top; border: 0;
    padding: .05rem .2rem; text-align: left; overflow-wrap: anywhere; }
  .parameters td:empty, .wide td:empty { display: none; }
  .parameters td:first-child, .wide td:first-child, .parameters td:last-child {
    display: block; width: auto; }
  .parameters td:last-child:empty { display: none; }
  .parameters td:not(:first-child)::before, .wide td:not(:first-child)::before {
    content: attr(data-head) " "; color: var(--soft); font-size: .78rem; font-weight: 400; }
  .correlations td { padding: .2rem .3rem; overflow-wrap: anywhere; }
  .correlations .bar { max-width: 3rem; }
}
@media print {
  body { font-size: 10pt; margin: 0; max-width: none; padding: 0; }
  section, img, tr, pre { break-inside: avoid; }
  .cards div, pre { border: 1px solid var(--line); }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{css}</style>
</head>
<body>
<header><h1>{title} {badge}</h1><p>{subtitle}</p></header>
{body}
</body>
</html>
"""


def badge_html(words: str, is_good: bool) -> str:
    """Words on green, or on red."""
    return f'<span class="badge {"good" if is_good else "bad"}">{escape(words)}</span>'


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
