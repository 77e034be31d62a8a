"""Pictures of data alone: a line, a map, a waterfall."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, real, real_array
from pyspec.errors import shortened
from pyspec.model.data.checksum import Data
from pyspec.plot.config import PlotConfig, PlotOptions
from pyspec.plot.data_slice import cut_of, within
from pyspec.plot.elements.labels import opened, place_text, unit_of, with_unit
from pyspec.plot.figure import Sheet
from pyspec.plot.figures.maps import data_map
from pyspec.plot.figures.spectra import data_line
from pyspec.plot.figures.waterfall import chosen_rows, draw_waterfall
from pyspec.plot.style import PlotError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

Array = npt.NDArray[np.float64]

#: Spectra of a waterfall that `waterfall=` of plot_data asks for.
N_CURVES = 12


@answered
def plot_data(
    data: Data,
    energy: Array | None,
    time: Array | None = None,
    *,
    rows: tuple[int, int] | None = None,
    columns: tuple[int, int] | None = None,
    baseline: tuple[int, int] | None = None,
    source: object = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws data: (n_time, n_energy) as a map, (n_energy,) and traces (n_time,) without energies as
    a line; returns the Figure. Masked values and NaN stay open.

    Data of both signs have two-sided colours about zero, and a time axis of very uneven steps
    is logarithmic far from zero. With a ``waterfall=`` distance, 2D data become
    lines above each other.

    Parameters
    ----------
    rows, columns, baseline : half-open index ranges that are marked
    source : what labels and units are taken from: anything with `labels` and `units`, such as
        a Dataset or a File
    options : fields of :class:`PlotConfig`, ``config=`` for all of them, and `ax`, `fig`,
        `figsize`, `save_path`, `show`
    """
    values = np.atleast_1d(real_array("data", data))
    is_one = energy is not None and (time is None or values.ndim != 2)
    sheet, look = opened(source, options, over_time=energy is None, over_energy=is_one)
    lengths = {"rows": len(values), "columns": values.shape[-1], "baseline": len(values)}
    marks: dict[str, tuple[int, int] | None] = {
        name: _range(name, ends, lengths[name])
        for name, ends in (("rows", rows), ("columns", columns), ("baseline", baseline))
        if ends is not None
    }
    unit = unit_of(source, "time")
    return draw_data(values, energy, time, marks, sheet, look, unit, options.get("legend"))


def draw_data(
    data: Data,
    energy: Array | None,
    time: Array | None,
    marks: dict[str, tuple[int, int] | None],
    sheet: Sheet,
    config: PlotConfig,
    unit: str = "",
    legend: Sequence[str] | None = None,
) -> Figure:
    """The picture for the shape of the data. `unit` is that of the times, `legend` holds names
    given by the call."""
    if energy is None:
        if time is None:
            raise PlotError("data need an energy axis, or for a trace a time axis")
        return _line(data, _axis("time", time), marks.get("rows"), sheet, config, is_trace=True)
    energy = _axis("energy", energy)
    if data.ndim != 2 or time is None:
        return _line(data, energy, marks.get("columns"), sheet, config)
    time = _axis("time", time)
    need_shape("data", data, (time.size, energy.size))
    cut = cut_of(config, data.shape)
    data, time, energy, marks = data[cut], time[cut[0]], energy[cut[1]], _moved(marks, cut)
    if config.waterfall:
        chosen = chosen_rows(len(data), N_CURVES)
        names = names_of(time[chosen].tolist(), unit, config, legend)
        curves = np.asarray(data[chosen], dtype=np.float64)
        return draw_waterfall(curves, energy, names, None, sheet, config)
    return data_map(data, energy, time, marks, sheet, config)


def _line(
    data: Data,
    axis: Array,
    window: tuple[int, int] | None,
    sheet: Sheet,
    config: PlotConfig,
    *,
    is_trace: bool = False,
) -> Figure:
    """One spectrum or trace, or the part of it that is asked for."""
    need_shape("data", data, axis.shape)
    (cut,) = cut_of(config, data.shape)
    window = within(window, cut)
    return data_line(data[cut], axis[cut], window, sheet, config, is_trace=is_trace)


