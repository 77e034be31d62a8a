"""Figures without pyplot: nothing is shown or kept unless asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyspec.errors import PyspecError

#: Colours of one style for all pictures. Data are grey, so that every colour means a model.
INK, DATA, FIT, BAND, MUTED = "#222222", "#3c4650", "#d55e00", "#c3c9d2", "#5f6871"

#: Okabe and Ito's colours in an order that keeps neighbours apart: told apart by everybody.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6bb1", "#a6761d", "#444444")

STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#777777",
    "axes.linewidth": 0.7,
    "axes.labelcolor": INK,
    "axes.formatter.useoffset": False,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.solid_capstyle": "round",
}


class PlotError(PyspecError, RuntimeError):
    """A picture cannot be drawn."""


def matplotlib() -> Any:
    """The matplotlib package, imported on first use."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise PlotError(
            "pictures need matplotlib, which is not installed: pip install 'pyspec[plot]'"
        ) from None
    return matplotlib


def new_figure(width: float, height: float, show: bool, dpi: int = 100) -> Any:
    """A Figure; one that pyplot knows only if it is to be shown."""
    mpl = matplotlib()
    if show:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained", dpi=dpi)
    return mpl.figure.Figure(figsize=(width, height), layout="constrained", dpi=dpi)


def finish(figure: Any, save_path: str | Path | None, show: bool, dpi: int) -> Any:
    """Saves under a temporary name and renames, shows if asked for, returns the figure."""
    if save_path is not None:
        path = Path(save_path)
        partial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix or '.png'}")
        try:
            figure.savefig(partial, dpi=dpi)
            os.replace(partial, path)
        except (OSError, ValueError) as error:
            partial.unlink(missing_ok=True)
            raise PlotError(f"cannot write the picture {str(path)!r}: {error}") from error
    if show:
        import matplotlib.pyplot as plt

        plt.show()
    return figure
