"""How parameters move in time: a 2D fit with error bands, values of slices with error bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.fit.results.moving import Moving
from pyspec.io.units import guess_kind, split_unit
from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.axes import (
    bare,
    finite_of,
    inner_range,
    line,
    mark_beyond,
    reference_lines,
    set_time,
    turn,
)
from pyspec.plot.elements.legend import name_signs
from pyspec.plot.figure import Sheet
from pyspec.plot.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: Values further out than this many times the range of nearly all others are not drawn to
#: scale, and error bars that reach further than this.
FAR, FAR_BAR = 10.0, 3.0

#: What the legend says of open points.
OPEN = "no standard error, or a very large one"

#: More panels than this stand in two columns.
ONE_COLUMN = 3


def draw_evolution(
    time: Array,
    values: Mapping[str, Array],
    stderr: Mapping[str, Array | None],
    sheet: Sheet,
    config: PlotConfig,
    *,
    labels: Mapping[str, str],
    traces: Moving | None = None,
) -> Figure:
    """One panel for each parameter over a common time axis: points, or `traces` of a fit, lines
    that may have times between those; `labels` stand above the panels."""
    n_columns = 1 if len(values) <= ONE_COLUMN else 2
    n_rows = -(-len(values) // n_columns)
    width, height = config.panel_size
    with sheet.style():
        if sheet.ax is not None and len(values) == 1:
            axes = np.array([[sheet.panel((width, height), config)]])
        else:
            size = (1.25 * width * n_columns, 0.62 * height * n_rows + 0.7)
            figure = sheet.panels(size, config)
            axes = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False)
        named = set[str]()
        for k, (name, trace) in enumerate(values.items()):
            ax = axes[k // n_columns, k % n_columns]
            colour = turn(config.colors, k, COLOURS[k % len(COLOURS)])
            if traces is None:
                _points(ax, time, trace, stderr.get(name), colour)
            else:
                error, fine = stderr.get(name), traces.values[name]
                _line(ax, traces.time, fine, traces.stderr[name], error, colour)
                bands = [] if error is None else [trace - error, trace + error]
                _limits(ax, finite_of(np.concatenate([trace, fine, *bands])))
            name_signs(ax, named)
            ax.set_title(labels[name], fontsize=9.5)
            reference_lines(ax, config)
            bare(ax)
        set_time(axes[0, 0], time, config, "x")
        for ax in axes.flat[1 : len(values)]:
            # A shared axis takes the scale, but not what was set by hand.
            ax.xaxis.set_major_locator(axes[0, 0].xaxis.get_major_locator())
            ax.xaxis.set_major_formatter(axes[0, 0].xaxis.get_major_formatter())
        for ax in axes.flat[len(values) :]:
            ax.set_axis_off()
        for column in range(n_columns):
            lowest = (len(values) - 1 - column) // n_columns
            ax = axes[max(lowest, 0), column]
            ax.set_xlabel(config.y_label)
            ax.tick_params(labelbottom=True)
        if sheet.ax is None:
            title = config.title or f"parameters over {_named(config.y_label)}"
            sheet.title(title, fontweight="bold")
        return sheet.finish(config)


def _named(label: str) -> str:
    """What an axis is, without its unit: "kinetic energy" of one that is no time."""
    return (guess_kind(label) != "time" and split_unit(label)[0]) or "time"


def _line(
    ax: Axes, time: Array, trace: Array, error: Array | None, at_samples: Array | None, colour: str
) -> None:
    """A line with its band; `at_samples` are the errors at the samples."""
    if error is not None and at_samples is not None:
        # At a jump the slope by its time has no bound: the value there lies on one side of it.
        jump = float(np.ptp(finite_of(trace))) if finite_of(trace).size else 0.0
        error = np.minimum(error, finite_of(at_samples).max(initial=0.0) + jump)
        ax.fill_between(time, trace - error, trace + error, color=colour, alpha=0.25, lw=0)
    line(ax, time, trace, is_curve=True, color=colour, lw=1.5)


def _points(ax: Axes, time: Array, trace: Array, error: Array | None, colour: str) -> None:
    """Filled points have an error bar. Open points have none, or one larger than the panel.
    Triangles at the edge stand for values far from all others."""
    good = np.isfinite(trace)
    low, high = np.nan_to_num(inner_range(trace, 0.02))
    span = high - low or float(np.ptp(trace[good])) if good.any() else 0.0
    span, middle = span or 0.1 * abs(high) or 1.0, 0.5 * (low + high)
    near = good & (np.abs(trace - middle) <= (FAR + 0.5) * span)
    filled = near if error is None else near & np.isfinite(error)
    drawn = [*trace[near]]
    if error is not None:
        filled = filled & (error <= FAR_BAR * span)
        ax.errorbar(
            time[filled], trace[filled], error[filled],
            fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.5,
        )  # fmt: skip
        drawn += [*(trace - error)[filled], *(trace + error)[filled]]
    ax.plot(time[filled], trace[filled], "o", color=colour, ms=3.0)
    rest = near & ~filled
    if rest.any():
        ax.plot(time[rest], trace[rest], "o", mfc="white", mec=colour, ms=3.0, label=OPEN)
    _limits(ax, np.array(drawn))
    mark_beyond(ax, time[good & ~near], trace[good & ~near], colour, "far outside")


def _limits(ax: Axes, drawn: Array) -> None:
    if not drawn.size:
        return
    low, high = float(drawn.min()), float(drawn.max())
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    ax.set_ylim(low - margin, high + margin)
