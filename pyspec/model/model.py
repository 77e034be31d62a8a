"""The model tree: what a person wrote, with its axes and its dynamics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyspec.errors import DataError, ModelError
from pyspec.model.axes import UNCHANGED, Unchanged, check_axis, check_weights
from pyspec.model.build import similar
from pyspec.model.check import check_laws, check_names, check_used, resolution_order
from pyspec.model.evaluate import find_evaluator
from pyspec.model.tree import Component, Dynamics, Par, Profile

Array = npt.NDArray[np.float64]


class Model:
    """Components with their parameters, and how these move.

    Components combine in reverse file order; one that reads the spectrum (Shirley) reads what
    was combined before it. Usually made by :func:`pyspec.model.load_models`.

    Attributes
    ----------
    name : as in the model file
    components : in file order
    quantities : parameters that belong to no component, from the section ``parameters``
    energy, time : the axes (n_energy,) and (n_time,), read-only, or None
    aux, aux_weights : the auxiliary axis (n_aux,) of profiles and the weights of its average,
        which sum to 1; None without profiles
    text : the YAML text of the model
    where : its place in the model file
    """

    def __init__(
        self,
        name: str,
        components: list[Component],
        text: str = "",
        where: str = "",
        quantities: Sequence[Par] = (),
    ) -> None:
        if not components:
            raise ModelError(f"{where or name}: a model needs at least one component")
        self.name = name
        self.components = components
        self.text = text
        self.where = where
        self.quantities = tuple(quantities)
        self.energy: Array | None = None
        self.time: Array | None = None
        self.aux: Array | None = None
        self.aux_weights: Array | None = None
        self._check(self.parameters, complete=False)

    def __repr__(self) -> str:
        axes = [
            f"{what} {axis.size}"
            for what, axis in (("energy", self.energy), ("time", self.time))
            if axis is not None
        ]
        moved = sum(par.dynamics is not None for par in self.parameters.values())
        return (
            f"<Model {self.name!r}: {', '.join(c.name for c in self.components)}; "
            f"{len(self.opt_param_names)} of {len(self.parameters)} parameters free, "
            f"{moved} moving; axes: {', '.join(axes) or 'none'}>"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for axis in (self.energy, self.time, self.aux, self.aux_weights):
            if axis is not None:
                axis.setflags(write=False)

    @property
    def is_time_model(self) -> bool:
        """Whether the model is made of time laws alone: a value for each time."""
        return all(component.op.domain == "TIME" for component in self.components)

    @property
    def dimension(self) -> int:
        """2 where both axes are given, else 1."""
        return 2 if self.energy is not None and self.time is not None else 1

    @property
    def parameters(self) -> dict[str, Par]:
        """All parameters by name, in file order; those of dynamics follow the one they move,
        quantities of their own come last."""
        found: dict[str, Par] = {}
        owned = (par for component in self.components for par in component.parameters)
        for par in (*owned, *self.quantities):
            found[par.name] = par
            if par.dynamics is not None:
                found.update((law.name, law) for law in par.dynamics.parameters)
            if par.profile is not None:
                found.update((part.name, part) for part in par.profile.parameters)
        return found

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The free parameters: the order of theta."""
        pars = self.parameters.values()
        return tuple(par.name for par in pars if par.vary and par.formula is None)

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The parameters that are neither free nor follow an expression."""
        pars = self.parameters.values()
        return tuple(par.name for par in pars if not par.vary and par.formula is None)

    @property
    def values(self) -> dict[str, float]:
        """The value of every parameter. Expressions are resolved on the base values of
        parameters that move. Raises :class:`ModelError` for a circle, which it prints."""
        parameters = self.parameters
        self._check(parameters, complete=True)
        known = {name: float(par.value) for name, par in parameters.items()}
        for par in resolution_order(parameters):
            assert par.formula is not None
            known[par.name] = float(par.formula.evaluate(known))
        return known

    def resolution_order(self) -> list[Par]:
        """The parameters that follow expressions, each after those it refers to."""
        return resolution_order(self.parameters)

    def theta(self) -> Array:
        """The free values, in the order of :attr:`opt_param_names`."""
        parameters = self.parameters
        return np.array([parameters[name].value for name in self.opt_param_names], np.float64)

    def set_values(self, values: Mapping[str, float]) -> None:
        """Sets values by name; all or, on an error, none. Bounds are not applied.

        Raises :class:`ModelError` for an unknown name, a parameter that follows an expression,
        or a value that is not a finite number.
        """
        accepted: list[tuple[Par, float]] = []
        for name, value in values.items():
            par = self._par(name)
            if par.formula is not None:
                raise ModelError(
                    f"{par.place}: {name} follows the expression {par.expr!r}; "
                    f"set {' or '.join(par.formula.names) or 'another parameter'} instead"
                )
            try:
                number = math.nan if isinstance(value, (str, bool)) else float(value)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise ModelError(f"{par.place}: {value!r} is not a finite number; give one")
            accepted.append((par, number))
        for par, number in accepted:
            par.value = number

    def set_axes(
        self,
        energy: npt.ArrayLike | Unchanged | None = UNCHANGED,
        time: npt.ArrayLike | Unchanged | None = UNCHANGED,
        aux: npt.ArrayLike | Unchanged | None = UNCHANGED,
        aux_weights: npt.ArrayLike | None = None,
    ) -> None:
        """Sets the axes that are named; None removes one. The model keeps read-only copies.

        The energy axis rises or falls all the way, the time axis rises, the auxiliary axis of
        profiles does either. `aux_weights` (n_aux,) weigh the average over it, equal ones
        without; they are scaled to sum 1. Raises :class:`DataError` for any other.
        """
        new_energy, new_time = self.energy, self.time
        if not isinstance(energy, Unchanged):
            new_energy = None if energy is None else check_axis(energy, "energy")
        if not isinstance(time, Unchanged):
            new_time = None if time is None else check_axis(time, "time", ascending=True)
        if not isinstance(aux, Unchanged):
            new_aux = None if aux is None else check_axis(aux, "auxiliary")
            self.aux_weights = None if new_aux is None else check_weights(aux_weights, new_aux.size)
            self.aux = new_aux
        elif aux_weights is not None:
            raise DataError("aux_weights come together with the auxiliary axis; give aux= too")
        self.energy, self.time = new_energy, new_time

    def add_dynamics(self, par_name: str, dynamics: Dynamics) -> None:
        """Lets a parameter move: ``p(t) = value + D(t)``. On an error the model is unchanged.

        Raises :class:`ModelError` for an unknown parameter, one that has dynamics, that follows
        an expression or that belongs to a law, and where a parameter of a law would move.
        """
        par = self._par(par_name)
        if dynamics.target != par_name:
            raise ModelError(
                f"{dynamics.where}: {dynamics.name}: was loaded for {dynamics.target}, not for "
                f"{par_name}; load it again with target={par_name!r}"
            )
        if par.formula is not None:
            sources = ", ".join(par.formula.names) or "nothing"
            raise ModelError(
                f"{par.place}: {par_name} follows the expression {par.expr!r} and cannot have "
                f"dynamics of its own; add them to what it refers to ({sources}), or give it a "
                "value instead of the expression"
            )
        if par.dynamics is not None:
            raise ModelError(
                f"{par.place}: {par_name} already has the dynamics {par.dynamics.name!r}; "
                "put all laws into one dynamics model"
            )
        laws = [p.dynamics for p in self.parameters.values() if p.dynamics is not None]
        if self.is_time_model or any(par in law.parameters for law in laws):
            raise ModelError(
                f"{par.place}: {par_name} belongs to a time law and cannot have dynamics; add "
                "the law to the dynamics model itself"
            )
        par.dynamics = dynamics
        try:
            self._check(self.parameters, complete=False)
        except ModelError:
            par.dynamics = None
            raise

    def add_profile(self, par_name: str, profile: Profile) -> None:
        """Lets a parameter differ along the auxiliary axis: ``p(aux) = value + P(aux)``. On an
        error the model is unchanged.

        Raises :class:`ModelError` for an unknown parameter, one that has a profile or follows an
        expression, or one that belongs to a law or to a profile.
        """
        par = self._par(par_name)
        if profile.target != par_name:
            raise ModelError(
                f"{profile.where}: {profile.name}: was loaded for {profile.target}, not for "
                f"{par_name}; load it again with target={par_name!r}"
            )
        if par.formula is not None:
            sources = ", ".join(par.formula.names) or "nothing"
            raise ModelError(
                f"{par.place}: {par_name} follows the expression {par.expr!r} and cannot have a "
                f"profile of its own; add it to what it refers to ({sources}), or give it a "
                "value instead of the expression"
            )
        if par.profile is not None:
            raise ModelError(
                f"{par.place}: {par_name} already has the profile {par.profile.name!r}; put all "
                "profile functions into one model"
            )
        if not any(par in component.parameters for component in self.components):
            raise ModelError(
                f"{par.place}: {par_name} belongs to a time law or a profile and cannot have a "
                "profile; add the function to the profile model itself"
            )
        par.profile = profile
        try:
            self._check(self.parameters, complete=False)
        except ModelError:
            par.profile = None
            raise

    def check(self) -> None:
        """Verifies that the model is complete: every name in every expression is there, and every
        free quantity is used.

        Raises :class:`ModelError`.
        """
        parameters = self.parameters
        self._check(parameters, complete=True)
        check_used(parameters, self.quantities)

    def evaluate(self, backend: str = "compiled", theta: Any = None) -> Array:
        """The spectrum on the model's axes, (n_energy,) or (n_time, n_energy).

        `theta` holds the free values in the order of :attr:`opt_param_names`; without it the
        values of the model are used. Raises :class:`BackendError` for an unknown backend.
        """
        self.check()
        evaluator = find_evaluator(backend)
        return evaluator(self, self.theta() if theta is None else theta)

    def describe(self) -> str:
        """A table of all parameters, as text."""
        rows = [("parameter", "value", "vary", "min", "max", "dynamics or expression")]
        for par in self.parameters.values():
            moves = ""
            if par.dynamics is not None:
                laws = " + ".join(law.function for law in par.dynamics.components)
                moves = f"{par.dynamics.name}: {laws}"
            bounds = ("", "") if par.formula is not None else (f"{par.min:g}", f"{par.max:g}")
            value = "" if par.formula is not None else f"{par.value:.8g}"
            vary = "" if par.formula is not None else par.scope
            rows.append((par.name, value, vary, *bounds, f"= {par.expr}" if par.expr else moves))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([repr(self), *lines])

    def _par(self, name: str) -> Par:
        parameters = self.parameters
        if name not in parameters:
            raise ModelError(
                f"{self.where or self.name}: {self.name} has no parameter {name!r}"
                f"{similar(str(name), list(parameters)) or '; it has ' + ', '.join(parameters)}"
            )
        return parameters[name]

    @staticmethod
    def _check(parameters: Mapping[str, Par], complete: bool) -> None:
        check_names(parameters, complete)
        resolution_order(parameters)
        check_laws(parameters)
