"""plot_sliders: a model beside its data, with a slider for each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from pyspec.calls import answered, real_array
from pyspec.errors import CallError
from pyspec.model import Measurement, Model
from pyspec.model.source import source_of
from pyspec.plot.config import Look, PlotConfig
from pyspec.plot.dark import STYLE as DARK
from pyspec.plot.dark import is_dark, lighten
from pyspec.plot.figure import matplotlib
from pyspec.plot.labels import labelled
from pyspec.plot.look import config_of
from pyspec.plot.sliders.state import Moved, Sliders
from pyspec.plot.style import STYLE, PlotError

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Moved", "Sliders", "opened_sliders", "plot_sliders"]

#: What a person reads where there is no display.
NO_WINDOW = (
    "no window can be opened here; sliders work in a notebook, and where matplotlib opens windows "
    "(with PyQt6, PySide6 or Tk installed)"
)


@answered
def plot_sliders(
    model: Model,
    measurement: Measurement | npt.ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    show: bool = True,
    **options: Unpack[Look],
) -> Sliders:
    """Opens a window, or in a notebook a box under the cell, with data, model and one slider for
    each free parameter: to find start values, and to see what a parameter does.

    The curves follow the sliders, and `model` takes their values: a fit afterwards starts there.
    *fit* fits from where the sliders are, *reset* moves them back. A series shows one spectrum and
    one trace, whose places have sliders of their own. Free spectra are the best ones for
    the present values of the others. In a script the call returns when the window is closed.

    Parameters
    ----------
    model : on its axes
    measurement : data, window, weights, or an array of data; None draws the model alone
    names : the parameters that get sliders, fixed ones too; None: the free ones
    show : whether to show it; without, `sliders.figure` can be shown or saved later
    options : fields of :class:`pyspec.plot.PlotConfig` by name, such as `x_label`

    Raises
    ------
    PlotError
        without matplotlib; in a notebook without ipywidgets; where no window can be opened; for
        data by reference, an unknown name, or free spectra without data
    """
    given: object = model
    if not isinstance(given, Model):
        raise CallError(f"plot_sliders takes a model, not {type(given).__name__}")
    if measurement is not None and not isinstance(measurement, Measurement):
        measurement = Measurement(real_array("data", measurement))
    moved = Moved(model.copy(), measurement, model.set_values)
    return opened_sliders(moved, names, show, options)


def opened_sliders(moved: Moved, names: Sequence[str] | None, show: bool, options: Look) -> Sliders:
    """The sliders of what is given, in a window or a notebook; see :func:`plot_sliders`."""
    model, measurement = moved.model, moved.measurement
    if model.energy is None and model.time is None:
        raise PlotError(f"{model.name} has no axes; model.set_axes(energy=..., time=...)")
    if measurement is not None and source_of(measurement.data) is not None:
        raise PlotError(
            "sliders need the data in memory; give a part of them, np.asarray(data[...])"
        )
    for what in {"ax", "fig", "save_path", "figsize"} & set(options):
        raise PlotError(f"sliders have a figure of their own; leave {what}= out")
    look = labelled(measurement, config_of(options, over_time=model.energy is None))
    sliders = Sliders(moved, names, look)
    _open(sliders, look, show)
    return sliders


def _open(sliders: Sliders, look: PlotConfig, show: bool) -> None:
    """Draws them where this session can show them."""
    on_dark = is_dark(matplotlib().rcParams["figure.facecolor"])
    with matplotlib().rc_context({**STYLE, **(DARK if on_dark else {})}):
        from pyspec.plot.canvas import kernel
        from pyspec.plot.sliders.notebook import Notebook
        from pyspec.plot.sliders.window import Window

        if kernel() is not None:
            from matplotlib.figure import Figure

            sliders.figure = Figure(layout="constrained", dpi=look.dpi_plot)
            sliders.face = Notebook(sliders, sliders.figure)
        else:
            import matplotlib.pyplot as plt

            try:
                sliders.figure = plt.figure(layout="constrained", dpi=look.dpi_plot)
            except ImportError as error:  # a backend that finds no display, or not its package
                raise PlotError(f"{NO_WINDOW}: {error}") from None
            sliders.face = Window(sliders, sliders.figure)
        if on_dark:
            lighten(sliders.figure.findobj())
            sliders.face.follow()
    if show:
        _show(sliders)


def _show(sliders: Sliders) -> None:
    if sliders.box is not None:
        sliders._ipython_display_()
        return
    import matplotlib.pyplot as plt

    if sliders.figure.canvas.required_interactive_framework is None:
        plt.close(sliders.figure)
        raise PlotError(f"{NO_WINDOW}: the backend of matplotlib only writes files")
    plt.show()
