"""One spectrum: data, fit, components, and the residual underneath. Several: a waterfall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.fit.components import spectrum_components
from pyspec.plot.axes import bare, curve_look, reference_lines, rms, set_ticks, set_x, turn
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import BAND, COLOURS, DATA, FIT, INK, MUTED, STYLE, finish, matplotlib
from pyspec.plot.figure import new_figure as figure_of
from pyspec.plot.maps import caption
from pyspec.plot.view import View, view_of

Array = npt.NDArray[np.float64]

#: More components than this share a legend in two columns.
ONE_COLUMN = 8


def plot_fit_1d(
    result: Any, *, save_path: str | Path | None, show: bool, unit: str, config: PlotConfig
) -> Any:
    """Data, fit and components above, residual below; see :func:`pyspec.plot.plot_fit`."""
    with matplotlib().rc_context(STYLE):
        seen = view_of(result, config)
        width, height = config.panel_size
        figure = figure_of(1.55 * width, 1.6 * height, show, config.dpi_plot)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3.6, 1])
        draw_components(above, result, seen, config)
        draw_spectrum(above, seen)
        finish_spectrum(above, config)
        above.set_title(config.title or caption(result, "\n"), fontsize=9.0, color=MUTED)
        draw_residual(below, seen, unit, config)
        below.set_xlabel(config.y_label if result.is_trace else config.x_label)
        for ax in (above, below):
            shade_outside(ax, seen)
            reference_lines(ax, config, horizontal=ax is above)
            bare(ax)
        set_x(below, seen.energy, config)
        figure.align_ylabels([above, below])
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)


def plot_components_1d(
    result: Any, *, save_path: str | Path | None, show: bool, config: PlotConfig
) -> Any:
    """Every component on its own and their sum; see :func:`pyspec.plot.plot_components`."""
    with matplotlib().rc_context(STYLE):
        seen = view_of(result, config)
        width, height = config.panel_size
        figure = figure_of(1.55 * width, 1.35 * height, show, config.dpi_plot)
        ax = figure.subplots()
        draw_components(ax, result, seen, config)
        ax.plot(seen.energy, seen.fit, color=FIT, lw=1.6, label="sum", zorder=4)
        finish_spectrum(ax, config)
        ax.set_xlabel(config.x_label)
        ax.set_title(config.title or f"components of {result.model_name}", fontweight="bold")
        shade_outside(ax, seen)
        reference_lines(ax, config)
        bare(ax)
        set_x(ax, seen.energy, config)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)


def draw_spectrum(ax: Any, seen: View) -> None:
    """Points of the data, the fit, and the start."""
    ax.plot(
        seen.energy, seen.data, "o", mfc="white", mec=DATA, mew=0.7, ms=3.1, label="data", zorder=3
    )
    if seen.start is not None:
        ax.plot(seen.energy, seen.start, color=MUTED, lw=1.0, ls=":", label="start", zorder=2.5)
    ax.plot(seen.energy, seen.fit, color=FIT, lw=1.6, label="fit", zorder=4)


def finish_spectrum(ax: Any, config: PlotConfig) -> None:
    """Scale, limits, label and legend of an intensity axis."""
    if config.z_type == "log":
        ax.set_yscale("log")
    if config.z_lim is not None:
        ax.set_ylim(*sorted(config.z_lim))
    elif config.z_type == "lin":
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.06 * (high - low))
    ax.set_ylabel(config.z_label)
    handles, labels = ax.get_legend_handles_labels()
    first = [name for name in ("data", "fit", "sum", "start", "background") if name in labels]
    order = [*first, *(name for name in labels if name not in first)]
    ax.legend(
        [handles[labels.index(name)] for name in order],
        order,
        loc="best",
        ncols=1 if len(order) <= ONE_COLUMN else 2,
        frameon=True,
        framealpha=0.75,
        edgecolor="none",
    )


def shade_outside(ax: Any, seen: View) -> None:
    """Grey where the fit did not look."""
    if seen.time is not None or not seen.cropped or seen.columns[1] <= seen.columns[0]:
        return
    energy = seen.energy
    ends = energy[seen.columns[0]], energy[seen.columns[1] - 1]
    for outer, inner in ((energy.min(), min(ends)), (max(ends), energy.max())):
        if inner > outer:
            ax.axvspan(outer, inner, color="#eeeeee", lw=0, zorder=0)


def draw_residual(ax: Any, seen: View, unit: str, config: PlotConfig) -> None:
    """The residual with a band of one standard deviation."""
    inside = seen.residual[seen.inside]
    sigma = rms(inside)
    scaled = unit == "sigma" and sigma > 0
    divisor = sigma if scaled else 1.0
    ax.axhspan(-sigma / divisor, sigma / divisor, color=BAND, alpha=0.5, lw=0, zorder=1)
    ax.axhline(0.0, color=INK, lw=0.7, zorder=2)
    shown = seen.residual / divisor
    ax.plot(seen.energy, shown, "-", color=DATA, lw=0.5, alpha=0.5, zorder=2)
    ax.plot(seen.energy, shown, "o", color=DATA, ms=2.2, zorder=3)
    limit = 1.15 * float(np.nanmax(np.abs(inside))) / divisor if inside.size else 1.0
    if not scaled:
        data = np.asarray(seen.data)[seen.inside]
        limit = max(limit, float(np.nanmax(data) - np.nanmin(data)) / (2.0 * config.res_mult))
    limit = limit or 1.0
    ax.set_ylim(-limit, limit)
    ax.set_ylabel("(data − fit) / σ" if scaled else "data − fit")
    if scaled:
        ax.set_title(f"residual,  σ = {sigma:.3g}", fontsize=8.5, color=MUTED)


def draw_components(ax: Any, result: Any, seen: View, config: PlotConfig) -> None:
    """Peaks as filled curves that stand on the sum of all backgrounds, which is filled grey."""
    if result.is_trace:
        return
    window = (seen.begin, seen.begin + seen.energy.size)
    peaks, grounds = spectrum_components(result.problem.model, result.values, window)
    ground = sum(grounds.values(), np.zeros(seen.energy.size))
    floor = min(0.0, float(np.nanmin(ground)))
    if grounds:
        # Down to the picture's lower edge: from zero a high background would fill it all.
        lowest = float(min(np.nanmin(seen.data), np.nanmin(seen.fit), np.nanmin(ground)))
        span = float(np.nanmax(seen.data)) - lowest
        floor = floor if lowest < 0.3 * span else lowest - 0.06 * span
        ax.fill_between(
            seen.energy, floor, ground, color=BAND, alpha=0.4, lw=0, zorder=1, label="background"
        )
        ax.plot(seen.energy, ground, color="#7c8793", lw=1.1, zorder=2.2)
    for index, (name, curve) in enumerate(peaks.items()):
        colour = turn(config.colors, index, COLOURS[index % len(COLOURS)])
        top = ground + curve
        label = turn(config.legend, index, name) if config.legend else name
        ax.fill_between(
            seen.energy, ground, top, color=colour, alpha=0.3, lw=0, zorder=1.5, label=label
        )
        ax.plot(seen.energy, top, color=colour, lw=1.1, zorder=2)
    if grounds and config.z_lim is None:
        ax.set_ylim(bottom=floor)


def plot_waterfall_of(
    curves: Array,
    energy: Array,
    names: list[str],
    *,
    fits: Array | None,
    save_path: str | Path | None,
    show: bool,
    config: PlotConfig,
) -> Any:
    """Several spectra above each other; see :func:`pyspec.plot.plot_waterfall`."""
    with matplotlib().rc_context(STYLE):
        curves, fits = _scaled(curves, fits, config)
        step = config.waterfall or 0.6 * float(
            np.nanmax(np.nanmax(curves, 1) - np.nanmin(curves, 1))
        )
        width, height = config.panel_size
        tall = min(1.3 * height + 0.16 * height * len(curves), 4.0 * height)
        figure = figure_of(1.35 * width, tall, show, config.dpi_plot)
        ax = figure.subplots()
        colours = matplotlib().colormaps["viridis"](np.linspace(0.0, 0.78, len(curves)))
        for index in reversed(range(len(curves))):
            curve = curves[index]
            look = curve_look(config, index, colours[index])
            offset = index * step
            bottom = float(np.nanmin(curves)) + offset
            ax.fill_between(energy, bottom, curve + offset, color="white", lw=0, zorder=-index)
            ax.fill_between(
                energy, bottom, curve + offset, color=look["color"], alpha=0.12, lw=0, zorder=-index
            )
            ax.plot(energy, curve + offset, **look, zorder=-index)
            if fits is not None:
                ax.plot(energy, fits[index] + offset, color=FIT, lw=1.1, zorder=-index)
        set_x(ax, energy, config)
        right = ax.get_xlim()[1]
        last = -1 if (energy[-1] > energy[0]) != ax.xaxis_inverted() else 0
        for index, name in enumerate(names):
            ax.annotate(
                name,
                (right, float(curves[index][last]) + index * step),
                (5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.0,
                annotation_clip=False,
            )
        ax.set_ylim(float(np.nanmin(curves)) - 0.15 * step, None)
        ax.margins(y=0.02)
        ax.set_xlabel(config.x_label)
        ax.set_ylabel(f"{config.z_label}, shifted" if len(curves) > 1 else config.z_label)
        ax.set_title(config.title or "spectra", fontweight="bold")
        ax.set_yticks([])
        reference_lines(ax, config)
        ax.spines[["top", "right", "left"]].set_visible(False)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)


def _scaled(curves: Array, fits: Array | None, config: PlotConfig) -> tuple[Array, Array | None]:
    """Curves by `y_norm` and `y_scale`; fits by the same factors."""
    factors = np.ones(len(curves))
    if config.y_norm:
        largest = np.nanmax(np.abs(curves), axis=1)
        factors = 1.0 / np.where(largest > 0, largest, 1.0)
    if config.y_scale:
        factors = factors * [turn(config.y_scale, k, 1.0) for k in range(len(curves))]
    scale = factors[:, None]
    return curves * scale, None if fits is None else fits * scale
