"""One spectrum or trace: data, fit, components, and the residual underneath."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit import FitResult
from pyspec.model.data.checksum import Data
from pyspec.plot.caption import caption
from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.axes import (
    FillLook,
    LineLook,
    are_many,
    bare,
    curve_look,
    enclose,
    finite_of,
    hold,
    line,
    mark_beyond,
    reference_lines,
    set_along,
    turn,
)
from pyspec.plot.elements.fine_curve import Curves, curves_of
from pyspec.plot.elements.gaps import broken
from pyspec.plot.elements.legend import curve_legend, curve_name, is_narrow
from pyspec.plot.elements.wrap import folded
from pyspec.plot.figure import Sheet
from pyspec.plot.protocols import Fit
from pyspec.plot.style import BAND, COLOURS, DATA, FIT, MUTED
from pyspec.plot.view import Residual, View, residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: A start further out than this many times the span of data and fit would flatten the picture.
FAR_START = 1.0

#: Markers that draw nothing; data have a line instead.
NO_MARKER = ("", " ", "None", "none")

#: The look of pictures without one.
PLAIN = PlotConfig()

#: What stands beside the panel in the width of the figure, in points.
BESIDE = 70.0

#: The colour of masked points.
MASKED = "#b0417a"


def fit_spectrum(result: FitResult, sheet: Sheet, config: PlotConfig) -> Figure:
    """Data, fit and components above, residual below; with `ax=` the upper panel alone."""
    with sheet.style():
        seen = view_of(result, config)
        if not any((finite_of(values) > 0).any() for values in (seen.data, seen.fit)):
            config = config.copy(z_type="lin")  # a logarithmic axis has no place for them
        width, height = config.panel_size
        if sheet.ax is not None:
            above, below = sheet.panel((width, height), config), None
        else:
            figure = sheet.panels((1.55 * width, 1.6 * height), config)
            above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3.6, 1])
        limits, curves = limits_of(result, config), curves_of(result, seen)
        ground = draw_components(above, curves, config)
        data = np.where(seen.data > 0, seen.data, np.nan) if config.z_type == "log" else seen.data
        draw_data(above, seen.energy, data, limits, 3.1, label="data", config=config)
        above.plot(curves.x, curves.fit, label="fit", **fit_look(config))
        _draw_start(above, seen, curves)
        _finish_values(above, seen, curves, ground, config)
        text = config.title or caption(result, "\n")
        size = 7.0 if is_narrow(above) else 9.0
        room = 72.0 * above.figure.bbox.width / above.figure.dpi - BESIDE
        above.set_title(folded(text, room, size), fontsize=size, color=MUTED, wrap=True)
        panels = [above]
        if below is not None:
            residual = residual_of(seen, result, config)
            draw_residual(below, seen, residual, config, limits)
            figure.align_ylabels([above, below])
            panels.append(below)
        for ax in panels:
            shade_outside(ax, seen)
            reference_lines(ax, config, horizontal=ax is above)
            bare(ax)
        set_last_axis(panels[-1], result, seen, config)
        return sheet.finish(config)


def fit_components(result: FitResult, sheet: Sheet, config: PlotConfig) -> Figure:
    """Every component on its own and their sum; see :func:`pyspec.plot.plot_components`."""
    with sheet.style():
        seen = view_of(result, config.copy(show_init=False))
        width, height = config.panel_size
        ax = sheet.panel((1.55 * width, 1.35 * height), config)
        curves = curves_of(result, seen)
        ground = draw_components(ax, curves, config)
        ax.plot(curves.x, curves.fit, label="sum", **fit_look(config))
        _finish_values(ax, seen, curves, ground, config)
        ax.set_title(config.title or f"components of {result.model_name}", fontweight="bold")
        shade_outside(ax, seen)
        reference_lines(ax, config)
        bare(ax)
        set_last_axis(ax, result, seen, config)
        return sheet.finish(config)


def set_last_axis(ax: Axes, result: Fit, seen: View, config: PlotConfig) -> None:
    """The axis below: energies, or times of a trace."""
    set_along(ax, seen.energy, config, over_time=is_trace(result))


def limits_of(result: Fit, config: PlotConfig) -> tuple[float, float] | None:
    """The limits that were asked for of the axis below; None without."""
    return config.y_lim if is_trace(result) else config.x_lim


def is_trace(result: Fit) -> bool:
    """Whether a fit is one to a trace over time."""
    return isinstance(result, FitResult) and result.is_trace


def draw_data(
    ax: Axes,
    x: Array,
    y: Array,
    limits: Sequence[float] | None,
    size: float,
    label: str = "",
    *,
    config: PlotConfig = PLAIN,
) -> None:
    """Measured points, of many in sight a line. Their look is the first entry of markers,
    markersizes, linewidths (outlines) and alphas."""
    look: LineLook = {"color": DATA, "alpha": turn(config.alphas, 0, 1.0), "zorder": 3}
    look["label"] = label
    marker = turn(config.markers, 0, "o")
    if are_many(x, limits) or marker in NO_MARKER:
        look["lw"] = turn(config.linewidths, 0, 0.6)
        line(ax, x, y, **look)
        return
    look |= {"marker": marker, "ls": "", "mfc": "white"}
    look |= {"mew": turn(config.linewidths, 0, 0.7), "ms": turn(config.markersizes, 0, size)}
    ax.plot(x, y, **look)


def fit_look(config: PlotConfig, width: float = 1.6) -> LineLook:
    """How the curve of a fit looks: the second entry of linewidths, linestyles and alphas, or their
    only one."""
    return {
        "color": FIT,
        "lw": turn(config.linewidths, 1, width),
        "ls": turn(config.linestyles, 1, "-"),
        "alpha": turn(config.alphas, 1, 1.0),
        "zorder": 4,
    }


def _draw_start(ax: Axes, seen: View, curves: Curves) -> None:
    """The model at the start values; one that is far off is named, not drawn."""
    if curves.start is None:
        return
    values = finite_of([*seen.data[seen.inside], *curves.fit])
    start = finite_of(curves.start)
    if not start.size or not values.size:
        return
    span = float(np.ptp(values)) or 1.0
    far = max(float(start.max() - values.max()), float(values.min() - start.min())) / span
    look: LineLook = {"color": MUTED, "lw": 1.0, "ls": ":", "zorder": 2.5}
    if far > FAR_START:
        ax.plot([], [], label="start (far outside)", **look)
    else:
        ax.plot(curves.x, curves.start, label="start", **look)


def _finish_values(
    ax: Axes,
    seen: View,
    curves: Curves,
    ground: Array | None,
    config: PlotConfig,
) -> None:
    """Limits that hold everything, masked points, label and legend of the intensity axis."""
    bottom = None
    if config.z_type == "log":
        positive = finite_of([*seen.data, *curves.fit])
        positive = positive[positive > 0]
        bottom = float(positive.min()) if positive.size else None
    enclose(ax, config, bottom=bottom)
    if config.z_lim is None:
        hold(ax, [*seen.data, *curves.samples])
    if ground is not None:
        _fill_ground(ax, curves.x, ground, config)
    if config.z_type == "log":  # counts of zero have no place on it
        zero = seen.data <= 0
        mark_beyond(ax, seen.energy[zero], seen.data[zero], DATA, "0 or below")
    draw_masked(ax, seen)
    ax.set_ylabel(config.z_label)
    curve_legend(ax)


def _fill_ground(ax: Axes, x: Array, ground: Array, config: PlotConfig) -> None:
    """The background, filled from zero where that is near, else from the lower edge."""
    low, high = ax.get_ylim()
    is_fixed = config.z_lim is not None or config.z_type == "log"
    floor = 0.0 if not is_fixed and (low <= 0.0 or low < 0.3 * (high - low)) else low
    if is_fixed:
        ground = np.clip(ground, low, high)
    if low > 0.0 == floor:
        ax.set_ylim(0.0, high)
    ax.fill_between(x, floor, ground, color=BAND, alpha=0.4, lw=0, zorder=1, label="background")
    ax.set_ylim(floor if floor == low or low > 0.0 else low, high)


def draw_masked(ax: Axes, seen: View) -> None:
    """Crosses where points do not count; the axis grows for those near it, others are triangles
    at its edge."""
    where = np.isfinite(seen.masked)
    if not where.any():
        return
    low, high = sorted(ax.get_ylim())
    x, y = seen.energy[where], seen.masked[where]
    reach = 0.3 * (high - low) if ax.get_yscale() == "linear" else 0.0
    near = (y >= low - reach) & (y <= high + reach)
    if near.any():
        margin = 0.04 * (high - low) if reach else 0.0
        least, most = float(y[near].min()), float(y[near].max())
        low = least - margin if least < low else low
        high = most + margin if most > high else high
        ax.set_ylim(low, high)
        mark = "," if are_many(x[near]) else "x"
        ax.plot(x[near], y[near], mark, color=MASKED, ms=4.0, mew=0.9, label="masked", zorder=3)
    mark_beyond(ax, x, y, MASKED, "" if near.any() else "masked, off the axis")


def shade_outside(ax: Axes, seen: View) -> None:
    """Grey where the fit did not look: outside of the window, and over masked stretches."""
    if seen.time is not None:
        return
    energy = seen.energy
    kept = ax.get_ylim()
    if seen.cropped and seen.columns[1] > seen.columns[0]:
        ends = energy[seen.columns[0]], energy[seen.columns[1] - 1]
        for outer, inner in ((energy.min(), min(ends)), (max(ends), energy.max())):
            if inner > outer:
                ax.axvspan(outer, inner, color=MUTED, alpha=0.12, lw=0, zorder=0)
    masked, place = np.isnan(seen.data), ax.get_xaxis_transform()
    look: FillLook = {"color": MASKED, "alpha": 0.1, "lw": 0, "zorder": 0}
    if masked.any():
        ax.fill_between(energy, 0.0, 1.0, where=masked, transform=place, **look)
    ax.set_ylim(*kept)


def draw_residual(
    ax: Axes,
    seen: View,
    residual: Residual,
    config: PlotConfig,
    limits: Sequence[float] | None = None,
) -> None:
    """The residual of the fit window with a band of one standard deviation."""
    values = np.full(seen.energy.size, np.nan)
    values[seen.inside] = residual.values[seen.inside]
    band = 1.0 if residual.is_scaled else residual.spread
    ax.axhspan(-band, band, color=BAND, alpha=0.5, lw=0, zorder=1)
    ax.axhline(0.0, color=MUTED, lw=0.7, zorder=2)
    x, values = broken(seen.energy, values)
    if are_many(x, limits):
        ax.plot(x, values, "-", color=DATA, lw=0.6, zorder=3)
    else:
        ax.plot(x, values, "-", color=DATA, lw=0.5, alpha=0.5, zorder=2)
        ax.plot(x, values, "o", color=DATA, ms=2.2, zorder=3)
    finite = np.abs(finite_of(values))
    limit = 1.15 * float(finite.max()) if finite.size else 1.0
    if residual.is_scaled:
        limit = max(limit, 2.0)
    else:
        data = finite_of(seen.data[seen.inside])
        span = float(np.ptp(data)) if data.size else 0.0
        limit = max(limit, span / (2.0 * config.res_mult))
    limit = limit or 1.0
    ax.set_ylim(-limit, limit)
    ax.set_ylabel(residual.label)
    ax.set_title(f"residual,  {residual.note}", fontsize=8.5, color=MUTED)


def draw_components(ax: Axes, curves: Curves, config: PlotConfig) -> Array | None:
    """Peaks as filled curves that stand on the sum of all backgrounds; that sum, or None."""
    x, grounds = curves.x, curves.grounds
    ground = sum(grounds.values(), np.zeros(x.size))
    if grounds:
        ax.plot(x, ground, color="#7c8793", lw=1.1, zorder=2.2)
    for index, (name, curve) in enumerate(curves.peaks.items()):
        colour = turn(config.colors, index, COLOURS[index % len(COLOURS)])
        top = ground + curve
        label = curve_name(config, index, name)
        fill: FillLook = {"color": colour, "alpha": 0.3, "lw": 0, "zorder": 1.5, "label": label}
        if index >= len(COLOURS):  # the colours come again
            fill["hatch"] = "////"
        ax.fill_between(x, ground, top, **fill)
        ax.plot(x, top, color=colour, lw=1.1, zorder=2)
    return np.asarray(ground) if grounds else None


def data_line(
    data: Data,
    axis: Array,
    columns: tuple[int, int] | None,
    sheet: Sheet,
    config: PlotConfig,
    *,
    is_trace: bool = False,
) -> Figure:
    """One measured spectrum or trace, the fit window (half-open `columns`) shaded."""
    with sheet.style():
        width, height = config.panel_size
        ax = sheet.panel((1.55 * width, 1.2 * height), config)
        look = curve_look(config, 0, DATA, width=0.8, size=2.2)
        limits = config.y_lim if is_trace else config.x_lim
        if not config.markers:
            look["marker"] = "" if are_many(axis, limits) else "o"
        is_log = config.z_type == "log" and bool((finite_of(data) > 0).any())
        line(ax, axis, np.where(data > 0, data, np.nan) if is_log else data, **look)
        enclose(ax, config)
        if is_log:  # what has no place on it
            low = data <= 0
            mark_beyond(ax, axis[low], data[low], look["color"], "0 or below")
        if columns is not None:
            limits = ax.get_ylim()
            ends = axis[columns[0]], axis[columns[1] - 1]
            ax.axvspan(*ends, color="#56b4e9", alpha=0.18, lw=0, label="fit window")
            ax.set_ylim(*limits)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="best")
        set_along(ax, axis, config, over_time=is_trace)
        ax.set_ylabel(config.z_label)
        ax.set_title(config.title or "data", fontweight="bold")
        reference_lines(ax, config)
        bare(ax)
        return sheet.finish(config)
