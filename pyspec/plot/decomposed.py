"""Singular vectors of data and residual, and the spectra of a kinetic scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.plot.axes import bare, set_time, set_x
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.gaps import unknown
from pyspec.plot.labels import opened, unit_of, with_unit
from pyspec.plot.style import COLOURS, MUTED, PlotError
from pyspec.plot.view import view_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Singular values that are drawn.
SHOWN = 12


@answered
def plot_svd(
    result: Any,
    *,
    n: int = 3,
    figsize: tuple[float, float] | None = None,
    **options: Unpack[PlotOptions],
) -> Any:
    """Draws the singular value decomposition of data and residual of a time series; returns the
    Figure.

    One row each: singular values, the first `n` left vectors over time and right vectors over
    energy. What a model leaves shows up in the row of the residual, as vectors with a shape and
    singular values above the others. Within the fit window. Times and energies without a point that
    counts are left out, and open in the vectors; at other masked points the data are taken to be
    as the fit, the residual 0. The heading says how many. Options as of
    :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit to one spectrum or trace, for `n` below 1, and where all
    points are masked.
    """
    sheet, look = opened(result, options)
    seen = view_of(result, look.copy(show_init=False, full_range=False))
    if seen.time is None:
        raise PlotError("singular vectors are those of a time series; this fit has one spectrum")
    if n < 1:
        raise PlotError(f"n is {n}; give how many vectors to draw, 1 or more")
    known = np.isfinite(seen.data)
    if not known.any():
        raise PlotError("all points are masked; there is nothing to decompose")
    kept = np.asarray(known.any(axis=1)), np.asarray(known.any(axis=0))
    filled = np.where(known, seen.data, seen.fit)
    rows = {"data": filled, "residual": filled - seen.fit}
    with sheet.style():
        figure = sheet.panels(figsize or (9.6, 5.0), look)
        axes = figure.subplots(2, 3, width_ratios=[1, 1.5, 1.5])
        for (what, values), line in zip(rows.items(), axes, strict=True):
            _decomposed(np.nan_to_num(values), what, n, line, (seen.time, seen.energy), kept)
        for line in axes:
            set_time(line[1], seen.time, look, "x")
            set_x(line[2], seen.energy, look)
        axes[1, 0].set_xlabel("component")
        axes[1, 1].set_xlabel(look.y_label)
        axes[1, 2].set_xlabel(look.x_label)
        heading = "  ·  ".join(one for one in (look.title, _masked(known, kept)) if one)
        if heading:
            sheet.title(heading, fontsize=9.5, color=MUTED)
        return sheet.finish(look)


def _masked(known: Flags, kept: tuple[Flags, Flags]) -> str:
    """What was done with masked points: "1 energy left out, 3 points taken from the fit"."""
    left = [int(np.count_nonzero(~one)) for one in kept]
    single = int(np.count_nonzero(~known[np.ix_(*kept)]))
    lines = [
        f"{count} {one if count == 1 else more}"
        for count, one, more in ((left[0], "time", "times"), (left[1], "energy", "energies"))
        if count
    ]
    parts = [f"{' and '.join(lines)} left out"] if lines else []
    if single:
        parts.append(f"{single} point{'s' * (single > 1)} taken from the fit")
    return f"masked: {', '.join(parts)}" if parts else ""


def _decomposed(
    values: Array,
    what: str,
    n: int,
    axes: Any,
    along: tuple[Array, Array],
    kept: tuple[Flags, Flags],
) -> None:
    """One row of panels; rows and columns that are not `kept` stay open in the vectors."""
    left, singular, right = np.linalg.svd(values[np.ix_(*kept)], full_matrices=False)
    count = np.arange(1, min(SHOWN, singular.size) + 1)
    shown = singular[: count.size]
    axes[0].plot(count, shown, "o-", color=MUTED, ms=3.5, lw=0.8)
    if shown[-1] > 0 and shown[0] > 10 * shown[-1]:  # decades; noise alone is nearly flat
        axes[0].set_yscale("log")
    axes[0].set_ylabel(f"{what}: singular value")
    axes[0].set_xticks(count[::3])
    for k in range(min(n, singular.size)):
        # A sign of its own: the larger part of each right vector is positive.
        sign = 1.0 if right[k][np.argmax(np.abs(right[k]))] > 0 else -1.0
        colour = COLOURS[k % len(COLOURS)]
        axes[0].plot(count[k : k + 1], singular[k : k + 1], "o", color=colour, ms=5)
        for ax, axis, own, vector in zip(
            axes[1:], along, kept, (left[:, k], right[k]), strict=True
        ):
            whole = np.full(axis.size, np.nan)
            whole[own] = sign * vector
            ax.plot(axis, whole, color=colour, lw=1.1)
    axes[1].set_title("left vectors", fontsize=9.5)
    axes[2].set_title("right vectors", fontsize=9.5)
    for ax in axes:
        bare(ax)
    for ax in axes[1:]:
        ax.axhline(0.0, color=MUTED, lw=0.7)


@answered
def plot_species(
    result: Any,
    *,
    scheme: str = "",
    figsize: tuple[float, float] | None = None,
    **options: Unpack[PlotOptions],
) -> Any:
    """Draws the spectra of the states of a kinetic scheme (SAS), of its decays (DAS) and of its
    evolution (EAS) beside each other, with bands of one standard error; returns the Figure.

    Where two rates coincide there are no DAS and EAS, and the picture has the SAS alone. `scheme`
    names the scheme of a model that has several. Energies at which they are not known, since all
    points there are masked, stay open. Options as of :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit without free spectra of a scheme.
    """
    linear = getattr(result, "linear", None)
    if linear is None or not linear.kinetics:
        raise PlotError("no kinetic scheme of this fit has free spectra")
    sheet, look = opened(result, options)
    found = [linear.sas(scheme), *_of_decays(linear, scheme)]
    own = linear.kinetics[scheme or next(iter(linear.kinetics))]
    missing = unknown(result)
    gap = np.any([missing[name] for name in own.amplitudes.values()], axis=0)
    with sheet.style():
        figure = sheet.panels(figsize or (3.7 * len(found) + 0.4, 3.2), look)
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for ax, own in zip(axes, found, strict=True):
            _spectra(ax, own, look, unit_of(result, "time"), gap)
        axes[0].set_ylabel(look.z_label)
        return sheet.finish(look)


def _of_decays(linear: Any, scheme: str) -> list[Any]:
    from pyspec.errors import FitError

    try:
        return [linear.das(scheme), linear.eas(scheme)]
    except FitError:
        return []


def _spectra(ax: Any, own: Any, look: PlotConfig, unit: str, gap: Flags) -> None:
    """Lines with bands, open at `gap`; a decay is named by its time constant, in the unit of the
    time axis."""
    ax.axhline(0.0, color=MUTED, lw=0.7)
    for k, (name, rate) in enumerate(zip(own.names, own.rates, strict=True)):
        colour, value = COLOURS[k % len(COLOURS)], np.where(gap, np.nan, own.values[k])
        error = np.nan_to_num(own.stderr[k])
        label = name if np.isnan(rate) else "constant" if rate == 0 else ""
        label = label or with_unit(f"τ = {1 / rate:.4g}", unit)
        ax.fill_between(own.along, value - error, value + error, color=colour, alpha=0.25, lw=0)
        ax.plot(own.along, value, color=colour, lw=1.3, label=label)
    set_x(ax, own.along, look)
    ax.set_title(own.kind, fontsize=9.5)
    ax.set_xlabel(look.x_label)
    ax.legend(loc="best", fontsize=8.0)
    bare(ax)
