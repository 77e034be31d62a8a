"""The basis functions of a model with free amplitudes, and what of it has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS
from pyspec.errors import ModelError
from pyspec.executor.linear.columns import (
    Column,
    Direct,
    Make,
    Planned,
    is_direct,
    numbers_for,
    operators,
    rest_of,
)
from pyspec.executor.linear.several import Several
from pyspec.executor.linear.values import Known, ParameterValues
from pyspec.model import Component, Measurement, Model, Par
from pyspec.model.free import allowed, free_parameters
from pyspec.model.windows import slice_of

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Basis functions that a model may have.
MOST = int(CONSTANTS["LINEAR_MOST"])


@dataclass(frozen=True, eq=False)
class Design:
    """A model at one theta. A group is one energy (spectra are free) or one time (traces are).

    Attributes
    ----------
    basis : (n_basis, n_groups or 1, n_x)
    slopes : (n_slopes, n_groups or 1, n_x), derivatives of these and of the offset
    slope_basis : (n_slopes,) of which basis function, -1: of the offset
    entry_slope, entry_theta : (n_entries,) which derivative takes part in that by which parameter
    factors : (n_groups or 1, n_entries) what it is multiplied with there
    offset : (n_groups or 1, n_x), the part without free amplitudes, or None
    """

    basis: Array
    slopes: Array
    slope_basis: Ints
    entry_slope: Ints
    entry_theta: Ints
    factors: Array
    offset: Array | None

    def combined(self, amplitudes: Array) -> Array:
        """(n_groups, n_x) the basis functions times amplitudes (n_groups, n_basis)."""
        if self.basis.shape[1] == 1:
            return np.asarray(amplitudes @ self.basis[:, 0])
        return np.asarray(np.einsum("gk,kgx->gx", amplitudes, self.basis))

    def model(self, amplitudes: Array) -> Array:
        """(n_groups, n_x) the model in units of the data."""
        total = self.combined(amplitudes)
        return total if self.offset is None else total + self.offset

    def change(self, amplitudes: Array, theta: int) -> Array:
        """(n_groups, n_x) derivative of the model by one parameter, amplitudes (n_groups,
        n_basis) held."""
        total = np.zeros((len(amplitudes), self.basis.shape[-1]))
        for e in np.flatnonzero(self.entry_theta == theta):
            s = self.entry_slope[e]
            share, k = self.factors[:, [e]], self.slope_basis[s]
            total += share * self.slopes[s] * (1.0 if k < 0 else amplitudes[:, [k]])
        return total


class Designer:
    """Evaluates the basis functions of a model over the window of a measurement."""

    def __init__(self, model: Model, measurement: Measurement, make: Make, direct: bool) -> None:
        self.model = model
        parameters = model.parameters
        self.free = free_parameters(parameters)
        #: One for all: what a model is made of are functions of energy, or of time.
        self.axis = next(par.free.axis for par in self.free.values() if par.free is not None)
        if len(self.free) > MOST:
            raise ModelError(
                f"{model.name}: has {len(self.free)} free amplitudes; {MOST} at most can be solved "
                "for at each " + self.axis
            )
        rows = slice_of(measurement.rows)
        columns = slice_of(measurement.columns)
        if model.energy is None or model.time is None:
            raise ModelError(
                f"{model.name}: amplitudes that are free along {self.axis} need an energy and a "
                "time axis; call model.set_axes(energy=..., time=...)"
            )
        energy, time = model.energy[columns], model.time[rows]
        #: The axes of groups and of the points of each.
        self.along, self.x = (energy, time) if self.axis == "energy" else (time, energy)
        self._values = ParameterValues(parameters, self.along if self.axis == "energy" else None)
        self.names = tuple(self._values.place)
        self._measurement, self.make, self._direct = measurement, make, direct
        self.columns: list[Column] = [self._column(par) for par in self.free.values()]
        self.rest: list[Column] = self._rest()
        self._make_room()
        kept = [allowed(par.free, self.along) for par in self.free.values() if par.free]
        #: (n_groups, n_basis) False where an amplitude is held at 0; None where none is.
        self.allowed = np.array(kept).T if not np.all(kept) else None
        positive = np.array(
            [par.free is not None and par.free.positive for par in self.free.values()]
        )
        self.positive = positive if positive.any() else None

    def at(self, theta: Array, fixed: Mapping[str, float]) -> Design:
        """The design at theta. Its arrays are those of the next one too."""
        known = self._values.at(theta, fixed, self._followers)
        entries: list[tuple[int, int, Any]] = []
        for column, begin, spread in self._rooms:
            found = column.fill(theta, fixed, known)
            for one, all_groups in spread:
                all_groups[:] = one
            entries += [(begin + s, place, factor) for s, place, factor in found]
        varies = any(np.ndim(factor) for _, _, factor in entries)
        factors = np.empty((self.along.size if varies else 1, len(entries)))
        for e, (_, _, factor) in enumerate(entries):
            factors[:, e] = factor
        return Design(
            self._basis,
            self._slopes,
            self._slope_basis,
            np.array([s for s, _, _ in entries], np.int64),
            np.array([place for _, place, _ in entries], np.int64),
            factors,
            self._extra.sum(axis=0) if len(self._extra) else None,
        )

    @property
    def room(self) -> tuple[int, int]:
        """How many rows the basis functions have, and how many derivatives there are."""
        return self._slopes.shape[1], len(self._slopes)

    def rest_at(self, theta: Array, fixed: Mapping[str, float]) -> dict[str, Array]:
        """The components that have an amplitude which is not free, one by one, (n_groups or 1,
        n_x); of one with free amplitudes too, what it is without these."""
        found = {}
        for component in rest_of(self.model):
            column = self._part(component, numbers_for(component, None))
            found[component.name] = np.empty((column.n_rows, self.x.size))
            slopes = np.empty((column.n_slopes, column.n_rows, self.x.size))
            column.take_room(found[component.name], slopes)
            column.fill(theta, fixed, self._values.at(theta, fixed, column.followers))
        return found

    def values_at(self, theta: Array, fixed: Mapping[str, float], names: Iterable[str]) -> Known:
        """Parameters by name, with their slopes by places in theta."""
        return self._values.at(theta, fixed, self._values.needed(names))

    def _make_room(self) -> None:
        """Memory for the basis functions, the parts beside them, and all their derivatives."""
        columns = self._all = [*self.columns, *self.rest]
        names = {name for column in columns for name in column.followers}
        self._followers = self._values.needed(names)
        n_rows = max(column.n_rows for column in columns)
        self._basis = np.empty((len(self.columns), n_rows, self.x.size))
        self._extra = np.empty((len(self.rest), n_rows, self.x.size))
        counts = [column.n_slopes for column in columns]
        self._slopes = np.empty((sum(counts), n_rows, self.x.size))
        order = [*range(len(self.columns)), *([-1] * len(self.rest))]
        self._slope_basis = np.repeat(np.array(order, np.int64), counts)
        values = [*self._basis, *self._extra]
        ends = pairwise(accumulate(counts, initial=0))
        self._rooms = [
            (column, begin, self._room(column, value, self._slopes[begin:end]))
            for column, value, (begin, end) in zip(columns, values, ends, strict=True)
        ]

    @staticmethod
    def _room(column: Column, value: Array, slopes: Array) -> list[tuple[Array, Array]]:
        """Gives a column its room. Where it is the same for all groups, beside others that differ,
        that is room of its own: pairs of this and of what it is copied to."""
        if column.n_rows == len(value):
            column.take_room(value, slopes)
            return []
        one, few = np.empty((1, value.shape[-1])), np.empty((len(slopes), 1, value.shape[-1]))
        column.take_room(one, few)
        return [(one, value), (few, slopes)]

    @property
    def is_direct(self) -> bool:
        """Whether every part of the model is a function on its own."""
        return all(isinstance(column, (Direct, Several)) for column in self._all)

    def _column(self, par: Par) -> Column:
        component = next(c for c in self.model.components if par in c.parameters)
        return self._part(component, numbers_for(component, par))

    def _rest(self) -> list[Column]:
        components = rest_of(self.model)
        if not components:
            return []
        if all(self._is_direct(component) for component in components):
            return [self._part(one, numbers_for(one, None)) for one in components]
        above = {id(one): one for own in components for one in operators(self.model, own)}
        wanted = {*above, *(id(component) for component in components)}
        kept = [component for component in self.model.components if id(component) in wanted]
        numbers: dict[str, float] = {}
        for component in components:
            numbers |= numbers_for(component, None)
        return [self._planned(kept, numbers)]

    def _is_direct(self, component: Component) -> bool:
        return self._direct and is_direct(self.model, component)

    def _part(self, component: Component, numbers: Mapping[str, float]) -> Column:
        above = operators(self.model, component)
        if self._is_direct(component):
            if len(above) > 1:  # the Gaussians of one instrument
                return Several(self._values, self.x, component, above, numbers, self.along.size)
            instrument = above[0] if above else None
            return Direct(self._values, self.x, component, instrument, numbers, self.along.size)
        return self._planned([*above, component], numbers)

    def _planned(self, components: list[Component], numbers: Mapping[str, float]) -> Column:
        names = [
            par.name for one in components for par in one.parameters if par.name not in numbers
        ]
        dispersed = next((name for name in names if self._values.disperses(name)), None)
        if dispersed is not None:
            raise ModelError(
                f"{self.model.name}: {dispersed} depends on the energy; this needs the compiled "
                "backend, and laws or formulas with gaussIRF, measuredIRF or no instrument"
            )
        return Planned(self.model, components, numbers, self._measurement, self.make)
