"""How parameters move in time: a 2D fit with error bands, values of slices with error bars."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import BackendError, PlanError
from pyspec.executor import CompiledExecutor, make_plan
from pyspec.plot.axes import bare, falls, set_ticks, turn
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import COLOURS, INK, STYLE, PlotError, finish, matplotlib, new_figure

Array = npt.NDArray[np.float64]

#: More free parameters than this, and the band would not be cheap.
MAX_FREE = 400


def moving(result: Any) -> tuple[Array, dict[str, Array], dict[str, Array | None]]:
    """(time, name → values, name → one standard error or None) of all parameters of a 2D fit
    that move, over the fit window.

    The errors follow from the covariance of the fit and central differences of the traces.
    """
    model = result.problem.model
    if model.time is None:
        raise PlotError("no parameter moves in the fit of one spectrum")
    try:
        plan = make_plan(model)
        executor = CompiledExecutor(plan)
    except (PlanError, BackendError) as error:
        raise PlotError(f"the parameters of this model cannot be traced: {error}") from error
    parameters = model.parameters
    rows = [
        (own, row)
        for row, name in enumerate(plan.row_names[: plan.samples])
        if plan.row_moves[row] and (own := name.removesuffix("_resolved")) in parameters
    ]
    window = slice(*(result.problem.measurement.rows or (None, None)))
    theta = np.asarray(result.theta, dtype=np.float64)
    index = [row for _, row in rows]
    traces = executor.traces(theta)[index][:, window]
    errors = _errors(result, executor, theta, index, window)
    values = {name: traces[k] for k, (name, _) in enumerate(rows)}
    spread = {name: None if errors is None else errors[k] for k, (name, _) in enumerate(rows)}
    return model.time[window], values, spread


def _errors(result: Any, executor: Any, theta: Array, index: list[int], window: slice) -> Any:
    """sqrt(diag(J C Jᵀ)) of each trace, None without standard errors."""
    names = result.problem.names
    spread = [result.stderr.get(name) for name in names]
    known = [k for k, value in enumerate(spread) if value is not None and np.isfinite(value)]
    if not known or len(names) > MAX_FREE or not index:
        return None
    sd = np.array([spread[k] for k in known], dtype=np.float64)
    correl = np.eye(len(known))
    for i, a in enumerate(known):
        for j, b in enumerate(known):
            if i != j:
                correl[i, j] = result.correl.get(names[a], {}).get(names[b], 0.0)
    slopes = []
    for k, width in zip(known, sd, strict=True):
        # A tenth of a standard error: far above rounding, well within the linear range.
        step = 0.1 * width or 1e-8
        up, down = theta.copy(), theta.copy()
        up[k] += step
        down[k] -= step
        high, low = executor.traces(up)[index][:, window], executor.traces(down)[index][:, window]
        slopes.append((high - low) / (2.0 * step) * width)
    jacobian = np.array(slopes)
    variance = np.einsum("ipt,ij,jpt->pt", jacobian, correl, jacobian)
    return np.sqrt(np.maximum(variance, 0.0))


def draw_evolution(
    time: Array,
    values: Mapping[str, Array],
    stderr: Mapping[str, Array | None],
    *,
    lines: bool,
    save_path: str | Path | None,
    show: bool,
    config: PlotConfig,
    labels: Mapping[str, str] | None = None,
) -> Any:
    """One panel for each parameter over a common time axis."""
    n_columns = 1 if len(values) <= 3 else 2
    n_rows = -(-len(values) // n_columns)
    width, height = config.panel_size
    with matplotlib().rc_context(STYLE):
        size = (1.25 * width * n_columns, 0.62 * height * n_rows + 0.7)
        figure = new_figure(*size, show, config.dpi_plot)
        axes = figure.subplots(n_rows, n_columns, sharex=True, squeeze=False)
        for k, (name, trace) in enumerate(values.items()):
            ax = axes[k // n_columns, k % n_columns]
            colour = turn(config.colors, k, COLOURS[k % len(COLOURS)])
            _draw(ax, time, trace, stderr.get(name), colour, lines)
            ax.set_title((labels or {}).get(name, name), fontsize=9.5)
            if config.y_type == "log":
                ax.set_xscale("log")
            for place in config.hlines or ():
                ax.axvline(place, color=config.refline_color, ls=config.refline_style, lw=0.9)
            bare(ax)
        for ax in axes.flat[len(values) :]:
            ax.set_axis_off()
        for column in range(n_columns):
            lowest = (len(values) - 1 - column) // n_columns
            ax = axes[max(lowest, 0), column]
            ax.set_xlabel(config.y_label)
            ax.tick_params(labelbottom=True)
        if config.y_lim is not None:
            axes[0, 0].set_xlim(*sorted(config.y_lim))
        if falls(time, config.y_dir):
            axes[0, 0].invert_xaxis()
        title = config.title or "parameters over time"
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, fontweight="bold", color=INK)
        set_ticks(figure, config)
        return finish(figure, save_path, show, config.dpi_save)


def _draw(ax: Any, time: Array, trace: Array, error: Array | None, colour: str, line: bool) -> None:
    good = np.isfinite(trace)
    if line:
        if error is not None:
            ax.fill_between(time, trace - error, trace + error, color=colour, alpha=0.25, lw=0)
        ax.plot(time, trace, color=colour, lw=1.5)
    else:
        known = good if error is None else good & np.isfinite(error)
        if error is not None and known.any():
            ax.errorbar(
                time[known], trace[known], error[known],
                fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.5,
            )  # fmt: skip
        ax.plot(time[known], trace[known], "o", color=colour, ms=3.0)
        open_points = good & ~known
        ax.plot(time[open_points], trace[open_points], "o", mfc="white", mec=colour, ms=3.0)
    # An error bar that is far larger than the rest would hide how the values move.
    if good.any():
        low, high = np.quantile(trace[good], [0.01, 0.99])
        typical = 0.0
        if error is not None and np.isfinite(error).any():
            typical = float(np.median(error[np.isfinite(error)]))
        margin = 0.12 * (high - low) + 1.6 * typical or 0.05 * abs(high) or 1.0
        ax.set_ylim(low - margin, high + margin)
