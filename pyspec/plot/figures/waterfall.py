"""Several spectra above each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.axes import (
    FillLook,
    curve_look,
    finite_of,
    inner_range,
    line,
    mark_beyond,
    reference_lines,
    set_along,
    turn,
)
from pyspec.plot.elements.colours import SPIKE, is_signed
from pyspec.plot.elements.gaps import broken
from pyspec.plot.elements.legend import LegendLook
from pyspec.plot.figure import Sheet, is_dark
from pyspec.plot.style import FIT, MUTED, three_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

Array = npt.NDArray[np.float64]

#: Lines stand above the fills of all curves, so that none hides another.
LINES = 1.0


def chosen_rows(n_rows: int, n: int) -> npt.NDArray[np.int64]:
    """At most `n` rows, evenly spaced."""
    return np.unique(np.linspace(0, n_rows - 1, min(max(n, 1), n_rows)).round()).astype(np.int64)


def draw_waterfall(
    curves: Array,
    energy: Array,
    names: list[str],
    fits: Array | None,
    sheet: Sheet,
    config: PlotConfig,
    along: Array | None = None,
) -> Figure:
    """Several spectra above each other; see :func:`pyspec.plot.plot_waterfall`. `along` are the
    energies of the fits, if not those of the data."""
    with sheet.style():
        from matplotlib import colormaps
        from matplotlib.lines import Line2D

        curves, fits = _scaled(curves, fits, config)
        along = energy if along is None else along
        spans = usual_ranges(curves, fits)
        # A distance that keeps neighbours apart.
        step = config.waterfall or 0.6 * finite_of(np.ptp(spans, axis=1)).max(initial=0.0) or 1.0
        width, height = config.panel_size
        tall = min(1.3 * height + 0.16 * height * len(curves), 4.0 * height)
        ax = sheet.panel((1.35 * width, tall), config)
        ends = (0.3, 1.0) if is_dark(ax.get_facecolor()) else (0.0, 0.78)
        colours = [colormaps["viridis"](share) for share in np.linspace(*ends, len(curves))]
        signed = is_signed(curves)
        low, high = np.inf, -np.inf
        for index in reversed(range(len(curves))):
            offset = index * step
            drawn = _curve(ax, energy, curves[index], spans[index], offset, signed, index, colours,
                           config)  # fmt: skip
            if fits is not None:
                ax.plot(along, fits[index] + offset, color=FIT, lw=1.1, zorder=LINES + 0.5)
                drawn = np.append(drawn, _near(fits[index], spans[index]) + offset)
            if not np.isfinite(curves).any():
                drawn = np.append(drawn, offset)
            if drawn.size:
                low, high = min(low, float(drawn.min())), max(high, float(drawn.max()))
        set_along(ax, energy, config)
        if np.isfinite(low) and np.isfinite(high):
            span = high - low or 1.0
            ax.set_ylim(low - 0.02 * span, high + 0.03 * span)
        for index in range(len(curves)):
            colour = curve_look(config, index, colours[index])["color"]
            mark_beyond(ax, energy, curves[index] + index * step, colour)
        levels = np.array([_level(ax, energy, curve) for curve in curves])
        if fits is not None:
            of_fits = np.array([_level(ax, along, fit) for fit in fits])
            levels = np.where(np.isfinite(levels), levels, of_fits)
        low_of, high_of = (np.where(np.isnan(end), levels, end) for end in spans.T)
        levels = np.clip(levels, low_of, high_of)
        finite = levels[np.isfinite(levels)]  # a curve without values stands as the others do
        levels[np.isnan(levels)] = np.median(finite) if finite.size else 0.0
        for index, name in enumerate(names):
            ax.annotate(
                name, (ax.get_xlim()[1], levels[index] + index * step), (5, 0),
                textcoords="offset points", va="center", fontsize=8.0, annotation_clip=False,
            )  # fmt: skip
        if fits is not None:
            lines = [Line2D([], [], color=colour, lw=1.1) for colour in (MUTED, FIT)]
            place: LegendLook = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
            ax.legend(lines, ["data", "fit"], ncols=2, fontsize=8.0, **place)
        ax.set_ylabel(config.z_label)
        ax.set_title(config.title or "spectra", fontweight="bold")
        if len(curves) > 1:
            is_scaled = config.y_norm or config.y_scale
            shift = "scaled and shifted" if is_scaled else f"shifted by {three_digits(step)} each"
            ax.set_ylabel(f"{config.z_label}, {shift}")
            ax.set_yticks([])
        reference_lines(ax, config)
        ax.spines[["top", "right", "left"]].set_visible(False)
        return sheet.finish(config)


def usual_ranges(curves: Array, fits: Array | None = None) -> Array:
    """(n, 2) lowest and highest value of each curve, without spikes; NaN of a curve without values.

    A spike is further out than SPIKE times the range of a curve without its outermost 1 %, and than
    that of most curves. What is there in another curve too, or in the fit, is a narrow line.
    """
    ranges = np.array([inner_range(curve, 0.0) for curve in curves])
    inner = np.array([inner_range(curve, 0.01) for curve in curves])
    whole = np.ptp(ranges, axis=1)
    spans = np.sort(whole[np.isfinite(whole)])
    if not spans.size:
        return ranges
    far = SPIKE * np.maximum(np.ptp(inner, axis=1), spans[(spans.size - 1) // 2])
    spikes = np.maximum(curves - inner[:, 1:], inner[:, :1] - curves) > far[:, None]
    spikes &= np.count_nonzero(spikes, axis=0) == 1
    usual = np.array(
        [inner_range(curve[~spike], 0.0) for curve, spike in zip(curves, spikes, strict=True)]
    )
    if fits is not None:
        for own, whole, fit in zip(usual, ranges, fits, strict=True):
            ends = np.minimum(np.maximum(inner_range(fit, 0.0), whole[0]), whole[1])
            own[:] = np.fmin(own[0], ends[0]), np.fmax(own[1], ends[1])
    return usual if np.nanmax(np.ptp(usual, axis=1)) > 0 else ranges


def _near(values: Array, spans: Array) -> Array:
    """The finite values, none further than one span outside of a range."""
    finite = finite_of(values)
    least, most = spans
    span = most - least
    return np.clip(finite, least - span, most + span) if np.isfinite(span) and span else finite


def _curve(
    ax: Axes,
    energy: Array,
    curve: Array,
    spans: Array,
    offset: float,
    signed: bool,
    index: int,
    colours: Sequence[ColorType],
    config: PlotConfig,
) -> Array:
    """One curve over its base, which is zero for data of both signs; what it spans, without
    spikes."""
    from matplotlib.colors import to_hex

    look = curve_look(config, index, colours[index])
    if not np.isfinite(curve).any():
        return np.empty(0)
    energy, curve = broken(energy, curve)
    bottom = (0.0 if signed else float(spans[0])) + offset
    under: FillLook = {"lw": 0, "zorder": -index}
    if not signed:
        behind = to_hex(ax.get_facecolor())
        ax.fill_between(energy, bottom, curve + offset, color=behind, **under)
    ax.fill_between(energy, bottom, curve + offset, color=look["color"], alpha=0.12, **under)
    if signed:
        ax.plot(energy[[0, -1]], [bottom, bottom], color=MUTED, lw=0.5, zorder=-index)
    look["zorder"] = LINES
    line(ax, energy, curve + offset, **look)
    return np.append(spans + offset, bottom)


def _level(ax: Axes, x: Array, curve: Array) -> float:
    """The value of a curve where it leaves the picture to the right; NaN of one without values."""
    first, right = ax.get_xlim()
    shown = np.isfinite(curve) & (x >= min(first, right)) & (x <= max(first, right))
    shown = shown if shown.any() else np.isfinite(curve)
    if not shown.any():
        return np.nan
    return float(curve[shown][np.argmin(np.abs(x[shown] - right))])


def _scaled(curves: Array, fits: Array | None, config: PlotConfig) -> tuple[Array, Array | None]:
    """Curves by `y_norm` and `y_scale`; fits by the same factors."""
    factors = np.ones(len(curves))
    if config.y_norm:
        largest = np.array([np.abs(finite_of(curve)).max(initial=0.0) for curve in curves])
        factors = 1.0 / np.where(largest > 0, largest, 1.0)
    if config.y_scale:
        factors = factors * [turn(config.y_scale, k, 1.0) for k in range(len(curves))]
    scale = factors[:, None]
    return curves * scale, None if fits is None else fits * scale
