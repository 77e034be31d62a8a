"""One self-contained HTML page for a fit: no other file, no network, no script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyspec.calls import answered
from pyspec.errors import DataError
from pyspec.fit import SliceResults
from pyspec.fit.findings.verdict import GOOD, verdict_of
from pyspec.fit.interrupts import Hold
from pyspec.io import write_text
from pyspec.plot.caption import heading
from pyspec.plot.config import Look
from pyspec.plot.figures.joint_files import files_of
from pyspec.plot.figures.spectra import is_trace
from pyspec.plot.look import config_of
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.reports.fit_report import fit_parts, slice_parts
from pyspec.plot.reports.page import CSS, PAGE, badge_html
from pyspec.plot.style import PlotError

if TYPE_CHECKING:
    from typing_extensions import Unpack


#: What the name of a report may end in.
SUFFIXES = (".html", ".htm")


@answered
def report(
    result: Fit,
    path: str | Path,
    *,
    title: str = "",
    notes: Sequence[str] = (),
    **options: Unpack[Look],
) -> Path:
    """Writes the report of a fit as one HTML file, completely or not at all; returns its path.

    It holds data and model, the pictures, parameters with errors and bounds, correlations above
    0.5, statistics, settings, the model text, versions, and the digest of the data. Ctrl-C takes
    effect once the page is written, a second Ctrl-C at once.

    Parameters
    ----------
    result : a fit, a joint fit, the fits of slices, or one from an archive, which is not fitted
        again
    title : the heading; model and file by default
    notes : lines about the data, such as what a reader found
    options : how the pictures look, fields of :class:`PlotConfig` by name, ``config=`` for all

    Raises
    ------
    PlotError
        where the file cannot be written. Without matplotlib the page has no pictures, and
        says so.
    """
    fit = result if files_of(result) else fit_of(result, "report")
    if not (fit.level or getattr(fit, "_is_joint_member", False)):
        fit = fit.diagnose()
    config = config_of(options, over_energy=fit.data.ndim == 1 and not is_trace(fit))
    if Path(path).suffix.lower() not in SUFFIXES:
        raise PlotError(f"{path}: a report is one page of HTML; end its name in .html")
    # matplotlib has many weak references. Python ignores errors raised while it drops an object,
    # even the KeyboardInterrupt of Ctrl-C. A held one comes once the page is written.
    with Hold():
        if isinstance(fit, SliceResults):
            parts = slice_parts(fit, config, notes)
        else:
            parts = fit_parts(fit, config, notes, options)
        words = verdict = verdict_of(fit)
        if isinstance(fit, SliceResults) and np.all(fit.success):
            words = f"{len(fit)} of {len(fit)} {GOOD}" + f", {verdict}" * (verdict != GOOD)
        kinds = {
            "sbs": "every spectrum on its own",
            "2d": "all spectra together",
            "baseline": "the baseline spectrum",
        }
        files, one = files_of(fit), "one spectrum" if fit.data.ndim == 1 else ""
        subject = f"{len(files)} files together" if files else kinds.get(fit.fit_type, one)
        when = datetime.now(timezone.utc).astimezone().strftime("%d %B %Y, %H:%M")
        page = PAGE.format(
            title=escape(title or heading(fit)), css=CSS, badge=badge_html(words, verdict == GOOD),
            body="\n".join(parts),
            subtitle=escape(f"Fit of {subject}  ·  {when}" if subject else when),
        )  # fmt: skip
        try:
            write_text(path, page)
        except (OSError, DataError) as error:
            raise PlotError(f"cannot write the report {str(path)!r}: {error}") from error
        return Path(path)
