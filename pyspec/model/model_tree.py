"""A model as data: its parts and axes, what they say of its parameters, and how it is copied."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pyspec.calls import Named, meant
from pyspec.errors import ModelError
from pyspec.formula import Formula
from pyspec.model.build.check import check_parameters, free_names, resolution_order, used_quantities
from pyspec.model.tree import ENERGY, Component, Dynamics, Par, Profile, parameters_of

Array = npt.NDArray[np.float64]

T = TypeVar("T")
Motion = TypeVar("Motion", Dynamics, Profile)


class ModelTree:
    """Components with their parameters, and how these move.

    Attributes
    ----------
    name, components : as in the model file, in its order
    quantities : parameters that belong to no component, whether or not the model uses them now
    energy, time : the axes (n_energy,) and (n_time,), read-only, or None
    aux, aux_weights : the axis (n_aux,) of profiles and the weights of its mean, sum 1, or None
    inputs : further arrays along the axes, by name, that functions by formula read
    labels, units : what "energy", "time" and "data" are, as the file says that holds the model
    elsewhere : derived quantities of its file that need names of other models, too
    text, where : the YAML text of the model, and its place in the model file
    """

    name: str
    components: list[Component]
    quantities: tuple[Par, ...]
    energy: Array | None = None
    time: Array | None = None
    aux: Array | None = None
    aux_weights: Array | None = None
    inputs: dict[str, Array]
    labels: dict[str, str]
    units: dict[str, str]
    elsewhere: Mapping[str, Formula]
    text: str
    where: str

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        for axis in (self.energy, self.time, self.aux, self.aux_weights, *self.inputs.values()):
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
        """All parameters by name, in file order. Parameters of dynamics follow the parameter that
        they move; quantities come last. A quantity that waits for dynamics still to be added is
        none of them, see :func:`pyspec.model.build.check.used_quantities`."""
        return Named(all_parameters(self.components, self.quantities))

    @property
    def opt_param_names(self) -> tuple[str, ...]:
        """The free parameters: the order of theta."""
        return free_names(self.parameters)

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The parameters that are neither free nor follow an expression."""
        return tuple(p.name for p in self.parameters.values() if not p.vary and p.formula is None)

    @property
    def values(self) -> dict[str, float]:
        """The value of every parameter: expressions on the base values of those that move, NaN for
        what depends on the energy. Raises :class:`ModelError` for a circle, which it prints."""
        parameters = self.parameters
        check_parameters(parameters, complete=True)
        numbers = {ENERGY: math.nan, **{n: float(par.value) for n, par in parameters.items()}}
        for par in resolution_order(parameters):
            assert par.formula is not None
            numbers[par.name] = float(par.formula.evaluate(numbers))
        return Named({name: numbers[name] for name in parameters})

    def resolution_order(self) -> list[Par]:
        """The parameters that follow expressions, each after those it refers to."""
        return resolution_order(self.parameters)

    def theta(self) -> Array:
        """The free values, in the order of :attr:`opt_param_names`."""
        parameters = self.parameters
        return np.array([parameters[name].value for name in self.opt_param_names], np.float64)

    def _par(self, name: str) -> Par:
        parameters = {**{par.name: par for par in self.quantities}, **self.parameters}
        if name not in parameters:
            raise ModelError(
                f"{self.where or self.name}: {self.name} has no parameter {name!r}"
                f"{meant(name, parameters)}"
            )
        return parameters[name]


AModel = TypeVar("AModel", bound=ModelTree)


def with_parts(pars: Iterable[Par]) -> dict[str, Par]:
    """Parameters by name, each followed by those of its laws and of its profile."""
    by_name: dict[str, Par] = {}
    for par in pars:
        by_name[par.name] = par
        if par.dynamics is not None:
            by_name.update({law.name: law for law in par.dynamics.parameters})
        if par.profile is not None:
            by_name.update({part.name: part for part in par.profile.parameters})
    return by_name


def all_parameters(components: Iterable[Component], quantities: Sequence[Par]) -> dict[str, Par]:
    """The parameters of components, and after them the quantities that these take part in."""
    own = with_parts(parameters_of(components))
    if quantities:
        own.update(with_parts(used_quantities(own, quantities)))
    return own


#: That of :func:`copy.deepcopy`: id of a part → its copy.
Memo: TypeAlias = dict[int, Any]


class Copier:
    """Copies the parts of a model, each once, so that what was shared stays shared.

    ``copy.deepcopy`` gives the same in twenty times the time, which is that of a small fit.
    Formulas and texts never change: the copies share them with the original.
    """

    def __init__(self, memo: Memo | None = None) -> None:
        self._memo: Memo = {} if memo is None else memo

    def whole(self, model: AModel) -> AModel:
        """A model with copies of its parts; axes, which are read-only, are shared."""
        new = _shallow(model)
        for name in ("labels", "units", "inputs"):
            new.__dict__[name] = dict(model.__dict__[name])
        new.components = self.components(model.components)
        new.quantities = tuple([self.par(par) for par in model.quantities])
        for component in new.components:
            component.owner = new
        return new

    def par(self, par: Par) -> Par:
        """A parameter with what moves it."""
        copied: Par | None = self._memo.get(id(par))
        if copied is not None:
            return copied
        # Written out: a tenth of the time of copy.copy.
        new = self._memo[id(par)] = Par(
            par.name, par.argument, par.value, par.vary, par.scope, par.min, par.max,
            par.formula, par.where, par.dynamics, par.profile, par.free,
        )  # fmt: skip
        if par.dynamics is not None:
            new.dynamics = self._motion(par.dynamics)
        if par.profile is not None:
            new.profile = self._motion(par.profile)
        return new

    def components(self, components: Sequence[Component]) -> list[Component]:
        """Components with their parameters."""
        memo, copies = self._memo, []
        for component in components:
            new: Component | None = memo.get(id(component))
            if new is None:
                pars = tuple([None if par is None else self.par(par) for par in component.pars])
                new = memo[id(component)] = object.__new__(Component)
                new.__dict__.update(
                    name=component.name, function=component.function, pars=pars,
                    where=component.where, subcycle=component.subcycle, owner=component.owner,
                )  # fmt: skip
            copies.append(new)
        return copies

    def _motion(self, motion: Motion) -> Motion:
        """What moves a parameter, with copies of its components."""
        new = _shallow(motion)
        new.__dict__["components"] = self.components(motion.components)
        return new


def _shallow(part: T) -> T:
    """A part with the same fields."""
    new = object.__new__(type(part))
    new.__dict__.update(part.__dict__)
    return new
