"""The tree executor: walks the model as a person would, one time after the other.

It uses the model, its formulas and the references, nothing of the graph or the plan: an
independent witness of what a model means. Speed does not matter here.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from pyspec._library import OpDef
from pyspec.errors import ModelError
from pyspec.executor.protocol import Array, Values, ValuesOnly
from pyspec.formula import parse
from pyspec.functions import outside, reference
from pyspec.functions.quadrature import convolve
from pyspec.functions.response_rows import response, response_arguments
from pyspec.model import Component, Dynamics, Measurement, Model, Par
from pyspec.model.build.check import PROFILE, movers
from pyspec.model.build.inputs import check_inputs, function_of, inputs_of
from pyspec.model.build.instruments import seen_by
from pyspec.model.resolved import as_seen
from pyspec.model.theta import values_of


class TreeExecutor(ValuesOnly):
    """Evaluates a model by walking its tree (``fit_model_mcp``).

    Parameters
    ----------
    model : with its axes set; a copy is kept
    measurement : window, data, weights and mask; None for the whole axes without data
    """

    name: ClassVar[str] = "tree"
    plan: ClassVar[None] = None

    def __init__(self, model: Model, measurement: Measurement | None = None) -> None:
        model.check()
        check_inputs(model)
        self.model = copy.deepcopy(model)
        self._pars = self.model.parameters
        self._followers = self.model.resolution_order()
        self.measurement = measurement if measurement is not None else Measurement()
        self.opt_param_names = model.opt_param_names
        self.fixed_names = model.fixed_names
        self._sampled = [par for par in self._pars.values() if par.profile is not None]
        self._refuse_missing_axes()
        #: (n_energy,), of a time model a line of length 0.
        self._energy = np.empty(0) if model.energy is None else model.energy
        self._lines = [
            _Line(
                own.pars, own.op, any(movers(p.name, self._pars, PROFILE) for p in own.parameters)
            )
            for own in as_seen(self.model.components)
        ]
        self.measurement.check_axes(self._shape(), model.name)
        if self._energy.size:
            self._grid = self.measurement.grid(self._energy)

    def __repr__(self) -> str:
        return f"<TreeExecutor of {self.model!r}, {self.measurement!r}>"

    def run(self, theta: Values, fixed: Values = None) -> Array:
        """The model over the window: (n_rows, n_columns), or (n_columns,) in 1D."""
        values = self._inputs(theta, fixed)
        with np.errstate(all="ignore"):
            motion = self._motion(values)
            if self.model.is_time_model:
                full = self._combine(self.model.components, None, self._resolve(values, {}, 0))
            elif self.model.time is None:
                full = self._spectrum(values, motion, 0)
            else:
                rows = [self._spectrum(values, motion, k) for k in range(self.model.time.size)]
                full = np.array(rows)
        return np.ascontiguousarray(self.measurement.window(full))

    def _refuse_missing_axes(self) -> None:
        model = self.model
        moved = [par.name for par in self._pars.values() if par.dynamics is not None]
        if model.energy is None and not model.is_time_model:
            raise ModelError(f"{model.name}: the model has no energy axis; call model.set_axes")
        if model.time is None and (moved or model.is_time_model):
            raise ModelError(
                f"{model.name}: {moved[0] if moved else 'a time model'} moves in time, but the "
                "model has no time axis; give one with model.set_axes(time=...)"
            )
        if model.aux is None and self._sampled:
            raise ModelError(
                f"{model.name}: {self._sampled[0].name} has a profile, but the model has no "
                "auxiliary axis; give one with model.set_axes(aux=...)"
            )

    def _shape(self) -> tuple[int, ...]:
        """Shape of the result over the full axes."""
        time = self.model.time
        if time is None:
            return (self._energy.size,)
        return (time.size,) if self.model.is_time_model else (time.size, self._energy.size)

    def _inputs(self, theta: Values, fixed: Values) -> dict[str, float]:
        """All plain values by name: free ones from theta, fixed ones from the model or given."""
        inputs: dict[str, float] = {}
        for argument, names, role in (
            (theta, self.opt_param_names, "free"),
            (fixed, self.fixed_names, "fixed"),
        ):
            start = np.array([self._pars[name].value for name in names], np.float64)
            values = values_of(argument, names, start, role, self.model.name)
            inputs.update(zip(names, values.tolist(), strict=True))
        return inputs

    def _motion(self, values: Mapping[str, float]) -> dict[str, Array]:
        """D(t) of every parameter that moves, over the whole time axis."""
        still = self._resolve(values, {}, 0)  # no law depends on what moves
        return {
            par.name: self._combine(par.dynamics.components, par.dynamics, still)
            for par in self._pars.values()
            if par.dynamics is not None
        }

    def _combine(
        self, components: list[Component], dynamics: Dynamics | None, still: Mapping[str, float]
    ) -> Array:
        """Combines the laws in reverse file order. A kernel convolves the sum of the laws after it.
        An instrument replaces the laws after it by their responses, summed over its Gaussians."""
        time = self.model.time
        assert time is not None
        total = np.zeros(time.size)
        above, rows, laws = seen_by(components)
        for row, (share, shift) in zip(rows, _shares(rows, still), strict=True):
            own = _values(row.pars, still)
            for law in reversed(laws):
                if law.op.params:  # "none" has no parameters, and is 0
                    params_of_law = _values(law.pars, still)
                    seen = self._response(law, row.op, params_of_law, own, shift, dynamics)
                    total = total + share * seen
        for component in reversed(above):
            op, params = component.op, _values(component.pars, still)
            if op.kind != "KERNEL":
                total = total + self._law(component, dynamics, params)
            elif outside(op, params):
                total = total + np.nan
            else:
                total = convolve(op, time, total, *params)
        return total

    def _law(self, law: Component, dynamics: Dynamics | None, params: list[float]) -> Array:
        """A law; that of a sub-cycle on its local time, 0 in the others."""
        time = self.model.time
        assert time is not None
        active = np.ones(time.size, dtype=bool)
        if law.subcycle and dynamics is not None:
            time, number = dynamics.cycle(time)
            active = number == law.subcycle
        function = function_of(law.op, self.model.inputs)
        value = np.nan if outside(law.op, params) else function(time, *params)
        return np.where(active, value, 0.0)

    def _response(
        self,
        law: Component,
        irf: OpDef,
        params: list[float],
        own: list[float],
        shift: float,
        dynamics: Dynamics | None,
    ) -> Array:
        """The exact response of a law to an instrument with parameters of its `own`: a Gaussian
        behind t0 by a shift, or one that was measured. A law of a sub-cycle sets in in each cycle,
        and is taken back at its end as what it has become by then."""
        row = response(law.op, irf)
        assert row is not None
        assert self.model.time is not None
        if law.subcycle and dynamics is not None:
            total = np.zeros(self.model.time.size)
            onset = params[law.op.params.index("t0")]
            begin = min(max(onset, 0.0), dynamics.length)
            whole = dataclasses.replace(law, subcycle=0)
            for start in dynamics.starts(law.subcycle, self.model.time):
                on = _continued(law, params, begin, float(start))
                off = _continued(law, params, dynamics.length, float(start))
                total = total + self._response(whole, irf, on, own, shift, None)
                total = total - self._response(whole, irf, off, own, shift, None)
            return total
        params = list(params)
        params[law.op.params.index("t0")] += shift
        arguments = response_arguments(law.op, row, params, own)
        if outside(row, arguments):
            return np.full(self.model.time.size, np.nan)
        return np.asarray(reference(row)(self.model.time, *arguments))

    def _resolve(
        self,
        values: Mapping[str, float],
        motion: Mapping[str, Array],
        k: int,
        point: int | None = None,
    ) -> dict[str, float]:
        """Every parameter at time k, and at an auxiliary point: base + D(t) + P(aux), then the
        expressions."""
        resolved = dict(values)
        for name, moves in motion.items():
            resolved[name] = values[name] + float(moves[k])
        self._follow(resolved)
        if point is not None:
            sampled = {par.name: self._sample(par, resolved, point) for par in self._sampled}
            for name, value in sampled.items():
                resolved[name] += value
            self._follow(resolved)
        return resolved

    def _follow(self, resolved: dict[str, float]) -> None:
        for par in self._followers:
            assert par.formula is not None
            resolved[par.name] = float(par.formula.evaluate(resolved))

    def _sample(self, par: Par, resolved: Mapping[str, float], point: int) -> float:
        """P(aux) of a parameter at one auxiliary point; profile functions in reverse order."""
        assert par.profile is not None
        assert self.model.aux is not None
        total = 0.0
        for component in reversed(par.profile.components):
            params = _values(component.pars, resolved)
            inputs = {name: self.model.inputs[name][point] for name in inputs_of(component.op)}
            value = function_of(component.op, inputs)(self.model.aux[point], *params)
            total += np.nan if outside(component.op, params) else float(value)
        return total

    def _spectrum(self, values: Mapping[str, float], motion: Mapping[str, Array], k: int) -> Array:
        """The spectrum at time k: components in reverse file order, each averaged over the
        auxiliary axis where a parameter differs along it."""
        resolved = self._resolve(values, motion, k)
        points: list[tuple[float, dict[str, float]]] = []
        if self._sampled:
            assert self.model.aux_weights is not None
            points = [
                (float(weight), self._resolve(values, motion, k, point))
                for point, weight in enumerate(self.model.aux_weights)
            ]
        total = np.zeros(self._energy.size)
        for line in reversed(self._lines):
            if line.averaged:
                mean = np.zeros(self._energy.size)
                for weight, at in points:
                    mean = mean + weight * self._component(line, at, total)
                total = total + mean
            else:
                total = total + self._component(line, resolved, total)
        return total

    def _component(self, line: _Line, resolved: Mapping[str, float], before: Array) -> Array:
        params = _values(line.pars, resolved)
        if outside(line.op, params):
            return np.full(self._energy.size, np.nan)
        function = function_of(line.op, self.model.inputs)
        if line.op.spectrum_fed:
            return self._grid.read(line.op, function, self._energy, params, before)
        return np.asarray(function(self._energy, *params))


class _Line(NamedTuple):
    """A component of the spectrum, and whether it differs along the auxiliary axis."""

    pars: Sequence[Par | None]
    op: OpDef
    averaged: bool


def _continued(law: Component, params: list[float], at: float, start: float) -> list[float]:
    """The parameters of a law that goes on from a local time `at`, with the onset there. Before
    its own onset it is as at the onset."""
    values = dict(zip(law.op.params, params, strict=True))
    values["s"] = max(at - values["t0"], 0.0)
    values |= {name: parse(rule).evaluate(values) for name, rule in law.op.later}
    values["t0"] = at + start
    return [np.float64(values[name]) for name in law.op.params]


def _shares(rows: Sequence[Component], resolved: Mapping[str, float]) -> list[tuple[float, float]]:
    """Share and shift of each Gaussian of an instrument; the first has what the others leave."""
    gaussians = [dict(zip(row.op.params, _values(row.pars, resolved), strict=True)) for row in rows]
    others = [(gaussian["share"], gaussian["shift"]) for gaussian in gaussians[1:]]
    return [(1.0 - sum(share for share, _ in others), 0.0), *others] if gaussians else []


def _values(pars: Sequence[Par | None], resolved: Mapping[str, float]) -> list[float]:
    """The values of the parameters of a function, in the order of the table; 0 of one that was left
    out."""
    return [np.float64(0.0 if par is None else resolved[par.name]) for par in pars]
