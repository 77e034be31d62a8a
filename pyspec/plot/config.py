"""PlotConfig: how pictures look, in one object that a project, a file and a job share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, TypedDict, TypeGuard

import numpy as np

from pyspec.calls.arguments import LARGEST, one_of
from pyspec.errors import suggest
from pyspec.plot.style import PlotError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

#: Other names of fields.
ALIASES = {
    "e_label": "x_label",
    "t_label": "y_label",
    "energy_label": "x_label",
    "time_label": "y_label",
    "dpi_plt": "dpi_plot",
    "dpi": "dpi_save",
}

DIRECTIONS = ("def", "rev", "asc")
SCALES = ("lin", "log")
TIME_SCALES = ("auto", "lin", "log", "symlog")
COLORBARS = ("ver", "hor", "none")
RESIDUAL_UNITS = ("auto", "sigma", "rms", "data")


@dataclass
class PlotConfig:
    """How pictures look. The x axis is energy, y is time, z is intensity.

    Fields
    ------
    x_label, y_label, z_label : what stands at the axes, with units: "binding energy (eV)";
        where empty, what the file says of its axes
    title : above the picture; a line that describes the fit if empty
    x_dir, y_dir : "def" as the axis runs in the data, binding energies from high to low; "rev"
        from high to low, "asc" from low to high
    x_type, z_type : "lin" or "log"
    y_type : "lin", "log", or "symlog", linear about zero and logarithmic far from it; "auto" is
        symlog where the steps of the axis differ by more than a factor of 30
    x_lim, y_lim, z_lim : (low, high) of what is shown; None for all. By name, x_lim, x_dir and
        x_type of a picture of curves over time are those of its times, as y_lim is; one without
        times refuses y_lim, y_label, y_type and y_dir by name
    dpi_plot, dpi_save : pixels per inch on the screen and in files
    res_mult : a residual in units of the data is drawn this many times larger than the data
    residual_unit : "sigma" draws (data - fit) / σ with the declared σ of each point, "rms"
        divides by the root mean square of the residual, "data" draws data - fit; "auto" is
        sigma where σ was declared (weights, counts), else data
    full_range : draw data and model outside of the fit window too, with the window marked
    show_init : draw the model at the start values too (one spectrum)
    z_colormap, z_colormap_res : colours of data and residual maps; z_colormap "auto" is
        viridis, and z_colormap_res, symmetric about zero, for data of both signs
    z_colorbar : "ver", "hor" or "none"
    data_slice : [[first row, end], [first column, end]], what is drawn of 2D data, ends
        excluded; [[first, end]] of one spectrum
    colors, linestyles, linewidths, markers, markersizes, alphas : of several curves in turn. In a
        fit of one spectrum or trace `colors` are those of the components; the others those of
        data and fit in turn, where data are markers (linewidths are their outlines) and a fit is
        a line
    legend : names of several curves, in a fit of one spectrum or trace those of its peaks in
        turn; [] leaves the legend out. Names beyond the peaks, or too few for spectra above each
        other, are refused where they are given by name, and not used where a config has them
    waterfall : distance between curves, in units of the data; 0 chooses one
    vlines, hlines : positions of reference lines, upright and level, in `refline_color` and
        `refline_style`. Those of a config are energies and times as in a map: in a picture of
        curves over time its `hlines` are upright, and its `vlines` are not drawn
    ticksize : font size of the numbers at the axes
    panel_size : (width, height) of one panel, in inches
    y_norm : 1 scales every curve of several to a largest absolute value of 1
    y_scale : factors of several curves

    `e_label`, `t_label` and `dpi_plt` are other names of x_label, y_label and dpi_plot.
    """

    x_label: str = ""
    y_label: str = ""
    z_label: str = ""
    title: str = ""
    x_dir: str = "def"
    x_type: str = "lin"
    y_dir: str = "def"
    y_type: str = "auto"
    x_lim: tuple[float, float] | None = None
    y_lim: tuple[float, float] | None = None
    dpi_plot: int = 100
    dpi_save: int = 300
    res_mult: float = 5
    residual_unit: str = "auto"
    full_range: bool = False
    show_init: bool = True
    z_colormap: str = "auto"
    z_colormap_res: str = "RdBu_r"
    z_colorbar: str = "ver"
    z_type: str = "lin"
    data_slice: list[list[int]] | None = None
    z_lim: tuple[float, float] | None = None
    colors: list[str] | None = None
    linestyles: list[str] | None = None
    linewidths: list[float] | None = None
    markers: list[str] | None = None
    markersizes: list[float] | None = None
    alphas: list[float] | None = None
    legend: list[str] | None = None
    waterfall: float = 0
    vlines: list[float] | None = None
    hlines: list[float] | None = None
    refline_color: str = "#000000"
    refline_style: str = ":"
    ticksize: float | None = None
    panel_size: tuple[float, float] = (4.0, 3.0)
    y_norm: int = 0
    y_scale: list[float] | None = None

    def __post_init__(self) -> None:
        self._check()

    # changes

    def update(self, **fields: object) -> PlotConfig:
        """Changes fields in place, all or, on an error, none; returns itself."""
        self.adopt(self.copy(**fields))
        return self

    def copy(self, **fields: object) -> PlotConfig:
        """A copy with some fields changed."""
        changed = PlotConfig()
        for name, value in {**vars(self), **_renamed(fields)}.items():
            setattr(changed, name, deepcopy(value))
        changed._check()
        return changed

    def adopt(self, other: PlotConfig) -> None:
        """Copies all fields from another PlotConfig."""
        if not isinstance(other, PlotConfig):
            raise PlotError(f"adopt takes a PlotConfig, not {type(other).__name__}")
        for name, value in vars(other).items():
            setattr(self, name, deepcopy(value))

    # JSON

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(dataclasses.asdict(self), indent=2)

    @classmethod
    def from_json(cls, payload: str) -> PlotConfig:
        """Reads what :meth:`to_json` wrote. Raises PlotError for what is not such a text."""
        try:
            fields = json.loads(payload)
        except (TypeError, ValueError) as error:
            raise PlotError(f"a PlotConfig cannot be read from this text: {error}") from None
        if not isinstance(fields, dict):
            raise PlotError('a PlotConfig is a JSON object, {"x_label": ...}')
        return cls().copy(**fields)

    # what fields may be

    def _check(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            check, wanted = _RULES[str(field.type)]
            if not check(value):
                raise PlotError(f"PlotConfig: {field.name} is {value!r}; give {wanted}")
            if str(field.type).startswith("tuple") and value is not None:
                setattr(self, field.name, (float(value[0]), float(value[1])))
            if str(field.type).startswith("list") and isinstance(value, np.ndarray):
                setattr(self, field.name, value.tolist())  # which is true or false, and JSON
        for name, choices in (
            *((name, DIRECTIONS) for name in ("x_dir", "y_dir")),
            ("y_type", TIME_SCALES),
            *((name, SCALES) for name in ("x_type", "z_type")),
            ("z_colorbar", COLORBARS),
            ("residual_unit", RESIDUAL_UNITS),
        ):
            one_of(f"PlotConfig: {name}", getattr(self, name), choices, PlotError)
        if min(self.panel_size) <= 0 or self.dpi_plot <= 0 or self.dpi_save <= 0:
            raise PlotError("PlotConfig: panel_size, dpi_plot and dpi_save must be positive")
        if self.res_mult <= 0:
            raise PlotError(f"PlotConfig: res_mult is {self.res_mult:g}; give a number above 0")
        if self.ticksize is not None and self.ticksize <= 0:
            raise PlotError(f"PlotConfig: ticksize is {self.ticksize:g}; give a size above 0")
        for name in ("x_lim", "y_lim", "z_lim"):
            ends = getattr(self, name)
            if ends is not None and ends[0] == ends[1]:
                raise PlotError(f"PlotConfig: {name} is {ends!r}; give two ends that differ")


class Look(TypedDict, total=False):
    """How a picture looks, by name: `config`, and fields of it that stand above it."""

    config: PlotConfig | None
    x_label: str
    y_label: str
    z_label: str
    x_dir: str
    x_type: str
    y_dir: str
    y_type: str
    x_lim: Sequence[float] | None
    y_lim: Sequence[float] | None
    dpi_plot: int
    dpi_save: int
    res_mult: float
    residual_unit: str
    full_range: bool
    show_init: bool
    z_colormap: str
    z_colormap_res: str
    z_colorbar: str
    z_type: str
    data_slice: Sequence[Sequence[int]] | None
    z_lim: Sequence[float] | None
    colors: Sequence[str] | None
    linestyles: Sequence[str] | None
    linewidths: Sequence[float] | None
    markers: Sequence[str] | None
    markersizes: Sequence[float] | None
    alphas: Sequence[float] | None
    legend: Sequence[str] | None
    waterfall: float
    vlines: Sequence[float] | None
    hlines: Sequence[float] | None
    refline_color: str
    refline_style: str
    ticksize: float | None
    panel_size: Sequence[float]
    y_norm: int
    y_scale: Sequence[float] | None
    e_label: str
    t_label: str
    energy_label: str
    time_label: str
    dpi_plt: int
    dpi: int


class PlotOptions(Look, total=False):
    """What every picture takes.

    Fields, beside those of PlotConfig
    ------
    config : how it looks; fields of :class:`PlotConfig` given by name stand above it
    ax : matplotlib Axes to draw one panel into
    fig : an empty Figure or SubFigure to draw into
    figsize : (width, height) of a figure of its own, in inches
    save_path : file to write (png, pdf, svg); written completely or not at all
    show : whether to open a window, or in a notebook to show it here
    """

    title: str
    ax: Axes | None
    fig: FigureBase | None
    figsize: Sequence[float] | None
    save_path: str | Path | None
    show: bool


class DataOptions(PlotOptions, total=False):
    """What pictures of data take besides; see :func:`pyspec.plot.plot_data`."""

    rows: tuple[int, int] | None
    columns: tuple[int, int] | None
    baseline: tuple[int, int] | None
    source: object


FIELDS = tuple(field.name for field in dataclasses.fields(PlotConfig))

_made_of_fields: Callable[..., None] = PlotConfig.__init__


@wraps(_made_of_fields)
def _init(self: PlotConfig, *args: object, **fields: object) -> None:
    _made_of_fields(self, *args, **_renamed(fields))


setattr(PlotConfig, "__init__", _init)  # noqa: B010


def _other_name(name: str) -> property:
    """A property that stands for the field `name`."""
    return property(attrgetter(name), lambda self, value: setattr(self, name, value))


for _alias, _name in ALIASES.items():
    setattr(PlotConfig, _alias, _other_name(_name))


#: Options of pictures that are no fields.
OWN_OPTIONS = ("config", "ax", "fig", "figsize", "save_path", "show")


def _renamed(fields: dict[str, object]) -> dict[str, object]:
    """Fields under their own names; an unknown name is refused."""
    renamed = {}
    for name, value in fields.items():
        own = ALIASES.get(name, name)
        if own not in FIELDS:
            hint = suggest(name, [*FIELDS, *ALIASES, *OWN_OPTIONS])
            if name in OWN_OPTIONS:
                hint = "; it is an option of each picture"
            raise PlotError(f"PlotConfig has no field {name!r}{hint}")
        if own in renamed:
            both = " and ".join(key for key in fields if ALIASES.get(key, key) == own)
            raise PlotError(f"PlotConfig: {both} are the same field; give one of them")
        renamed[own] = value
    return renamed


def _number(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return abs(value) < LARGEST if isinstance(value, int) else bool(np.isfinite(value))


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _flag(value: object) -> bool:
    return isinstance(value, (bool, np.bool_)) or (_number(value) and value in (0, 1))


def is_pair(value: object) -> TypeGuard[Sequence[float]]:
    """Whether these are two numbers."""
    return _is_list(value) and len(value) == 2 and all(_number(item) for item in value)


def _range(value: object) -> bool:
    return is_pair(value) and all(float(item).is_integer() for item in value)


def _list_of(check: Callable[[object], bool]) -> Callable[[object], bool]:
    def checks(value: object) -> bool:
        if value is None:
            return True
        return _is_list(value) and all(check(item) for item in value)

    return checks


#: Annotation → (test, what to give instead).
_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "int": (lambda value: _number(value) and value == int(value), "a whole number"),
    "float": (_number, "a number"),
    "bool": (_flag, "true or false"),
    "float | None": (lambda value: value is None or _number(value), "a number, or None"),
    "tuple[float, float]": (is_pair, "two numbers"),
    "tuple[float, float] | None": (lambda value: value is None or is_pair(value), "two numbers"),
    "list[str] | None": (_list_of(lambda item: isinstance(item, str)), "a list of texts"),
    "list[float] | None": (_list_of(_number), "a list of numbers"),
    "list[list[int]] | None": (
        _list_of(_range),
        "a list of [begin, end], which are numbers of points; x_lim and y_lim are energies and "
        "times",
    ),
}
