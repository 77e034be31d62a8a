"""Axes of pictures: cells, directions, scales, limits, ticks and reference lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, cast

import numpy as np
import numpy.typing as npt

from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.gaps import broken
from pyspec.plot.style import COLOURS, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D
    from matplotlib.ticker import Locator
    from matplotlib.typing import ColorType
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]
Entry = TypeVar("Entry")


class LineLook(TypedDict, total=False):
    """How a line and its markers look, as matplotlib names them."""

    color: ColorType
    ls: str
    lw: float
    alpha: float
    zorder: float
    label: str
    marker: str
    markevery: list[int]
    ms: float
    mew: float
    mfc: ColorType
    mec: ColorType


class FillLook(TypedDict, total=False):
    """How a filled area looks, as matplotlib names it."""

    color: ColorType
    alpha: float
    lw: float
    zorder: float
    label: str
    hatch: str


#: Steps that differ by more than this are drawn on an axis that is logarithmic far from zero.
UNEVEN = 30.0

#: More points than these in sight are drawn as a line without markers.
MANY = 20_000

#: Ticks stand at these multiples of a power of ten.
STEPS = (1, 2, 2.5, 5, 10)

#: The width of a letter in units of the font size.
LETTER = 0.6

#: Room for the first and last marker, a share of the axis.
MARGIN = 0.02


def rms(values: npt.ArrayLike) -> float:
    """Root mean square of the finite values, without overflow; 0 of none."""
    finite = finite_of(values)
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if largest else 0.0


def finite_of(values: npt.ArrayLike) -> Array:
    """The finite values, flat."""
    plain = np.asarray(values, dtype=np.float64)
    return plain[np.isfinite(plain)]


def inner_range(values: npt.ArrayLike, share: float, few: int = 4) -> tuple[float, float]:
    """The range without this share of the values at each end, of more than `few` without one at
    least; NaN of none."""
    finite = finite_of(values)
    if not finite.size:
        return np.nan, np.nan
    left_out = int(np.ceil(share * finite.size)) if finite.size > few else 0
    ordered = np.partition(finite, (left_out, finite.size - 1 - left_out))
    return float(ordered[left_out]), float(ordered[-1 - left_out])


def falls(axis: Array, direction: str) -> bool:
    """Whether an axis is drawn from high to low."""
    if direction == "def":
        return axis.size > 1 and bool(axis[0] > axis[-1])
    return direction == "rev"


def spans_decades(axis: Array) -> bool:
    """Whether the steps of an axis differ so much that a linear scale would hide the short ones."""
    steps = np.abs(np.diff(axis))
    steps = steps[steps > 0]
    return bool(steps.size and steps.max() > UNEVEN * steps.min())


def set_x(ax: Axes, axis: Array, config: PlotConfig, margin: float = MARGIN) -> None:
    """Scale, limits and direction of the energy axis."""
    log = config.x_type == "log" and bool((axis > 0).any())
    if log:
        set_log(ax, "x")
    else:
        ax.xaxis.set_major_locator(spaced())
    look = config.x_lim, config.x_dir, "energies"
    _set_ends(ax, "x", axis, *look, log=log, margin=margin)


def spaced() -> Locator:
    """Ticks of a horizontal axis with room between their labels: matplotlib takes a label for three
    letters wide, and "1486.25" has seven."""
    from matplotlib.ticker import MaxNLocator

    class Spaced(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
            axis = cast("Axis", self.axis)
            texts = axis.get_major_formatter().format_ticks([*super().tick_values(vmin, vmax)])
            most = 3.0 * axis.get_tick_space() / (LETTER * max(map(len, texts)) + 1.0)
            return MaxNLocator(min(max(int(most), 1), 9), steps=STEPS).tick_values(vmin, vmax)

    return Spaced("auto", steps=STEPS)


def set_time(ax: Axes, axis: Array, config: PlotConfig, which: Literal["x", "y"]) -> None:
    """Scale, limits and direction of a time axis, which is the "x" or "y" of the panel."""
    kind, seen = config.y_type, axis
    if config.y_lim is not None:
        low, high = sorted(config.y_lim)
        inside = axis[(axis >= low) & (axis <= high)]
        seen = inside if inside.size > 2 else axis
    if kind == "auto":
        kind = "symlog" if spans_decades(seen) else "lin"
    if kind == "log" and not (axis > 0).any():
        kind = "lin"
    if kind == "symlog":
        _set_symlog(ax, seen, which, np.abs(seen if config.y_lim is None else config.y_lim).max())
    elif kind == "log":
        set_log(ax, which)
    elif which == "x":
        ax.xaxis.set_major_locator(spaced())
    look = config.y_lim, config.y_dir, "times"
    _set_ends(ax, which, axis, *look, log=kind == "log", margin=MARGIN if which == "x" else 0.0)


def _set_symlog(ax: Axes, axis: Array, which: Literal["x", "y"], end: float) -> None:
    """A scale that is linear about zero, over some steps, and logarithmic outside, up to `end`; of
    few decades 2 and 5 are labelled too."""
    from matplotlib.ticker import SymmetricalLogLocator

    steps = np.abs(np.diff(axis))
    least = steps[steps > 0].min(initial=np.inf)
    linear = 10.0 ** float(np.ceil(np.log10(5.0 * least))) if np.isfinite(least) else 1.0
    own, set_scale = (ax.xaxis, ax.set_xscale) if which == "x" else (ax.yaxis, ax.set_yscale)
    set_scale("symlog", linthresh=linear, linscale=0.7, subs=range(2, 10))
    subs = (1.0, 2.0, 5.0) if end < 100.0 * linear else (1.0,)
    own.set_major_locator(SymmetricalLogLocator(own.get_transform(), subs))
    own.set_major_formatter("{x:g}")


def set_log(ax: Axes, which: Literal["x", "y"]) -> None:
    """A logarithmic axis with ticks written as numbers, between decades too."""
    from matplotlib.ticker import LogFormatter

    class Numbers(LogFormatter):  # it writes 0.2 as 2e-01
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    ax.set(**{f"{which}scale": "log"})
    own = ax.xaxis if which == "x" else ax.yaxis
    own.set_major_formatter(Numbers())
    own.set_minor_formatter(Numbers(minor_thresholds=(2.0, 0.4) if which == "y" else (1.0, 0.4)))


def set_along(ax: Axes, axis: Array, config: PlotConfig, *, over_time: bool = False) -> None:
    """The axis below curves, with its label: energies, or times."""
    if over_time:
        set_time(ax, axis, config, "x")
    else:
        set_x(ax, axis, config)
    ax.set_xlabel(config.y_label if over_time else config.x_label)


def _set_ends(
    ax: Axes,
    which: Literal["x", "y"],
    axis: Array,
    limits: Sequence[float] | None,
    direction: str,
    label: str,
    *,
    log: bool,
    margin: float,
) -> None:
    """The limits of an axis, which hold some of its values, and its direction."""
    own, asked = (ax.xaxis if which == "x" else ax.yaxis), limits
    seen = axis[axis > 0] if log else axis
    if limits is None and seen.size and seen.min() < seen.max():
        scale = own.get_transform()
        ends = scale.transform(np.array([seen.min(), seen.max()]))
        room = margin * (ends[1] - ends[0])
        limits = scale.inverted().transform([ends[0] - room, ends[1] + room]).tolist()
    if limits is not None:
        shown = above_zero_ends(f"{which}_lim", limits, axis) if log else sorted(limits)
        ax.set(**{f"{which}lim": shown})
    need_overlap("limits", asked, axis, label)
    own.set_inverted(falls(axis, direction))


def need_overlap(
    name: str, limits: Sequence[float] | None, values: npt.ArrayLike, label: str
) -> None:
    """Raises :class:`PlotError` for limits that a picture would be empty within."""
    seen = finite_of(values)
    if limits is None or not seen.size:
        return
    (low, high), least, most = sorted(limits), float(seen.min()), float(seen.max())
    if low > most or high < least:
        raise PlotError(
            f"{name} ({low:g}, {high:g}): no {label} lie there, they run from {least:g} to "
            f"{most:g}; give limits that hold some"
        )


def above_zero_ends(name: str, limits: Sequence[float], values: Array) -> tuple[float, float]:
    """The ends of a logarithmic axis from limits that may begin at zero or below: at the lowest of
    the values above it. Raises :class:`PlotError` for limits that have no place on it at all."""
    low, high = sorted(limits)
    if high <= 0.0:
        raise PlotError(
            f"{name} is ({low:g}, {high:g}), and a logarithmic axis has values above 0 alone; give "
            f"an end above 0, or {name[0]}_type='lin'"
        )
    if low <= 0.0:
        seen = values[values > 0]
        low = float(seen.min()) if seen.size else high
        low = low if low < high else high / 10.0
    return low, high


# values


def enclose(ax: Axes, config: PlotConfig, *, bottom: float | None = None) -> None:
    """Limits of the intensity axis that hold everything drawn so far, or those asked for.

    Without this, matplotlib stops to adapt limits once one is set, and cuts off what is drawn
    later. `bottom` is the lower edge, where fills shall reach it.
    """
    log = config.z_type == "log" and bool(np.isfinite(ax.dataLim.minposy))
    if log:
        set_log(ax, "y")
    if config.z_lim is not None:
        least = np.array([float(ax.dataLim.minposy) / 1.3])
        ends = above_zero_ends("z_lim", config.z_lim, least) if log else sorted(config.z_lim)
        ax.set_ylim(*ends)
        need_overlap("z_lim", config.z_lim, [ax.dataLim.y0, ax.dataLim.y1], "values")
        return
    low, high = float(ax.dataLim.y0), float(ax.dataLim.y1)
    if not (np.isfinite(low) and np.isfinite(high)):
        return
    if log:
        low = float(ax.dataLim.minposy)
        if high > low:
            ax.set_ylim(low / 1.3, high * 1.3)
        return
    span = high - low or abs(high) or 1.0
    ax.set_ylim(low - 0.04 * span if bottom is None else bottom, high + 0.08 * span)


def hold(ax: Axes, values: npt.ArrayLike) -> None:
    """Ends a linear intensity axis one span beyond these values: what a curve does between the
    samples does not flatten the picture."""
    finite = finite_of(values)
    if not finite.size or ax.get_yscale() != "linear":
        return
    least, most = float(finite.min()), float(finite.max())
    span = most - least or abs(most) or 1.0
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, least - span), min(high, most + span))


def alone(y: Array) -> npt.NDArray[np.intp]:
    """The places of finite values between two that are not."""
    finite = np.concatenate([[False], np.isfinite(y), [False]])
    return np.flatnonzero(finite[1:-1] & ~finite[:-2] & ~finite[2:])


def are_many(x: Array, limits: Sequence[float] | None = None) -> bool:
    """Whether too many points are in sight, within `limits` of the axis, for a marker each: they
    are drawn as a line, which matplotlib thins out."""
    low, high = (-np.inf, np.inf) if limits is None else sorted(limits)
    return x.size > MANY and int(np.count_nonzero((x >= low) & (x <= high))) > MANY


def line(
    ax: Axes, x: Array, y: Array, *, is_curve: bool = False, **look: Unpack[LineLook]
) -> Line2D:
    """A line with gaps where y is not finite and where x has gaps. A line that `is_curve` is known
    between the points and crosses gaps of x. A value between two gaps is a point."""
    x, y = (x, y) if is_curve else broken(x, y)
    single = alone(y)
    if single.size and not look.get("marker"):
        look |= {"marker": "o", "ms": 3.0, "markevery": single.tolist()}
    return ax.plot(x, y, **look)[0]


def mark_beyond(ax: Axes, x: Array, y: Array, colour: ColorType, label: str = "") -> None:
    """Points outside of the limits as small triangles at the edge: nothing vanishes."""
    low, high = sorted(ax.get_ylim())
    if ax.get_yscale() == "log":
        under, over = low * (high / low) ** 0.025, high * (low / high) ** 0.025
    else:
        under, over = low + 0.025 * (high - low), high - 0.025 * (high - low)
    for beyond, marker, place in ((y > high, "^", over), (y < low, "v", under)):
        if beyond.any():
            ends = np.full(np.count_nonzero(beyond), place)
            ax.plot(x[beyond], ends, marker, color=colour, ms=4.0, zorder=6, label=label)
            label = ""


def reference_lines(ax: Axes, config: PlotConfig, *, horizontal: bool = True) -> None:
    """The lines that the user asked for."""
    look: LineLook = {
        "color": config.refline_color,
        "ls": config.refline_style,
        "lw": 0.9,
        "zorder": 5,
    }
    for place in config.vlines or ():
        ax.axvline(place, **look)
    for place in (config.hlines or ()) if horizontal else ():
        ax.axhline(place, **look)


def bare(ax: Axes) -> None:
    """No frame above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def turn(entries: Sequence[Entry] | None, index: int, default: Entry) -> Entry:
    """The entry of a list for the index-th curve, in turn; `default` without a list."""
    return entries[index % len(entries)] if entries is not None and len(entries) else default


def curve_look(
    config: PlotConfig,
    index: int,
    colour: ColorType | None = None,
    *,
    width: float = 1.1,
    size: float = 3.0,
) -> LineLook:
    """Colour, line and marker of the index-th of several curves; of those beyond the last colour
    other lines. `width` and `size` are those of lines and markers that nobody asked for."""
    own_line = ("-", "--", ":")[index // len(COLOURS) % 3]
    return {
        "color": turn(
            config.colors, index, COLOURS[index % len(COLOURS)] if colour is None else colour
        ),
        "ls": turn(config.linestyles, index, "-" if colour is not None else own_line),
        "lw": turn(config.linewidths, index, width),
        "marker": turn(config.markers, index, ""),
        "ms": turn(config.markersizes, index, size),
        "alpha": turn(config.alphas, index, 1.0),
    }
