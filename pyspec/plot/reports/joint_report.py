"""The report of a joint fit: of all files, then of each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from pyspec.fit import FitResult
from pyspec.plot.caption import five_digits, heading
from pyspec.plot.config import PlotConfig
from pyspec.plot.figures.fits import plot_fit
from pyspec.plot.reports.fit_report import (
    correlations_table,
    data_facts,
    model_texts,
    parameters_table,
    versions,
    warnings_box,
)
from pyspec.plot.reports.html import cards_row, facts_list, image, notes_list, seconds_text, section
from pyspec.plot.style import PlotError


def joint_parts(joint: Any, config: PlotConfig, notes: Sequence[str]) -> list[str]:
    """The sections of the report of a joint fit: of all files, then of each."""
    known = any(file.problem.is_weighted for file in joint.files)
    cards = [
        *([(five_digits(joint.redchi), "reduced χ²")] if known else []),
        (f"{len(joint.files)}", "files together"),
        (f"{joint.n_data:,}".replace(",", "\u202f"), "points"),
        (f"{joint.n_free}", "free parameters"),
        (f"{joint.nfev}", f"evaluations in {seconds_text(joint.seconds)}"),
    ]
    facts = [
        ("method", f"{joint.method} on the {joint.backend} backend"),
        ("outcome", joint.message),
        ("χ²", f"{joint.chisqr:.8g}"),
        ("reduced χ²", f"{joint.redchi:.8g}"),
        ("degrees of freedom", f"{joint.n_data - joint.n_free}"),
    ]
    texts = {model_texts(file.problem.model): None for file in joint.files}
    return [
        section("", cards_row(cards) + warnings_box(joint)),
        *(section(heading(file), _picture(file, config)) for file in joint.files),
        section("Parameters", parameters_table(joint)),
        section("Correlations above 0.5", correlations_table(joint)),
        section("Fit", facts_list(facts) + notes_list(notes)),
        *(section(f"Data of {file.file_name or 'a file'}", facts_list(data_facts(file)), "half")
          for file in joint.files),
        section("Model", "".join(texts)),
        section("Made with", facts_list(versions())),
    ]  # fmt: skip


def _picture(file: FitResult, config: PlotConfig) -> str:
    try:
        return image(
            plot_fit(file, config=config.copy(title="")), f"data and fit of {heading(file)}"
        )
    except PlotError as error:
        return f"<p>No picture: {escape(str(error))}</p>"
