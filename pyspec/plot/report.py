"""One self-contained HTML page for a fit: no other file, no network, no script."""

from __future__ import annotations

import base64
import io
import platform
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pyspec._version import VERSION
from pyspec.errors import DataError
from pyspec.fit.table import format_value
from pyspec.io import digest, write_text
from pyspec.plot.axes import rms
from pyspec.plot.config import PlotConfig, config_of
from pyspec.plot.figure import FIT, INK, MUTED, STYLE, PlotError, matplotlib, new_figure
from pyspec.plot.page import CSS, PAGE

#: Correlations below this are not worth a line.
NOTABLE = 0.5

#: Pixels per inch of the pictures in the page.
DPI = 130


def report(
    result: Any,
    path: str | Path,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    config: PlotConfig | None = None,
    **fields: Any,
) -> Path:
    """Writes the report of a fit as one HTML file, completely or not at all; returns its path.

    It holds what was fitted, the pictures, parameters with errors and bounds, correlations
    above 0.5, statistics, settings, the model text, versions, and the digest of the data.

    Parameters
    ----------
    title : the heading; model and file by default
    notes : lines about the data, such as what a reader found
    config : how the pictures look; fields of PlotConfig by name stand above it

    Raises
    ------
    PlotError
        where the file cannot be written. Without matplotlib the page has no pictures, and
        says so.
    """
    given = config_of(config, fields)
    heading = title or _heading(result)
    if hasattr(result, "problem"):
        parts = _fit_parts(result, given, notes)
    else:
        from pyspec.plot.slicereport import slice_parts

        parts = slice_parts(result, given, notes)
    page = PAGE.format(
        title=escape(heading), css=CSS, badge=_badge(result), body="\n".join(parts),
        subtitle=escape(_subtitle(result)),
    )  # fmt: skip
    return _write(Path(path), page)


def _fit_parts(result: Any, config: PlotConfig, notes: Sequence[str]) -> list[str]:
    """The sections of the report of one fit."""
    first, *others = _pictures(result, config)
    return [
        section("", _summary(result)),
        section(*first),
        section("Parameters", _parameters(result)),
        *(section(*picture) for picture in others),
        section(f"Correlations above {NOTABLE:g}", _correlations(result)),
        section("Fit", facts_list(_settings(result)), "half"),
        section("Data", facts_list(_data(result)) + notes_list(notes), "half"),
        section("Model", model_texts(result.problem.model)),
        section("Made with", facts_list(versions())),
    ]


def _write(path: Path, text: str) -> Path:
    try:
        write_text(path, text)
    except (OSError, DataError) as error:
        raise PlotError(f"cannot write the report {str(path)!r}: {error}") from error
    return path


# parts


def section(title: str, body: str, kind: str = "") -> str:
    head = f"<h2>{escape(title)}</h2>" if title else ""
    return f'<section class="{kind}">{head}{body}</section>' if body else ""


def _heading(result: Any) -> str:
    what = getattr(result, "target", "") or result.file_name
    return " fitted to ".join(part for part in (result.model_name, what) if part)


def _subtitle(result: Any) -> str:
    kinds = {
        "sbs": "every spectrum on its own",
        "2d": "all spectra together",
        "baseline": "the baseline spectrum",
    }
    what = kinds.get(result.fit_type, "one spectrum" if result.data.ndim == 1 else "")
    when = datetime.now(timezone.utc).astimezone().strftime("%d %B %Y, %H:%M")
    return "  ·  ".join(part for part in (f"Fit of {what}" if what else "", when) if part)


def _badge(result: Any) -> str:
    if not hasattr(result, "problem"):
        done, n = int(np.count_nonzero(result.success)), len(result)
        kind = "good" if done == n else "bad"
        return f'<span class="badge {kind}">{done} of {n} converged</span>'
    if result.success:
        return '<span class="badge good">converged</span>'
    word = "interrupted" if result.interrupted else "not converged"
    return f'<span class="badge bad">{word}</span>'


def _summary(result: Any) -> str:
    sigma = rms(result.residual)
    span = float(np.nanmax(result.data) - np.nanmin(result.data)) or 1.0
    cards = [
        (f"{result.redchi:.5g}", "reduced χ²"),
        (f"{sigma:.3g}", f"residual rms, {100 * sigma / span:.2g} % of the data's span"),
        (f"{result.n_data:,}".replace(",", "\u202f"), "points"),
        (f"{result.n_free}", "free parameters"),
        (f"{result.nfev}", f"evaluations in {seconds_text(result.seconds)}"),
    ]
    return cards_row(cards) + _warnings(result)


