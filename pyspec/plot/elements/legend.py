"""The legend of curves: its order, and where it has room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from pyspec.plot.config import PlotConfig
from pyspec.plot.style import MUTED

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from typing_extensions import Unpack


class LegendLook(TypedDict, total=False):
    """Texts and place of a legend, as matplotlib names them."""

    fontsize: float
    handlelength: float
    labelspacing: float
    borderpad: float
    columnspacing: float
    ncols: int
    loc: Literal["best", "upper left", "lower left", "lower right"]
    bbox_to_anchor: tuple[float, float]


#: More curves than this have their legend beside the picture.
MAX_INSIDE = 7

#: Axes that are narrower, in inches, have a small legend, which leaves their curves room: a column
#: of a journal is 3.4 inches wide.
NARROW = 3.0
SMALL: LegendLook = {"fontsize": 6.5, "handlelength": 1.2, "labelspacing": 0.3, "borderpad": 0.3}

#: What tells two entries of one name apart.
_LOOK = ("facecolor", "color", "linestyle", "marker", "hatch")


def curve_legend(ax: Axes) -> None:
    """Data and fit first, then the components; beside the picture where they are many and it has
    room."""
    entries = _entries(ax)
    place: LegendLook = {"loc": "best", **(SMALL if is_narrow(ax) else {})}
    if len(entries) > MAX_INSIDE:
        place |= beside(ax) or {"ncols": 2, "fontsize": 7.0, "columnspacing": 1.0}
    handles, labels = zip(*entries, strict=True) if entries else ((), ())
    ax.legend(handles, labels, **place)


def name_signs(ax: Axes, named: set[str]) -> None:
    """A legend of the signs of this panel that no panel before it has `named`."""
    entries = [entry for entry in _entries(ax) if entry[1] not in named]
    named.update(label for _, label in entries)
    if entries:
        handles, labels = zip(*entries, strict=True)
        look: LegendLook = {**SMALL, "loc": "best"}
        ax.legend(handles, labels, **look)


def name_data_and_fit(ax: Axes, **texts: Unpack[LegendLook]) -> None:
    """A legend of its own for the circles of data and the lines of fits, beside the axes below."""
    from matplotlib.lines import Line2D

    circle = Line2D([], [], marker="o", ls="", mfc="white", mec=MUTED, mew=0.7, ms=3.0)
    look: LegendLook = {**texts}
    if beside(ax):
        look |= {"loc": "lower left", "bbox_to_anchor": (1.0, 0.0)}
    curve = Line2D([], [], color=MUTED, lw=1.5)
    ax.add_artist(ax.legend([circle, curve], ["data", "fit"], **look))


def curve_name(config: PlotConfig, index: int, name: str) -> str:
    """What stands in the legend for the index-th of several curves: its entry of `legend`, or its
    own name."""
    names = config.legend or []
    return names[index] if index < len(names) else name


def beside(ax: Axes) -> LegendLook:
    """The place of a legend beside its axes; {} where nothing makes room there, as beside the axes
    of a caller."""
    makes_room = ax.figure.figure.get_layout_engine() is not None
    return {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if makes_room else {}


def is_narrow(ax: Axes) -> bool:
    """Whether the axes have no room for texts of the usual size."""
    return bool(ax.get_window_extent().width / ax.figure.dpi < NARROW)


def _entries(ax: Axes) -> list[tuple[Artist, str]]:
    """Handles and labels in the order of the legend; those of one name and one look once."""
    order = ("data", "fit", "sum", "start", "start (far outside)", "background")
    entries: dict[tuple[str, ...], tuple[Artist, str]] = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        getters = [getattr(handle, f"get_{name}", None) for name in _LOOK]
        look = tuple(str(getter()) for getter in getters if getter is not None)
        entries.setdefault((label, *look), (handle, label))
    named = (entry for entry in entries.values() if entry[1])
    return sorted(named, key=lambda entry: (*order, entry[1]).index(entry[1]))
