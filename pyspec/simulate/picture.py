"""Clean and noisy data side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.model import Model
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.elements.axes import bare, enclose, set_along
from pyspec.plot.elements.colours import add_bar, data_colours
from pyspec.plot.elements.labels import opened
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.maps import draw_map
from pyspec.plot.style import DATA, FIT

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


def plot_comparison(
    clean: Array,
    noisy: Array,
    model: Model,
    heading: str,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws clean and noisy data, (n_energy,), (n_time, n_energy), or (n_time,) of a trace without
    energies; returns the Figure.

    See :meth:`pyspec.simulate.Simulator.plot_comparison`.
    """
    energy, time = model.energy, model.time
    is_trace = energy is None
    is_one = clean.ndim == 1 and not is_trace
    sheet, look = opened(model, options, over_time=is_trace, over_energy=is_one)
    with sheet.style():
        heading = look.title or heading
        if clean.ndim == 1:
            axis = time if energy is None else energy
            assert axis is not None
            _lines(clean, noisy, axis, heading, sheet, look, over_time=is_trace)
        else:
            assert energy is not None
            assert time is not None
            _maps(clean, noisy, energy, time, heading, sheet, look)
        return sheet.finish(look)


def _lines(
    clean: Array,
    noisy: Array,
    axis: Array,
    title: str,
    sheet: Sheet,
    look: PlotConfig,
    *,
    over_time: bool,
) -> None:
    width, height = look.panel_size
    ax = sheet.panel((1.55 * width, 1.2 * height), look)
    ax.plot(axis, noisy, "o", mfc="white", mec=DATA, ms=3.0, mew=0.7, label="noisy")
    ax.plot(axis, clean, color=FIT, lw=1.6, label="clean")
    enclose(ax, look)
    set_along(ax, axis, look, over_time=over_time)
    ax.set_ylabel(look.z_label)
    ax.set_title(title, fontsize=9.5)
    ax.legend()
    bare(ax)


def _maps(
    clean: Array,
    noisy: Array,
    energy: Array,
    time: Array,
    title: str,
    sheet: Sheet,
    look: PlotConfig,
) -> None:
    width, height = look.panel_size
    figure = sheet.panels((2.0 * width, height + 1.0), look)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    colours = data_colours(np.asarray(noisy), look)
    for ax, values, name in zip(axes, (clean, noisy), ("clean", "noisy"), strict=True):
        mesh = draw_map(ax, energy, time, values, look, **colours)
        ax.set_title(name, fontweight="bold")
        ax.set_xlabel(look.x_label)
    axes[0].set_ylabel(look.y_label)
    add_bar(figure, mesh, list(axes), look.z_label, look)
    sheet.title(title, fontsize=9.5)
