"""Free spectra or traces with error bands: those of the model, and those of the states and decays
of a kinetic scheme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered
from pyspec.errors import FitError, suggest
from pyspec.fit import FitResult
from pyspec.fit.amplitudes import Amplitudes, Associated
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.axes import (
    alone,
    bare,
    curve_look,
    hold,
    line,
    reference_lines,
    set_along,
)
from pyspec.plot.elements.gaps import broken
from pyspec.plot.elements.labels import opened, unit_of, units_of_parameters, with_unit
from pyspec.plot.elements.legend import SMALL, LegendLook, curve_legend, curve_name, is_narrow
from pyspec.plot.figure import Sheet, is_column, row
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import MUTED, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]


@answered
def plot_amplitudes(
    result: Fit,
    *,
    names: Sequence[str] | None = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws free spectra of a fit, or free traces, with bands of one standard error; returns the
    Figure.

    For parallel decays these are the decay-associated spectra; the legend has their time constants.
    `names` are some of ``result.amplitudes``, all by default. Where one is held at 0 there is no
    band. The line has a gap where the data do not determine the amplitude, or where all points
    are masked. The legend marks amplitudes that depend on undetermined parameters. Traces of
    backgrounds have a panel of their own, below the heights (give `fig`, not `ax`). Options as of
    :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit without free amplitudes, and for other names.
    """
    fit = fit_of(result, "plot_amplitudes")
    linear = fit.amplitudes if isinstance(fit, FitResult) else None
    if linear is None or not isinstance(fit, FitResult):
        raise PlotError(
            f"{fit.model_name} has no free amplitudes to draw; write {{free: energy}} as the "
            "amplitude of a law in time, {free: time} as that of a line"
        )
    for name in names or ():
        if name not in linear.values:
            hint = suggest(str(name), list(linear)) or f"; there are {', '.join(linear)}"
            raise PlotError(f"no amplitude {name!r} is free{hint}")
    place = opened(fit, options, **{f"over_{linear.axis}": True})
    return _draw_amplitudes(fit, list(linear if names is None else names), *place)


def _draw_amplitudes(
    fit: FitResult,
    names: list[str],
    sheet: Sheet,
    look: PlotConfig,
) -> Figure:
    linear, unit = fit.amplitudes, unit_of(fit, "time")
    assert linear is not None
    is_time = linear.axis == "time"
    part = cut_of(look, fit.data.shape)[not is_time]
    along = linear.along[part]
    groups = _by_axis(fit, names) if is_time else [names]
    with sheet.style():
        if len(groups) == 1:
            axes = [sheet.panel((7.4, 3.4), look)]
        else:
            figure = sheet.panels((7.4, 1.2 + 2.2 * len(groups)), look)
            axes = [*figure.subplots(len(groups), 1, sharex=True)]
        for ax, group in zip(axes, groups, strict=True):
            ax.axhline(0.0, color=MUTED, lw=0.7)
            for name in group:
                value, error = linear.known[name][part], linear.stderr[name][part]
                _band(ax, along, value, error, names.index(name), _label(fit, name, unit), look)
            _limit(ax, [linear.known[name][part] for name in group], look)
            set_along(ax, along, look, over_time=is_time)
            reference_lines(ax, look)
            ax.label_outer()
            curve_legend(ax)
            bare(ax)
        if len(axes) == 1:
            axes[0].set_ylabel(look.z_label)
        else:
            figure.supylabel(look.z_label, fontsize=9.5)
        if look.title:
            axes[0].set_title(look.title)
        return sheet.finish(look)


def _by_axis(fit: FitResult, names: list[str]) -> list[list[str]]:
    """Heights of peaks, and the backgrounds by their units: each needs a scale of its own."""
    units = units_of_parameters(fit)
    peaks = {
        par.name
        for component in fit.model.components
        if component.op.kind == "PEAK"
        for par in component.parameters
    }
    groups: dict[tuple[bool, str], list[str]] = {}
    for name in names:
        groups.setdefault((name not in peaks, units.get(name, "")), []).append(name)
    return [groups[key] for key in sorted(groups)]


def _label(fit: FitResult, name: str, unit: str) -> str:
    """An amplitude with the time constant of its law: "expFun_01_A, τ = 1.4 ps"."""
    for component in fit.model.components:
        pars = {par.argument: par.name for par in component.parameters}
        if name in pars.values() and name != pars.get("y0"):
            tau = fit.values.get(pars.get("tau", ""))
            return name if tau is None else with_unit(f"{name}, τ = {tau:.4g}", unit)
    return name


