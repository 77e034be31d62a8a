"""Spectra of a fit to a series above each other, with the curves of their fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pyspec.calls import answered, is_whole
from pyspec.plot.config import PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.fine_curve import spectra_of
from pyspec.plot.elements.labels import opened, unit_of
from pyspec.plot.figures.data import N_CURVES, names_of
from pyspec.plot.figures.waterfall import chosen_rows, draw_waterfall
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import PlotError
from pyspec.plot.view import view_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack


@answered
def plot_stack(
    result: Fit,
    *,
    rows: Sequence[int] | None = None,
    n: int | None = None,
    unit: str = "",
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws spectra of a series above each other, each named by its time, with their fits; returns
    the Figure. Curves of fits are drawn between the samples too, masked points are left out.

    `rows` are numbers of spectra of the fit window, as many as `n` of them, evenly spaced; all by
    default. `data_slice` cuts energies, and times where `rows` do not name them. Options as of
    :func:`pyspec.plot.plot_waterfall`.

    Raises :class:`PlotError` for a fit to one spectrum, and for rows that there are not.
    """
    fit = fit_of(result, "plot_stack")
    sheet, look = opened(fit, options, over_energy=True)
    if fit.data.ndim != 2:
        raise PlotError("spectra are those of a series; this fit has one spectrum or trace")
    cut = cut_of(look, fit.data.shape)
    if rows is not None:
        look = look.copy(data_slice=[[0, len(fit.data)], [cut[1].start, cut[1].stop]])
    seen = view_of(fit, look.copy(full_range=False, show_init=False))
    assert seen.time is not None
    count = len(seen.time)
    numbers = np.arange(count)[_checked(rows, count)] if rows is not None else np.arange(count)
    most = n if n is not None else N_CURVES if rows is None else len(numbers)
    chosen = numbers[chosen_rows(len(numbers), most)]
    times, legend = seen.time[chosen].tolist(), options.get("legend")
    names = names_of(times, unit or unit_of(fit, "time"), look, legend)
    along, fits = spectra_of(fit, seen, chosen)
    return draw_waterfall(seen.data[chosen], seen.energy, names, fits, sheet, look, along)


def _checked(rows: Sequence[int], count: int) -> list[int]:
    if not len(rows):
        raise PlotError(f"no spectrum is named; give numbers from 0 to {count - 1}")
    for row in rows:
        if not is_whole(row, -count) or row >= count:
            raise PlotError(f"there is no spectrum {row}; the fit has 0 to {count - 1}")
    return [int(row) for row in rows]
