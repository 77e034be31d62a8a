"""Colours of maps: ranges, scales, two-sided colours for data of both signs, colour bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.axes import (
    above_zero_ends,
    finite_of,
    inner_range,
    need_overlap,
    spaced,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: Data count as two-sided where the lowest is below this share of the highest, taken negative.
SIGNED = 0.15

#: Values further out than this many times the range of nearly all others are spikes.
SPIKE = 4.0

#: Among no more values than these none is taken for a spike.
MANY = 50


class Colours(TypedDict, total=False):
    """Range, scale and colour map of a map, as `pcolormesh` takes them."""

    vmin: float
    vmax: float
    cmap: str | Colormap
    norm: Normalize


def is_signed(values: npt.ArrayLike) -> bool:
    """Whether data are differences, of both signs, beyond what noise about zero explains."""
    low, high = inner_range(values, 0.002, MANY)
    return bool(low < 0.0 < high and -low > SIGNED * high) or bool(low < 0.0 and high <= 0.0)


def colour_range(values: npt.ArrayLike) -> tuple[float, float]:
    """The range of the values; spikes far out do not wash the picture out, and the colour bar
    then ends in an arrow."""
    finite = finite_of(values)
    if not finite.size:
        return 0.0, 1.0
    low, high = inner_range(finite, 0.001, MANY)
    least, most = float(finite.min()), float(finite.max())
    span = high - low
    low = least if low - least <= SPIKE * span else low
    high = most if most - high <= SPIKE * span else high
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def data_colours(values: npt.ArrayLike, config: PlotConfig) -> Colours:
    """Range, scale and colour map of data, for `pcolormesh`."""
    auto = config.z_colormap == "auto"
    name = "viridis" if auto else config.z_colormap
    if config.z_type == "log" and (finite_of(values) > 0).any():
        return _log_colours(values, config, name)
    need_overlap("z_lim", config.z_lim, values, "values")
    if config.z_lim is not None:
        low, high = sorted(config.z_lim)
        two_sided = auto and low == -high
    else:
        low, high = colour_range(values)
        two_sided = auto and is_signed(values)
        if two_sided:
            high = max(-low, high)
            low = -high
    return {"vmin": low, "vmax": high, "cmap": config.z_colormap_res if two_sided else name}


def _log_colours(values: npt.ArrayLike, config: PlotConfig, name: str) -> Colours:
    from matplotlib.colors import LogNorm

    finite = finite_of(values)
    positive = finite[finite > 0]
    low, high = colour_range(values)
    if config.z_lim is not None:
        above_zero_ends("z_lim", config.z_lim, positive)
        low, high = sorted(config.z_lim)
    if low <= 0:
        low = float(np.quantile(positive, 0.01))
    norm = LogNorm(low, max(high, low * 1.001), clip=True)  # zero and below are the lowest colour
    return {"cmap": name, "norm": norm}


def add_bar(
    figure: Figure, mesh: QuadMesh, axes: Axes | Sequence[Axes], label: str, config: PlotConfig
) -> Colorbar | None:
    """A colour bar, beside or below, with an arrow where values lie beyond its end; None if the
    config wants none."""
    if config.z_colorbar == "none":
        return None
    from matplotlib.colors import LogNorm

    beside = config.z_colorbar == "ver"
    values = finite_of(np.ma.filled(np.ma.asarray(mesh.get_array(), dtype=np.float64), np.nan))
    low, high = mesh.get_clim()
    slack = 1e-9 * (high - low)
    below, above = bool((values < low - slack).any()), bool((values > high + slack).any())
    extend = ("neither", "min", "max", "both")[below + 2 * above]
    bar = figure.colorbar(
        mesh, ax=axes, pad=0.02, aspect=28, extend=extend,
        location="right" if beside else "bottom", shrink=1.0 if beside else 0.8,
    )  # fmt: skip
    if not beside and not isinstance(mesh.norm, LogNorm):
        bar.locator = spaced()
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar
