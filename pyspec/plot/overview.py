"""A first look at a Dataset: a line, a map, or a map of places with its mean spectrum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot import plot_data
from pyspec.plot.axes import bare, edges, reference_lines, set_ticks, set_x
from pyspec.plot.config import PlotConfig, config_of
from pyspec.plot.figure import BAND, COLOURS, MUTED, STYLE, finish, matplotlib, new_figure
from pyspec.plot.labels import axis_label, config_for
from pyspec.plot.maps import add_bar, data_colours

Array = npt.NDArray[np.float64]

#: Steps that differ by more than this are drawn on an axis that is logarithmic far from zero.
UNEVEN = 30.0


def plot_overview(
    dataset: Any,
    *,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws a Dataset with labels and units from its file; returns the Figure.

    One spectrum becomes a line, a series a map. With further axes, such as the places of a map,
    the mean over the energies is drawn over two of them beside the mean spectrum with the range
    of all spectra. Differences (both signs) are coloured symmetrically about zero, and a time
    axis of very uneven steps is logarithmic far from zero.
    """
    given = set(fields)
    base = config_of(config, fields)
    if config is not None:
        given |= {name for name, value in vars(config).items() if value != vars(PlotConfig())[name]}
    look = config_for(dataset, base, given)
    if not look.title:
        look = look.copy(title=dataset.name)
    if dataset.extra and dataset.energy is not None:
        return _places(dataset, look, save_path, show)
    if dataset.energy is None:
        return plot_data(
            dataset.data, dataset.time, config=look.copy(x_label=look.y_label),
            save_path=save_path, show=show,
        )  # fmt: skip
    if dataset.data.ndim == 2:
        look = _scales(dataset, look, given)
    return plot_data(
        dataset.data, dataset.energy, dataset.time, config=look, save_path=save_path, show=show
    )


def _scales(dataset: Any, look: PlotConfig, given: set[str]) -> PlotConfig:
    """Colours and time scale that suit the data."""
    changes: dict[str, Any] = {}
    data = dataset.data[dataset.finite]
    low, high = np.quantile(data, [0.002, 0.998]) if data.size else (0.0, 1.0)
    if low < -0.15 * high < 0.0 and not {"z_lim", "z_colormap"} & given:
        limit = float(max(-low, high))
        changes |= {"z_lim": (-limit, limit), "z_colormap": look.z_colormap_res}
    steps = np.diff(dataset.time)
    if steps.size and steps.max() > UNEVEN * steps.min() > 0 and "y_type" not in given:
        changes["y_type"] = "symlog"
    return look.copy(**changes)


def _places(dataset: Any, look: PlotConfig, save_path: Any, show: bool) -> Any:
    """The mean over energies at each place, and the spectra."""
    energy = dataset.energy
    places = dataset.extra[:2]
    others = tuple(dim for dim in dataset.dims if dim not in (*places, "energy"))
    cube = dataset.mean(*others) if others else dataset
    data = np.where(cube.finite, cube.data, np.nan)
    mean = np.nanmean(data, axis=-1)
    flat = data.reshape(-1, energy.size)
    low, middle, high = np.nanquantile(flat, [0.02, 0.5, 0.98], axis=0)
    with matplotlib().rc_context(STYLE):
        width, height = look.panel_size
        figure = new_figure(2.6 * width, height + 0.8, show, look.dpi_plot)
        left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.35])
        if mean.ndim == 2:
            colours = data_colours(mean, look)
            borders = [edges(cube.axes[dim]) for dim in places]
            mesh = left.pcolormesh(borders[1], borders[0], mean, rasterized=True, **colours)
            add_bar(figure, mesh, left, f"mean {look.z_label}", look)
            left.set_xlabel(axis_label(cube, places[1], places[1]))
            left.set_ylabel(axis_label(cube, places[0], places[0]))
        else:
            left.plot(cube.axes[places[0]], mean, ".-", color=COLOURS[0])
            left.set_xlabel(axis_label(cube, places[0], places[0]))
            left.set_ylabel(f"mean {look.z_label}")
            bare(left)
        left.set_title("mean over energy", fontsize=9.5, color=MUTED)
        right.fill_between(energy, low, high, color=BAND, alpha=0.6, lw=0, label="96 % of spectra")
        right.plot(energy, middle, color=MUTED, lw=0.9, label="median")
        right.plot(energy, np.nanmean(flat, axis=0), color=COLOURS[0], lw=1.6, label="mean")
        right.legend(loc="best")
        right.set_title(f"{flat.shape[0]} spectra", fontsize=9.5, color=MUTED)
        right.set_xlabel(look.x_label)
        right.set_ylabel(look.z_label)
        set_x(right, energy, look)
        reference_lines(right, look)
        bare(right)
        figure.suptitle(look.title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)
        set_ticks(figure, look)
        return finish(figure, save_path, show, look.dpi_save)