def cards_row(cards: Sequence[tuple[str, str]]) -> str:
    """Numbers at the top of the page, each with what it is."""
    text = "".join(f"<div><b>{escape(a)}</b><span>{escape(b)}</span></div>" for a, b in cards)
    return f'<div class="cards">{text}</div>'


def seconds_text(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _warnings(result: Any) -> str:
    lines = []
    if not result.success:
        lines.append(f"The fit did not converge: {result.message}")
    for name, end in result.at_bound.items():
        lines.append(f"{name} ended at its {end}imum and has no standard error.")
    if result.without_effect:
        lines.append(f"The data do not determine {', '.join(result.without_effect)}.")
    if not lines:
        return ""
    return f'<div class="warn">{"<br>".join(escape(line) for line in lines)}</div>'


def _pictures(result: Any, config: PlotConfig) -> list[tuple[str, str, str]]:
    """(title, HTML, kind of section) of each picture; one line instead without matplotlib."""
    from pyspec.plot import plot_fit, plot_moving, plot_waterfall

    plain = config.copy(title="", data_slice=None)
    try:
        found = [("Data and fit", image(plot_fit(result, config=config), "data and fit"), "")]
        if result.data.ndim == 2:
            figure = plot_waterfall(
                result.data, result.energy, result.time, fit=result.fit, n=7,
                config=plain.copy(title="some spectra with their fits"),
            )  # fmt: skip
            found.append(("Spectra", image(figure, "some spectra with their fits"), "half"))
            if _moves(result):
                figure = plot_moving(result, config=plain.copy(title="with one standard error"))
                shown = image(figure, "parameters over time")
                found.append(("Parameters over time", shown, "half"))
        shown = image(_histogram(result), "distribution of the residual")
        found.append(("Residual", shown, "half"))
    except PlotError as error:
        return [("Data and fit", f"<p>No pictures: {escape(str(error))}</p>", "")]
    return found


def _moves(result: Any) -> bool:
    return any(par.dynamics is not None for par in result.problem.model.parameters.values())


def image(figure: Any, alt: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{encoded}">'


def _histogram(result: Any) -> Any:
    """The residual against a normal distribution of the same width."""
    residual = np.asarray(result.residual, dtype=np.float64).ravel()
    residual = residual[np.isfinite(residual)]
    sigma = rms(residual) or 1.0
    with matplotlib().rc_context(STYLE):
        figure = new_figure(5.2, 2.5, False)
        ax = figure.subplots()
        bins = np.linspace(-5.0, 5.0, int(np.clip(2 * np.cbrt(residual.size), 15, 81)))
        ax.hist(residual / sigma, bins=bins, density=True, color="#8fa3b5", label="residual")
        x = np.linspace(-5.0, 5.0, 201)
        ax.plot(x, np.exp(-x * x / 2) / np.sqrt(2 * np.pi), color=FIT, lw=1.5, label="normal")
        ax.set_xlabel(f"(data − fit) / σ,   σ = {sigma:.3g}")
        ax.set_yticks([])
        ax.set_title(
            "where only noise is left, the bars follow the line", fontsize=9.0, color=MUTED
        )
        ax.legend(loc="upper right", labelcolor=INK)
        ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _parameters(result: Any) -> str:
    head = ("parameter", "value", "± 1 s.e.", "start", "bounds", "")
    rows = []
    for row in result.table:
        value, error = format_value(row.value, row.stderr)
        bounds, note = "", ""
        if row.kind == "free":
            low = "−∞" if np.isinf(row.min) else f"{row.min:.6g}"
            high = "∞" if np.isinf(row.max) else f"{row.max:.6g}"
            bounds = "" if np.isinf(row.min) and np.isinf(row.max) else f"{low} … {high}"
            note = f"at its {row.at_bound}imum" if row.at_bound else ""
        elif row.kind == "expr":
            note = f"= {row.expr}"
        else:
            note = "fixed"
        start = "" if row.kind != "free" or row.init is None else f"{row.init:.6g}"
        cells = (row.name, value, error, start, bounds, note)
        mark = "bound" if row.at_bound else row.kind
        rows.append((mark, cells))
    return html_rows(head, rows, "parameters")


def html_rows(
    head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], kind: str = ""
) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f'<tr class="{mark}">' + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for mark, cells in rows
    )
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _correlations(result: Any) -> str:
    names = list(result.problem.names)
    found = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            value = result.correl.get(first, {}).get(second)
            if value is not None and np.isfinite(value) and abs(value) > NOTABLE:
                found.append((first, second, float(value)))
    if not found:
        return "<p>None.</p>" if any(result.correl.values()) else "<p>Not known.</p>"
    found.sort(key=lambda pair: -abs(pair[2]))
    lines = "".join(
        f"<tr><td>{escape(a)}</td><td>{escape(b)}</td><td>{value:+.3f}</td>"
        f'<td><span class="bar {"neg" if value < 0 else "pos"}" '
        f'style="width:{9 * (abs(value) - NOTABLE) / (1 - NOTABLE) + 0.2:.2f}rem"></span></td></tr>'
        for a, b, value in found[:40]
    )
    more = f"<p>and {len(found) - 40} more</p>" if len(found) > 40 else ""
    return f'<table class="correlations"><tbody>{lines}</tbody></table>{more}'


