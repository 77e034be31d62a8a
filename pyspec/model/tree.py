"""The parts of a model: parameters, components, dynamics and profiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyspec._library import OPS, OpDef
from pyspec.errors import DataError, ModelError
from pyspec.formula import Formula, op_of

#: Cycles of a sub-cycle under an exact response: the plan holds every one of them.
MAX_CYCLES = 500

#: Components of one model: a fit of thousands of lines takes minutes for an evaluation, and none of
#: them is determined.
MAX_COMPONENTS = 2000

#: What an expression calls the energy at which an amplitude is free.
ENERGY = "energy"

Array: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


def refuse_many(n: int, where: str) -> None:
    """Raises :class:`ModelError` for more components than a model may have."""
    if n > MAX_COMPONENTS:
        raise ModelError(
            f"{where}: the model has {n:,} components, at most {MAX_COMPONENTS:,} are possible; "
            "write many alike as one function by formula, or fit parts of the data"
        )


@dataclass(frozen=True)
class Free:
    """An amplitude that is free along an axis, see :mod:`pyspec.model.build.free`.

    `axis` is "energy" or "time"; `positive` ones are not negative; `zero` are ranges of that axis
    in which the amplitude is 0. A `shared` amplitude is the same in all files of a project.
    """

    axis: str
    positive: bool = False
    zero: tuple[tuple[float, float], ...] = ()
    shared: bool = False


@dataclass(slots=True)
class Par:
    """One parameter.

    Attributes
    ----------
    name : full name, "GLP_01_x0" or "GLP_01_x0_expFun_01_tau"
    argument : its name within the function, "x0"
    value : start value or fixed value; NaN for a parameter that follows an expression
    vary : whether a fit may change it
    scope : "file" (free in each file), "project" (free, shared by all files) or "static"
    min, max : bounds of a free value, both included
    formula : the expression that it follows, over full names, or None
    where : its place in the model file, "models.yaml:14"
    dynamics : how it moves in time, or None
    profile : how it differs along the auxiliary axis, or None
    free : the axis along which it is free, solved for by a fit (`value` is 1 then), or None
    """

    name: str
    argument: str
    value: float = math.nan
    vary: bool = True
    scope: str = "file"
    min: float = -math.inf
    max: float = math.inf
    formula: Formula | None = None
    where: str = ""
    dynamics: Dynamics | None = None
    profile: Profile | None = None
    free: Free | None = None

    @property
    def expr(self) -> str | None:
        """The text of the expression, or None."""
        return None if self.formula is None else self.formula.text

    @property
    def label(self) -> str:
        """As errors name it: "GLP_01.x0"."""
        if self.name == self.argument:
            return self.name
        return f"{self.name.removesuffix('_' + self.argument)}.{self.argument}"

    @property
    def place(self) -> str:
        """Where it stands and how it is called: the start of every error about it."""
        return f"{self.where}: {self.label}" if self.where else self.label


@dataclass
class Component:
    """One function of a model with its parameters.

    `function` is the name of a row of the op table or of a registered function, or the text of a
    definition; what a person calls it is ``op.name``. `pars` are in the order of the op table; None
    stands for an optional one left out.
    `subcycle` is the sub-cycle of a law, 0 for one that acts at all times; `owner` the model.
    """

    name: str
    function: str
    pars: tuple[Par | None, ...]
    where: str = ""
    subcycle: int = 0
    owner: object = field(default=None, init=False, repr=False, compare=False)

    @property
    def op(self) -> OpDef:
        """The function's row of the op table, or what stands in its place."""
        row = OPS.get(self.function)
        return op_of(self.function) if row is None else row

    @property
    def parameters(self) -> tuple[Par, ...]:
        """The parameters that are there."""
        return tuple([par for par in self.pars if par is not None])


