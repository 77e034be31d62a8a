"""Singular vectors of data and residual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.model.data.source import source_of
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.axes import bare, line, set_time, set_x
from pyspec.plot.elements.labels import opened
from pyspec.plot.figure import is_column
from pyspec.plot.protocols import Fit, Measured, fit_of, is_measured
from pyspec.plot.style import COLOURS, MUTED, PlotError
from pyspec.plot.view import residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Singular values that are drawn.
SHOWN = 12


@answered
def plot_svd(
    result: Fit | Measured,
    *,
    n: int = 3,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the singular value decomposition of data and residual of a time series; returns the
    Figure.

    One row each: singular values, the first `n` left vectors over time and right vectors over
    energy. What the model misses shows in the row of the residual: vectors with a shape, and
    singular values above the others. With declared noise the residual is divided by σ: noisy
    energies do not hide the others; ``residual_unit="data"`` leaves it as it is. Within the fit
    window. Times and energies without a point that counts are left out, and are gaps of the
    vectors. Other masked points take the value of the fit: their residual is 0. The heading says
    how many. Options as of :func:`pyspec.plot.plot_fit`.

    Before any fit, `result` is a File or a Dataset, and only the row of the data is drawn: the
    singular values above the noise tell how many spectra there are. Masked points are filled in
    between the times beside them.

    Raises :class:`PlotError` for a fit to one spectrum or trace, for `n` below 1, where all
    points are masked, and for ``residual_unit="sigma"`` without declared noise.
    """
    if n < 1:
        raise PlotError(f"n is {n}; give how many vectors to draw, 1 or more")
    if is_measured(result):
        sheet, look = opened(result, options)
        time, energy, data = _measured(result, look)
        finite, filled_with = np.isfinite(data), "filled in between times"
        rows = {"data": _between(data)}
    else:
        fit = fit_of(result, "plot_svd")
        sheet, look = opened(fit, options)
        seen = view_of(fit, look.copy(show_init=False, full_range=False))
        if seen.time is None:
            raise PlotError(
                "singular vectors are those of a time series; this fit has one spectrum"
            )
        time, energy = seen.time, seen.energy
        finite, filled_with = np.isfinite(seen.data), "taken from the fit"
        left = residual_of(seen, fit, look)
        name = left.label.replace("(data − fit)", "residual") if left.is_scaled else "residual"
        rows = {"data": np.where(finite, seen.data, seen.fit), name: left.values}
    if not finite.any():
        raise PlotError("all points are masked; there is nothing to decompose")
    kept = np.asarray(finite.any(axis=1)), np.asarray(finite.any(axis=0))
    with sheet.style():
        figure = sheet.panels((9.6, 2.5 * len(rows)), look)
        below = is_column(figure, 3)
        if below:
            axes = figure.subplots(3, len(rows), squeeze=False).T
        else:
            axes = figure.subplots(len(rows), 3, width_ratios=[1, 1.5, 1.5], squeeze=False)
        for (name, values), row in zip(rows.items(), axes, strict=True):
            _decomposed(np.nan_to_num(values), name, n, row, (time, energy), kept)
        for row in axes:
            set_time(row[1], time, look, "x")
            set_x(row[2], energy, look)
        if below:  # as the label of a panel that low it would be cut off
            for name, row in zip(rows, axes, strict=True):
                row[0].set_title(name)
                row[0].set_ylabel("singular value")
        for row in axes if below else axes[-1:]:
            for ax, label in zip(row, ("component", look.y_label, look.x_label), strict=True):
                ax.set_xlabel(label)
        left_out = [
            f"{count} {name if count == 1 else more}"
            for flags, name, more in zip(
                kept, ("time", "energy"), ("times", "energies"), strict=True
            )
            if (count := int(np.count_nonzero(~flags)))
        ]
        single = int(np.count_nonzero(~finite[np.ix_(*kept)]))
        parts = [f"{' and '.join(left_out)} left out"] if left_out else []
        parts += [f"{single} point{'s' * (single > 1)} {filled_with}"] if single else []
        masked = f"masked: {', '.join(parts)}" if parts else ""
        heading = "  ·  ".join(text for text in (look.title, masked) if text)
        if heading:
            sheet.title(heading, fontsize=9.5, color=MUTED)
        return sheet.finish(look)


def _measured(source: Measured, look: PlotConfig) -> tuple[Array, Array, Array]:
    """(times, energies, data) of a File within its window, or of a Dataset; NaN where a point is
    masked. Raises :class:`PlotError` where it has no series."""
    data, keep = source.data, getattr(source, "keep", None)
    if data is None or source.time is None or source.energy is None or np.ndim(data) != 2:
        raise PlotError("singular vectors are those of a time series; these data are none")
    if source_of(data) is not None:
        raise PlotError("singular vectors need data in memory; give a File of np.asarray(data)")
    values = np.asarray(data, np.float64)
    values = np.where(np.isfinite(values) if keep is None else keep, values, np.nan)
    window = [slice(*(getattr(source, name, None) or (None,))) for name in ("rows", "columns")]
    values, time, energy = values[tuple(window)], source.time[window[0]], source.energy[window[1]]
    cut = cut_of(look, values.shape)
    return time[cut[0]], energy[cut[1]], values[cut]


def _between(data: Array) -> Array:
    """Data whose gaps are filled along the rows, at each energy that has a point."""
    filled, rows = data.copy(), np.arange(len(data))
    for column in filled.T:
        finite = np.isfinite(column)
        if finite.any() and not finite.all():
            column[~finite] = np.interp(rows[~finite], rows[finite], column[finite])
    return filled


def _decomposed(
    values: Array,
    name: str,
    n: int,
    axes: Sequence[Axes],
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
    axes[0].set_ylabel(f"{name}: singular value")
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
            line(ax, axis, whole, color=colour, lw=1.1)
    axes[1].set_title("left vectors", fontsize=9.5)
    axes[2].set_title("right vectors", fontsize=9.5)
    for ax in axes:
        bare(ax)
    for ax in axes[1:]:
        ax.axhline(0.0, color=MUTED, lw=0.7)
