"""Figures without pyplot: nothing is shown or kept unless asked for."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from pyspec.calls import stack_outside
from pyspec.errors import PyspecError, one_line, shortened, suggest
from pyspec.io.atomic import replacing
from pyspec.plot.config import PlotConfig, is_pair
from pyspec.plot.elements.wrap import folded, wrap_labels
from pyspec.plot.style import LIGHT, STYLE, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase
    from matplotlib.typing import ColorType

#: Panels beside each other are at least this wide, in inches; otherwise they stand below each
#: other, if each is this high.
LEAST_WIDTH, LEAST_HEIGHT = 1.7, 1.1


def matplotlib() -> ModuleType:
    """The matplotlib package, imported on first use.

    Raises :class:`PlotError` where it is missing, or refuses its settings.
    """
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.style
    except ImportError:
        raise PlotError(
            "pictures need matplotlib, which is not installed: pip install 'pyspec-fit[plot]'"
        ) from None
    except Exception as error:  # such as MPLBACKEND=nonsense
        raise PlotError(
            f"matplotlib cannot be used ({one_line(error)}); check its settings, matplotlibrc and "
            "MPLBACKEND"
        ) from error
    return matplotlib


def is_dark(colour: ColorType) -> bool:
    """Whether a background is dark; a transparent one is taken for light."""
    from matplotlib.colors import to_rgba

    *shares, alpha = to_rgba(colour)
    return alpha > 0.0 and sum(shares) < 1.5


@contextmanager
def as_remark(label: str) -> Iterator[None]:
    """Draws what `label` names. A failure is a warning: a fit goes on without its pictures."""
    try:
        yield
    except Exception as error:
        warnings.warn(f"no {label}: {one_line(error)}", stacklevel=stack_outside())


class Sheet:
    """Where a picture goes: into the `ax` or `fig` of the caller, or a figure of its own.

    Pictures of one panel ask for :meth:`panel`, those of several for :meth:`panels`; then
    :meth:`finish` writes and shows. Raises :class:`PlotError` where both or the wrong one of
    `ax` and `fig` are given.

    Attributes
    ----------
    figure : what is drawn into; a SubFigure takes everything that a Figure does
    """

    figure: Figure

    def __init__(
        self,
        ax: Axes | None = None,
        fig: FigureBase | None = None,
        save_path: str | Path | None = None,
        show: bool = False,
        figsize: Sequence[float] | None = None,
    ) -> None:
        if ax is not None or fig is not None:
            _check_place(ax, fig, figsize)
        if save_path is not None:
            check_suffix(save_path)
            check_folder(save_path)
        self.ax, self.fig = ax, fig
        self.save_path, self.show = save_path, show
        self.figsize = None if figsize is None else checked_size(figsize)

    @contextmanager
    def style(self) -> Iterator[None]:
        """The style of all pictures, in a dark place on matplotlib's "dark_background". What
        matplotlib refuses inside, such as a colour, is a :class:`PlotError`."""
        place, look = self.fig or self.ax, {**STYLE}
        try:
            if place is not None and is_dark(place.figure.figure.get_facecolor()):
                look |= matplotlib().style.library["dark_background"]
            with matplotlib().rc_context(look):
                yield
        except PyspecError:
            raise
        except ValueError as error:
            raise PlotError(f"matplotlib: {one_line(error)}") from error

    def panel(self, size: tuple[float, float], config: PlotConfig) -> Axes:
        """The Axes of a picture with one panel of `size` inches, unless `figsize` was given."""
        if self.ax is not None:
            self.figure = cast("Figure", self.ax.figure)
            return self.ax
        return self.panels(size, config).subplots()

    def panels(self, size: tuple[float, float], config: PlotConfig) -> Figure:
        """The Figure or SubFigure of a picture with several panels."""
        if self.ax is not None:
            raise PlotError("this picture has several panels; give fig= (a Figure or SubFigure)")
        if self.fig is None:
            self.figure = _new_figure(self.figsize or size, config.dpi_plot, self.show)
        else:
            self.figure = cast("Figure", self.fig)
            root = self.figure.figure
            if root.get_layout_engine() is None:
                root.set_layout_engine("constrained")
        return self.figure

    def title(self, text: str, *, fontsize: float = 10.5, **look: str) -> None:
        """A heading over all panels, in several lines where it is wider than these."""
        width = 72.0 * 0.97 * self.figure.bbox.width / self.figure.dpi
        lines = folded(text, width, fontsize)
        self.figure.suptitle(lines, ha="left", x=0.01, fontsize=fontsize, **look)

    def finish(self, config: PlotConfig) -> Figure:
        """Writes the file, completely or not at all; shows if asked for; returns the figure."""
        from matplotlib.lines import Line2D
        from matplotlib.text import Text

        every = [self.ax] if self.ax is not None else self.figure.axes
        if config.legend == []:
            for legend in filter(None, [ax.get_legend() for ax in every]):
                legend.remove()
        if config.ticksize is not None:
            for ax in every:
                ax.tick_params(labelsize=config.ticksize)
        wrap_labels(every)
        if is_dark(self.figure.figure.get_facecolor()):
            for artist in (self.ax or self.figure).findobj():
                if isinstance(artist, (Line2D, Text)) and str(artist.get_color()) in LIGHT:
                    artist.set_color(LIGHT[str(artist.get_color())])
        root = self.figure.figure
        if self.save_path is not None:
            path = Path(self.save_path)
            try:
                with replacing(path) as part:
                    root.savefig(part, dpi=config.dpi_save, format=path.suffix[1:] or "png")
            except Exception as error:  # LaTeX, fonts and the disk fail in many ways
                text = f"cannot write the picture {str(path)!r}: {one_line(error)}"
                raise PlotError(text) from error
        if self.show:
            _show(root)
        return self.figure


def check_suffix(path: str | Path) -> None:
    """Raises :class:`PlotError` where a picture cannot be written to a file of this suffix."""
    target: object = path
    if not isinstance(target, (str, os.PathLike)):
        kind = type(target).__name__
        raise PlotError(f"save_path is of type {kind}; give the path of a file, such as 'fit.png'")
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:  # that is said where the picture is drawn
        return
    suffixes = FigureCanvasBase.get_supported_filetypes()
    suffix = Path(path).suffix.removeprefix(".").lower()
    if suffix and suffix not in suffixes:
        raise PlotError(
            f"{path}: there are no pictures of the kind {suffix!r}"
            f"{suggest(suffix, list(suffixes))}; give .png, .pdf or .svg"
        )


def check_folder(path: str | Path) -> None:
    """Raises :class:`PlotError` where a picture cannot be written for want of its folder."""
    path = Path(path)
    if path.is_dir():
        raise PlotError(f"{path}: is a folder; give the name of a picture in it, such as fit.png")
    if not path.parent.is_dir():
        raise PlotError(f"{path}: the folder {str(path.parent)!r} is missing; create it first")


def checked_size(size: object) -> tuple[float, float]:
    """(width, height) of a figure. Raises :class:`PlotError` but for two numbers above 0."""
    if not is_pair(size) or min(size) <= 0:
        raise PlotError(f"figsize is {shortened(size)}; give (width, height) in inches")
    return float(size[0]), float(size[1])


def _check_place(ax: object, fig: object, figsize: object) -> None:
    import matplotlib.axes
    import matplotlib.figure

    if ax is not None and fig is not None:
        raise PlotError("give ax= for one panel, or fig= for several, not both")
    if figsize is not None:
        raise PlotError("figsize= is of a figure of its own; what ax= and fig= give has its size")
    if ax is not None and not isinstance(ax, matplotlib.axes.Axes):
        raise PlotError(
            f"ax= takes matplotlib Axes, not {type(ax).__name__}; make one: "
            "figure, ax = plt.subplots()"
        )
    if fig is not None and not isinstance(fig, matplotlib.figure.FigureBase):
        kind = type(fig).__name__
        raise PlotError(f"fig= takes a Figure or SubFigure, not {kind}; make one: plt.figure()")
    if fig is not None and fig.axes:
        raise PlotError(
            "fig= already holds axes; give an empty Figure, or one part of figure.subfigures(1, 2)"
        )


def is_column(figure: Figure, n: int) -> bool:
    """Whether `n` panels stand below each other: the figure, such as a column of a paper, is too
    narrow for a row of them, and high enough for a column."""
    width, height = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
    return bool(width < n * LEAST_WIDTH and height >= n * LEAST_HEIGHT)


def row(figure: Figure, n: int, *, shared: bool = False) -> list[Axes]:
    """`n` Axes beside each other, or in a column where that is too narrow; `shared` have the same
    ends."""
    shape = (n, 1) if is_column(figure, n) else (1, n)
    return [*figure.subplots(*shape, squeeze=False, sharex=shared, sharey=shared).flat]


def _new_figure(size: tuple[float, float], dpi: int, show: bool) -> Figure:
    """A Figure; one that pyplot knows only if a window is to be opened."""
    matplotlib()
    from pyspec.plot.canvas import Picture, kernel

    if show and kernel() is None:
        import matplotlib.pyplot as plt

        return plt.figure(FigureClass=Picture, figsize=size, layout="constrained", dpi=dpi)
    return Picture(figsize=size, layout="constrained", dpi=dpi)


def _show(figure: Figure) -> None:
    """In a notebook under the cell, elsewhere in a window, which is closed for good after it."""
    from pyspec.plot.canvas import Picture, kernel

    shell = kernel()
    if shell is not None:
        shell.display_pub.publish(*shell.display_formatter.format(figure))
        if isinstance(figure, Picture):
            figure.shown_in = shell.execution_count
        return
    import matplotlib.pyplot as plt

    if figure.canvas.manager is None or figure.canvas.required_interactive_framework is None:
        warnings.warn(
            "no window can be opened here; give save_path=, or keep the figure that is returned",
            stacklevel=stack_outside(),
        )
    else:
        plt.show()
    if not plt.isinteractive():
        plt.close(figure)
