"""One spectrum: data, fit, components, and the residual underneath."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.plot.figure import BAND, DATA, FIT, INK, STYLE, finish, matplotlib, new_figure
from pyspec.plot.maps import caption

Array = npt.NDArray[np.float64]

COMPONENT_COLOURS = ("#2a9d8f", "#e9a23b", "#7b5ea7", "#5c946e", "#b56576", "#457b9d")


def plot_fit_1d(
    result: Any,
    *,
    save_path: str | Path | None,
    show: bool,
    energy_label: str,
    title: str | None,
    residual_unit: str,
    dpi: int,
) -> Any:
    """Data, fit and components above, residual below; see :func:`pyspec.plot.plot_fit`."""
    energy, data, residual = result.energy, np.asarray(result.data), result.residual
    sigma = float(np.sqrt(np.mean(residual**2)))
    scaled = residual_unit == "sigma" and sigma > 0
    with matplotlib().rc_context(STYLE):
        figure = new_figure(6.0, 4.6, show)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3.4, 1])
        _components(above, result)
        above.plot(energy, data, ".", color=DATA, ms=3.2, label="data", zorder=3)
        above.plot(energy, result.fit, color=FIT, lw=1.5, label="fit", zorder=4)
        above.legend(loc="best", fontsize=8.5)
        above.set_ylabel("intensity")
        above.set_title(title or caption(result), fontsize=9.5, color="#555555")
        unit = sigma if scaled else 1.0
        below.axhspan(-sigma / unit, sigma / unit, color=BAND, alpha=0.25, lw=0)
        below.axhline(0.0, color=INK, lw=0.7)
        below.plot(energy, residual / unit, ".", color=DATA, ms=2.8)
        largest = float(np.abs(residual / unit).max()) or 1.0
        below.set_ylim(-1.1 * largest, 1.1 * largest)
        below.set_ylabel("(data − fit) / σ" if scaled else "data − fit")
        if scaled:
            below.set_title(f"σ = {sigma:.3g}", fontsize=8.5, color="#555555")
        below.set_xlabel(energy_label)
        if energy.size > 1 and energy[0] > energy[-1]:
            below.invert_xaxis()
        for ax in (above, below):
            ax.spines[["top", "right"]].set_visible(False)
        return finish(figure, save_path, show, dpi)


def _components(ax: Any, result: Any) -> None:
    """Peaks as filled curves on the sum of all backgrounds."""
    peaks, grounds = result.components()
    ground = sum(grounds.values(), np.zeros(result.energy.size))
    if grounds:
        ax.plot(result.energy, ground, color=BAND, lw=1.2, label="background")
    for index, (name, curve) in enumerate(peaks.items()):
        colour = COMPONENT_COLOURS[index % len(COMPONENT_COLOURS)]
        ax.fill_between(result.energy, ground, ground + curve, color=colour, alpha=0.3, lw=0)
        ax.plot(result.energy, ground + curve, color=colour, lw=0.9, label=name)
