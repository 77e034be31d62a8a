"""Sliders: a model beside its data, moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.calls import answered, real
from pyspec.errors import suggest
from pyspec.fit import FitResult, fit_model
from pyspec.fit.backend import make_problem
from pyspec.fit.components import component_curves
from pyspec.fit.problem import FitProblem
from pyspec.model import Measurement, Model, Par
from pyspec.plot.config import PlotConfig
from pyspec.plot.labels import place_text, unit_of, with_unit
from pyspec.plot.sliders.panels import ENERGY, TIME, Panel
from pyspec.plot.sliders.reach import reaches
from pyspec.plot.style import PlotError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Moved:
    """What sliders move: a model on its axes, its data or None, who takes the values too, and who
    fits when the button is pressed."""

    model: Model
    measurement: Measurement | None
    taker: Callable[[Mapping[str, float]], None]
    fitter: Callable[[Model, Measurement], FitResult] = fit_model


@answered
class Sliders:
    """The picture of :func:`pyspec.plot.plot_sliders`, and what its sliders say.

    Attributes
    ----------
    figure : the matplotlib Figure
    face : the widgets: of matplotlib in a window, of ipywidgets in a notebook
    reaches : name → (lowest, highest) value of its slider
    values : name → value of each parameter that has a slider
    result : the last fit that was started here, or None
    """

    def __init__(self, moved: Moved, names: Sequence[str] | None, look: PlotConfig) -> None:
        self._moved, self._look = moved, look
        self._names = _chosen(moved.model, names)
        self._began = {
            name: par.value
            for name, par in moved.model.parameters.items()
            if par.formula is None and par.free is None
        }
        data = None if moved.measurement is None else moved.measurement.data
        self._data = None if data is None else _shown(moved.measurement)
        self.reaches = reaches(moved.model, self._names, self._data)
        self._problem = _problem_of(moved)
        self.result: FitResult | None = None
        self.figure: Any = None
        self.face: Any = None
        self.is_shown = False
        self._spectrum: Panel | None = None
        self._trace: Panel | None = None
        self._said = ""
        self.row, self.column = _places(self._seen(), moved.measurement or Measurement())
        self._faces: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<Sliders of {self._moved.model.name}: {', '.join(self._names)}>"

    def _ipython_display_(self) -> None:
        """Shows the box of a notebook, but once."""
        if self.box is None:
            raise NotImplementedError  # IPython's sign for: show it by another method
        if not self.is_shown:
            from IPython.display import display

            display(self.box)  # type: ignore[no-untyped-call]
            self.is_shown = True

    @property
    def box(self) -> Any:
        """The widget of a notebook; None in a window."""
        return getattr(self.face, "box", None)

    # values

    @property
    def values(self) -> dict[str, float]:
        """Name → value of each parameter that has a slider."""
        parameters = self._moved.model.parameters
        return {name: parameters[name].value for name in self._names}

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that have a slider."""
        return self._names

    def set_values(self, values: Mapping[str, float]) -> None:
        """Moves sliders; the model takes the values. Raises :class:`PlotError` for a value outside
        of the bounds, or a name without a slider, and then nothing moves."""
        numbers = {}
        for name, value in values.items():
            par = self._par(name)
            numbers[name] = float(real(name, value))
            if not par.min <= numbers[name] <= par.max:
                raise PlotError(
                    f"{name} = {numbers[name]:g} lies outside of its bounds, {par.min:g} to "
                    f"{par.max:g}; model.set({name!r}, min=..., max=...) sets others"
                )
        self._take(numbers)

    def reset(self) -> None:
        """Moves all sliders back to where they began, and parameters without a slider that a fit
        has changed."""
        self._take(self._began)

    def _take(self, values: Mapping[str, float]) -> None:
        """The model takes these values, and the taker all that it then has: after a baseline its
        own may be others."""
        own = self._moved.model
        own.set_values({name: values[name] for name in values if name in own.parameters})
        self._moved.taker({name: own.parameters[name].value for name in self._began})
        self._said = ""
        self.refresh()

    def fit(self, **options: Any) -> FitResult:
        """Fits from where the sliders are, and moves them to what was found; options as of
        :func:`pyspec.fit_model`. Raises :class:`PlotError` without data."""
        moved = self._moved
        if moved.measurement is None:
            raise PlotError("there are no data to fit; give plot_sliders(model, measurement)")
        result = moved.fitter(moved.model, moved.measurement, **options)
        found = {name: result.values[name] for name in result.free_names}
        self.result = result
        self._take(found)
        self._said = "" if result.success else f"not a success: {result.message}"
        self._write()
        return result

    def look_at(self, *, row: int | None = None, column: int | None = None) -> None:
        """Shows another spectrum of a series, another trace: the row and column of the data."""
        if self._trace is None:
            raise PlotError("there is one spectrum; row and column are those of a series")
        shape = self._shape()
        for what, given, size in (("row", row, shape[0]), ("column", column, shape[1])):
            if given is not None and not -size <= given < size:
                raise PlotError(f"{what} {given} does not exist; there are {size}, 0 to {size - 1}")
        self.row = self.row if row is None else row % shape[0]
        self.column = self.column if column is None else column % shape[1]
        self.refresh()

    def _par(self, name: str) -> Par:
        if name not in self._names:
            raise PlotError(f"{name!r} has no slider{suggest(name, list(self._names))}")
        return self._moved.model.parameters[name]

    # the picture

    @property
    def is_series(self) -> bool:
        """Whether there is a trace beside the spectrum."""
        return self._moved.model.dimension == 2

    @property
    def has_data(self) -> bool:
        """Whether there is something to fit."""
        return self._moved.measurement is not None

    def places(self) -> list[tuple[str, int, int]]:
        """(what, how many, which) of the rows and columns that can be looked at."""
        if not self.is_series:
            return []
        shape = self._shape()
        return [("row", shape[0], self.row), ("column", shape[1], self.column)]

    def draw_on(self, figure: Any) -> None:
        """Draws the panels into an empty Figure or SubFigure."""
        model, look = self._moved.model, self._look
        given = self._moved.measurement or Measurement()
        left, right = (figure, None)
        if look.title:
            figure.suptitle(look.title, ha="left", x=0.01, fontsize=10.5)
        if self.is_series:
            left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1.0])
            look = look.copy(hlines=None)
        along = ENERGY if model.energy is not None else TIME
        axis = model.energy if model.energy is not None else model.time
        assert axis is not None
        has = {"has_data": self.has_data}
        self._spectrum = Panel(left, axis, given.columns or (0, axis.size), along, look, **has)
        if right is not None:
            assert model.time is not None
            rows = given.rows or (0, model.time.size)
            look = look.copy(vlines=self._look.hlines)
            self._trace = Panel(right, model.time, rows, TIME, look, **has)
        self.refresh()

    def on_change(self, face: Callable[[], None]) -> None:
        """Calls `face` whenever values or curves have changed."""
        self._faces.append(face)

    def refresh(self) -> None:
        """Draws the curves at the values of the model."""
        model = self._moved.model
        theta = self._point()
        with np.errstate(all="ignore"):
            if self._problem is None:
                whole = np.asarray(model.evaluate())
            else:
                whole = self._problem.run(theta, whole=True)
            is_solved = any(par.free is not None for par in model.parameters.values())
            apart = model.energy is not None and not is_solved
            parts = component_curves(model, self.row) if apart else {}
        if len(parts) < 2:
            parts = {}
        assert self._spectrum is not None
        if self._trace is None:
            self._spectrum.draw("", self._data, whole, parts)
        else:
            row, column, data = self.row, self.column, self._data
            given = (None, None) if data is None else (data[row], data[:, column])
            self._spectrum.draw(self._at(TIME), given[0], whole[row], parts)
            self._trace.draw(self._at(ENERGY), given[1], whole[:, column], {})
        self._write()

    def label_sizes(self) -> list[float]:
        """The widths of the numbers at the axes of all panels, for the layout."""
        panels = [panel for panel in (self._spectrum, self._trace) if panel is not None]
        return [size for panel in panels for size in panel.label_sizes()]

    def text(self) -> str:
        """What stands above: how well the curves fit, or what went wrong."""
        return self._said or self._text(self._point())

    def _write(self) -> None:
        for face in self._faces:
            face()

    def _at(self, along: str) -> str:
        """ "spectrum at 0.5 ps"."""
        model = self._moved.model
        axis, index = (model.time, self.row) if along == TIME else (model.energy, self.column)
        assert axis is not None
        what = "spectrum" if along == TIME else "trace"
        unit = unit_of(self._moved.measurement, along)
        return f"{what} at {with_unit(place_text(axis[index], axis, 6), unit)}"

    def _text(self, theta: Array) -> str:
        problem = self._problem
        if problem is None:
            return ""
        chisqr = problem.chisqr_at(theta)
        n_free = max(problem.n_points - len(problem.names) - problem.n_linear, 1)
        return f"χ² = {chisqr:.6g},  χ² / (n − k) = {chisqr / n_free:.4g}"

    def _point(self) -> Array:
        """Free values in the order of the plan; the problem takes the fixed ones."""
        problem = self._problem
        if problem is None:
            return np.empty(0)
        values = {
            name: par.value
            for name, par in self._moved.model.parameters.items()
            if par.formula is None and par.free is None
        }
        problem.fixed = {name: values[name] for name in values if name not in problem.names}
        return problem.theta_of(values)

    def _seen(self) -> Array:
        """The data, or without them the model where it begins."""
        if self._data is not None:
            return self._data
        with np.errstate(all="ignore"):
            return np.asarray(self._moved.model.evaluate())

    def _shape(self) -> tuple[int, int]:
        model = self._moved.model
        assert model.time is not None
        assert model.energy is not None
        return model.time.size, model.energy.size


