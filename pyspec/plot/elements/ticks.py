"""Ticks of a linear axis that leave room between their labels: "1486.25" is twice as wide as
matplotlib takes a label to be. Imports matplotlib; import it where a picture is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axis import Axis
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

STEPS = [1, 2, 2.5, 5, 10]

#: The width of a character, and the least room between two labels, in units of the font size.
WIDE, ROOM = 0.6, 0.8


class Spaced(MaxNLocator):
    """The ticks of matplotlib, but no more than have room for the longest of their labels."""

    def __init__(self) -> None:
        super().__init__(nbins="auto", steps=STEPS)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The places of the ticks from `vmin` to `vmax`."""
        ticks = np.asarray(super().tick_values(vmin, vmax))
        axis = self.axis
        if not isinstance(axis, Axis):
            return ticks
        letters = axis.get_tick_params(which="major").get("labelsize", rcParams["xtick.labelsize"])
        size = FontProperties(size=letters).get_size_in_points()
        length = 72.0 * axis.axes.get_window_extent().width / axis.axes.figure.dpi
        longest = max(map(len, axis.get_major_formatter().format_ticks(ticks.tolist())))
        n = max(1, int(length / (size * (WIDE * longest + ROOM))))
        if n < ticks.size:
            ticks = np.asarray(MaxNLocator(n, steps=STEPS, min_n_ticks=2).tick_values(vmin, vmax))
        return ticks
