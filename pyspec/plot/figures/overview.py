"""A first look at a Dataset: a line, a map, or a map of places with its mean spectrum."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import shortened
from pyspec.io import Dataset
from pyspec.plot.caption import literal
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.axes import bare, enclose, reference_lines, set_along
from pyspec.plot.elements.cells import cells
from pyspec.plot.elements.colours import add_bar, data_colours
from pyspec.plot.elements.labels import axis_label, opened, unit_of
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.data import draw_data
from pyspec.plot.figures.maps import mark_missing
from pyspec.plot.style import BAND, COLOURS, MUTED, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
def plot_overview(
    dataset: Dataset,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws a Dataset that :func:`pyspec.io.read` returned, with labels and units from its file;
    returns the Figure.

    One spectrum becomes a line, a series a map, over an angle or a position too. With further axes,
    such as the places of a map, the mean over the energies is drawn over two of them beside the
    mean spectrum with the range of all spectra (two panels: `fig`, not `ax`), as it is over the
    columns of a table. Options as of :func:`plot_data`.
    """
    if not hasattr(dataset, "dims"):
        raise PlotError(
            f"plot_overview: give a Dataset, as read(path) returns it, not {shortened(dataset)}"
        )
    dataset = _as_series(dataset)
    is_one = list(dataset.dims) == ["energy"]
    along = {"over_time": dataset.energy is None, "over_energy": is_one}
    sheet, look = opened(dataset, options, **along)
    if not look.title:
        look = look.copy(title=literal(dataset.name))
    if dataset.extra and dataset.energy is not None:
        cut_of(look, dataset.data.shape)  # which says that it cuts no such data
        return _places(dataset, look, sheet)
    data = np.where(dataset.finite, dataset.data, np.nan)
    unit = unit_of(dataset, "time")
    axes = dataset.energy, dataset.time
    return draw_data(data, *axes, {}, sheet, look, unit, options.get("legend"))


def _as_series(dataset: Dataset) -> Dataset:
    """Spectra along one axis that is no time, an angle or a position, as a series over it."""
    if dataset.extra != dataset.dims[:1] or dataset.dims[1:] != ("energy",):
        return dataset
    along = dataset.dims[0]
    steps = np.diff(dataset.axes[along])
    if along == "column" or not steps.size or not (np.all(steps > 0) or np.all(steps < 0)):
        return dataset
    series = dataset.rename(**{along: "time"})
    return replace(series, labels={"time": along, **series.labels})


def _places(dataset: Dataset, look: PlotConfig, sheet: Sheet) -> Figure:
    """The mean over energies at each place, and the spectra."""
    energy = dataset.energy
    assert energy is not None
    places = dataset.extra[:2]
    others = tuple(dim for dim in dataset.dims if dim not in (*places, "energy"))
    cube = dataset.mean(*others) if others else dataset
    spectra = np.where(cube.finite, cube.data, np.nan).reshape(-1, energy.size)
    spectra = spectra[np.isfinite(spectra).any(axis=1)]
    with sheet.style():
        width, height = look.panel_size
        figure = sheet.panels((2.6 * width, height + 0.8), look)
        left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.35])
        _draw_places(left, cube.mean("energy"), places, figure, look)
        _draw_spread(right, spectra, energy, look)
        sheet.title(look.title, fontweight="bold")
        return sheet.finish(look)


def _draw_places(
    ax: Axes, cube: Dataset, places: tuple[str, ...], figure: Figure, look: PlotConfig
) -> None:
    mean = cube.data
    if mean.ndim == 2:
        colours, is_known = data_colours(mean, look), bool(np.isfinite(mean).all())
        y, x = (cube.axes[place] for place in places)
        across, _, mean = cells(x, mean, 1)
        along, _, mean = cells(y, mean, 0)
        mesh = ax.pcolormesh(across, along, mean, rasterized=True, **colours)
        mark_missing(ax, x, y, is_known=is_known)
        add_bar(figure, mesh, ax, f"mean {look.z_label}", look)
        ax.set_xlabel(axis_label(cube, places[1], places[1]))
        ax.set_ylabel(axis_label(cube, places[0], places[0]))
    else:
        ax.plot(cube.axes[places[0]], mean, ".-", color=COLOURS[0])
        ax.set_xlabel(axis_label(cube, places[0], places[0]))
        ax.set_ylabel(f"mean {look.z_label}")
        bare(ax)
    ax.set_title("mean over energy", fontsize=9.5, color=MUTED)


def _draw_spread(ax: Axes, spectra: Array, energy: Array, look: PlotConfig) -> None:
    finite = spectra[:, np.isfinite(spectra).any(axis=0)]
    axis = energy[np.isfinite(spectra).any(axis=0)]
    low, middle, high = np.nanquantile(finite, [0.02, 0.5, 0.98], axis=0)
    ax.fill_between(axis, low, high, color=BAND, alpha=0.6, lw=0, label="96 % of spectra")
    ax.plot(axis, middle, color=MUTED, lw=0.9, label="median")
    ax.plot(axis, np.nanmean(finite, axis=0), color=COLOURS[0], lw=1.6, label="mean")
    enclose(ax, look)
    ax.legend(loc="best")
    ax.set_title(f"{len(spectra)} spectra", fontsize=9.5, color=MUTED)
    ax.set_ylabel(look.z_label)
    set_along(ax, energy, look)
    reference_lines(ax, look)
    bare(ax)
