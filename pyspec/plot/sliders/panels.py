"""The panels above sliders: data, model and components, whose lines move without a new picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.axes import bare, set_time, set_x
from pyspec.plot.config import PlotConfig
from pyspec.plot.style import COLOURS, DATA, FIT, INK, MUTED, OUTSIDE

Array = npt.NDArray[np.float64]

#: Where the axis below lies: of a spectrum, or of a trace.
ENERGY, TIME = "energy", "time"


class Panel:
    """A spectrum or a trace above its residual.

    Parameters
    ----------
    figure : the Figure or SubFigure, which this fills
    axis : (n,) energies or times
    window : half-open range of the points that a fit counts
    along : "energy" or "time", what the axis holds
    """

    def __init__(
        self, figure: Any, axis: Array, window: tuple[int, int], along: str, look: PlotConfig
    ) -> None:
        self._axis, self._window, self._look = axis, slice(*window), look
        self._above, self._below = figure.subplots(2, 1, sharex=True, height_ratios=[3.2, 1])
        self._data: Any = None
        self._lines: dict[str, Any] = {}
        (self._model,) = self._above.plot([], [], color=FIT, lw=1.6, zorder=4, label="model")
        (self._residual,) = self._below.plot([], [], "o-", color=DATA, lw=0.5, ms=2.2)
        self._below.axhline(0.0, color=INK, lw=0.7)
        self._grey_outside()
        if along == TIME:
            set_time(self._below, axis, look, "x")
        else:
            set_x(self._below, axis, look)
        self._below.set_xlabel(look.y_label if along == TIME else look.x_label)
        self._above.set_ylabel(look.z_label)
        self._below.set_ylabel("data − model")
        for ax in (self._above, self._below):
            bare(ax)
        figure.align_ylabels([self._above, self._below])

    def _grey_outside(self) -> None:
        """What a fit does not look at."""
        inside = self._axis[self._window]
        if not inside.size or inside.size == self._axis.size:
            return
        ends = float(inside.min()), float(inside.max())
        for ax in (self._above, self._below):
            ax.axvspan(float(self._axis.min()), ends[0], color=OUTSIDE, lw=0, zorder=0)
            ax.axvspan(ends[1], float(self._axis.max()), color=OUTSIDE, lw=0, zorder=0)

    def draw(
        self, title: str, data: Array | None, model: Array, parts: Mapping[str, Array]
    ) -> None:
        """Shows these curves (n,) in place of the last ones; `parts` are the components by name."""
        self._above.set_title(title, fontsize=9.0, color=MUTED, loc="left")
        if self._data is None and data is not None:
            look = {"mfc": "white", "mec": DATA, "mew": 0.7, "ms": 3.1, "zorder": 3}
            (self._data,) = self._above.plot([], [], "o", label="data", **look)
        if self._data is not None and data is not None:
            self._data.set_data(self._axis, data)
            residual = np.full(self._axis.size, np.nan)
            residual[self._window] = (data - model)[self._window]
            self._residual.set_data(self._axis, residual)
            _limit(self._below, [residual], symmetric=True)
        self._model.set_data(self._axis, model)
        for name, curve in parts.items():
            if name not in self._lines:
                colour = COLOURS[len(self._lines) % len(COLOURS)]
                (self._lines[name],) = self._above.plot([], [], color=colour, lw=1.0, label=name)
            self._lines[name].set_data(self._axis, curve)
        inside = [curve[self._window] for curve in (data, model) if curve is not None]
        _limit(self._above, [*inside, *(curve[self._window] for curve in parts.values())])
        if self._above.get_legend() is None:
            self._above.legend(loc="best", fontsize=7.5)


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
