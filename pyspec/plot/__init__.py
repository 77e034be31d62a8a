"""Pictures of data and fits. matplotlib is imported when the first one is drawn.

All functions take a :class:`PlotConfig` as ``config=``, and any of its fields by name:
``plot_fit(result, e_label="binding energy (eV)", x_dir="rev")``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import suggest
from pyspec.plot.config import PlotConfig, config_of
from pyspec.plot.figure import PlotError
from pyspec.plot.report import report

Array = npt.NDArray[np.float64]

__all__ = [
    "PlotConfig",
    "PlotError",
    "plot_components",
    "plot_data",
    "plot_evolution",
    "plot_fit",
    "plot_moving",
    "plot_waterfall",
    "report",
]

RESIDUAL_UNITS = ("sigma", "data")


def plot_fit(
    result: Any,
    *,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    residual_unit: str = "sigma",
    **fields: Any,
) -> Any:
    """Draws a fit and returns the matplotlib Figure.

    A 2D fit becomes three maps, data | fit | residual: data and fit on one colour scale, the
    residual on a scale symmetric about zero. A 1D fit becomes data, fit and components above
    the residual. What lies outside of the fit window is drawn too, with the window marked,
    unless ``full_range=False``.

    Parameters
    ----------
    config : how it looks; fields of PlotConfig by name stand above it
    save_path : file to write (png, pdf, svg); written completely or not at all
    show : whether to open a window; nothing is shown otherwise
    residual_unit : "sigma" draws (data - fit) / σ with σ the root mean square of the residual,
        which the picture states; "data" draws data - fit in the units of the data

    Raises
    ------
    PlotError
        without matplotlib (``pip install 'pyspec[plot]'``), for an unknown unit or field, or
        where the file cannot be written
    """
    if residual_unit not in RESIDUAL_UNITS:
        hint = suggest(str(residual_unit), list(RESIDUAL_UNITS))
        raise PlotError(f"residual_unit must be 'sigma' or 'data', not {residual_unit!r}{hint}")
    given = config_of(config, fields)
    if result.data.ndim == 2:
        from pyspec.plot.maps import plot_fit_2d

        return plot_fit_2d(result, save_path=save_path, show=show, unit=residual_unit, config=given)
    from pyspec.plot.spectra import plot_fit_1d

    return plot_fit_1d(result, save_path=save_path, show=show, unit=residual_unit, config=given)


def plot_components(
    result: Any,
    *,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws every component of a 1D fit and their sum; backgrounds are filled. Returns the
    Figure; raises PlotError for a 2D fit."""
    if result.data.ndim == 2:
        raise PlotError("components are drawn for one spectrum; fit a baseline or one spectrum")
    from pyspec.plot.spectra import plot_components_1d

    given = config_of(config, fields)
    return plot_components_1d(result, save_path=save_path, show=show, config=given)