@dataclass
class Dynamics:
    """How one parameter moves in time: ``p(t) = base + D(t)``.

    `target` is the name of the parameter, `name` the name of the dynamics model in its file,
    `components` its laws and kernels in file order. With a `frequency` f > 0, in reciprocal
    units of the time axis, and N sub-cycles, a sub-cycle lasts ``1 / (f N)``; -1 means none.
    """

    target: str
    name: str
    components: list[Component] = field(default_factory=list)
    frequency: float = -1.0
    n_subcycles: int = 0
    text: str = ""
    where: str = ""

    @property
    def parameters(self) -> tuple[Par, ...]:
        """All parameters of the laws, in file order."""
        return tuple(parameters_of(self.components))

    @property
    def length(self) -> float:
        """How long a sub-cycle lasts: ``1 / (f N)``."""
        return 1.0 / (self.frequency * self.n_subcycles)

    def starts(self, subcycle: int, time: Array) -> Array:
        """The starts of sub-cycle `subcycle` in every cycle of the time axis. Those of as long a
        time after it (at least one cycle) follow, since an instrument sees of later cycles.

        Raises :class:`DataError` for more than :data:`MAX_CYCLES`.
        """
        period = self.length * self.n_subcycles
        end = float(time[-1]) + float(time[-1] - time[0])
        count = max(np.floor(end / period), 0.0) + 2.0
        if not count <= MAX_CYCLES:
            raise DataError(
                f"{self.name}: {count:.3g} cycles of {period:g} are too many for an exact "
                f"instrument response, which takes {MAX_CYCLES}; use gaussCONV, or lower the "
                "frequency"
            )
        cycles = np.arange(int(count))
        return np.asarray(cycles * period + (subcycle - 1) * self.length)

    def cycle(self, time: Array) -> tuple[Array, IntArray]:
        """Local time within a sub-cycle, and the active sub-cycle (1 ... N; 0 before t = 0).

        ``T = 1 / (f N)``, ``k = floor(t / T)``: local time ``t - k T``, sub-cycle
        ``k mod N + 1``.
        """
        length = self.length
        index = np.floor(time / length)
        active = np.where(time >= 0.0, np.mod(index, self.n_subcycles) + 1, 0).astype(np.int64)
        return np.where(time >= 0.0, time - index * length, time), active


@dataclass
class Profile:
    """How one parameter differs along the auxiliary axis: ``p(aux) = base + P(aux)``.

    `components` are profile functions in file order. The spectrum of a component is averaged
    over the auxiliary axis.
    """

    target: str
    name: str
    components: list[Component] = field(default_factory=list)
    text: str = ""
    where: str = ""

    @property
    def parameters(self) -> tuple[Par, ...]:
        """All parameters of the profile functions, in file order, each followed by those of its
        own dynamics."""
        pars: list[Par] = []
        for par in parameters_of(self.components):
            pars += (par, *(par.dynamics.parameters if par.dynamics is not None else ()))
        return tuple(pars)


def parameters_of(components: Iterable[Component]) -> list[Par]:
    """The parameters of components, in their order."""
    return [par for component in components for par in component.pars if par is not None]


class Owned(NamedTuple):
    """A component; of what moves a parameter, with that parameter and its dynamics or profile."""

    component: Component
    target: Par | None = None
    part: Dynamics | Profile | None = None


def walk(components: Iterable[Component], quantities: Iterable[Par] = ()) -> Iterator[Owned]:
    """Components, each before those that move its parameters; then those that move quantities."""
    for component in components:
        yield Owned(component)
        yield from walk((), component.parameters)
    for par in quantities:
        for part in (par.dynamics, par.profile):
            for owned in walk(part.components) if part is not None else ():
                yield owned if owned.target is not None else Owned(owned.component, par, part)


def ops_of(components: Sequence[Component], quantities: Sequence[Par] = ()) -> list[OpDef]:
    """The functions of components, and of what moves their parameters and these quantities."""
    return [owned.component.op for owned in walk(components, quantities)]
