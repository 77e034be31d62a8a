"""Clean and noisy data side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyspec.plot.axes import bare, set_ticks, set_x
from pyspec.plot.config import PlotConfig, config_of
from pyspec.plot.figure import DATA, FIT, STYLE, finish, matplotlib, new_figure
from pyspec.plot.maps import add_bar, data_colours, draw_map

if TYPE_CHECKING:
    from pyspec.simulate.simulator import Simulator


def plot_comparison(
    simulator: Simulator,
    t_ind: int,
    dim: int,
    snr_scale: str,
    *,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """See :meth:`Simulator.plot_comparison`."""
    given = config_of(config, fields)
    snr = simulator.get_snr(snr_scale)
    unit = " dB" if snr_scale == "dB" else ""
    title = given.title or f"signal to noise {snr:.4g}{unit}"
    energy, time = simulator.model.energy, simulator.model.time
    assert energy is not None
    clean, noisy, _ = simulator.simulate_1d(t_ind) if dim == 1 else simulator.simulate_2d()
    width, height = given.panel_size
    with matplotlib().rc_context(STYLE):
        if dim == 1:
            figure = new_figure(1.55 * width, 1.2 * height, show, given.dpi_plot)
            ax = figure.subplots()
            ax.plot(energy, noisy, "o", mfc="white", mec=DATA, ms=3.0, mew=0.7, label="noisy")
            ax.plot(energy, clean, color=FIT, lw=1.6, label="clean")
            set_x(ax, energy, given)
            ax.set_xlabel(given.x_label)
            ax.set_ylabel(given.z_label)
            ax.legend()
            bare(ax)
        else:
            assert time is not None
            figure = new_figure(2.0 * width, height + 1.0, show, given.dpi_plot)
            axes = figure.subplots(1, 2, sharex=True, sharey=True)
            look = data_colours(np.asarray(noisy), given)
            for ax, values, name in zip(axes, (clean, noisy), ("clean", "noisy"), strict=True):
                mesh = draw_map(ax, energy, time, values, given, **look)
                ax.set_title(name, fontweight="bold")
                ax.set_xlabel(given.x_label)
            axes[0].set_ylabel(given.y_label)
            add_bar(figure, mesh, axes, given.z_label, given)
        figure.suptitle(title, x=0.01, ha="left", fontsize=9.5)
        set_ticks(figure, given)
        return finish(figure, save_path, show, given.dpi_save)
