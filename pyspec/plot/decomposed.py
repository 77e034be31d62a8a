"""Singular vectors of data and residual, and the spectra of a kinetic scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.plot.axes import bare, set_time, set_x
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.labels import opened, unit_of, with_unit
from pyspec.plot.style import COLOURS, MUTED, PlotError
from pyspec.plot.view import view_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

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
    singular values above the others. Within the fit window; masked points count as 0. Options as of
    :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit to one spectrum or trace, and for `n` below 1.
    """
    sheet, look = opened(result, options)
    seen = view_of(result, look.copy(show_init=False, full_range=False))
    if seen.time is None:
        raise PlotError("singular vectors are those of a time series; this fit has one spectrum")
    if n < 1:
        raise PlotError(f"n is {n}; give how many vectors to draw, 1 or more")
    rows = {"data": seen.data, "residual": seen.residual}
    with sheet.style():
        figure = sheet.panels(figsize or (9.6, 5.0), look)
        axes = figure.subplots(2, 3, width_ratios=[1, 1.5, 1.5])
        for (what, values), line in zip(rows.items(), axes, strict=True):
            _decomposed(np.nan_to_num(values), what, n, line, (seen.time, seen.energy))
        for line in axes:
            set_time(line[1], seen.time, look, "x")
            set_x(line[2], seen.energy, look)
        axes[1, 0].set_xlabel("component")
        axes[1, 1].set_xlabel(look.y_label)
        axes[1, 2].set_xlabel(look.x_label)
        return sheet.finish(look)


def _decomposed(values: Array, what: str, n: int, axes: Any, along: tuple[Array, Array]) -> None:
    left, singular, right = np.linalg.svd(values, full_matrices=False)
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
        axes[1].plot(along[0], sign * left[:, k], color=colour, lw=1.1)
        axes[2].plot(along[1], sign * right[k], color=colour, lw=1.1)
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
    names the scheme of a model that has several. Options as of :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit without free spectra of a scheme.
    """
    linear = getattr(result, "linear", None)
    if linear is None or not linear.kinetics:
        raise PlotError("no kinetic scheme of this fit has free spectra")
    sheet, look = opened(result, options)
    found = [linear.sas(scheme), *_of_decays(linear, scheme)]
    with sheet.style():
        figure = sheet.panels(figsize or (3.7 * len(found) + 0.4, 3.2), look)
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for ax, own in zip(axes, found, strict=True):
            _spectra(ax, own, look, unit_of(result, "time"))
        axes[0].set_ylabel(look.z_label)
        return sheet.finish(look)


def _of_decays(linear: Any, scheme: str) -> list[Any]:
    from pyspec.errors import FitError

    try:
        return [linear.das(scheme), linear.eas(scheme)]
    except FitError:
        return []


def _spectra(ax: Any, own: Any, look: PlotConfig, unit: str) -> None:
    """Lines with bands; a decay is named by its time constant, in the unit of the time axis."""
    ax.axhline(0.0, color=MUTED, lw=0.7)
    for k, (name, rate) in enumerate(zip(own.names, own.rates, strict=True)):
        colour, value = COLOURS[k % len(COLOURS)], own.values[k]
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