def plot_waterfall(
    data: Any,
    energy: Array,
    time: Array | None = None,
    *,
    n: int = 12,
    fit: Any = None,
    unit: str = "",
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws spectra above each other, at most `n`, evenly spaced over the rows, each named by
    its time; returns the Figure.

    `data` (n_time, n_energy); `fit` of the same shape is drawn over it. `unit` is that of the
    time axis. The distance is ``config.waterfall``, chosen where that is 0.
    """
    from pyspec.plot.spectra import plot_waterfall_of

    curves = np.atleast_2d(np.asarray(data, dtype=np.float64))
    given = config_of(config, fields)
    _need_shape("data", curves, (len(curves) if time is None else len(time), len(energy)))
    rows = np.unique(np.linspace(0, len(curves) - 1, min(max(n, 1), len(curves))).round())
    chosen = rows.astype(np.int64)
    times = chosen if time is None else np.asarray(time)[chosen]
    names = given.legend or [f"{value:.4g} {unit}".rstrip() for value in times]
    if len(names) < len(chosen):
        raise PlotError(f"legend has {len(names)} names for {len(chosen)} spectra")
    fits = None if fit is None else np.atleast_2d(np.asarray(fit, dtype=np.float64))
    if fits is not None:
        _need_shape("fit", fits, curves.shape)
    return plot_waterfall_of(
        curves[chosen],
        np.asarray(energy, dtype=np.float64),
        names[: len(chosen)],
        fits=None if fits is None else fits[chosen],
        save_path=save_path,
        show=show,
        config=given,
    )


def plot_moving(
    result: Any,
    *,
    params: Sequence[str] | None = None,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws how the parameters of a 2D fit move, with a band of one standard error; returns the
    Figure. `params` names some of them. Raises PlotError where none moves."""
    from pyspec.plot.evolution import draw_evolution, moving

    given = config_of(config, fields)
    time, values, stderr = moving(result)
    chosen = _chosen(values, params)
    return draw_evolution(
        time, chosen, stderr, lines=True, save_path=save_path, show=show, config=given
    )


def plot_evolution(
    time: Array,
    values: Mapping[str, Any],
    stderr: Mapping[str, Any] | None = None,
    *,
    params: Sequence[str] | None = None,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws values of slices over time, with error bars where `stderr` knows them, open points
    where it does not; returns the Figure.

    `values` and `stderr` hold arrays (n_time,) by name; NaN stays open. `params` names some.
    """
    from pyspec.plot.evolution import draw_evolution

    given = config_of(config, fields)
    axis = np.asarray(time, dtype=np.float64)
    traces = {name: np.asarray(trace, dtype=np.float64) for name, trace in values.items()}
    errors: dict[str, Array | None] = {}
    for name, trace in traces.items():
        _need_shape(name, trace, axis.shape)
        own = None if stderr is None else stderr.get(name)
        errors[name] = None if own is None else np.asarray(own, dtype=np.float64)
        if errors[name] is not None:
            _need_shape(f"stderr of {name}", errors[name], axis.shape)
    chosen = _chosen(traces, params)
    return draw_evolution(
        axis, chosen, errors, lines=False, save_path=save_path, show=show, config=given
    )


def plot_data(
    data: Any,
    energy: Array,
    time: Array | None = None,
    *,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
    baseline: tuple[int, int] | None = None,
    config: PlotConfig | None = None,
    save_path: str | Path | None = None,
    show: bool = False,
    **fields: Any,
) -> Any:
    """Draws data (n_time, n_energy) as a map, or (n_energy,) as a line; returns the Figure.

    `rows`, `columns` and `baseline` are half-open index ranges that are marked. With a
    ``waterfall=`` distance, 2D data become lines above each other.
    """
    from pyspec.plot.lines import plot_line
    from pyspec.plot.maps import plot_map

    given = config_of(config, fields)
    data = np.asarray(data)
    energy = np.asarray(energy, dtype=np.float64)
    if data.ndim != 2 or time is None:
        _need_shape("data", data, energy.shape)
        return plot_line(data, energy, columns, save_path=save_path, show=show, config=given)
    time = np.asarray(time, dtype=np.float64)
    _need_shape("data", data, (time.size, energy.size))
    if given.waterfall:
        return plot_waterfall(data, energy, time, config=given, save_path=save_path, show=show)
    marks = {"rows": rows, "columns": columns, "baseline": baseline}
    return plot_map(data, energy, time, marks, save_path=save_path, show=show, config=given)


def _need_shape(what: str, array: Any, shape: tuple[int, ...]) -> None:
    if np.shape(array) != tuple(shape):
        raise PlotError(f"{what} has shape {np.shape(array)}, but the axes have {tuple(shape)}")


def _chosen(values: Mapping[str, Any], params: Sequence[str] | None) -> dict[str, Any]:
    """Those of `values` that are asked for."""
    if not values:
        raise PlotError("no parameter moves: add dynamics, or fit slice by slice")
    if params is None:
        return dict(values)
    for name in params:
        if name not in values:
            hint = suggest(name, list(values))
            raise PlotError(f"{name!r} does not move{hint}; these do: {', '.join(values)}")
    return {name: values[name] for name in params}
