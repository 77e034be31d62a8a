"""Spectra that were free at each energy, or traces free at each time, with error bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyspec.fit import FitResult
from pyspec.plot.axes import bare, set_time, set_x
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import Sheet
from pyspec.plot.gaps import unknown
from pyspec.plot.labels import labelled
from pyspec.plot.style import COLOURS, MUTED, PlotError


def draw_amplitudes(result: FitResult, config: PlotConfig) -> Any:
    """One line for each free amplitude over its axis, with a band of one standard error; returns
    the Figure. Where an amplitude is held at 0 there is no band, where it is not known a gap.

    Raises :class:`PlotError` for a fit without free amplitudes.
    """
    linear = result.linear
    if linear is None:
        raise PlotError(f"{result.model_name} has no free amplitudes to draw")
    config, gaps = labelled(result, config), unknown(result)
    sheet = Sheet(None, None, None, False)
    with sheet.style():
        ax = sheet.panel((7.4, 3.4), config)
        ax.axhline(0.0, color=MUTED, lw=0.7)
        for k, name in enumerate(linear):
            colour = COLOURS[k % len(COLOURS)]
            value = np.where(gaps[name], np.nan, linear[name])
            error = np.nan_to_num(linear.stderr[name])
            ax.fill_between(
                linear.along, value - error, value + error, color=colour, alpha=0.25, lw=0
            )
            ax.plot(linear.along, value, color=colour, lw=1.4, label=name)
        if linear.axis == "time":
            set_time(ax, linear.along, config, "x")
        else:
            set_x(ax, linear.along, config)
        ax.set_xlabel(config.x_label if linear.axis == "energy" else config.y_label)
        ax.set_ylabel(config.z_label)
        ax.legend(loc="best", fontsize=8.5)
        bare(ax)
        return sheet.finish(config)
