"""Maps over energy and time: data, fit and residual side by side; data alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.axes import (
    coarse,
    colour_range,
    edges,
    reference_lines,
    rms,
    set_ticks,
    set_x,
    set_y,
)
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import INK, MUTED, STYLE, finish, matplotlib, new_figure
from pyspec.plot.view import View, view_of

Array = npt.NDArray[np.float64]

#: The residual's colours span this many standard deviations, unless a few points need more.
SPAN = 4.0


def draw_map(
    ax: Any, energy: Array, time: Array, values: Any, config: PlotConfig, **options: Any
) -> Any:
    """One map with its axes."""
    across, values = coarse(edges(energy), values, 1)
    along, values = coarse(edges(time), values, 0)
    if config.y_type == "log":
        first = int(np.argmax(along > 0))
        along, values = along[first:], values[first:]
    mesh = ax.pcolormesh(across, along, values, rasterized=True, **options)
    ax.set_facecolor("#e8e8e8")  # where there is no value
    set_x(ax, across, config)
    set_y(ax, along, config)
    reference_lines(ax, config)
    return mesh


def data_colours(values: Any, config: PlotConfig) -> dict[str, Any]:
    """Range, scale and colour map of data."""
    low, high = colour_range(values) if config.z_lim is None else sorted(config.z_lim)
    look: dict[str, Any] = {"cmap": config.z_colormap}
    if config.z_type == "log":
        mpl = matplotlib()
        positive = np.asarray(values)[np.asarray(values) > 0]
        floor = float(np.quantile(positive, 0.01)) if positive.size else 1.0
        low = low if low > 0 else floor
        from matplotlib.colors import LogNorm

        look["cmap"] = mpl.colormaps[config.z_colormap].with_extremes(
            bad=mpl.colormaps[config.z_colormap](0.0)
        )
        return {**look, "norm": LogNorm(low, max(high, low * 1.001))}
    return {**look, "vmin": low, "vmax": high}


def add_bar(figure: Any, mesh: Any, axes: Any, label: str, config: PlotConfig, **look: Any) -> None:
    """A colour bar, beside or below."""
    if config.z_colorbar == "none":
        return
    beside = config.z_colorbar == "ver"
    place = {} if beside else {"location": "bottom", "shrink": 0.7}
    bar = figure.colorbar(mesh, ax=axes, pad=0.02, aspect=28, **place, **look)
    bar.set_label(label)
    bar.outline.set_visible(False)


def mark_window(ax: Any, seen: View, colour: str) -> Any:
    """A frame around the fit window."""
    assert seen.time is not None
    e, t = edges(seen.energy)[list(seen.columns)], edges(seen.time)[list(seen.rows)]
    return ax.plot(e[[0, 1, 1, 0, 0]], t[[0, 0, 1, 1, 0]], color=colour, lw=1.0, ls="--")[0]


def residual_colours(
    inside: Array, seen: View, unit: str, config: PlotConfig
) -> tuple[Array, float, str]:
    """What is drawn of the residual, its limit, and its label."""
    sigma = rms(inside)
    residual = seen.residual
    if unit == "sigma" and sigma > 0:
        return residual / sigma, SPAN, f"(data − fit) / σ,   σ = {sigma:.3g}"
    data = np.asarray(seen.data)[seen.inside]
    limit = float(np.nanmax(data) - np.nanmin(data)) / (2.0 * config.res_mult)
    largest = float(np.nanmax(np.abs(inside))) if inside.size else 0.0
    return residual, max(min(limit, largest), SPAN * sigma) or 1.0, "data − fit"


def plot_fit_2d(
    result: Any, *, save_path: str | Path | None, show: bool, unit: str, config: PlotConfig
) -> Any:
    """Data | fit | residual of a 2D fit; see :func:`pyspec.plot.plot_fit`."""
    with matplotlib().rc_context(STYLE):
        seen = view_of(result, config)
        assert seen.time is not None
        inside = seen.residual[seen.inside]
        shown, limit, label = residual_colours(inside, seen, unit, config)
        width, height = config.panel_size
        figure = new_figure(2.75 * width, height + 1.0, show, config.dpi_plot)
        axes = figure.subplots(1, 3, sharex=True, sharey=True)
        common = data_colours(np.asarray(seen.data)[seen.inside], config)
        first = draw_map(axes[0], seen.energy, seen.time, seen.data, config, **common)
        draw_map(axes[1], seen.energy, seen.time, seen.fit, config, **common)
        two_sided = {"vmin": -limit, "vmax": limit, "cmap": config.z_colormap_res}
        last = draw_map(axes[2], seen.energy, seen.time, shown, config, **two_sided)
        for ax, name in zip(axes, ("data", "fit", "residual"), strict=True):
            ax.set_title(name, fontweight="bold")
            ax.set_xlabel(config.x_label)
        axes[0].set_ylabel(config.y_label)
        if seen.cropped:
            for ax, colour in zip(axes, ("white", "white", INK), strict=True):
                frame = mark_window(ax, seen, colour)
            legend(axes[2], [frame], ["fit window"], dark=False)
        add_bar(figure, first, axes[:2], config.z_label, config)
        add_bar(figure, last, axes[2], label, config, extend="both")
        title = config.title or caption(result)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5, color=MUTED)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)


def legend(ax: Any, handles: Any, labels: Any, *, dark: bool) -> None:
    """A legend that is read on any map."""
    ax.legend(
        handles,
        labels,
        loc="upper right",
        labelcolor="white" if dark else INK,
        frameon=True,
        facecolor=INK if dark else "white",
        framealpha=0.6 if dark else 0.8,
        edgecolor="none",
    )


def caption(result: Any, after_name: str = "  ·  ") -> str:
    """One line under which a fit can be found again."""
    what = getattr(result, "target", "") or result.file_name
    name = " fitted to ".join(part for part in (result.model_name, what) if part)
    if not hasattr(result, "problem"):
        done = int(np.count_nonzero(result.success))
        return f"{name}  ·  {len(result)} slices one by one, {done} converged"
    state = "" if result.success else "  ·  NOT converged"
    return (
        f"{name}{after_name}{' × '.join(str(n) for n in result.data.shape)} points  ·  "
        f"{result.n_free} free parameters  ·  reduced χ² {result.redchi:.5g}{state}"
    )


def plot_map(
    data: Any,
    energy: Array,
    time: Array,
    marks: dict[str, tuple[int, int] | None],
    *,
    save_path: str | Path | None,
    show: bool,
    config: PlotConfig,
) -> Any:
    """One map with the fit window and the baseline marked."""
    with matplotlib().rc_context(STYLE):
        width, height = config.panel_size
        figure = new_figure(1.3 * width, height + 1.0, show, config.dpi_plot)
        ax = figure.subplots()
        mesh = draw_map(ax, energy, time, data, config, **data_colours(data, config))
        add_bar(figure, mesh, ax, config.z_label, config)
        across, along = edges(energy), edges(time)
        rows, columns = marks.get("rows"), marks.get("columns")
        handles = []
        if rows or columns:
            e = across[list(columns)] if columns else across[[0, -1]]
            t = along[list(rows)] if rows else along[[0, -1]]
            frame = ax.plot(e[[0, 1, 1, 0, 0]], t[[0, 0, 1, 1, 0]], color="white", lw=1.3)[0]
            handles.append((frame, "fit window"))
        if marks.get("baseline"):
            for edge in along[list(marks["baseline"] or ())]:
                line = ax.axhline(edge, color="#ffb703", lw=1.3, ls="--")
            handles.append((line, "baseline"))
        if handles:
            legend(ax, *zip(*handles, strict=True), dark=True)
        ax.set_xlabel(config.x_label)
        ax.set_ylabel(config.y_label)
        ax.set_title(config.title or "data", fontweight="bold", color=INK)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)
