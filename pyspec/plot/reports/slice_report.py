"""The report of a fit slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pyspec.fit import SliceResults
from pyspec.plot.caption import five_digits
from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.labels import named
from pyspec.plot.figures.fits import plot_evolution, plot_fit
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.reports.fit_report import data_facts, model_texts, versions
from pyspec.plot.reports.html import (
    cards_row,
    facts_list,
    html_rows,
    image,
    notes_list,
    seconds_text,
    section,
    warning,
)

#: So many slices that did not converge are named.
MAX_NAMED = 12


def slice_parts(slices: SliceResults, config: PlotConfig, notes: Sequence[str]) -> list[str]:
    """The sections of the report."""
    redchi, series = slices.redchi[slices.success], slices.series
    middle = five_digits(float(np.median(redchi))) if redchi.size else "–"
    is_known = series.weight is not None or series.loss == "poisson"
    cards = [
        (f"{len(slices)}", "slices"),
        (f"{int(np.count_nonzero(slices.success))}", "converged"),
        *([(middle, "reduced χ², median")] if is_known else []),
        (f"{len(slices.free_names)}", "free parameters in each"),
        (seconds_text(slices.seconds), f"on the {slices.backend} backend"),
    ]
    return [
        section("", cards_row(cards) + _failures(slices)),
        *(section(*picture) for picture in _pictures(slices, config)),
        section("Parameters, over the slices that converged", _table(slices)),
        section("Data", facts_list(data_facts(slices)) + notes_list(notes)),
        section("Model", model_texts(slices.model)),
        section("Made with", facts_list(versions())),
    ]


def _failures(slices: SliceResults) -> str:
    bad = [fit for fit in slices if not fit.success]
    lines = [f"{slices.time[fit.index]:g}: {fit.status}: {fit.message}" for fit in bad[:MAX_NAMED]]
    if len(bad) > MAX_NAMED:
        lines.append(f"and {len(bad) - MAX_NAMED} more")
    return warning([*lines, *slices.finding_lines()])


def _pictures(slices: SliceResults, config: PlotConfig) -> list[tuple[str, str, str]]:
    plain = config.copy(title="", data_slice=None, legend=config.legend and None)
    try:
        good = slices.success
        values = {name: np.where(good, slices.values[name], np.nan) for name in slices.free_names}
        figure = plot_evolution(
            slices.time, values, slices.stderr, source=slices,
            config=plain.copy(title="bars are one standard error"),
        )  # fmt: skip
        pictures = [("Parameters over time", image(figure, "parameters over time"), "")]
        pictures.append(
            ("Data and fit", image(plot_fit(slices, config=config), "data and fit"), "")
        )
        titled = plain.copy(title="some spectra with their fits")
        figure = plot_stack(slices, n=7, config=titled)
        pictures.append(("Spectra", image(figure, "some spectra with their fits"), "half"))
    except Exception as error:  # the numbers of the page need no pictures
        return [("Data and fit", f"<p>No pictures: {escape(str(error))}</p>", "")]
    return pictures


def _table(slices: SliceResults) -> str:
    """Median and range of each free parameter, and its typical standard error."""
    good = slices.success
    rows, labels = [], named(slices.free_names, slices)
    for name in slices.free_names:
        values, errors = slices.values[name][good], slices.stderr[name][good]
        errors = errors[np.isfinite(errors)]
        if not values.size:
            continue
        cells = [
            labels[name],
            *(f"{number:.6g}" for number in np.quantile(values, [0.5, 0.0, 1.0])),
        ]
        rows.append(("free", [*cells, f"{np.median(errors):.2g}" if errors.size else ""]))
    head = ("parameter", "median", "lowest", "highest", "median s.e.")
    return html_rows(head, rows, "wide") if rows else "<p>None converged.</p>"
