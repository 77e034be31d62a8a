"""The basis functions of a model with free amplitudes, and what of it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec.errors import ModelError
from pyspec.executor.amplitudes.basis import Basis, bases_of, in_plans
from pyspec.model import Measurement
from pyspec.model.build.check import free_names, resolution_order
from pyspec.model.build.free import allowed, free_parameters
from pyspec.model.data.windows import slice_of
from pyspec.model.tree import ENERGY
from pyspec.plan import CompiledModel
from pyspec.plan.basis import REST, rest_plans
from pyspec.plan.following import Following

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A value, a number or (n_energy,), and its slopes by places in theta.
Valued: TypeAlias = tuple[Any, dict[int, Any]]


@dataclass(frozen=True, eq=False)
class Design:
    """A model at one theta. A group is one energy (spectra are free) or one time (traces are).

    Attributes
    ----------
    basis : (n_basis, n_groups or 1, n_x)
    slopes : (n_slopes, n_groups or 1, n_x), derivatives of these and of the rest
    slope_basis : (n_slopes,) of which basis function, -1: of the rest
    entry_slope, entry_theta : (n_entries,) which derivative takes part in that by which parameter
    factors : (n_groups or 1, n_entries) what it is multiplied with there
    rest : (n_rest, n_groups or 1, n_x), parts without free amplitudes, which add up
    """

    basis: Array
    slopes: Array
    slope_basis: Ints
    entry_slope: Ints
    entry_theta: Ints
    factors: Array
    rest: Array

    def model(self, amplitudes: Array) -> Array:
        """(n_groups, n_x) the model in units of the data, with amplitudes (n_groups, n_basis)."""
        if self.basis.shape[1] == 1:
            combined = amplitudes @ self.basis[:, 0]
        else:
            combined = np.einsum("gk,kgx->gx", amplitudes, self.basis)
        return np.asarray(combined + self.rest.sum(axis=0))

    def change(self, amplitudes: Array, theta: int) -> Array:
        """(n_groups, n_x) derivative of the model by one parameter, amplitudes (n_groups,
        n_basis) held."""
        total = np.zeros((len(amplitudes), self.basis.shape[-1]))
        for e in np.flatnonzero(self.entry_theta == theta):
            s = self.entry_slope[e]
            share, k = self.factors[:, [e]], self.slope_basis[s]
            total += share * self.slopes[s] * (1.0 if k < 0 else amplitudes[:, [k]])
        return total


class Source(NamedTuple):
    """Bases that fill a part of a design. `gather` locates their parameters in theta. `places`
    tells which of all basis functions they make, and `points` at which points."""

    bases: Sequence[Basis]
    gather: Ints
    places: Ints
    points: slice

    @property
    def n_slopes(self) -> int:
        """Derivatives that they fill."""
        return sum(len(basis.slopes) for basis in self.bases)


class Designer:
    """The basis functions of a model over the window of a measurement, in one of the backends."""

    def __init__(self, compiled: CompiledModel, measurement: Measurement, backend: str) -> None:
        self.compiled, self.model, self.backend = compiled, compiled.model, backend
        model = self.model
        parameters = model.parameters
        self.free = free_parameters(parameters)
        #: One for all: what a model is made of are functions of energy, or of time.
        self.axis = next(par.free.axis for par in self.free.values() if par.free is not None)
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
        self.names = free_names(parameters)
        self._measurement = measurement
        entries = [par.free for par in self.free.values() if par.free is not None]
        #: (n_groups, n_basis) False where an amplitude is held at 0; (n_basis,) which have a bound.
        self.allowed = np.array([allowed(entry, self.along) for entry in entries]).T
        self.positive = np.array([entry.positive for entry in entries])

    def bases(self) -> list[Basis]:
        """What evaluates the basis functions; each call makes it anew."""
        return bases_of(self.compiled, self._measurement, self.backend)

    def rest_at(self, theta: Array, fixed: Mapping[str, float]) -> dict[str, Array]:
        """The components with an amplitude that is not free, one by one, (n_groups or 1, n_x). A
        component with free amplitudes too is returned without these."""
        plans, names = rest_plans(self.compiled.graph)
        plans = tuple(plan.placed(self.model, self.model.parameters) for plan in plans)
        components: dict[str, Array] = {}
        backend = "interpreted" if self.backend == "tree" else self.backend
        for basis in in_plans(plans, self.model, self._measurement, backend):
            values = np.empty((len(basis.of), basis.n_rows, self.x.size))
            slopes = np.empty((len(basis.slopes), *values.shape[1:]))
            basis.take_room([*values], [*slopes], np.empty((basis.factor_rows, n_entries(basis))))
            basis.fill(theta, fixed)
            components |= {names[k]: value for k, value in zip(basis.of, values, strict=True)}
        return components

    def values_at(self, theta: Array, fixed: Mapping[str, float]) -> dict[str, Valued]:
        """Name → the value of a parameter, with its slopes by places in theta."""
        parameters = self.model.parameters
        values_by_name: dict[str, Any] = {
            name: np.float64(par.value) for name, par in parameters.items()
        }
        values_by_name |= {**fixed, **dict(zip(self.names, theta, strict=True))}
        if self.axis == "energy":
            values_by_name[ENERGY] = self.along
        following = Following.of(parameters, [par.name for par in resolution_order(parameters)])
        place = {name: k for k, name in enumerate(self.names)}
        valued: dict[str, Valued] = {name: (value, {}) for name, value in values_by_name.items()}
        valued |= {name: (values_by_name[name], {k: 1.0}) for name, k in place.items()}
        values, gradients = following.columns(values_by_name), following.gradients(values_by_name)
        for name, by_leaf in gradients.items():
            slopes = {place[leaf]: slope for leaf, slope in by_leaf.items() if leaf in place}
            valued[name] = values[name], slopes
        return valued


def design_of(sources: Sequence[Source], n_basis: int, n_x: int) -> Design:
    """The design that sources fill: memory for the basis functions, the rest, and all their
    derivatives; zeros where a source has none."""
    bases = [source_basis for source in sources for source_basis in source.bases]
    n_rows = max(source_basis.n_rows for source_basis in bases)
    n_rest = max(sum(k == REST for b in source.bases for k in b.of) for source in sources)
    slopes = np.zeros((sum(source.n_slopes for source in sources), n_rows, n_x))
    factors = np.empty(
        (max(source_basis.factor_rows for source_basis in bases), sum(map(n_entries, bases)))
    )
    basis, rest = np.zeros((n_basis, n_rows, n_x)), np.zeros((n_rest, n_rows, n_x))
    kinds: list[int] = []
    entries: list[tuple[int, int]] = []
    for source in sources:
        extra = iter(rest)
        for source_basis in source.bases:
            of = [REST if k == REST else int(source.places[k]) for k in source_basis.of]
            values = [next(extra) if k == REST else basis[k] for k in of]
            own = slopes[len(kinds) : len(kinds) + len(source_basis.slopes)]
            share = factors[:, len(entries) : len(entries) + n_entries(source_basis)]
            entries += [
                (len(kinds) + s, int(source.gather[theta]))
                for s, slope in enumerate(source_basis.slopes)
                for _, theta in slope.parts
            ]
            kinds += [of[slope.result] for slope in source_basis.slopes]
            rooms, slopes_of = ([a[:, source.points] for a in many] for many in (values, own))
            source_basis.take_room(rooms, slopes_of, share)
    pairs = np.array(entries, np.int64).reshape(-1, 2)
    order = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    return Design(basis, slopes, np.array(kinds, np.int64), *order, factors, rest)


def n_entries(basis: Basis) -> int:
    """Pairs of a derivative and a parameter of theta."""
    return sum(len(slope.parts) for slope in basis.slopes)
