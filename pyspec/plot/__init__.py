"""Pictures of data and fits. matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import suggest
from pyspec.fit import FitResult
from pyspec.plot.figure import PlotError

Array = npt.NDArray[np.float64]

__all__ = ["PlotError", "plot_data", "plot_fit"]

RESIDUAL_UNITS = ("sigma", "data")


def plot_fit(
    result: FitResult,
    *,
    save_path: str | Path | None = None,
    show: bool = False,
    energy_label: str = "energy",
    time_label: str = "time",
    title: str | None = None,
    residual_unit: str = "sigma",
    dpi: int = 150,
) -> Any:
    """Draws a fit over its window and returns the matplotlib Figure.

    A 2D fit becomes three maps, data | fit | residual: data and fit on one colour scale, the
    residual on a scale symmetric about zero. A 1D fit becomes data, fit and components above
    the residual.

    Parameters
    ----------
    save_path : file to write (png, pdf, svg); written completely or not at all
    show : whether to open a window; nothing is shown otherwise
    residual_unit : "sigma" draws (data - fit) / σ with σ the root mean square of the residual,
        which the picture states; "data" draws data - fit in the units of the data
    dpi : pixels per inch of the file

    Raises
    ------
    PlotError
        without matplotlib (``pip install 'pyspec[plot]'``), for an unknown unit, or where the
        file cannot be written
    """
    if residual_unit not in RESIDUAL_UNITS:
        hint = suggest(str(residual_unit), list(RESIDUAL_UNITS))
        raise PlotError(f"residual_unit must be 'sigma' or 'data', not {residual_unit!r}{hint}")
    options: dict[str, Any] = {
        "save_path": save_path,
        "show": show,
        "energy_label": energy_label,
        "title": title,
        "residual_unit": residual_unit,
        "dpi": dpi,
    }
    if result.data.ndim == 2:
        from pyspec.plot.maps import plot_fit_2d

        return plot_fit_2d(result, time_label=time_label, **options)
    from pyspec.plot.spectra import plot_fit_1d

    return plot_fit_1d(result, **options)


def plot_data(
    data: Any,
    energy: Array,
    time: Array | None = None,
    *,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
    baseline: tuple[int, int] | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    energy_label: str = "energy",
    time_label: str = "time",
    title: str | None = None,
    dpi: int = 150,
) -> Any:
    """Draws data (n_time, n_energy) or (n_energy,) and returns the Figure.

    `rows`, `columns` and `baseline` are half-open index ranges that are marked.
    """
    from pyspec.plot.figure import DATA, STYLE, finish, matplotlib, new_figure

    data = np.asarray(data)
    if data.ndim == 2 and time is not None:
        from pyspec.plot.maps import plot_map

        return plot_map(
            data,
            energy,
            time,
            {"rows": rows, "columns": columns, "baseline": baseline},
            save_path=save_path,
            show=show,
            energy_label=energy_label,
            time_label=time_label,
            title=title,
            dpi=dpi,
        )
    with matplotlib().rc_context(STYLE):
        figure = new_figure(6.0, 3.4, show)
        ax = figure.subplots()
        ax.plot(energy, data, ".-", color=DATA, ms=3.0, lw=0.6)
        if columns is not None:
            ax.axvspan(energy[columns[0]], energy[columns[1] - 1], color=DATA, alpha=0.1, lw=0)
        if energy.size > 1 and energy[0] > energy[-1]:
            ax.invert_xaxis()
        ax.set_xlabel(energy_label)
        ax.set_ylabel("intensity")
        ax.set_title(title or "data", fontweight="bold")
        ax.spines[["top", "right"]].set_visible(False)
        return finish(figure, save_path, show, dpi)
