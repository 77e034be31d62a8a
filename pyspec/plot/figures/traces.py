"""Traces in time at some energies, and spectra at some times, with their fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.elements.axes import (
    LineLook,
    are_many,
    bare,
    curve_look,
    enclose,
    finite_of,
    hold,
    line,
    mark_beyond,
    reference_lines,
    set_time,
    set_x,
)
from pyspec.plot.elements.fine_curve import spectra_of, traces_of
from pyspec.plot.elements.labels import opened, place_text
from pyspec.plot.elements.legend import (
    SMALL,
    LegendLook,
    beside,
    curve_name,
    is_narrow,
    name_data_and_fit,
)
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.waterfall import usual_ranges
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import MUTED, PlotError
from pyspec.plot.view import View, residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
def plot_traces(
    result: Fit,
    *,
    energies: Sequence[float] | float | None = None,
    n: int = 4,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the data of a time series at some energies over time with their fits, and the residuals
    below; returns the Figure.

    `energies` are taken at the nearest point of the axis; without them `n` are drawn at which the
    data change most, apart from one another. A time axis of very uneven steps is linear about zero
    and logarithmic outside; ``y_type="lin"`` turns that off. Within the fit window; masked points
    are left out, and the legend says where all points of an energy are. Options as of
    :func:`pyspec.plot.plot_fit`; `x_lim` are times.

    Raises :class:`PlotError` for a fit to one spectrum or trace, for `n` below 1, for energies
    outside of the fit window, and for energies without data and fit.
    """
    result = fit_of(result, "plot_traces")
    sheet, look = opened(result, options, over_time=True)
    seen = _series_of(result, look, n, "traces")
    columns = _most_changed(seen, n) if energies is None else nearest(seen.energy, energies)
    _check_known(seen.data[:, columns], seen.fit[:, columns], seen.energy[columns])
    residual = residual_of(seen, result, look)
    assert seen.time is not None
    data, fit, left = (values[:, columns] for values in (seen.data, seen.fit, residual.values))
    names = [place_text(energy, seen.energy) for energy in seen.energy[columns]]
    cut = _Cut(seen.time, data, fit, left, traces_of(result, seen, columns), names)
    return _draw(cut, sheet, look, residual.label, is_over_time=True)


