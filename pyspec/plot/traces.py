"""Traces in time at some energies, with their fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.plot.axes import (
    bare,
    curve_look,
    enclose,
    finite_of,
    hold,
    line,
    mark_beyond,
    reference_lines,
    set_time,
)
from pyspec.plot.between import traces_of
from pyspec.plot.config import PlotOptions
from pyspec.plot.drawn import fit_of
from pyspec.plot.labels import opened
from pyspec.plot.legend import MAX_INSIDE
from pyspec.plot.many import are_many, shown
from pyspec.plot.style import MUTED, PlotError
from pyspec.plot.view import View, residual_of, view_of
from pyspec.plot.waterfall import usual_ranges

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
def plot_traces(
    result: Any,
    *,
    energies: Sequence[float] | float | None = None,
    n: int = 4,
    figsize: tuple[float, float] | None = None,
    **options: Unpack[PlotOptions],
) -> Any:
    """Draws the data of a time series at some energies over time with their fits, and the residuals
    below; returns the Figure.

    `energies` are taken at the nearest point of the axis; without them `n` are drawn at which the
    data change most, apart from one another. A time axis of very uneven steps is linear about zero
    and logarithmic outside; ``y_type="lin"`` turns that off. Within the fit window; masked points
    are left out, and the legend says where all points of an energy are. Options as of
    :func:`pyspec.plot.plot_fit`; `x_lim` are times.

    Raises :class:`PlotError` for a fit to one spectrum or trace, for `n` below 1, for an energy
    outside of the fit window, and where neither data nor fit are known at any of the energies.
    """
    result = fit_of(result, "plot_traces")
    sheet, look = opened(result, options, over_time=True)
    seen = view_of(result, look.copy(show_init=False, full_range=False))
    if seen.time is None:
        raise PlotError("traces are those of a time series; this fit has one spectrum or trace")
    if n < 1:
        raise PlotError(f"n is {n}; give how many traces to draw, 1 or more")
    columns = _most_changed(seen, n) if energies is None else _nearest(seen.energy, energies)
    _check_known(seen, columns)
    residual = residual_of(seen, result, look)
    times, curves = traces_of(result, seen, columns)
    with sheet.style():
        figure = sheet.panels(figsize or (6.4, 4.6), look)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, 1])
        for k, column in enumerate(columns):
            own = {**curve_look(look, k), "marker": ""}
            own["lw"] = 1.5 if look.linewidths is None else own["lw"]
            label = f"{seen.energy[column]:.5g}"
            if look.legend is not None and k < len(look.legend):
                label = look.legend[k]
            if not np.isfinite(seen.data[:, column]).any():
                label += " (masked)"
            style = {"mfc": "white", "mec": own["color"], "mew": 0.7, "ms": 3.0}
            data = seen.data[:, column]
            if are_many(seen.time, look.y_lim):  # the range of each stretch, behind the fit
                line(above, seen.time, data, look.y_lim, color=own["color"], lw=0.6, alpha=0.4)
            else:
                few = shown(seen.time, data, limits=look.y_lim)
                above.plot(seen.time[few], data[few], "o", **style)
            line(above, times, curves[:, k], look.y_lim, is_curve=True, **own, label=label)
            line(below, seen.time, residual.values[:, column], look.y_lim, **{**own, "lw": 0.9})
        every = seen.data[:, columns], residual.values[:, columns]
        if look.z_type == "log":
            enclose(above, look)
        else:
            _limit(above, every[0], seen.fit[:, columns])
            if look.z_lim is not None:
                above.set_ylim(*sorted(look.z_lim))
        _limit(below, every[1], every[1][:0])
        for ax, values in ((above, every[0]), (below, every[1])):
            for k, trace in enumerate(values.T):
                mark_beyond(ax, seen.time, trace, curve_look(look, k)["color"])
        for ax in (above, below):
            if ax.get_yscale() == "linear":
                ax.axhline(0.0, color=MUTED, lw=0.7, zorder=0)
            set_time(ax, seen.time, look, "x")
            reference_lines(ax, look, horizontal=ax is above)
            bare(ax)
        above.set_ylabel(look.z_label)
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        place = beside if len(columns) > MAX_INSIDE else {"loc": "best"}
        above.legend(fontsize=8.0, title=look.x_label, title_fontsize=8.0, **place)
        below.set_ylabel(residual.label)
        below.set_xlabel(look.y_label)
        if look.title:
            above.set_title(look.title)
        figure.align_ylabels([above, below])
        return sheet.finish(look)


def _limit(ax: Any, data: Array, fit: Array) -> None:
    """Ends the axis one span beyond data and fit; at once where the data have spikes, which do not
    set it."""
    usual = usual_ranges(data.T)
    known = finite_of([*usual.ravel(), *fit.ravel()])
    every = finite_of(data)
    if not every.size or (every.min() >= known.min() and every.max() <= known.max()):
        hold(ax, [data, fit] if fit.size else data)
        return
    span = float(np.ptp(known)) or 1.0
    ax.set_ylim(float(known.min()) - 0.06 * span, float(known.max()) + 0.06 * span)


def _most_changed(seen: View, n: int) -> list[int]:
    """The columns at which the data change most over time, each away from those before."""
    known = np.isfinite(seen.data)
    mean = np.where(known, seen.data, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    change = (np.where(known, seen.data - mean, 0.0) ** 2).sum(axis=0)
    apart = np.ptp(seen.energy) / (2 * n)
    left = known.any(axis=0)
    found: list[int] = []
    while left.any() and len(found) < n:
        found.append(int(np.argmax(np.where(left, change, -1.0))))
        left &= np.abs(seen.energy - seen.energy[found[-1]]) > apart
    return sorted(found, key=lambda column: float(seen.energy[column]))


def _check_known(seen: View, columns: list[int]) -> None:
    """Raises :class:`PlotError` where no trace has a point."""
    shown = np.isfinite(seen.data[:, columns]) | np.isfinite(seen.fit[:, columns])
    if not shown.any():
        names = ", ".join(f"{seen.energy[column]:.5g}" for column in columns)
        which = f"at {names}" if names else "at all energies"
        raise PlotError(f"all points {which} are masked: there are no data, and no fit to them")


def _nearest(axis: Array, energies: Sequence[float] | float) -> list[int]:
    """The columns of these energies."""
    step = float(np.max(np.abs(np.diff(axis)), initial=0.0))
    found = []
    given = np.atleast_1d(np.asarray(energies, dtype=np.float64)).tolist()
    if not given:
        raise PlotError("energies is empty; name some, or leave it out for where the data change")
    for energy in given:
        column = int(np.argmin(np.abs(axis - energy)))
        if not abs(axis[column] - energy) <= step:
            raise PlotError(
                f"there is no trace at {energy:g}: the fit window has {axis.min():g} to "
                f"{axis.max():g}"
            )
        found.append(column)
    return found
