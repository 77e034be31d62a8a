"""Ticks of a linear axis that leave room between their labels: "1486.25" is twice as wide as
matplotlib takes a label to be. Imports matplotlib; import it where a picture is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

Array = npt.NDArray[np.float64]

STEPS = (1, 2, 2.5, 5, 10)

#: Widths of characters, and the least room between two labels, in units of the font size.
WIDE, NARROW, ROOM = 0.64, 0.32, 0.6


class Spaced(MaxNLocator):
    """As many ticks as matplotlib would draw, or fewer where their labels would touch. Beside other
    panels there is no label at both ends of the axis."""

    def __init__(self) -> None:
        super().__init__(nbins="auto", steps=list(STEPS))

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The places of the ticks from `vmin` to `vmax`."""
        ticks = np.asarray(super().tick_values(vmin, vmax))
        axis: Any = self.axis
        low, high = sorted((vmin, vmax))
        if axis is None or not high > low:
            return ticks
        width = _points(axis) / (high - low)
        inside = ticks[(ticks >= low) & (ticks <= high)]
        for most in range(len(ticks), 0, -1):
            fewer = MaxNLocator(most, steps=list(STEPS), min_n_ticks=1)
            shown = ticks if most == len(ticks) else np.asarray(fewer.tick_values(vmin, vmax))
            seen = shown[(shown >= low) & (shown <= high)]
            if seen.size < 2:
                break
            labels = _widths(axis, seen)
            if (
                width * np.diff(seen) >= 0.5 * (labels[1:] + labels[:-1]) + ROOM * _size(axis)
            ).all():
                return _without_one_end(axis, seen, labels, width, (low, high))
        return inside[[0, -1]] if inside.size > 2 else ticks  # two at least, to read a scale


def _without_one_end(
    axis: Any, ticks: Array, labels: Array, width: float, ends: tuple[float, float]
) -> Array:
    """The ticks without the right one of two whose labels reach over both ends of the axis, where
    another panel stands beside it."""
    place = axis.axes.get_subplotspec()
    if place is None or place.get_gridspec().ncols == 1 or labels.size < 3:
        return ticks
    low, high = ends
    over = (
        (ticks[0] - low) * width < 0.5 * labels[0],
        (high - ticks[-1]) * width < 0.5 * labels[-1],
    )
    if not all(over):
        return ticks
    return np.asarray(ticks[1:] if axis.get_inverted() else ticks[:-1])


def _points(axis: Any) -> float:
    """The length of a horizontal axis."""
    figure = axis.axes.get_figure()
    return 72.0 * float(axis.axes.get_window_extent().width) / float(figure.dpi)


def _size(axis: Any) -> float:
    """The font size of the labels, in points."""
    given = axis.get_tick_params(which="major").get("labelsize", rcParams["xtick.labelsize"])
    return float(FontProperties(size=given).get_size_in_points())


def _widths(axis: Any, ticks: Array) -> Array:
    """How wide the labels of these ticks are, in points."""
    texts = axis.get_major_formatter().format_ticks(ticks)
    ems = [sum(NARROW if one in ".,:' " else WIDE for one in text) for text in texts]
    return np.asarray(_size(axis) * np.array(ems))