def _settings(result: Any) -> list[tuple[str, str]]:
    time = result.time
    facts = [
        ("method", f"{result.method} on the {result.backend} backend"),
        ("outcome", result.message),
    ]
    if not result.is_trace:
        energy = result.energy
        facts.append(("energies", f"{energy[0]:g} to {energy[-1]:g}, {energy.size} points"))
    if time is not None:
        facts.append(("times", f"{time[0]:g} to {time[-1]:g}, {time.size} points"))
    facts += [
        ("χ²", f"{result.chisqr:.8g}"),
        ("reduced χ²", f"{result.redchi:.8g}"),
        ("degrees of freedom", f"{result.n_data - result.n_free}"),
        ("noise", _noise_words(result)),
    ]
    names = {"r2": "R²", "aic": "AIC", "bic": "BIC"}
    numbers = result.statistics
    facts += [(shown, f"{numbers[key]:.8g}") for key, shown in names.items()]
    options = {k: v for k, v in result.settings.items() if k not in ("methods", "scale_covar")}
    if options:
        facts.append(("options", ", ".join(f"{key} = {value}" for key, value in options.items())))
    return facts


def _noise_words(result: Any) -> str:
    problem = result.problem
    if problem.is_poisson:
        return f"counts, {problem.measurement.loss_scale:g} for each unit of the data"
    scaled = result.settings.get("scale_covar", True)
    how = "; errors scaled with √(reduced χ²)" if scaled else ""
    return ("known, weights 1 / σ" if problem.is_weighted else "not known") + how


def _data(result: Any) -> list[tuple[str, str]]:
    measurement = result.problem.measurement
    data = measurement.data
    n_masked = 0 if measurement.keep is None else int(np.count_nonzero(~measurement.keep))
    facts = [
        ("file", result.file_name or "given as an array"),
        ("shape", " × ".join(str(n) for n in data.shape) + f", {data.dtype}"),
        ("range", f"{np.nanmin(data):g} to {np.nanmax(data):g}"),
    ]
    if n_masked:
        facts.append(("masked", f"{n_masked} points"))
    return [*facts, ("SHA-256", digest(data))]


def notes_list(notes: Sequence[str]) -> str:
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<ul>{lines}</ul>" if lines else ""


def model_texts(model: Any) -> str:
    """The YAML text of the model and of everything added to its parameters."""
    blocks = [("", model.text)]
    for name, par in model.parameters.items():
        for kind, law in (("over time", par.dynamics), ("along the auxiliary axis", par.profile)):
            if law is not None:
                often = getattr(law, "frequency", -1.0)
                pace = f", frequency {often:g}" if often > 0 else ""
                blocks.append((f"{name} {kind}: {law.name}{pace}", law.text))
    return "".join(
        (f"<h3>{escape(head)}</h3>" if head else "") + f"<pre>{escape(text.rstrip())}</pre>"
        for head, text in blocks
        if text
    )


def versions() -> list[tuple[str, str]]:
    import lmfit
    import scipy

    return [
        ("pyspec", VERSION),
        ("Python", sys.version.split()[0]),
        ("NumPy, SciPy, lmfit", f"{np.__version__}, {scipy.__version__}, {lmfit.__version__}"),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]


def facts_list(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in facts)
    return f"<dl>{rows}</dl>"