def _moved(
    marks: dict[str, tuple[int, int] | None], cut: tuple[slice, ...]
) -> dict[str, tuple[int, int] | None]:
    """The marked ranges within a part of the data; a window that lies outside of it is left out."""
    ranges = {name: within(ends, cut[name == "columns"]) for name, ends in marks.items() if ends}
    if any(name in ranges and ranges[name] is None for name in ("rows", "columns")):
        ranges |= {"rows": None, "columns": None}
    return ranges


@answered
def plot_waterfall(
    data: Data,
    energy: Array,
    time: Array | None = None,
    *,
    n: int = N_CURVES,
    fit: object = None,
    unit: str = "",
    source: object = None,
    **options: Unpack[PlotOptions],
) -> Figure:
    """Draws spectra above each other, at most `n`, evenly spaced over the rows, each named by
    its time; returns the Figure.

    Parameters
    ----------
    data, fit : (n_time, n_energy); the fit is drawn over the data
    unit : that of the time axis, as `source` says by default
    source : what labels and units are taken from, as in :func:`plot_data`

    The distance is `waterfall`, chosen where that is 0, and stands at the axis.
    """
    curves = np.atleast_2d(real("data", data))
    energy = _axis("energy", energy)
    time = None if time is None else _axis("time", time)
    sheet, look = opened(source, options, over_energy=True)
    if n < 1:
        raise PlotError(f"n is {n}; give how many spectra to draw, 1 or more")
    need_shape("data", curves, (len(curves) if time is None else len(time), len(energy)))
    fits = None if fit is None else np.atleast_2d(real("fit", fit))
    if fits is not None:
        need_shape("fit", fits, curves.shape)
    times = np.arange(len(curves)) if time is None else time
    cut = cut_of(look, curves.shape)
    curves, times, energy = curves[cut], times[cut[0]], energy[cut[1]]
    chosen = chosen_rows(len(curves), n)
    unit = unit or ("" if time is None else unit_of(source, "time"))
    names = names_of(times[chosen].tolist(), unit, look, options.get("legend"))
    fits = None if fits is None else fits[cut][chosen]
    return draw_waterfall(curves[chosen], energy, names, fits, sheet, look)


def names_of(
    times: list[float], unit: str, config: PlotConfig, legend: Sequence[str] | None
) -> list[str]:
    """Names of the spectra at these times. Names of a `config` are ignored if their number differs,
    since they are those of other pictures. Raises :class:`PlotError` where `legend`, by name, has
    not as many."""
    if config.legend == []:
        return [""] * len(times)
    if legend is not None and 0 < len(legend) < len(times):
        raise PlotError(f"legend has {len(legend)} names for {len(times)} spectra")
    names = config.legend or []
    if len(names) < len(times):
        texts = [place_text(time, times, 4).replace("-", "−", 1) for time in times]
        return [with_unit(text, unit) for text in texts]
    return list(names[: len(times)])


def _axis(label: str, values: object) -> Array:
    """(n,) places along an axis. Raises :class:`PlotError` where they cannot be drawn."""
    axis = np.ravel(real(label, values))
    if not np.isfinite(axis).all():
        raise PlotError(f"{label} has values that are not finite; leave those points out")
    return axis


def _range(label: str, ends: Iterable[int], n: int) -> tuple[int, int]:
    """A half-open range of n indices. Raises :class:`PlotError` for anything else."""
    try:
        begin, end = (operator.index(end) for end in ends)
    except (TypeError, ValueError):
        begin = end = -1
    if not 0 <= begin < end <= n:
        raise PlotError(f"{label} is {shortened(ends)}; give (begin, end) within 0 to {n}")
    return begin, end


def need_shape(label: str, array: npt.ArrayLike, shape: tuple[int, ...]) -> None:
    """Raises :class:`PlotError` where an array does not match its axes."""
    actual = np.shape(array)
    if actual == tuple(shape):
        return
    turned = len(actual) == 2 and actual == tuple(reversed(shape))
    order = "give data (n_time, n_energy), then energy, then time"
    hint = f"axes or data are exchanged; {order}" if turned else order
    raise PlotError(f"{label} has shape {actual}, but the axes have {tuple(shape)}; {hint}")