@answered
def plot_species(
    result: Fit,
    *,
    scheme: str = "",
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the spectra of the states (SAS), decays (DAS) and evolution (EAS) of a kinetic scheme
    beside each other, with bands of one standard error; returns the Figure.

    Where two rates coincide there are no DAS and EAS, and the picture has the SAS alone. `scheme`
    names the scheme of a model that has several. Energies at which they are not known, since all
    points there are masked, are gaps. For a model without a scheme the free spectra themselves are
    drawn, as :func:`plot_amplitudes` does. Options as of :func:`pyspec.plot.plot_fit`.

    Raises :class:`PlotError` for a fit without free spectra.
    """
    fit = fit_of(result, "plot_species")
    linear = fit.amplitudes if isinstance(fit, FitResult) else None
    if linear is None or linear.axis != "energy" or not isinstance(fit, FitResult):
        raise PlotError(
            f"{fit.model_name} has no free spectra; write {{free: energy}} as the amplitude of "
            "each law in time, or {spectra: {free: energy}} at a kinetic scheme"
        )
    if not linear.kinetics and not scheme:
        return _draw_amplitudes(fit, list(linear), *opened(fit, options))
    sheet, look = opened(fit, options)
    spectra = [linear.sas(scheme), *_of_decays(linear, scheme)]
    part = cut_of(look, fit.data.shape)[1]
    with sheet.style():
        figure = sheet.panels((3.7 * len(spectra) + 0.4, 3.2), look)
        axes = row(figure, len(spectra))
        for ax, own in zip(axes, spectra, strict=True):
            _spectra(ax, own, look, unit_of(fit, "time"), part)
        for ax in axes if is_column(figure, len(spectra)) else axes[:1]:
            ax.set_ylabel(look.z_label)
        for ax in axes[:-1] if is_column(figure, len(spectra)) else ():
            ax.set_xlabel("")  # that of the last is the same, and leaves the curves more room
            ax.tick_params(labelbottom=False)
        if look.title:
            sheet.title(look.title)
        return sheet.finish(look)


def _of_decays(linear: Amplitudes, scheme: str) -> list[Associated]:
    try:
        return [linear.das(scheme), linear.eas(scheme)]
    except FitError:
        return []


def _spectra(ax: Axes, own: Associated, look: PlotConfig, unit: str, part: slice) -> None:
    """Lines with bands, open where they are not known; a decay is named by its time constant, in
    the unit of the time axis."""
    ax.axhline(0.0, color=MUTED, lw=0.7)
    for k, (name, rate) in enumerate(zip(own.names, own.rates, strict=True)):
        label = name if np.isnan(rate) else "constant" if rate == 0 else ""
        label = label or with_unit(f"τ = {1 / rate:.4g}", unit)
        _band(ax, own.along[part], own.known[k][part], own.stderr[k][part], k, label, look)
    _limit(ax, own.known[:, part], look)
    set_along(ax, own.along[part], look)
    reference_lines(ax, look)
    ax.set_title(own.kind, fontsize=9.5)
    texts: LegendLook = SMALL if is_narrow(ax) else {"fontsize": 8.0}
    ax.legend(**{**texts, "loc": "best"})
    bare(ax)


def _band(
    ax: Axes, along: Array, value: Array, stderr: Array, k: int, label: str, look: PlotConfig
) -> None:
    """One line with a band of one standard error, where there is one."""
    own, error = curve_look(look, k, width=1.4), np.nan_to_num(stderr)
    if np.any(np.nan_to_num(value)) and not np.any(np.isfinite(stderr)):
        label += " (not determined)"
    x, low, high = broken(along, value - error, value + error)
    ax.fill_between(x, low, high, color=own["color"], alpha=0.25, lw=0)
    for at in alone(value):  # where a band has no width
        ends = value[at] - error[at], value[at] + error[at]
        ax.vlines(along[at], *ends, color=own["color"], alpha=0.5, lw=0.8)
    own["label"] = curve_name(look, k, label)
    line(ax, along, value, **own)


def _limit(ax: Axes, values: npt.ArrayLike, look: PlotConfig) -> None:
    """Limits as asked for, or such that bands of huge errors do not make flat lines of spectra."""
    hold(ax, values)
    if look.z_lim is not None:
        ax.set_ylim(*sorted(look.z_lim))
