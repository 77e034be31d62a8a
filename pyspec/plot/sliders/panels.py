"""The panels above sliders: data, model and components, whose lines move without a new picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.axes import above_zero_ends, bare, reference_lines, set_along, set_log
from pyspec.plot.config import PlotConfig
from pyspec.plot.steps import broken
from pyspec.plot.style import COLOURS, DATA, FIT, INK, MUTED, OUTSIDE

Array = npt.NDArray[np.float64]

#: Where the axis below lies: of a spectrum, or of a trace.
ENERGY, TIME = "energy", "time"

#: Decades below the largest value that a logarithmic axis shows at most.
DECADES = 5.0


class Panel:
    """A spectrum or a trace, above its residual where there are data.

    Parameters
    ----------
    figure : the Figure or SubFigure, which this fills
    axis : (n,) energies or times
    window : half-open range of the points that a fit counts
    along : "energy" or "time", what the axis holds
    look : its `vlines` and `hlines` are upright and level lines of this panel
    """

    def __init__(
        self,
        figure: Any,
        axis: Array,
        window: tuple[int, int],
        along: str,
        look: PlotConfig,
        *,
        has_data: bool,
    ) -> None:
        self._axis, self._window, self._look = axis, slice(*window), look
        heights = [3.2, 1] if has_data else [1]
        axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)
        self._axes = axes[:, 0].tolist()
        self._above, last = self._axes[0], self._axes[-1]
        self._lines: dict[str, Any] = {}
        (self._model,) = self._above.plot([], [], color=FIT, lw=1.6, zorder=4, label="model")
        if has_data:
            self._add_data(last)
        self._grey_outside()
        set_along(last, axis, look, over_time=along == TIME)
        if look.z_type == "log":
            set_log(self._above, "y")
        self._above.set_ylabel(look.z_label)
        for ax in self._axes:
            reference_lines(ax, look, horizontal=ax is self._above)
            bare(ax)
            if look.ticksize is not None:
                ax.tick_params(labelsize=look.ticksize)
        self._title = self._above.set_title("", fontsize=9.0, color=MUTED, loc="left")
        figure.align_ylabels(self._axes)

    def _add_data(self, below: Any) -> None:
        look = {"mfc": "white", "mec": DATA, "mew": 0.7, "ms": 3.1, "zorder": 3}
        (self._data,) = self._above.plot([], [], "o", label="data", **look)
        (self._residual,) = below.plot([], [], "o-", color=DATA, lw=0.5, ms=2.2)
        below.axhline(0.0, color=INK, lw=0.7)
        below.set_ylabel("data − model")

    def _grey_outside(self) -> None:
        """What a fit does not look at."""
        inside = self._axis[self._window]
        if not inside.size or inside.size == self._axis.size:
            return
        ends = float(inside.min()), float(inside.max())
        for ax in self._axes:
            ax.axvspan(float(self._axis.min()), ends[0], color=OUTSIDE, lw=0, zorder=0)
            ax.axvspan(ends[1], float(self._axis.max()), color=OUTSIDE, lw=0, zorder=0)

    def draw(
        self, title: str, data: Array | None, model: Array, parts: Mapping[str, Array]
    ) -> None:
        """Shows these curves (n,) in place of the last ones; `parts` are the components by name.
        No line leads over a gap of the axis: what the model does there is not worked out."""
        self._title.set_text(title)
        if data is not None:
            self._data.set_data(self._axis, data)
            residual = np.full(self._axis.size, np.nan)
            residual[self._window] = (data - model)[self._window]
            self._residual.set_data(*broken(self._axis, residual))
            _limit(self._axes[-1], [residual], symmetric=True)
        self._model.set_data(*broken(self._axis, model))
        for name, curve in parts.items():
            if name not in self._lines:
                colour = COLOURS[len(self._lines) % len(COLOURS)]
                (self._lines[name],) = self._above.plot([], [], color=colour, lw=1.0, label=name)
            self._lines[name].set_data(*broken(self._axis, curve))
        inside = [curve[self._window] for curve in (data, model) if curve is not None]
        self._limit(inside, [curve[self._window] for curve in parts.values()])
        if self._above.get_legend() is None:
            self._above.legend(loc="best", fontsize=7.5)

    def label_sizes(self) -> list[float]:
        """The width of the widest number at each vertical axis, in digits."""
        return [_widest(ax) for ax in self._axes]

    def _limit(self, curves: list[Array], parts: list[Array]) -> None:
        """The limits that were asked for, or such that hold the curves and, on a linear axis, the
        components, whose flanks would need any number of decades."""
        ax, look = self._above, self._look
        every = np.concatenate(curves)
        positive = every[np.isfinite(every) & (every > 0)]
        if look.z_type == "log":
            if look.z_lim is not None:
                ax.set_ylim(*above_zero_ends("z_lim", look.z_lim, positive))
            elif positive.size:
                high = float(positive.max())
                ax.set_ylim(max(float(positive.min()), high * 10.0**-DECADES) / 1.3, 1.3 * high)
        elif look.z_lim is not None:
            ax.set_ylim(*sorted(look.z_lim))
        else:
            _limit(ax, [*curves, *parts])


def _widest(ax: Any) -> float:
    """The width of the widest number in sight, in digits: a sign is wider, a point narrower."""
    low, high = sorted(ax.get_ylim())
    seen = [tick for tick in ax.get_yticks() if low <= tick <= high]
    texts = ax.yaxis.get_major_formatter().format_ticks(seen)
    return max((len(text) + text.count("−") / 3 - text.count(".") / 2 for text in texts), default=0)


class Layout:
    """Lays panels out: at first and where the numbers at an axis have become wider, which would
    push the label out of the figure. A new layout for each move would take longer than the move."""

    def __init__(self, figure: Any) -> None:
        self._figure = figure
        self._sizes: list[float] = []

    def follow(self, sizes: list[float]) -> None:
        """Given the widths of the numbers at each axis, as :meth:`Panel.label_sizes`."""
        known = self._sizes or [-1.0] * len(sizes)
        if all(size <= old for size, old in zip(sizes, known, strict=True)):
            return
        self._sizes = [max(pair) for pair in zip(sizes, known, strict=True)]
        self._figure.set_layout_engine("constrained")
        self._figure.draw_without_rendering()
        self._figure.set_layout_engine("none")


def _limit(ax: Any, curves: list[Array], *, symmetric: bool = False) -> None:
    """Limits that hold the curves."""
    every = np.concatenate([np.ravel(curve) for curve in curves])
    every = every[np.isfinite(every)]
    if not every.size:
        return
    low, high = float(every.min()), float(every.max())
    if symmetric:
        high = max(abs(low), abs(high))
        low = -high
    span = high - low or abs(high) or 1.0
    ax.set_ylim(low - 0.05 * span, high + 0.08 * span)
