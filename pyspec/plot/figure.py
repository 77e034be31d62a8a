"""Figures without pyplot: nothing is shown or kept unless asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyspec.errors import PyspecError

#: Colours of one style for all pictures.
INK, DATA, FIT, BAND = "#222222", "#3b6ea5", "#d1495b", "#8d99ae"

STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
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


def new_figure(width: float, height: float, show: bool) -> Any:
    """A Figure; one that pyplot knows only if it is to be shown."""
    mpl = matplotlib()
    if show:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained")
    return mpl.figure.Figure(figsize=(width, height), layout="constrained")


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