def _problem_of(moved: Moved) -> FitProblem | None:
    """What says how the model fits; None without data."""
    if moved.measurement is not None:
        return make_problem(moved.model, moved.measurement, None)
    if any(par.free is not None for par in moved.model.parameters.values()):
        raise PlotError(
            f"{moved.model.name} has amplitudes that are free at each energy or time, which are "
            "solved for by data; give plot_sliders(model, measurement)"
        )
    return None


def _chosen(model: Model, names: Sequence[str] | None) -> tuple[str, ...]:
    """The parameters that get sliders: the free ones, or those that are named."""
    parameters = {name: par for name, par in model.parameters.items() if par.free is None}
    if isinstance(names, str):
        names = [names]
    if names is None:
        chosen = tuple(name for name, par in parameters.items() if par.vary and par.formula is None)
        if not chosen:
            raise PlotError(f"{model.name} has no free parameter; names=[...] takes fixed ones")
        return chosen
    for name in names:
        if name not in parameters:
            raise PlotError(f"{model.name} has no {name!r}{suggest(name, list(parameters))}")
        formula = parameters[name].formula
        if formula is not None:
            raise PlotError(f"{name} follows {formula.text!r}; give {' or '.join(formula.names)}")
    if not names:
        raise PlotError("names is empty; leave it out for all free parameters")
    return tuple(dict.fromkeys(names))


def _shown(measurement: Measurement | None) -> Array:
    """The data, NaN where they are masked."""
    assert measurement is not None
    data = np.asarray(measurement.data, dtype=np.float64)
    return data if measurement.keep is None else np.where(measurement.keep, data, np.nan)


def _places(data: Array, measurement: Measurement) -> tuple[int, int]:
    """(row, column) to begin with: the spectrum and the trace where the data change most."""
    if data.ndim != 2:
        return 0, 0
    rows, columns = slice(*(measurement.rows or (None,))), slice(*(measurement.columns or (None,)))
    part = data[rows, columns]
    finite = np.isfinite(part)
    part = np.where(finite, part, part[finite].mean() if finite.any() else 0.0)
    change, by_time = np.abs(part - part.mean()), np.abs(part - np.median(part, axis=0))
    row, column = int(np.argmax(change.sum(axis=1))), int(np.argmax(by_time.sum(axis=0)))
    return row + (rows.start or 0), column + (columns.start or 0)
