"""What scripts of trspecfit ask of a Model and of its components.

No object of these classes is made: :mod:`pyspec.trspecfit` gives their names to their base classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import row_of, say
from pyspec.errors import DataError, ModelError, shortened
from pyspec.fit.results.components import background_curve, component_curves, component_traces
from pyspec.ir import build_graph
from pyspec.ir.dot import to_dot
from pyspec.model import Component, Model
from pyspec.plot import PlotConfig, plot_model_1d, plot_model_2d
from pyspec.plot.config import PlotOptions
from pyspec.plot.elements.labels import place_text
from pyspec.plot.figures.model import draw_curves, time_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

RENDERINGS = ("graphviz", "string")


def image_path(save_img: int | None, save_path: str | Path, name: str) -> Path | None:
    """Where a picture goes: the file `save_path`, or `name` in that folder; None where it is not
    to be written, with a `save_img` of 0, or without both."""
    if save_img == 0 or (save_img is None and not save_path):
        return None
    path = Path(save_path or ".")
    return path if path.suffix else path / f"{name}.png"


class ModelNames(Model):
    """Names that a Model gets."""

    #: What :meth:`create_value_1d` and :meth:`create_value_2d` left, and curves of components.
    value_1d: Array | None = None
    value_2d: Array | None = None
    component_spectra: Sequence[Array] = ()

    @property
    def parameter_names(self) -> list[str]:
        """The names of all parameters, in file order."""
        return list(self.parameters)

    @property
    def aux_axis(self) -> Array | None:
        """The auxiliary axis of profiles."""
        return self.aux

    @property
    def dim(self) -> int:
        """2 where a parameter moves in time, else 1."""
        return 2 if any(par.dynamics is not None for par in self.parameters.values()) else 1

    def find_par_by_name(self, par_name: str) -> tuple[int | None, int | None]:
        """(place of the component, place of the parameter in its `pars`); (None, None) for a name
        that belongs to none of them."""
        for place, component in enumerate(self.components):
            for k, par in enumerate(component.pars):
                if par is not None and par.name == par_name:
                    return place, k
        return None, None

    def create_value_1d(
        self, t_ind: int = 0, *, store_1d: int = 0, return_1d: int = 0
    ) -> Array | None:
        """The spectrum of the row `t_ind` into `value_1d`, (n_energy,); with `return_1d` it is
        returned too. `store_1d` puts what each component adds into `component_spectra`."""
        value = np.asarray(self.evaluate())
        self.value_1d = value[row_of("t_ind", t_ind, len(value))] if value.ndim == 2 else value
        if store_1d:
            self.component_spectra = list(self.component_curves(t_ind).values())
        return self.value_1d if return_1d else None

    def create_value_2d(self, t_ind: Sequence[int] | None = None) -> None:
        """The spectra into `value_2d`, (n_time, n_energy); `t_ind` is (begin, end), some rows.

        Raises :class:`DataError` without both axes, and for a `t_ind` that is no pair.
        """
        if self.dimension != 2:
            raise DataError("a model has times with both axes; set_axes(energy=..., time=...)")
        value = np.asarray(self.evaluate())
        if t_ind is not None and len(t_ind) != 2:
            raise DataError(f"t_ind is {shortened(t_ind)}; give (begin, end), or None")
        self.value_2d = value if t_ind is None else value[slice(*t_ind)]

    def component_curves(self, t_ind: int = 0) -> dict[str, Array]:
        """Name → (n_energy,) what each component adds to the spectrum of the row `t_ind`, in file
        order; they sum to it."""
        return component_curves(self, t_ind)

    def plot_1d(
        self,
        t_ind: int = 0,
        *,
        plot_sum: bool = True,
        x_lim: tuple[float, float] | None = None,
        y_lim: tuple[float, float] | None = None,
        save_img: int | None = None,
        save_path: str | Path = "",
        config: PlotConfig | None = None,
        **options: Any,
    ) -> Figure:
        """Draws the spectrum of the row `t_ind`, or without `plot_sum` its components; returns the
        Figure.

        `x_lim` are energies, `y_lim` intensities. The picture is written to `save_path`, a file or
        a folder; with a `save_img` of 0 it is not, with any other the folder is this one by
        default. Options as of :func:`pyspec.plot.plot_data`.
        """
        self.create_value_1d(t_ind)
        path = image_path(save_img, save_path, f"{self.name}_1d")
        look = {"x_lim": x_lim, "z_lim": y_lim, "config": config, "save_path": path, **options}
        return plot_model_1d(self, t_ind, plot_sum, **look)

    def plot_2d(
        self,
        save_img: int | None = None,
        save_path: str | Path = "",
        x_lim: tuple[float, float] | None = None,
        y_lim: tuple[float, float] | None = None,
        z_lim: tuple[float, float] | None = None,
        config: PlotConfig | None = None,
        **options: Any,
    ) -> Figure:
        """Draws the spectra as a map over energy and time; returns the Figure. `y_lim` are times,
        `z_lim` intensities; see :meth:`plot_1d`."""
        limits = {"x_lim": x_lim, "y_lim": y_lim, "z_lim": z_lim}
        self.create_value_2d()
        path = image_path(save_img, save_path, f"{self.name}_2d")
        return plot_model_2d(self, **{**limits, "config": config, "save_path": path, **options})

    def visualize(
        self, *, rendering: str = "graphviz", collapse_profiles: bool = True
    ) -> str | None:
        """Shows which value feeds which, as a graph.

        `rendering` "string" prints and returns it in the DOT language; "graphviz" (the package of
        that name) shows it as a picture, or without the package does the same as "string".
        `collapse_profiles` has no effect, a profile is always one node; scripts of trspecfit give
        it.
        """
        if rendering not in RENDERINGS:
            raise ModelError(f"rendering is {' or '.join(RENDERINGS)}, not {rendering!r}")
        text = to_dot(build_graph(self))
        if rendering == "graphviz" and _shown(text):
            return None
        say(text)
        return text


def _shown(text: str) -> bool:
    """Whether a graph could be shown as a picture in a notebook."""
    from importlib import import_module

    try:
        graphviz, shell = import_module("graphviz"), import_module("IPython.display")
        shell.display(graphviz.Source(text))
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def owner_of(component: Component) -> Model:
    """The model of a component. Raises :class:`ModelError` where it belongs to none."""
    if not isinstance(component.owner, Model):
        raise ModelError(
            f"{component.name} belongs to no model with axes; ask one of model.components"
        )
    return component.owner


class ComponentNames(Component):
    """Names that a Component gets."""

    @property
    def comp_name(self) -> str:
        """The name of the component."""
        return self.name

    @property
    def fct_str(self) -> str:
        """The name of its function."""
        return self.function

    @property
    def parent_model(self) -> object:
        """The model that it belongs to, None before it does."""
        return self.owner

    @property
    def energy(self) -> Array | None:
        """The energy axis of its model."""
        return self.owner.energy if isinstance(self.owner, Model) else None

    @property
    def time(self) -> Array | None:
        """The time axis of its model."""
        return self.owner.time if isinstance(self.owner, Model) else None

    @property
    def aux_axis(self) -> Array | None:
        """The auxiliary axis of its model."""
        return self.owner.aux if isinstance(self.owner, Model) else None

    def value(self, t_ind: int = 0, *, spectrum: npt.ArrayLike | None = None) -> Array:
        """(n_energy,) what the component adds at the row `t_ind`, with the values of its model; a
        background at rest reads `spectrum`, by default what stands below it."""
        owner = owner_of(self)
        if spectrum is not None:
            return background_curve(owner, self.name, spectrum)
        return component_curves(owner, t_ind)[self.name]

    def plot(
        self,
        t_ind: int = 0,
        *,
        plot_traces: bool = True,
        plot_every: int = 1,
        plot_max: int | None = None,
        save_img: int | None = None,
        save_path: str | Path = "",
        config: PlotConfig | None = None,
        plot_kwargs: PlotOptions | None = None,
        spectrum: npt.ArrayLike | None = None,
        **options: Any,
    ) -> Figure:
        """Draws the component alone at the row `t_ind`, with the values of its model; returns the
        Figure.

        Parameters
        ----------
        plot_traces : of a component with a profile, one curve for each point of the auxiliary axis
            (every `plot_every`-th, at most `plot_max`) rather than their average
        spectrum : (n_energy,) what a background reads; by default what stands below it
        save_img, save_path, config : as of :meth:`ModelNames.plot_1d`
        plot_kwargs, options : fields of PlotConfig

        Raises :class:`ModelError` for a component of no model, :class:`DataError` without axes.
        """
        owner = owner_of(self)
        if plot_every < 1 or (plot_max is not None and plot_max < 1):
            raise DataError("plot_every and plot_max are whole numbers from 1 on")
        if self.op.kind == "RESOLUTION":
            raise DataError(f"{self.name} adds nothing of its own; plot what stands below it")
        along = component_traces(owner, self.name) if plot_traces else None
        if spectrum is None and along is not None:
            assert owner.aux is not None
            chosen = range(0, len(along), plot_every)[:plot_max]
            places = {k: place_text(owner.aux[k], owner.aux, 4) for k in chosen}
            curves = {f"{self.name} at {place}": along[k] for k, place in places.items()}
        else:
            curves = {self.name: self.value(t_ind, spectrum=spectrum)}
        title = f"{self.name} ({self.op.name}){time_text(owner, t_ind)}"
        path = image_path(save_img, save_path, self.name)
        look: Any = {"config": config, "save_path": path, **(plot_kwargs or {}), **options}
        return draw_curves(owner, curves, title, look)
