"""The pictures of the files of a joint fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyspec.fit import FitResult
from pyspec.plot.config import PlotConfig
from pyspec.plot.figure import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Pictures of spectra stand in so many columns, those of series below each other.
COLUMNS = 2


def files_of(result: object) -> tuple[FitResult, ...]:
    """The files of a joint fit, of the whole or of its fit of all; () of any other object."""
    files: tuple[FitResult, ...] = getattr(result, "files", ())
    return files if isinstance(result, FitResult) else ()


def draw_files(
    files: Sequence[FitResult], draw: Callable[..., object], sheet: Sheet, look: PlotConfig
) -> Figure:
    """The picture of each file, made by `draw`, in a part of one figure of its own."""
    width, height = look.panel_size
    series = any(file.data.ndim == 2 for file in files)
    columns = 1 if series else min(COLUMNS, len(files))
    rows = -(-len(files) // columns)
    size = (2.75 * width, height + 1.4) if series else (1.55 * width, 1.6 * height)
    with sheet.style():
        figure = sheet.panels((columns * size[0], rows * size[1]), look)
        parts = figure.subfigures(rows, columns, squeeze=False).ravel()
        for part, file in zip(parts, files, strict=False):
            draw(file, fig=part, config=look.copy(title=""))
        if look.title:
            sheet.title(look.title)
        return sheet.finish(look)
