"""Pictures of fits: data, fit and residual; components; parameters over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import suggest
from pyspec.fit import FitResult, SliceResults
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.elements.fine_curve import moving_of
from pyspec.plot.elements.labels import named, opened
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.data import need_shape
from pyspec.plot.figures.evolution import draw_evolution
from pyspec.plot.figures.joint_files import draw_files, files_of
from pyspec.plot.figures.maps import fit_maps
from pyspec.plot.figures.spectra import fit_components, fit_spectrum, is_trace
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import PlotError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]
Trace = TypeVar("Trace")


@answered
def plot_fit(
    result: Fit,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws a fit and returns the matplotlib Figure.

    A 2D fit becomes three maps, data | fit | residual: data and fit on one colour scale, the
    residual on a scale symmetric about zero. A 1D fit becomes data, fit and components above
    the residual. The fit window is drawn; ``full_range=True`` draws all of the data with the
    window marked. Masked points are crosses, or hatched in maps. A joint fit becomes the pictures
    of its files.

    Parameters
    ----------
    result : a fit, a joint fit, the fits of slices, or one from an archive
    options : fields of :class:`PlotConfig` by name, ``config=`` for all of them; among them
        ``residual_unit``: "sigma" divides by the declared σ, "rms", or "data". `ax`, matplotlib
        Axes for a 1D fit without its residual, or `fig`, an empty Figure or SubFigure, or
        `figsize`, (width, height) in inches of a figure of its own; `save_path`, a file (png,
        pdf, svg), written completely or not at all; `show` opens a window, or shows the picture
        here in a notebook

    Raises
    ------
    PlotError
        without matplotlib (``pip install 'pyspec-fit[plot]'``), for an unknown field, where σ is
        asked for and was not declared, or where the file cannot be written
    """
    files = files_of(result)
    if files:
        return draw_files(files, plot_fit, *opened(files[0], options))
    fit = fit_of(result, "plot_fit")
    if isinstance(fit, SliceResults) or fit.data.ndim == 2:
        return fit_maps(fit, *opened(fit, options))
    return fit_spectrum(fit, *_opened_one(fit, options))


@answered
def plot_components(
    result: Fit,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws every component of a 1D fit and their sum; backgrounds are filled. Returns the
    Figure; raises PlotError for a 2D fit."""
    fit = fit_of(result, "plot_components")
    if isinstance(fit, SliceResults) or fit.data.ndim == 2:
        raise PlotError("components are drawn for one spectrum; fit a baseline or one spectrum")
    return fit_components(fit, *_opened_one(fit, options))


def _opened_one(fit: FitResult, options: PlotOptions) -> tuple[Sheet, PlotConfig]:
    """Where the picture of a fit to one spectrum or trace goes and how it looks. A `config` may be
    that of fits with more peaks, and have names for them.

    Raises :class:`PlotError` where `legend` by name has more names than there are peaks.
    """
    trace = is_trace(fit)
    place = opened(fit, options, over_time=trace, over_energy=not trace)
    names = options.get("legend") or ()
    peaks = () if trace or not names else tuple(fit.components()[0])
    if len(names) > len(peaks):
        raise PlotError(
            f"legend has {len(names)} names, but it names the peaks alone, {len(peaks)} here"
            f"{': ' if peaks else ''}{', '.join(peaks)}"
        )
    return place


@answered
def plot_moving(
    result: Fit,
    *,
    params: Sequence[str] | None = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws how the parameters of a 2D fit move, each in its unit, with a band of one standard
    error; returns the Figure. Lines are drawn between the times of the data too. `params` names
    some; one can be drawn into `ax`. Raises PlotError where none moves."""
    fit = fit_of(result, "plot_moving")
    moving, traces = moving_of(fit) if isinstance(fit, FitResult) else (None, None)
    if moving is None or traces is None:
        if isinstance(fit, FitResult) and fit.amplitudes is not None:
            raise PlotError(
                "no parameter moves where spectra or traces are free; plot_populations draws what "
                "free spectra are multiplied with"
            )
        raise PlotError("no parameter moves in the fit of one spectrum")
    chosen = _chosen(moving.values, params)
    place, labels = opened(fit, options, over_time=True), named(chosen, fit)
    return draw_evolution(moving.time, chosen, moving.stderr, *place, labels=labels, traces=traces)


@answered
def plot_evolution(
    time: Array,
    values: Mapping[str, object],
    stderr: Mapping[str, object] | None = None,
    *,
    params: Sequence[str] | None = None,
    source: object = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws values of slices over time, with error bars; points without a standard error are open.
    Returns the Figure.

    `values` and `stderr` hold arrays (n_time,) by name; NaN stays open. `params` names some; one
    can be drawn into `ax`. `source` has the label and unit of the time axis, as in
    :func:`plot_data`; a fit has the units of its parameters too. Values far from all others are
    triangles at the edge.
    """
    place = opened(source, options, over_time=True)
    axis = np.asarray(time, dtype=np.float64)
    traces = {name: np.asarray(trace, dtype=np.float64) for name, trace in values.items()}
    errors: dict[str, Array | None] = {}
    for name, trace in traces.items():
        need_shape(name, trace, axis.shape)
        own = None if stderr is None else stderr.get(name)
        errors[name] = None
        if own is not None:
            errors[name] = error = np.asarray(own, dtype=np.float64)
            need_shape(f"stderr of {name}", error, axis.shape)
    chosen = _chosen(traces, params)
    labels = named(chosen, source)
    return draw_evolution(axis, chosen, errors, *place, labels=labels)


def _chosen(values: Mapping[str, Trace], params: Sequence[str] | None) -> dict[str, Trace]:
    """Those of `values` that are asked for."""
    if not values:
        raise PlotError("no parameter moves: add dynamics, or fit slice by slice")
    if params is None:
        return dict(values)
    if len(params) == 0:
        raise PlotError("params is empty; name some, or leave it out for all")
    for name in params:
        if name not in values:
            hint = suggest(name, list(values))
            raise PlotError(f"{name!r} does not move{hint}; these do: {', '.join(values)}")
    return {name: values[name] for name in params}
