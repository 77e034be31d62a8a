"""Maps over energy and time: data, fit and residual side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.figure import INK, STYLE, finish, matplotlib, new_figure

Array = npt.NDArray[np.float64]

#: The residual's colours span this many standard deviations, unless a few points need more.
SPAN = 4.0


def edges(axis: Array) -> Array:
    """(n + 1,) borders of the cells around the points of an axis."""
    if axis.size == 1:
        return np.array([axis[0] - 0.5, axis[0] + 0.5])
    middle = 0.5 * (axis[1:] + axis[:-1])
    first, last = 1.5 * axis[0] - 0.5 * axis[1], 1.5 * axis[-1] - 0.5 * axis[-2]
    return np.concatenate([[first], middle, [last]])


def draw_map(ax: Any, energy: Array, time: Array, values: Any, **options: Any) -> Any:
    """One map; a falling energy axis is drawn falling, as the field does."""
    mesh = ax.pcolormesh(edges(energy), edges(time), values, rasterized=True, **options)
    if energy.size > 1 and energy[0] > energy[-1]:
        ax.invert_xaxis()
    return mesh


def colour_range(values: Any) -> tuple[float, float]:
    """Range of nearly all values: a few spikes do not wash the picture out."""
    low, high = np.quantile(np.asarray(values, dtype=np.float64), [0.001, 0.999])
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)


def plot_fit_2d(
    result: Any,
    *,
    save_path: str | Path | None,
    show: bool,
    energy_label: str,
    time_label: str,
    title: str | None,
    residual_unit: str,
    dpi: int,
) -> Any:
    """Data | fit | residual of a 2D fit; see :func:`pyspec.plot.plot_fit`."""
    data, fit, residual = np.asarray(result.data), result.fit, result.residual
    sigma = float(np.sqrt(np.mean(residual**2)))
    shown, label = residual, "data − fit"
    if residual_unit == "sigma" and sigma > 0:
        shown, label = residual / sigma, f"(data − fit) / σ,   σ = {sigma:.3g}"
    limit = SPAN if residual_unit == "sigma" else SPAN * sigma or 1.0
    low, high = colour_range(data)
    with matplotlib().rc_context(STYLE):
        figure = new_figure(11.0, 4.0, show)
        axes = figure.subplots(1, 3, sharex=True, sharey=True)
        common = {"vmin": low, "vmax": high, "cmap": "viridis"}
        first = draw_map(axes[0], result.energy, result.time, data, **common)
        draw_map(axes[1], result.energy, result.time, fit, **common)
        last = draw_map(
            axes[2], result.energy, result.time, shown, vmin=-limit, vmax=limit, cmap="RdBu_r"
        )
        if result.energy[0] > result.energy[-1]:
            axes[0].set_xlim(*sorted(axes[0].get_xlim(), reverse=True))
        for ax, name in zip(axes, ("data", "fit", "residual"), strict=True):
            ax.set_title(name, fontweight="bold")
            ax.set_xlabel(energy_label)
        axes[0].set_ylabel(time_label)
        bar = figure.colorbar(first, ax=axes[:2], pad=0.015, aspect=28)
        bar.outline.set_visible(False)
        bar = figure.colorbar(last, ax=axes[2], pad=0.03, aspect=28, extend="both")
        bar.set_label(label)
        bar.outline.set_visible(False)
        figure.suptitle(title or caption(result), x=0.01, ha="left", fontsize=9.5, color="#555555")
        return finish(figure, save_path, show, dpi)


def caption(result: Any) -> str:
    """One line under which a fit can be found again."""
    name = " fitted to ".join(part for part in (result.model_name, result.file_name) if part)
    state = "" if result.success else "  ·  NOT converged"
    return (
        f"{name}  ·  {' × '.join(str(n) for n in result.data.shape)} points  ·  "
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
    energy_label: str,
    time_label: str,
    title: str | None,
    dpi: int,
) -> Any:
    """One map with the fit window and the baseline marked."""
    low, high = colour_range(data)
    with matplotlib().rc_context(STYLE):
        figure = new_figure(5.2, 4.0, show)
        ax = figure.subplots()
        mesh = draw_map(ax, energy, time, data, vmin=low, vmax=high, cmap="viridis")
        figure.colorbar(mesh, ax=ax, pad=0.02, aspect=28).outline.set_visible(False)
        across, along = edges(energy), edges(time)
        rows, columns = marks.get("rows"), marks.get("columns")
        if rows or columns:
            e = across[list(columns)] if columns else across[[0, -1]]
            t = along[list(rows)] if rows else along[[0, -1]]
            ax.plot(
                e[[0, 1, 1, 0, 0]], t[[0, 0, 1, 1, 0]], color="white", lw=1.2, label="fit window"
            )
        if marks.get("baseline"):
            for edge in along[list(marks["baseline"] or ())]:
                ax.axhline(edge, color="#ffb703", lw=1.2, ls="--")
            ax.plot([], [], color="#ffb703", ls="--", label="baseline")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(
                loc="upper right",
                labelcolor="white",
                frameon=True,
                facecolor=INK,
                framealpha=0.6,
                edgecolor="none",
            )
        ax.set_xlabel(energy_label)
        ax.set_ylabel(time_label)
        ax.set_title(title or "data", fontweight="bold", color=INK)
        return finish(figure, save_path, show, dpi)