@answered
def plot_spectra(
    result: Fit,
    *,
    times: Sequence[float] | float | None = None,
    n: int = 4,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the spectra of a time series at some times with their fits, and the residuals below;
    returns the Figure.

    `times` are taken at the nearest point of the axis; without them `n` are drawn that are evenly
    spaced over the rows, the last one among them. Within the fit window; masked points are left
    out, and the legend says where all points of a time are. Options as of
    :func:`pyspec.plot.plot_fit`; :func:`plot_traces` draws the other cut.

    Raises :class:`PlotError` for a fit to one spectrum or trace, for `n` below 1, for times outside
    of the fit window, and for times without data and fit.
    """
    result = fit_of(result, "plot_spectra")
    sheet, look = opened(result, options)
    seen = _series_of(result, look, n, "spectra at some times")
    assert seen.time is not None
    rows = _evenly(seen.time.size, n) if times is None else nearest(seen.time, times, "time")
    _check_known(seen.data[rows].T, seen.fit[rows].T, seen.time[rows])
    residual = residual_of(seen, result, look)
    data, fit, left = (values[rows].T for values in (seen.data, seen.fit, residual.values))
    names = [place_text(time, seen.time) for time in seen.time[rows]]
    along, curves = spectra_of(result, seen, np.asarray(rows, np.intp))
    cut = _Cut(seen.energy, data, fit, left, (along, curves.T), names)
    return _draw(cut, sheet, look, residual.label, is_over_time=False)


@dataclass(frozen=True)
class _Cut:
    """Curves along one axis (n,): data, fit and residual (n, k), the fit where it is drawn, and
    their names."""

    along: Array
    data: Array
    fit: Array
    residual: Array
    curves: tuple[Array, Array]
    names: list[str]


def _series_of(result: Fit, look: PlotConfig, n: int, label: str) -> View:
    seen = view_of(result, look.copy(show_init=False, full_range=False))
    if seen.time is None:
        raise PlotError(f"{label} are those of a time series; this fit has one spectrum or trace")
    if n < 1:
        raise PlotError(f"n is {n}; give how many {label.split()[0]} to draw, 1 or more")
    return seen


def _draw(cut: _Cut, sheet: Sheet, look: PlotConfig, left: str, *, is_over_time: bool) -> Figure:
    limits = look.y_lim if is_over_time else look.x_lim
    with sheet.style():
        figure = sheet.panels((6.4, 4.6), look)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.6, 1])
        x, curves = cut.curves
        is_curve = is_over_time or x is not cut.along  # between the samples too
        for k, label in enumerate(cut.names):
            own: LineLook = {**curve_look(look, k, width=1.5), "marker": ""}
            data, text = cut.data[:, k], curve_name(look, k, label)
            if not np.isfinite(data).any():
                text += " (masked)"
            if are_many(cut.along, limits):  # behind the fit
                line(above, cut.along, data, color=own["color"], lw=0.6, alpha=0.4)
            else:
                style: LineLook = {"mfc": "white", "mec": own["color"], "mew": 0.7, "ms": 3.0}
                above.plot(cut.along, data, "o", **style)
            rest: LineLook = {**own, "lw": 0.9}
            own["label"] = text
            line(below, cut.along, cut.residual[:, k], **rest)
            line(above, x, curves[:, k], is_curve=is_curve, **own)
        if look.z_type == "log":
            enclose(above, look)
        else:
            _limit(above, cut.data, cut.fit)
            if look.z_lim is not None:
                above.set_ylim(*sorted(look.z_lim))
        _limit(below, cut.residual, cut.residual[:0])
        for ax, values in ((above, cut.data), (below, cut.residual)):
            for k, trace in enumerate(values.T):
                mark_beyond(ax, cut.along, trace, curve_look(look, k)["color"])
        title, label = (look.x_label, look.y_label)[:: 1 if is_over_time else -1]
        texts: LegendLook = {"fontsize": 8.0, **(SMALL if is_narrow(above) else {})}
        place: LegendLook = beside(above) or {"loc": "best"}
        name_data_and_fit(above, **texts)
        above.legend(title=title, title_fontsize=texts["fontsize"], **texts, **place)
        above.set_ylabel(look.z_label)
        below.set_ylabel(left)
        for ax in (above, below):
            if ax.get_yscale() == "linear":
                ax.axhline(0.0, color=MUTED, lw=0.7, zorder=0)
            if is_over_time:
                set_time(ax, cut.along, look, "x")
            else:
                set_x(ax, cut.along, look)
            reference_lines(ax, look, horizontal=ax is above)
            bare(ax)
        below.set_xlabel(label)
        if look.title:
            above.set_title(look.title)
        figure.align_ylabels([above, below])
        return sheet.finish(look)


def _limit(ax: Axes, data: Array, fit: Array) -> None:
    """Ends the axis one span beyond data and fit; at once where the data have spikes, which do not
    set it."""
    usual = usual_ranges(data.T)
    shown = finite_of([*usual.ravel(), *fit.ravel()])
    every = finite_of(data)
    if not every.size or (every.min() >= shown.min() and every.max() <= shown.max()):
        hold(ax, [data, fit] if fit.size else data)
        return
    span = float(np.ptp(shown)) or 1.0
    ax.set_ylim(float(shown.min()) - 0.06 * span, float(shown.max()) + 0.06 * span)


def _most_changed(seen: View, n: int) -> list[int]:
    """The columns at which the data change most over time, apart from those chosen before. Columns
    that change by more than a twentieth of the largest change (in squares) come first."""
    finite = np.isfinite(seen.data)
    mean = np.where(finite, seen.data, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    change = (np.where(finite, seen.data - mean, 0.0) ** 2).sum(axis=0)
    every = finite.any(axis=0)
    columns: list[int] = []
    for among in (every & (change > 0.05 * change.max()), every):
        apart = np.ptp(seen.energy[among]) / (2 * n) if among.any() else 0.0
        left = among.copy()
        for column in columns:
            left &= np.abs(seen.energy - seen.energy[column]) > apart
        while left.any() and len(columns) < n:
            columns.append(int(np.argmax(np.where(left, change, -1.0))))
            left &= np.abs(seen.energy - seen.energy[columns[-1]]) > apart
    return sorted(columns, key=lambda column: float(seen.energy[column]))


def _evenly(size: int, n: int) -> list[int]:
    """Rows that end `n` parts of the same length."""
    return sorted({int(row) for row in np.linspace(0, size - 1, n + 1)[1:].round()})


def _check_known(data: Array, fit: Array, places: Array) -> None:
    """Raises :class:`PlotError` where none of the curves (n, k) has a point."""
    if not (np.isfinite(data) | np.isfinite(fit)).any():
        names = ", ".join(f"{place:.5g}" for place in places)
        which = f"at {names}" if names else "at all energies"
        raise PlotError(f"all points {which} are masked: there are no data, and no fit to them")


def nearest(axis: Array, wanted: Sequence[float] | float, of: str = "energy") -> list[int]:
    """The places of these values on an axis; none is more than a step of it beyond its ends."""
    curve, many = ("trace", "energies") if of == "energy" else ("spectrum", "times")
    steps = np.abs(np.diff(axis))
    first, last = (float(steps[end]) if steps.size else 0.0 for end in (0, -1))
    below, beyond = (first, last) if axis[0] <= axis[-1] else (last, first)
    places = []
    values = np.atleast_1d(np.asarray(wanted, dtype=np.float64)).tolist()
    if not values:
        raise PlotError(f"{many} is empty; name some, or leave it out for some that are chosen")
    for value in values:
        if not axis.min() - below <= value <= axis.max() + beyond:
            raise PlotError(
                f"there is no {curve} at {value:g}: the fit window has {axis.min():g} to "
                f"{axis.max():g}"
            )
        places.append(int(np.argmin(np.abs(axis - value))))
    return places
