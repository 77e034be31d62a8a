"""One measured spectrum as a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.axes import bare, curve_look, reference_lines, set_ticks, set_x
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import DATA, STYLE, finish, matplotlib, new_figure

Array = npt.NDArray[np.float64]


def plot_line(
    data: Any,
    energy: Array,
    columns: tuple[int, int] | None,
    *,
    save_path: str | Path | None,
    show: bool,
    config: PlotConfig,
) -> Any:
    """One spectrum, the fit window (half-open `columns`) shaded."""
    with matplotlib().rc_context(STYLE):
        width, height = config.panel_size
        figure = new_figure(1.55 * width, 1.2 * height, show, config.dpi_plot)
        ax = figure.subplots()
        look = {**curve_look(config, 0, DATA), "marker": "o" if not config.markers else None}
        if config.markers:
            look["marker"] = config.markers[0]
        if not config.linewidths:
            look["lw"] = 0.8
        ax.plot(energy, data, **{**look, "ms": 2.2 if not config.markersizes else look["ms"]})
        if columns is not None:
            ends = energy[columns[0]], energy[columns[1] - 1]
            ax.axvspan(*ends, color="#56b4e9", alpha=0.18, lw=0, label="fit window")
            ax.legend(loc="best")
        if config.z_type == "log":
            ax.set_yscale("log")
        if config.z_lim is not None:
            ax.set_ylim(*sorted(config.z_lim))
        set_x(ax, energy, config)
        ax.set_xlabel(config.x_label)
        ax.set_ylabel(config.z_label)
        ax.set_title(config.title or "data", fontweight="bold")
        reference_lines(ax, config)
        bare(ax)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)
