"""Pictures of a model without data: its spectrum, its components, its map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, row_of
from pyspec.errors import DataError
from pyspec.fit.results.components import component_curves
from pyspec.model import Model
from pyspec.plot.config import DataOptions, PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.axes import bare, curve_look, enclose, reference_lines, set_along
from pyspec.plot.elements.labels import opened, place_text
from pyspec.plot.elements.legend import curve_name
from pyspec.plot.figures.data import plot_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
def plot_model_1d(
    model: Model,
    t_ind: int = 0,
    plot_sum: bool = True,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the spectrum of one row of a model, or each of its components; returns the Figure."""
    if plot_sum:
        value = model.evaluate()
        rows = len(value)
        curves = {"sum": value[row_of("t_ind", t_ind, rows)] if value.ndim == 2 else value}
    else:
        curves = component_curves(model, t_ind)
    title = f"{model.name}{time_text(model, t_ind)}"
    return draw_curves(model, curves, title, options)


@answered
def plot_model_2d(model: Model, **options: Unpack[DataOptions]) -> Figure:
    """Draws the map of a model over energy and time; returns the Figure. Options as of
    :func:`pyspec.plot.plot_data`."""
    if model.dimension != 2:
        raise DataError("a model has times with both axes; set_axes(energy=..., time=...)")
    if options.get("source") is None:
        options["source"] = model
    if options.get("title") is None:
        options["title"] = model.name
    return plot_data(model.evaluate(), model.energy, model.time, **options)


def time_text(model: Model, t_ind: int) -> str:
    """The time of a row as part of a title; "" for a model without times."""
    if model.dimension == 1 or model.time is None:
        return ""
    return f" at {place_text(model.time[t_ind], model.time, 6)}"


def draw_curves(model: Model, curves: dict[str, Array], title: str, options: PlotOptions) -> Figure:
    """Draws curves (n_energy,) by name over the energies of a model; returns the Figure."""
    if model.energy is None:
        raise DataError(f"{model.name} has no energy axis; set_axes(energy=...)")
    sheet, look = opened(model, options, over_energy=True)
    cut = cut_of(look, model.energy.shape)[0]
    energy = model.energy[cut]
    with sheet.style():
        width, height = look.panel_size
        ax = sheet.panel((1.55 * width, 1.25 * height), look)
        for k, (name, curve) in enumerate(curves.items()):
            ax.plot(energy, curve[cut], **curve_look(look, k), label=curve_name(look, k, name))
        enclose(ax, look)
        set_along(ax, energy, look)
        ax.set_ylabel(look.z_label)
        ax.set_title(look.title or title, fontsize=9.5)
        reference_lines(ax, look)
        ax.legend(loc="best")
        bare(ax)
        return sheet.finish(look)
