"""Maps over energy and time: data, fit and residual side by side; data alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.model.data.checksum import Data
from pyspec.plot.caption import caption
from pyspec.plot.config import PlotConfig
from pyspec.plot.elements.axes import finite_of, reference_lines, rms, set_time, set_x
from pyspec.plot.elements.cells import above_zero, borders, cells, gaps, outline
from pyspec.plot.elements.colours import Colours, add_bar, colour_range, data_colours
from pyspec.plot.figure import Sheet, is_column, row
from pyspec.plot.protocols import Fit
from pyspec.plot.style import BAND, EMPTY, HATCH, INK, MUTED
from pyspec.plot.view import Residual, View, residual_of, view_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

#: The colours of a residual span this many standard deviations.
SPAN = 4.0

#: In a narrower figure, in inches, what the residual is does not fit beside its heading; nor in a
#: narrower column.
NARROW, NARROW_COLUMN = 7.5, 3.2


def draw_map(
    ax: Axes,
    energy: Array,
    time: Array,
    values: Data,
    config: PlotConfig,
    **colours: Unpack[Colours],
) -> QuadMesh:
    """One map with its axes; cells without a value are hatched, gaps of the axes grey."""
    is_known = bool(np.isfinite(np.asarray(values, dtype=np.float64)).all())
    across, energies, values = cells(energy, values, 1)
    along, times, values = cells(time, values, 0)
    if config.y_type == "log":
        along, values = above_zero(along, times, values, 0)
    if config.x_type == "log":
        across, values = above_zero(across, energies, values, 1)
    mesh = ax.pcolormesh(across, along, values, rasterized=True, **colours)
    mark_missing(ax, energy, time, is_known=is_known)
    set_x(ax, across, config, margin=0.0)
    set_time(ax, along, config, "y")
    reference_lines(ax, config)
    return mesh


def mark_missing(ax: Axes, across: Array, along: Array, *, is_known: bool) -> None:
    """What lies behind the cells of a map: hatches, unless all values are known, and grey gaps."""
    ax.set_facecolor(EMPTY)
    if not is_known:
        ax.patch.set(hatch="//////", edgecolor=HATCH, linewidth=0.0)
    for span, axis in ((ax.axvspan, across), (ax.axhspan, along)):
        ends, after = borders(axis), gaps(axis)
        for begin, end in zip(ends[after - 1, 1], ends[after, 0], strict=True):
            span(begin, end, color=BAND, lw=0, zorder=0.5)


def mark_window(ax: Axes, e: Array, t: Array) -> Line2D:
    """A frame from `e` and `t`, (first, last) borders, which is seen on any colour."""
    x, y = e[[0, 1, 1, 0, 0]], t[[0, 0, 1, 1, 0]]
    ax.plot(x, y, color="white", lw=2.4)
    return ax.plot(x, y, color=INK, lw=1.2, ls="--")[0]


def residual_limit(residual: Residual, seen: View, config: PlotConfig) -> float:
    """How far the colours of a residual reach on both sides of zero."""
    if residual.is_scaled:
        return SPAN
    inside = finite_of(residual.values[seen.inside])
    if not inside.size:
        return 1.0
    low, high = colour_range(seen.data[seen.inside])
    least, most = colour_range(inside)  # one spike does not hide the structure of all others
    usual = inside[(inside >= least) & (inside <= most)]
    reach = min((high - low) / (2.0 * config.res_mult), float(np.abs(usual).max(initial=0.0)))
    # Rounding errors of a perfect fit are no structure: never below 1e-6 of the data's span.
    return max(reach, SPAN * rms(usual), 1e-6 * (high - low)) or 1.0


def fit_maps(result: Fit, sheet: Sheet, config: PlotConfig) -> Figure:
    """Data | fit | residual of a 2D fit; see :func:`pyspec.plot.plot_fit`."""
    with sheet.style():
        seen = view_of(result, config)
        assert seen.time is not None
        residual = residual_of(seen, result, config)
        width, height = config.panel_size
        figure = sheet.panels((2.75 * width, height + 1.4), config)
        axes, below = row(figure, 3, shared=True), is_column(figure, 3)
        common = data_colours(seen.data[seen.inside], config)
        first = draw_map(axes[0], seen.energy, seen.time, seen.data, config, **common)
        draw_map(axes[1], seen.energy, seen.time, seen.fit, config, **common)
        limit = residual_limit(residual, seen, config)
        two_sided: Colours = {"vmin": -limit, "vmax": limit, "cmap": config.z_colormap_res}
        last = draw_map(axes[2], seen.energy, seen.time, residual.values, config, **two_sided)
        label, width = residual.label, figure.bbox.width / figure.dpi
        for ax, name in zip(axes, ("data", "fit", "residual"), strict=True):
            ax.set_title(name, fontweight="bold")
        for ax in axes[2:] if below else axes:
            ax.set_xlabel(config.x_label)
        if width < (NARROW_COLUMN if below else NARROW):
            label = f"{label},  {residual.note}"
        else:
            axes[2].set_title(residual.note, loc="right", fontsize=8.5, color=MUTED)
        for ax in axes if below else axes[:1]:
            ax.set_ylabel(config.y_label)
        _marks(axes, seen)
        if not below and config.z_colorbar == "ver":
            config = config.copy(z_colorbar="hor")  # between two maps a bar is read as an axis
        add_bar(figure, first, list(axes[:2]), config.z_label, config)
        add_bar(figure, last, axes[2], label, config)
        sheet.title(config.title or caption(result), fontsize=9.5, color=MUTED)
        return sheet.finish(config)


def _marks(axes: Sequence[Axes], seen: View) -> None:
    """The window and masked points, named in one legend."""
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    labels: list[str] = []
    sizes = [end - begin for begin, end in (seen.rows, seen.columns)]
    if seen.cropped and min(sizes) > 0:
        assert seen.time is not None
        e, t = outline(seen.energy, *seen.columns), outline(seen.time, *seen.rows)
        for ax in axes:
            handle = mark_window(ax, e, t)
        handles.append(handle)
        labels.append("fit window")
    if seen.has_masked:
        handles.append(Patch(facecolor=EMPTY, hatch="//////", edgecolor=HATCH, lw=0.0))
        labels.append("masked")
    if handles:
        legend(axes[0], handles, labels)


def legend(ax: Axes, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """A legend that is read on any map."""
    ax.legend(
        handles, labels, loc="upper right", labelcolor=INK, frameon=True, facecolor="white",
        framealpha=0.85, edgecolor="none",
    )  # fmt: skip


def data_map(
    data: Data,
    energy: Array,
    time: Array,
    marks: dict[str, tuple[int, int] | None],
    sheet: Sheet,
    config: PlotConfig,
) -> Figure:
    """One map with the fit window and the baseline marked."""
    with sheet.style():
        width, height = config.panel_size
        ax = sheet.panel((1.3 * width, height + 1.0), config)
        mesh = draw_map(ax, energy, time, data, config, **data_colours(data, config))
        add_bar(sheet.figure, mesh, ax, config.z_label, config)
        rows, columns = marks.get("rows"), marks.get("columns")
        handles = []
        if rows or columns:
            e = outline(energy, *(columns or (0, energy.size)))
            t = outline(time, *(rows or (0, time.size)))
            frame = mark_window(ax, e, t)
            handles.append((frame, "fit window"))
        baseline = marks.get("baseline")
        if baseline:
            for edge in outline(time, *baseline):
                line = ax.axhline(edge, color="#e63946", lw=1.3, ls="-.")
            handles.append((line, "baseline"))
        if handles:
            legend(ax, *zip(*handles, strict=True))
        ax.set_xlabel(config.x_label)
        ax.set_ylabel(config.y_label)
        ax.set_title(config.title or "data", fontweight="bold")
        return sheet.finish(config)
