"""Several spectra above each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.plot.config import PlotConfig
from pyspec.plot.dark import is_dark
from pyspec.plot.elements.axes import (
    FillLook,
    curve_look,
    finite_of,
    line,
    mark_beyond,
    reference_lines,
    set_along,
    turn,
)
from pyspec.plot.elements.colours import SPIKE, is_signed
from pyspec.plot.elements.gaps import broken
from pyspec.plot.elements.legend import LegendLook
from pyspec.plot.figure import Sheet
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
        step = config.waterfall or _step(spans)
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
        _name_curves(ax, np.clip(levels, low_of, high_of), names, step)
        if fits is not None:
            lines = [Line2D([], [], color=colour, lw=1.1) for colour in (MUTED, FIT)]
            place: LegendLook = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
            ax.legend(lines, ["data", "fit"], ncols=2, fontsize=8.0, **place)
        ax.set_ylabel(_value_label(len(curves), step, config))
        ax.set_title(config.title or "spectra", fontweight="bold")
        if len(curves) > 1:
            ax.set_yticks([])
        reference_lines(ax, config)
        ax.spines[["top", "right", "left"]].set_visible(False)
        return sheet.finish(config)


def _value_label(n_curves: int, step: float, config: PlotConfig) -> str:
    """ "intensity (counts), shifted by 20 each"."""
    if n_curves == 1:
        return config.z_label
    if config.y_norm or config.y_scale:
        return f"{config.z_label}, scaled and shifted"
    return f"{config.z_label}, shifted by {three_digits(step)} each"


def usual_ranges(curves: Array, fits: Array | None = None) -> Array:
    """(n, 2) lowest and highest value of each curve, without spikes; NaN of a curve without values.

    A spike is further out than SPIKE times the range of a curve without its outermost 1 %, and than
    that of most curves. What is there in another curve too, or in the fit, is a narrow line.
    """
    ranges = np.full((len(curves), 2), np.nan)
    inner = ranges.copy()
    for index, curve in enumerate(curves):
        ordered = np.sort(finite_of(curve))
        if ordered.size:
            left_out = -(-ordered.size // 100) if ordered.size > 4 else 0
            ranges[index] = ordered[0], ordered[-1]
            inner[index] = ordered[left_out], ordered[-1 - left_out]
    whole = np.ptp(ranges, axis=1)
    spans = np.sort(whole[np.isfinite(whole)])
    if not spans.size:
        return ranges
    far = SPIKE * np.maximum(np.ptp(inner, axis=1), spans[(spans.size - 1) // 2])
    spikes = np.maximum(curves - inner[:, 1:], inner[:, :1] - curves) > far[:, None]
    spikes &= np.count_nonzero(spikes, axis=0) == 1
    usual = np.array([_range(curve[~spike]) for curve, spike in zip(curves, spikes, strict=True)])
    if fits is not None:
        for own, whole, fit in zip(usual, ranges, fits, strict=True):
            ends = np.minimum(np.maximum(_range(fit), whole[0]), whole[1])
            own[:] = np.fmin(own[0], ends[0]), np.fmax(own[1], ends[1])
    return usual if np.nanmax(np.ptp(usual, axis=1)) > 0 else ranges


def _range(values: Array) -> tuple[float, float]:
    """Lowest and highest finite value; NaN where there is none."""
    finite = finite_of(values)
    return (float(finite.min()), float(finite.max())) if finite.size else (np.nan, np.nan)


def _step(ranges: Array) -> float:
    """A distance that keeps neighbours apart: 0.6 of the largest span."""
    spans = finite_of(np.ptp(ranges, axis=1))
    return 0.6 * float(spans.max(initial=0.0)) or 1.0


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


def _name_curves(ax: Axes, levels: Array, names: list[str], step: float) -> None:
    """The name of each curve at its level; one without values stands as the others do."""
    finite = levels[np.isfinite(levels)]
    levels = np.where(np.isfinite(levels), levels, np.median(finite) if finite.size else 0.0)
    for index, name in enumerate(names):
        ax.annotate(
            name, (ax.get_xlim()[1], levels[index] + index * step), (5, 0),
            textcoords="offset points", va="center", fontsize=8.0, annotation_clip=False,
        )  # fmt: skip


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
