"""Samples of a posterior: the distribution of every parameter, and of every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import suggest
from pyspec.fit import MCMCResult
from pyspec.fit.results.table import format_value
from pyspec.plot.config import PlotOptions
from pyspec.plot.elements.axes import bare
from pyspec.plot.elements.labels import named, opened
from pyspec.plot.style import COLOURS, FIT, MUTED, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

#: Bins of a histogram, and how much of the samples they span.
BINS, SPAN = 40, (0.001, 0.999)

#: Shares of the samples within the contours of a pair: one and two standard deviations of a
#: Gaussian of two parameters.
SHARES = (0.3935, 0.8647)


@answered
def plot_chain(
    samples: MCMCResult,
    *,
    params: str | Sequence[str] | None = None,
    best: Mapping[str, float] | None = None,
    source: object = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws samples of a posterior; returns the Figure.

    The diagonal has the distribution of each parameter, with median and quantiles at one standard
    deviation. Below it stand the pairs, with contours that hold 39 % and 86 % of the samples.
    `params` chooses parameters, followers too (by default none of them); `best` marks values by
    name, such as those of the fit; `source`, that fit, has the units of the parameters. Options as
    of :func:`pyspec.plot.plot_fit`.
    """
    chosen = samples.names if params is None else params
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    sampled = [*samples.names, *samples.followers]
    for name in names:
        if name not in sampled:
            raise PlotError(f"{name!r} was not sampled{suggest(str(name), sampled)}")
    if not names:
        raise PlotError(f"params is empty; give some of {', '.join(sampled)}, or None for all")
    flat = np.stack([samples.of(name) for name in names], axis=1)
    for name, column in zip(names, flat.T, strict=True):
        if not np.isfinite(column).all():
            raise PlotError(f"{name!r} is not finite in all samples; leave it out of params")
    spans = [np.quantile(column, SPAN) for column in flat.T]
    edges = [np.histogram_bin_edges(span, BINS) for span in spans]
    sheet, look = opened(source, options)
    n, labels, marks = len(names), list(named(names, source).values()), best or {}
    with sheet.style():
        figure = sheet.panels((1.6 * n + 1.2, 1.5 * n + 1.0), look)
        axes = figure.subplots(n, n, squeeze=False, sharex="col")
        for row in range(n):
            for column in range(n):
                ax = axes[row, column]
                if column > row:
                    ax.set_axis_off()
                elif column == row:
                    _single(ax, flat[:, row], edges[row], labels[row])
                else:
                    _pair(ax, flat[:, column], flat[:, row], edges[column], edges[row])
                if column <= row:
                    if names[column] in marks:
                        ax.axvline(marks[names[column]], color=FIT, lw=0.9)
                    if names[row] in marks and column < row:
                        ax.axhline(marks[names[row]], color=FIT, lw=0.9)
                    _label(ax, labels, row, column)
        share = float(np.mean(samples.acceptance_fraction))
        text = f"{len(flat)} samples, {share:.0%} of the steps accepted"
        sheet.title(look.title or text, fontsize=9.5, color=MUTED)
        return sheet.finish(look)


def _single(ax: Axes, values: Array, edges: Array, name: str) -> None:
    ax.hist(values, bins=edges.tolist(), color=COLOURS[0], alpha=0.55, density=True)
    low, middle, high = np.quantile(values, [0.1587, 0.5, 0.8413])
    ax.axvline(middle, color=COLOURS[0], lw=1.3)
    for end in (low, high):
        ax.axvline(end, color=COLOURS[0], lw=0.8, ls="--")
    up, down = float(high - middle), float(middle - low)
    texts = [format_value(float(number), min(up, down))[0] for number in (middle, up, down)]
    value, plus, minus = texts
    ax.set_title(f"{name}\n{value} +{plus} −{minus}", fontsize=7.5)
    ax.set_yticks([])
    bare(ax)


def _pair(ax: Axes, x: Array, y: Array, across: Array, along: Array) -> None:
    counts, _, _ = np.histogram2d(x, y, bins=(across, along))
    ax.pcolormesh(across, along, counts.T, cmap="Blues", rasterized=True)
    smooth = _smooth(counts)
    # The heights above which SHARES of the samples lie, rising.
    order = np.argsort(smooth, axis=None)[::-1]
    held = np.cumsum(counts.ravel()[order]) / max(float(counts.sum()), 1.0)
    levels = sorted({float(smooth.ravel()[order[np.searchsorted(held, s)]]) for s in SHARES})
    if levels[0] > 0 and smooth.max() > levels[-1]:
        middle = (0.5 * (edges[1:] + edges[:-1]) for edges in (across, along))
        ax.contour(*middle, smooth.T, levels=levels, colors=COLOURS[0], linewidths=0.8)


def _smooth(counts: Array) -> Array:
    """Counts without the scatter of few samples, by a Gaussian n^(-1/6) of their spread wide [1].

    [1] D. W. Scott, Multivariate Density Estimation (1992), eq. 6.42.
    """
    from scipy.ndimage import gaussian_filter  # which takes long to import

    n, widths = max(float(counts.sum()), 1.0), []
    for axis in (0, 1):
        share, place = counts.sum(axis=1 - axis) / n, np.arange(counts.shape[axis])
        middle = share @ place
        widths.append(np.sqrt(share @ (place - middle) ** 2) * n ** (-1 / 6))
    return np.asarray(gaussian_filter(counts, widths))


def _label(ax: Axes, names: Sequence[str], row: int, column: int) -> None:
    ax.tick_params(labelsize=6.5)
    ax.tick_params(axis="x", labelrotation=45)
    ax.locator_params(axis="x" if row == column else "both", nbins=3, prune="both")
    for text in ax.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    if row == len(names) - 1:
        ax.set_xlabel(names[column], fontsize=7.5)
    if column == 0 and row > 0:
        ax.set_ylabel(names[row], fontsize=7.5)
    elif row != column:
        ax.tick_params(labelleft=False)
