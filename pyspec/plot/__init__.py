"""Pictures of data and fits. matplotlib is imported when the first one is drawn.

All functions take a :class:`PlotConfig` as ``config=``, and any of its fields by name:
``plot_fit(result, e_label="binding energy (eV)", x_dir="rev")``. They draw into ``ax=`` (one
panel) or ``fig=`` (a Figure or SubFigure), or a figure of their own, of
``figsize=`` inches, and return the figure.
"""

from __future__ import annotations

from pyspec.plot.config import PlotConfig
from pyspec.plot.figures.amplitudes import plot_amplitudes, plot_species
from pyspec.plot.figures.chain import plot_chain
from pyspec.plot.figures.data import plot_data, plot_waterfall
from pyspec.plot.figures.fits import plot_components, plot_evolution, plot_fit, plot_moving
from pyspec.plot.figures.model import plot_model_1d, plot_model_2d
from pyspec.plot.figures.overview import plot_overview
from pyspec.plot.figures.populations import plot_populations
from pyspec.plot.figures.residuals import plot_residuals
from pyspec.plot.figures.singular_vectors import plot_svd
from pyspec.plot.figures.stack import plot_stack
from pyspec.plot.figures.traces import plot_spectra, plot_traces
from pyspec.plot.reports.report import report
from pyspec.plot.style import PlotError

__all__ = [
    "PlotConfig",
    "PlotError",
    "plot_amplitudes",
    "plot_chain",
    "plot_components",
    "plot_data",
    "plot_evolution",
    "plot_fit",
    "plot_model_1d",
    "plot_model_2d",
    "plot_moving",
    "plot_overview",
    "plot_populations",
    "plot_residuals",
    "plot_species",
    "plot_spectra",
    "plot_stack",
    "plot_svd",
    "plot_traces",
    "plot_waterfall",
    "report",
]


def __dir__() -> list[str]:
    return sorted(__all__)
