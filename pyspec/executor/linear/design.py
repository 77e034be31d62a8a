"""The basis functions of a model with free amplitudes, and what of it has none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pyspec._library import CONSTANTS
from pyspec.errors import ModelError
from pyspec.executor.linear.basis import Basis, InC, bases_of, in_plans
from pyspec.executor.linear.values import Known, ParameterValues
from pyspec.executor.team import Team, at_work, threads_for
from pyspec.model import Measurement
from pyspec.model.free import allowed, free_parameters
from pyspec.model.windows import slice_of
from pyspec.plan import CompiledModel
from pyspec.plan.basis import REST, is_pointwise, rest_plans

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
    """Evaluates the basis functions of a model over the window of a measurement, in one of the
    backends."""

    def __init__(self, compiled: CompiledModel, measurement: Measurement, backend: str) -> None:
        self.compiled, self.model, self.backend = compiled, compiled.model, backend
        model = self.model
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
        self._measurement = measurement
        self._bases = bases_of(compiled, measurement, backend)
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
        for basis in self._bases:
            basis.fill(theta, fixed)
        for one, everywhere in (*self._spread, *self._shares):
            everywhere[:] = one
        offset = self._extra.sum(axis=0) if len(self._extra) else None
        return replace(self._design, offset=offset)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Threads that share the rows of large basis functions, inside of the `with` block."""
        shared = [one for one in self._bases if isinstance(one, InC)]
        n_threads = threads_for(sum(one.size for one in shared))
        if n_threads < 2:
            yield
            return
        team = Team(n_threads, max(one.work_size for one in shared), 1, self.along.size)
        with at_work(team):
            for one in shared:
                one.use(team)
            try:
                yield
            finally:
                for one in shared:
                    one.use(None)

    @property
    def room(self) -> tuple[int, int]:
        """How many rows the basis functions have, and how many derivatives there are."""
        return self._design.slopes.shape[1], len(self._design.slopes)

    def rest_at(self, theta: Array, fixed: Mapping[str, float]) -> dict[str, Array]:
        """The components that have an amplitude which is not free, one by one, (n_groups or 1,
        n_x); of one with free amplitudes too, what it is without these."""
        plans, names = rest_plans(self.compiled.graph)
        plans = tuple(one.placed(self.model, self.model.parameters) for one in plans)
        found: dict[str, Array] = {}
        backend = "interpreted" if self.backend == "tree" else self.backend
        for one in in_plans(plans, self.model, self._measurement, backend):
            values = np.empty((len(one.of), one.n_rows, self.x.size))
            one.take_room([*values], [*np.empty((len(one.slopes), *values.shape[1:]))])
            one.fill(theta, fixed)
            found |= {names[k]: value for k, value in zip(one.of, values, strict=True)}
        return found

    def values_at(self, theta: Array, fixed: Mapping[str, float], names: Iterable[str]) -> Known:
        """Parameters by name, with their slopes by places in theta."""
        return self._values.at(theta, fixed, self._values.needed(names))

    def _make_room(self) -> None:
        """Memory for the basis functions, the parts beside them, and all their derivatives. What is
        the same for all groups, beside others that differ, has room of its own and is copied."""
        n_rows, n_x = max(one.n_rows for one in self._bases), self.x.size
        n_slopes = sum(len(one.slopes) for one in self._bases)
        rests = sum(k == REST for one in self._bases for k in one.of)
        basis = np.empty((len(self.free), n_rows, n_x))
        self._extra, slopes = np.empty((rests, n_rows, n_x)), np.empty((n_slopes, n_rows, n_x))
        extra, begin = iter(self._extra), 0
        self._spread: list[tuple[Array, Array]] = []
        kinds: list[int] = []
        pairs: list[tuple[int, int]] = []
        for one in self._bases:
            values = [next(extra) if k == REST else basis[k] for k in one.of]
            own = list(slopes[begin : begin + len(one.slopes)])
            one.take_room(self._rooms(one, values), self._rooms(one, own))
            kinds += [one.of[slope.result] for slope in one.slopes]
            pairs += [
                (begin + s, theta) for s, slope in enumerate(one.slopes) for _, theta in slope.parts
            ]
            begin += len(one.slopes)
        self._shares: list[tuple[Array, Array]] = []
        factors = self._bases[0].factors
        if len(self._bases) > 1:
            most = max(len(one.factors) for one in self._bases)
            factors = np.empty((most, len(pairs)))
            ends = np.cumsum([one.factors.shape[1] for one in self._bases])
            parts = np.split(factors, ends[:-1], axis=1)
            self._shares = [(b.factors, p) for b, p in zip(self._bases, parts, strict=True)]
        self._design = Design(
            basis,
            slopes,
            np.array(kinds, np.int64),
            np.array([s for s, _ in pairs], np.int64),
            np.array([theta for _, theta in pairs], np.int64),
            factors,
            None,
        )

    def _rooms(self, basis: Basis, rooms: list[Array]) -> list[Array]:
        """Where a basis writes to."""
        if not rooms or basis.n_rows == len(rooms[0]):
            return rooms
        own = [np.empty((1, self.x.size)) for _ in rooms]
        self._spread += zip(own, rooms, strict=True)
        return own

    @property
    def is_direct(self) -> bool:
        """Whether every part of the model is a function on its own, known at other points too."""
        return is_pointwise(self.compiled.graph)
