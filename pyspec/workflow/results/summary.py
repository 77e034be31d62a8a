"""The contents of a file as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pyspec.model.data.source import source_of
from pyspec.model.show import html_table
from pyspec.plot.protocols import Fit
from pyspec.workflow.fitting.fits import FileFits
from pyspec.workflow.results.identity import SHORT, handle_of


def file_text(file: FileFits) -> str:
    """Axes, data, noise, windows, models and fits of a file, a line each."""
    lines = [f"  {label}: {text}" for label, text in _facts(file)]
    lines += [f"  {result!r}".replace("<", "").replace(">", "") for result in file.results]
    return "\n".join([repr(file).strip("<>"), *lines])


def file_html(file: FileFits) -> str:
    """The same as an HTML table."""
    facts = _facts(file)
    facts += [(f"fit {k}", f"{result!r}".strip("<>")) for k, result in enumerate(file.results, 1)]
    rows = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in facts
    )
    return f"<b>{escape(repr(file).strip('<>'))}</b><table>{rows}</table>"


def fits_html(title: str, fits: Sequence[Fit]) -> str:
    """Fits as an HTML table, a row each."""
    head = ("file", "model", "type", "handle", "reduced χ²", "success")
    rows = [
        (fit.file_name, fit.model_name, fit.fit_type, handle_of(fit)[:SHORT],
         f"{np.median(fit.redchi):.5g}", f"{int(np.sum(fit.success))} of {np.size(fit.success)}")
        for fit in fits
    ]  # fmt: skip
    return f"<b>{escape(title)}</b>{html_table([head, *rows])}"


def _facts(file: FileFits) -> list[tuple[str, str]]:
    facts, data = [], file
    for name, axis in (("energy", data.energy), ("time", data.time), ("aux", data.aux_axis)):
        if axis is not None:
            unit = f" {data.units[name]}" if name in data.units else ""
            facts.append((name, f"{axis.size} points, {axis[0]:g} to {axis[-1]:g}{unit}"))
    source = source_of(data.data)
    if source is not None:
        facts.append(("data", f"{source.dtype}, by reference: {source.name}"))
    elif data.data is not None:
        seen = data.data if data.keep is None else data.data[data.keep]
        span = f"{seen.min():g} to {seen.max():g}" if seen.size else "all masked"
        unit = f" {data.units['data']}" if "data" in data.units else ""
        facts.append(("data", f"{data.data.dtype}, {span}{unit}"))
    hidden = source_of(data.keep)
    if hidden is not None:
        facts.append(("masked", f"by reference: {hidden.name}"))
    elif data.keep is not None:
        facts.append(("masked", f"{int(np.count_nonzero(~data.keep))} points"))
    if data.noise.is_known:
        facts.append(("noise", data.noise.kind))
    for label, window in (
        ("fit rows", data.rows),
        ("fit columns", data.columns),
        ("baseline rows", data.baseline_rows),
    ):
        if window is not None:
            facts.append((label, f"{window[0]} to {window[1] - 1}"))
    facts += [
        (f"model {name}", f"{len(m.parameters)} parameters") for name, m in file.models.items()
    ]
    return facts
