"""What free spectra are multiplied with: populations of states, or laws, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspec.calls import answered
from pyspec.fit import FitResult
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.data_slice import cut_of
from pyspec.plot.elements.axes import bare, curve_look, enclose, line, reference_lines, set_along
from pyspec.plot.elements.labels import opened, place_text, unit_of, with_unit
from pyspec.plot.elements.legend import curve_legend, curve_name
from pyspec.plot.figures.traces import nearest
from pyspec.plot.protocols import Fit, fit_of
from pyspec.plot.style import MUTED, PlotError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack


@answered
def plot_populations(
    result: Fit,
    *,
    energy: float | None = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws the populations of the states of kinetic schemes over time, behind the instrument; for
    a model without a scheme, the laws. Free spectra are multiplied with these. Returns the Figure.

    If time zero or width depends on the energy, the populations are those at the point nearest to
    `energy` (default: the middle), which the legend names. At the times of the data within the fit
    window; ``result.amplitudes.basis`` has the values. Options as of :func:`pyspec.plot.plot_fit`;
    `x_lim` are times, and `z_lim`, `z_type` and `z_label` count by name alone, since those of a
    `config` are of the data.

    Raises :class:`PlotError` for a fit without free spectra, and for an energy outside of its axis.
    """
    fit = fit_of(result, "plot_populations")
    if not isinstance(fit, FitResult) or fit.amplitudes is None or fit.amplitudes.axis != "energy":
        raise PlotError(
            f"{fit.model_name} has no free spectra, which populations are multiplied with; "
            "plot_moving draws populations that move a parameter"
        )
    linear = fit.amplitudes
    config = options.get("config")
    if isinstance(config, PlotConfig):  # what it says of intensities is of the data
        config = config.copy(z_label="", z_lim=None, z_type="lin")
    own_options: PlotOptions = {**options, "config": config}
    amplitudes = {  # what stands in the legend → the amplitude of a state
        f"{name} {state}" if len(linear.kinetics) > 1 else state: amplitude
        for name, scheme in linear.kinetics.items()
        for state, amplitude in scheme.amplitudes.items()
    } or {name: name for name in linear}
    sheet, look = opened(fit, own_options, over_time=True)
    column = linear.along.size // 2 if energy is None else nearest(linear.along, energy)[0]
    part = cut_of(look, fit.data.shape)[0]
    differs = False
    with sheet.style():
        ax = sheet.panel((6.4, 3.4), look)
        ax.axhline(0.0, color=MUTED, lw=0.7)
        for k, (label, name) in enumerate(amplitudes.items()):
            values, own = linear.basis[name], curve_look(look, k, width=1.4)
            if values.ndim > 1:
                differs, values = True, values[column]
            own["label"] = curve_name(look, k, label)
            line(ax, linear.x[part], values[part], **own)
        enclose(ax, look)
        set_along(ax, linear.x[part], look, over_time=True)
        reference_lines(ax, look)
        ax.set_ylabel(options.get("z_label") or ("population" if linear.kinetics else "law"))
        if look.title:
            ax.set_title(look.title)
        curve_legend(ax)
        legend = ax.get_legend()
        if differs and legend is not None:
            place = place_text(linear.along[column], linear.along)
            at = with_unit(place, unit_of(fit, "energy"))
            legend.set_title(f"at {at}")
        bare(ax)
        return sheet.finish(look)
