"""Residuals of several models beside each other: which one leaves structure."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.fit import FitResult
from pyspec.plot.caption import literal
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.elements.axes import bare, line, reference_lines
from pyspec.plot.elements.colours import Colours, add_bar
from pyspec.plot.elements.fine_curve import curves_of
from pyspec.plot.elements.labels import opened
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.maps import draw_map, residual_limit
from pyspec.plot.figures.spectra import draw_data, fit_look, is_trace, limits_of, set_last_axis
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import DATA, MUTED, PlotError
from pyspec.plot.view import Residual, View, residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

#: So many letters of a title have room in an inch of a panel; a line has at least that many.
LETTERS, LEAST_LETTERS = 10, 8


@answered
def plot_residuals(
    results: Sequence[Fit],
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the residuals of fits of several models or files side by side; returns the Figure.

    Spectra show data and fit above their residual, time series the map of their residual. All share
    one scale of residuals, which shows the better model at a glance, and one axis if their energies
    or times are the same. If only some fits have declared noise, all residuals are in units of the
    data. Options as of :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for no fit, and for spectra among time series.
    """
    if hasattr(results, "residual"):
        raise PlotError("plot_residuals takes a list of fits; write plot_residuals([result])")
    if not results:
        raise PlotError("there is no fit to draw; fit first")
    results = [fit_of(result, "plot_residuals") for result in results]
    if len({np.ndim(result.data) for result in results}) > 1:
        raise PlotError("residuals of spectra and of time series have no scale in common")
    along = {
        "over_time": all(map(is_trace, results)),
        "over_energy": np.ndim(results[0].data) == 1 and not any(map(is_trace, results)),
    }
    sheet, look = opened(results[0], options, **along)
    look = look.copy(show_init=False)
    spectra = [
        result for result in results if isinstance(result, FitResult) and np.ndim(result.data) == 1
    ]
    with sheet.style():
        seen = [view_of(result, look) for result in results]
        if look.residual_unit == "auto" and len({view.sigma is None for view in seen}) > 1:
            look = look.copy(residual_unit="data")  # σ and units of the data have no common scale
        residuals = [residual_of(v, r, look) for v, r in zip(seen, results, strict=True)]
        if spectra:
            _spectra(spectra, seen, residuals, sheet, look)
        else:
            _maps(results, seen, residuals, sheet, look)
        if look.title:
            sheet.title(look.title)
        return sheet.finish(look)


def _spectra(
    results: Sequence[FitResult],
    seen: list[View],
    residuals: list[Residual],
    sheet: Sheet,
    look: PlotConfig,
) -> None:
    width, height = look.panel_size
    figure = sheet.panels((width * len(seen) + 0.4, 1.4 * height), look)
    axes = figure.subplots(
        2,
        len(seen),
        sharex="all" if _same_ends([view.energy for view in seen]) else "col",
        sharey="row",
        height_ratios=[2.2, 1],
        squeeze=False,
    )
    titles = _titles(results, figure)
    for k, (view, residual, result) in enumerate(zip(seen, residuals, results, strict=True)):
        above, below = axes[:, k]
        limits = limits_of(result, look)
        draw_data(above, view.energy, view.data, limits, 2.6, config=look)
        curve = curves_of(result, view)
        above.plot(curve.x, curve.fit, **fit_look(look, 1.5))
        above.set_title(titles[k], fontsize=9.5)
        line(below, view.energy, residual.values, color=DATA, lw=0.9)
        below.axhline(0.0, color=MUTED, lw=0.7)
        below.set_title(residual.note, loc="right", fontsize=8.0, color=MUTED)
        for ax in (above, below):
            reference_lines(ax, look, horizontal=ax is above)
            bare(ax)
        set_last_axis(below, result, view, look)
    if look.z_lim is not None:
        axes[0, 0].set_ylim(*sorted(look.z_lim))
    axes[0, 0].set_ylabel(look.z_label)
    axes[1, 0].set_ylabel(residuals[0].label)
    figure.align_ylabels(axes[:, 0])


def _maps(
    results: Sequence[Fit],
    seen: list[View],
    residuals: list[Residual],
    sheet: Sheet,
    look: PlotConfig,
) -> None:
    width, height = look.panel_size
    figure = sheet.panels((0.95 * width * len(seen) + 0.9, height + 0.9), look)
    share_x = _same_ends([view.energy for view in seen])
    share_y = _same_ends([view.time for view in seen if view.time is not None])
    axes = figure.subplots(1, len(seen), sharex=share_x, sharey=share_y, squeeze=False)[0]
    limit = max(residual_limit(r, v, look) for r, v in zip(residuals, seen, strict=True))
    colours: Colours = {"vmin": -limit, "vmax": limit, "cmap": look.z_colormap_res}
    for ax, view, residual, title in zip(
        axes, seen, residuals, _titles(results, figure), strict=True
    ):
        assert view.time is not None
        mesh = draw_map(ax, view.energy, view.time, residual.values, look, **colours)
        ax.set_title(f"{title}\n{fill(residual.note, room_of(results, figure))}", fontsize=9.0)
        ax.set_xlabel(look.x_label)
    axes[0].set_ylabel(look.y_label)
    add_bar(figure, mesh, list(axes), residuals[0].label, look)


def _same_ends(axes: Sequence[npt.NDArray[np.float64]]) -> bool:
    """Whether all axes reach from the same value to the same value, but for a thousandth."""
    ends = np.array([(float(np.min(axis)), float(np.max(axis))) for axis in axes])
    return bool((np.ptp(ends, axis=0) <= 1e-3 * (ends[0, 1] - ends[0, 0])).all())


def room_of(results: Sequence[Fit], figure: Figure) -> int:
    """So many letters of a title have room above each panel."""
    return max(int(LETTERS * figure.bbox.width / figure.dpi / len(results)), LEAST_LETTERS)


def _titles(results: Sequence[Fit], figure: Figure) -> list[str]:
    """Model and type of each fit, and below it its file where these are several, in lines that end
    with the panel."""
    files = [getattr(result, "file_name", "") for result in results]
    several = len(set(files)) > 1
    room = room_of(results, figure)
    titles = []
    for result, file in zip(results, files, strict=True):
        title = result.model_name + (f" ({result.fit_type})" if result.fit_type else "")
        lines = [title, file] if several and file else [title]
        whole = (literal(fill(line, room)) for line in lines)
        titles.append("\n".join(whole))
    return titles
