"""Axes of pictures: cells, directions, scales, limits, labels and reference lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import COLOURS

Array = npt.NDArray[np.float64]

#: A map is drawn with at most this many cells along an axis; more are averaged.
MAX_CELLS = 1600


def edges(axis: Array) -> Array:
    """(n + 1,) borders of the cells around the points of an axis."""
    if axis.size == 1:
        return np.array([axis[0] - 0.5, axis[0] + 0.5])
    middle = 0.5 * (axis[1:] + axis[:-1])
    first, last = 1.5 * axis[0] - 0.5 * axis[1], 1.5 * axis[-1] - 0.5 * axis[-2]
    return np.concatenate([[first], middle, [last]])


def coarse(borders: Array, values: Any, axis: int) -> tuple[Array, Any]:
    """Borders and values with neighbours averaged until MAX_CELLS are left along `axis`."""
    size = values.shape[axis]
    step = -(-size // MAX_CELLS)
    if step == 1:
        return borders, values
    begins = np.arange(0, size, step)
    counts = np.diff(np.append(begins, size))
    sums = np.add.reduceat(np.asarray(values, dtype=np.float64), begins, axis=axis)
    shape = (-1, 1) if axis == 0 else (1, -1)
    return np.append(borders[begins], borders[-1]), sums / counts.reshape(shape)


def rms(values: Any) -> float:
    """Root mean square of the finite values, without overflow; 0 of none."""
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if largest else 0.0


def colour_range(values: Any) -> tuple[float, float]:
    """Range of nearly all values: a few spikes do not wash the picture out."""
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return 0.0, 1.0
    low, high = np.quantile(finite, [0.001, 0.999])
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)


def falls(axis: Array, direction: str) -> bool:
    """Whether an axis is drawn from high to low."""
    if direction == "def":
        return axis.size > 1 and bool(axis[0] > axis[-1])
    return direction == "rev"


def set_x(ax: Any, axis: Array, config: PlotConfig, *, tight: bool = True) -> None:
    """Scale, limits and direction of the energy axis."""
    if config.x_type == "log":
        ax.set_xscale("log")
    limits = config.x_lim
    if limits is None and tight and axis.size > 1:
        limits = (float(axis.min()), float(axis.max()))
    if limits is not None:
        ax.set_xlim(*sorted(limits))
    if falls(axis, config.x_dir) != ax.xaxis_inverted():
        ax.invert_xaxis()


def set_y(ax: Any, axis: Array, config: PlotConfig) -> None:
    """Scale, limits and direction of the time axis of a map."""
    if config.y_type == "log":
        ax.set_yscale("log")
        positive = axis[axis > 0]
        if positive.size and config.y_lim is None:
            ax.set_ylim(float(positive.min()), float(axis.max()))
    if config.y_type == "symlog":
        set_symlog(ax, axis, "y")
    if config.y_lim is not None:
        ax.set_ylim(*sorted(config.y_lim))
    if falls(axis, config.y_dir) != ax.yaxis_inverted():
        ax.invert_yaxis()


def set_symlog(ax: Any, axis: Array, which: str) -> None:
    """A scale that is linear about zero, over some steps, and logarithmic outside."""
    steps = np.abs(np.diff(axis))
    steps = steps[steps > 0]
    linear = 10.0 ** np.ceil(np.log10(5.0 * steps.min())) if steps.size else 1.0
    options = {"linthresh": float(linear), "linscale": 0.7}
    getattr(ax, f"set_{which}scale")("symlog", **options)
    if axis.size > 1:
        getattr(ax, f"set_{which}lim")(float(axis.min()), float(axis.max()))


def set_ticks(figure: Any, config: PlotConfig) -> None:
    """Font size of the numbers at all axes."""
    if config.ticksize is not None:
        for ax in figure.axes:
            ax.tick_params(labelsize=config.ticksize)


def reference_lines(ax: Any, config: PlotConfig, *, horizontal: bool = True) -> None:
    """The lines that the user asked for."""
    look = {"color": config.refline_color, "ls": config.refline_style, "lw": 0.9, "zorder": 5}
    for place in config.vlines or ():
        ax.axvline(place, **look)
    for place in (config.hlines or ()) if horizontal else ():
        ax.axhline(place, **look)


def bare(ax: Any) -> None:
    """No frame above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def turn(given: list[Any] | None, index: int, default: Any) -> Any:
    """The entry of a list for the index-th curve, in turn; `default` without a list."""
    return given[index % len(given)] if given is not None and len(given) else default


def curve_look(config: PlotConfig, index: int, colour: Any = None) -> dict[str, Any]:
    """Colour, line and marker of the index-th of several curves."""
    return {
        "color": turn(
            config.colors, index, COLOURS[index % len(COLOURS)] if colour is None else colour
        ),
        "ls": turn(config.linestyles, index, "-"),
        "lw": turn(config.linewidths, index, 1.1),
        "marker": turn(config.markers, index, ""),
        "ms": turn(config.markersizes, index, 3.0),
        "alpha": turn(config.alphas, index, 1.0),
    }
