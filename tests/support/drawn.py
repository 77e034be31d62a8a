"""What a picture draws, asked of matplotlib: is all of it inside of its axes and its figure?"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Axes coordinates may leave [0, 1] by rounding only; pixels by a hair line.
SLACK, PIXELS = 1e-6, 1.5


def points(artist: Any) -> Any:
    """(n, 2) pixels of all points of a line, a fill, an error bar or a map."""
    if hasattr(artist, "get_xydata"):
        return artist.get_transform().transform(np.asarray(artist.get_xydata(), dtype=float))
    if hasattr(artist, "get_coordinates"):
        corners = np.asarray(artist.get_coordinates()).reshape(-1, 2)
        return artist.get_transform().transform(corners)
    if hasattr(artist, "get_paths"):
        found = [artist.get_transform().transform(path.vertices) for path in artist.get_paths()]
        return np.concatenate(found) if found else np.empty((0, 2))
    return artist.get_transform().transform(artist.get_path().vertices)


def width_of(patch: Any) -> tuple[float, float]:
    """Least and largest x of a rectangle, which before matplotlib 3.9 may be a polygon."""
    found = patch.get_path().transformed(patch.get_patch_transform()).get_extents()
    return float(found.x0), float(found.x1)


def is_bar(ax: Any) -> bool:
    """Whether an Axes is a colour bar."""
    return hasattr(ax, "_colorbar")


def outside(figure: Any) -> list[str]:
    """What lies outside of its axes, or outside of the figure."""
    engine = figure.get_layout_engine()
    if engine is None:
        figure.draw_without_rendering()
    else:
        engine.execute(figure.figure)  # all that drawing does before it draws
    found = []
    for ax in figure.axes:
        if is_bar(ax):
            continue
        for artist in (*ax.lines, *ax.collections, *ax.patches):
            place = ax.transAxes.inverted().transform(points(artist))
            place = place[np.isfinite(place).all(axis=1)]
            if place.size and (place.min() < -SLACK or place.max() > 1 + SLACK):
                low, high = place.min(axis=0), place.max(axis=0)
                found.append(f"{ax.get_title(loc='left')!r}: {artist} spans {low} to {high}")
    page = figure.bbox
    for thing in (*figure.axes, *figure.texts):
        box = thing.get_tightbbox()
        if box is None or not np.isfinite(box.extents).all():
            continue
        low, high = min(box.x0, box.y0), max(box.x1 - page.x1, box.y1 - page.y1)
        if low < -PIXELS or high > PIXELS:
            found.append(f"{thing}: {box.extents} is cut by the page {page.extents}")
    return found
