"""The look that all pictures share, and the error of this room."""

from __future__ import annotations

from pyspec.errors import PyspecError

#: Colours of one style for all pictures. Data are grey, so that every colour means a model. INK is
#: for what stands on white.
INK, DATA, FIT, BAND, MUTED = "#222222", "#3c4650", "#d55e00", "#c3c9d2", "#5f6871"

#: What stands for them on a dark background.
LIGHT = {DATA: "#c4ccd4", MUTED: "#a4adb6"}

#: Okabe and Ito's colours in an order that keeps neighbours apart: told apart by everybody.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6bb1", "#a6761d", "#444444")

#: Where a map has no value, and the hatch that tells it from any colour of a map.
EMPTY, HATCH = "#e8e8e8", "#a9a9a9"

STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#777777",
    "axes.linewidth": 0.7,
    # Only where ticks would have seven digits in common: a small peak on counts of 1e9.
    "axes.formatter.useoffset": True,
    "axes.formatter.offset_threshold": 7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": True,  # its names are read where curves run behind them
    "legend.framealpha": 0.75,
    "legend.edgecolor": "none",
    "legend.fontsize": 8.5,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.6,
}


class PlotError(PyspecError, RuntimeError):
    """A picture cannot be drawn."""


def three_digits(value: float) -> str:
    """A number with three digits, as it is spoken: 1410 and 0.0141, but 1.41e+06."""
    return f"{float(f'{value:.3g}'):g}"
