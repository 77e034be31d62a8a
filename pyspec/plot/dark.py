"""Pictures on a dark background: what is dark ink on a light one is light there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspec.plot.style import DATA, INK, MUTED, OUTSIDE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.typing import ColorType

#: Ink and what stands for it on a dark background.
LIGHT = {INK: "#e8e8e8", DATA: "#c4ccd4", MUTED: "#a4adb6", OUTSIDE: "#2b2b2b"}

#: The style of pictures there.
STYLE = {
    "text.color": LIGHT[INK],
    "axes.labelcolor": LIGHT[INK],
    "axes.edgecolor": "#999999",
    "xtick.color": "#bbbbbb",
    "ytick.color": "#bbbbbb",
    "legend.facecolor": "#101010",
}


def is_dark(colour: ColorType) -> bool:
    """Whether a background is dark; a transparent one is taken for light."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(colour)
    return bool(alpha > 0.0 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def lighten(artists: Iterable[Artist]) -> None:
    """Gives artists in dark ink their light colours; those in maps, and in frames that are light
    themselves, keep theirs."""
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import to_hex
    from matplotlib.legend import Legend

    kept: set[int] = set()
    for artist in artists:
        if isinstance(artist, Legend):
            if artist.get_frame_on() and not is_dark(artist.get_frame().get_facecolor()):
                kept |= {id(part) for part in artist.findobj()}
        elif isinstance(artist, Axes) and any(
            isinstance(part, QuadMesh) for part in artist.collections
        ):
            kept |= {id(part) for part in artist.lines}
    for artist in artists:
        if id(artist) in kept:
            continue
        for kind in ("color", "facecolor", "edgecolor", "markeredgecolor"):
            get, put = getattr(artist, f"get_{kind}", None), getattr(artist, f"set_{kind}", None)
            if get is None or put is None:
                continue
            try:
                own = LIGHT.get(to_hex(get()))
            except (TypeError, ValueError):  # several colours, or none
                continue
            if own is not None:
                put(own)
